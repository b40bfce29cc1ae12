# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An approved plan of a fleet: what has changed since is named and nothing is sent; its own progress is no change."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import Hints
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotAllRestarted,
    OptionError,
    PlanChanged,
    TargetError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.side_by_side import Crew
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.fleet_outcome import FleetMember
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.approved_plan import (
    FLEET,
    ROLLING,
    differences,
    parsed_plan,
    plan_text,
    sealed,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.fleet_plan import FleetRequest, plan_fleet
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.fleet_run import FleetRun, restart_by_plan
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.plan_basis import Approval
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.caps import Caps
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, Thing, at
from ansible_collections.oceanbase.ocp.tests.unit.support.plan_changes import (
    add_server,
    fields,
    locality,
    option,
    restarted,
    tenant,
    thing,
)

ADDRESSES = ["10.1.0.1:2882", "10.1.0.2:2882", "10.1.0.3:2882"]
LISTED = [("orders", address) for address in ADDRESSES]
ASKED = FleetRequest(LISTED, change="memory")
HINTS = Hints({"change": "fleet_restart_change", "plan_file": "fleet_restart_plan_file"})
NEW_LOCALITY = "FULL{1}@zone1, FULL{1}@zone2"


@pytest.fixture
def crew(service):
    return Crew(lambda: nullcontext(service), 1, service.time.clock)


@pytest.fixture
def approve(crew):
    """The plan as its file has it."""

    def run(asked=ASKED):
        kept = []
        plan = plan_fleet(crew, replace(asked, approval=Approval(keep=kept.append, hints=HINTS)))
        assert plan["digest"] == kept[0]["digest"]
        return parsed_plan(plan_text(kept[0]), FLEET, "approved_plan: plan.json")

    return run


@pytest.fixture
def run(service, crew):
    def restart(approved=None, asked=ASKED, *, check_mode=False, keep=None):
        restart.lines = []
        policy = PollPolicy(7200, 10, restart.show, announce=restart.show)
        approval = None
        if approved is not None or keep is not None:
            approval = Approval(approved, "approved_plan plan.json", keep, HINTS)
        safety = Safety(majority=asked.majority, tolerated=frozenset(asked.tolerated or ()))
        request = RestartRequest(
            check_mode, True, policy, asked.started_before, change=asked.change, safety=safety, safety_timeout=60
        )

        def member(planned, _place):
            options = {"cluster": str(planned["cluster_id"]), "server": planned["server"]}
            selector = Selector(Server, {**options, "freeze_server": False, "force": False})
            return FleetMember(planned["cluster"], planned["server"], selector, request)

        wanted = FleetRun(replace(asked, approval=approval), member, request, True, 180.0)
        return restart_by_plan(service, crew, wanted, service.time.clock)

    restart.show = lambda line, _failed: restart.lines.append(line.strip())
    return restart


def waves(plan):
    return [[server["server"] for server in wave["servers"]] for wave in plan["waves"]]


# What happens between the plan and its run, and the words by which it is named.
CHANGES = {
    "a server moved": (thing(42, zone="zone3"), "server 10.1.0.2:2882 has the zone zone3 now, the plan has zone2"),
    "a server in a new zone": (thing(43, zone="zone9"), "server 10.1.0.3:2882 has the zone zone9 now"),
    "a server of the list has another address": (fields(moved_to={43: "10.1.0.9"}), "server 10.1.0.3:2882 is gone"),
    "the address that is new": (fields(moved_to={43: "10.1.0.9"}), "server 10.1.0.9:2882 is new"),
    "another address out of scope": (fields(moved_to={44: "10.1.0.9"}), "server 10.1.0.4:2882 is gone"),
    "another id": (thing(43, id=48), "server 10.1.0.8:2882 is new"),
    "a server joined": (add_server(45, "zone1"), "server 10.1.0.5:2882 is new"),
    "a server out of scope left": (lambda service: service.servers_there.pop(), "server 10.1.0.4:2882 is gone"),
    "a server of the list left": (lambda service: service.servers_there.pop(2), "server 10.1.0.3:2882 is gone"),
    "a voter down": (thing(43, status="STOPPED"), "server 10.1.0.3:2882 has the status STOPPED now, the plan has RUN"),
    "a voter not reached": (thing(44, status="UNAVAILABLE"), "server 10.1.0.4:2882 has the status UNAVAILABLE now"),
    "a voter deleted": (thing(42, status="DELETING"), "server 10.1.0.2:2882 has the status DELETING now"),
    "a server in another IDC": (fields(idcs={42: "idc9"}), "server 10.1.0.2:2882 has the IDC idc9 now"),
    "the root server": (thing(43, root_server=True), "the root server is"),
    "a tenant created": (tenant("shop"), "tenant shop is new"),
    "a tenant dropped": (lambda service: service.localities.pop("app"), "tenant app is gone"),
    "a tenant of two zones": (locality("app", NEW_LOCALITY), "tenant app has the voters"),
    "a locality": (locality("app", "FULL{1}@zone1, FULL{1}@zone2, READONLY{1}@zone3"), "tenant app has the locality"),
    "a primary zone": (tenant("app", primaryZone="zone2"), "tenant app has the primary zone zone2 now"),
    "a tenant made anew": (tenant("app", id=599), "tenant app has the id 599 now, the plan has 502"),
    "another change": (option(change="disk"), "fleet_restart_change is disk now, the plan has memory"),
    "an instant": (option(started_before=at(-600)), "started_before is 2"),
    "no safety": (option(majority=False), "safety is none now, the plan has majority"),
    "an outage": (option(tolerated=["app"]), 'tolerate_outage_of is ["app"] now, the plan has []'),
    "an outage for one server": (
        option(tolerated_alone={"orders 10.1.0.1:2882": ["app"]}),
        'servers is {"orders 10.1.0.1:2882": ["app"]} now, the plan has {}',
    ),
    "a cap": (option(caps=Caps({"idc": 1})), 'most_down is {"idc": 1} now, the plan has {}'),
    "a server fewer": (
        option(servers=LISTED[:2]),
        "server 10.1.0.3:2882 is not in scope now, in the plan it needs a restart",
    ),
    "a server more": (
        option(servers=[*LISTED, ("orders", "10.1.0.4:2882")]),
        "server 10.1.0.4:2882 needs a restart now (",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_since_the_plan_is_named_and_nothing_is_sent(service, approve, run, name):
    happens, words = CHANGES[name]
    service.localities["app"] = service.localities["sys"]
    service.servers_there.append(Thing(44, 54, "zone1"))
    approved = approve()
    given = happens(service)
    asked = replace(ASKED, **given) if isinstance(given, dict) else ASKED
    with pytest.raises(PlanChanged) as refusal:
        run(approved, asked)
    assert words in str(refusal.value)
    assert str(refusal.value).startswith("Nothing was sent, since approved_plan plan.json does not fit any more (")
    assert "make a new plan with fleet_restart_plan_file, and have it approved" in str(refusal.value)
    assert service.posts == []


def test_fifteen_changes_and_more_are_tried():
    assert len(CHANGES) >= 15


def test_server_that_needed_no_restart_and_needs_one_now_is_named(service, approve, run):
    asked = replace(ASKED, change=None, started_before=at(0))
    thing(41, started=60.0)(service)
    service.passes(100)
    approved = approve(asked)
    assert waves(approved) == [[ADDRESSES[1]], [ADDRESSES[2]]]
    thing(41, started=-3600.0)(service)
    with pytest.raises(PlanChanged, match=r"10\.1\.0\.1:2882 needs a restart now \(.*\), in the plan it needs no"):
        run(approved, asked)
    assert service.posts == []


def test_unchanged_plan_is_run_in_its_waves(service, approve, run):
    service.servers_there.append(Thing(44, 54, "zone2"))
    asked = replace(ASKED, servers=[*LISTED, ("orders", "44")])
    approved = approve(asked)
    found = run(approved, asked)
    assert [server["server"] for wave in approved["waves"] for server in wave["servers"]] == [
        ADDRESSES[0], ADDRESSES[1], "10.1.0.4:2882", ADDRESSES[2],
    ]  # fmt: skip
    assert restarted(service) == [41, 42, 44, 43]
    assert found["plan"]["digest"] == approved["digest"]
    assert waves(found["plan"]) == waves(approved)
    assert f"approved plan, unchanged: {approved['digest']}" in run.lines


def test_waves_are_those_of_the_file_even_if_another_plan_would_do(service, approve, run):
    """Such as one that a newer version makes."""
    approved = approve()
    turned = sealed({**approved, "waves": [{**wave, "number": n} for n, wave in enumerate(approved["waves"][::-1], 1)]})
    run(turned)
    assert restarted(service) == [43, 42, 41]


def test_interrupted_run_goes_on_with_its_plan(service, approve, run):
    approved = approve()

    def interrupt():
        service.after_restart = lambda: None
        raise KeyboardInterrupt

    service.after_restart = interrupt
    with pytest.raises(KeyboardInterrupt):
        run(approved)
    service.passes(60)
    assert restarted(service) == [41]
    found = run(approved)
    assert restarted(service) == [41, 42, 43]
    assert waves(found["plan"]) == [[ADDRESSES[1]], [ADDRESSES[2]]]
    assert [wave["number"] for wave in found["plan"]["waves"]] == [1, 2]
    again = run(approved)
    assert (again["changed"], restarted(service)) == (False, [41, 42, 43])


def test_restart_of_a_planned_server_that_runs_still_is_progress(service, approve):
    approved = approve()
    service.begin(SERVER, [service.servers_there[1]])
    service.servers_there[1].status = "RESTARTING"
    now = approve()
    assert list(differences(approved, now, {31})) == []
    assert "status RESTARTING" in " ".join(differences(approved, now, ()))


def test_restart_of_a_planned_server_that_somebody_else_has_begun_is_waited_for(service, approve, run):
    asked = replace(ASKED, change=None, started_before=at(-60))
    approved = approve(asked)
    service.begin(SERVER, [service.servers_there[0]], seconds=30.0)
    thing(41, status="RESTARTING")(service)
    service.after_restart = lambda: thing(41, status=None)(service)
    found = run(approved, asked)
    assert {one["name"]: one["verified"] for one in found["servers"]} == dict.fromkeys(ADDRESSES, True)
    assert restarted(service) == [42, 43]


def test_server_that_was_down_and_that_the_plan_has_brought_back_is_progress(service, approve, run):
    service.servers_there[0].status = "STOPPED"
    approved = approve()
    assert waves(approved)[0] == [ADDRESSES[0]]
    service.after_restart = lambda: thing(41, status=None)(service)
    run(approved)
    again = run(approved)
    assert again["changed"] is False
    thing(41, status="STOPPED")(service)
    thing(42, status="STOPPED")(service)
    with pytest.raises(PlanChanged, match=r"server 10\.1\.0\.2:2882 has the status STOPPED now"):
        run(approved)


def test_server_of_the_plan_that_is_down_after_its_restart_is_named(service, approve, run):
    approved = approve()
    run(approved)
    thing(41, status="UNAVAILABLE")(service)
    with pytest.raises(PlanChanged, match=r"server 10\.1\.0\.1:2882 has the status UNAVAILABLE now"):
        run(approved)
    assert restarted(service) == [41, 42, 43]


def test_each_restart_is_judged_right_before_its_request(service, approve, run):
    """Such as one that would go down together with a server that went down during the run."""
    approved = approve()

    def goes_down():
        service.after_restart = lambda: None
        thing(43, status="STOPPED")(service)

    service.after_restart = goes_down
    with pytest.raises(NotAllRestarted):
        run(approved)
    assert restarted(service) == [41]


def test_plan_that_refuses_a_server_is_written_and_never_run(service, approve, run):
    service.localities["test"] = "FULL{1}@zone2"
    approved = approve()
    assert [server["server"] for server in approved["refused"]] == [ADDRESSES[1]]
    assert "Tenant test would lose its majority" in approved["message"]
    with pytest.raises(NotAllRestarted, match="cannot be down at all"):
        run(approved)
    assert service.posts == []


def test_check_mode_names_the_digest_and_changes_nothing(service, approve, run):
    approved = approve()
    run(approved, check_mode=True)
    assert service.posts == []
    assert f"approved plan, unchanged: {approved['digest']}" in run.lines


def test_run_that_writes_its_plan_restarts_nothing_and_the_same_state_has_the_same_digest(service, approve, run):
    kept = []
    found = run(keep=kept.append)
    assert (service.posts, found["changed"]) == ([], False)
    assert kept[0]["digest"] == approve()["digest"] == found["plan"]["digest"]
    assert f"plan: {kept[0]['digest']}" in run.lines
    assert any(line.startswith("would restart 3 servers in 3 waves") for line in run.lines)


def test_plan_tells_who_loses_a_voter_for_how_long(service, approve):
    service.begin(SERVER, [service.servers_there[0]], ago=300.0, seconds=42.0)
    service.passes(0)
    found = approve()
    assert [wave["tenants_without_a_voter"] for wave in found["waves"]] == [
        [{"cluster": "orders", "zone": zone, "tenants": ["sys"]}] for zone in ("zone1", "zone2", "zone3")
    ]
    assert ([wave["seconds"] for wave in found["waves"]], found["seconds"], found["requests"]) == ([42.0] * 3, 126.0, 3)


def test_duration_is_null_if_no_past_restart_is_shown(approve):
    found = approve()
    assert ([wave["seconds"] for wave in found["waves"]], found["seconds"]) == ([None] * 3, None)


@pytest.mark.parametrize(("given", "wanted"), [(ROLLING, FLEET), (FLEET, ROLLING)])
def test_plan_of_another_kind_is_refused(given, wanted):
    text = plan_text(sealed({"kind": given, "options": {}}))
    with pytest.raises(OptionError, match=f"plan.json is a plan for {given}, not for {wanted}; give the file of this"):
        parsed_plan(text, wanted, "approved_plan: plan.json")


def test_file_that_somebody_has_edited_is_refused(approve):
    edited = plan_text(approve()).replace("10.1.0.3", "10.1.0.7")
    with pytest.raises(OptionError, match="was edited: its content has the digest sha256:"):
        parsed_plan(edited, FLEET, "approved_plan: plan.json")


def test_server_that_no_plan_has_is_named_as_without_a_plan(approve, run):
    with pytest.raises(TargetError, match=r"servers: .*10\.9\.9\.9:2882"):
        run(approve(), replace(ASKED, servers=[*LISTED, ("orders", "10.9.9.9:2882")]))


def test_order_of_the_list_is_no_change(service, approve, run):
    run(approve(), replace(ASKED, servers=LISTED[::-1]))
    assert restarted(service) == [41, 42, 43]
