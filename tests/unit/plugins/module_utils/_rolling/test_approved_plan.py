# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A plan that is approved: what has changed since is named and nothing is sent; its own progress is no change."""

from __future__ import annotations

import json
import stat
from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import Hints
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotAllRestarted,
    OptionError,
    PlanChanged,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.approved_plan import (
    ROLLING,
    check_unchanged,
    differences,
    digest_of,
    parsed_plan,
    plan_text,
    sealed,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.cluster_run import ClusterRun
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.plan_basis import Approval
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.plan_file import read_plan, write_plan
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import (
    RollingRequest,
    plan_rolling_restart,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_run import RollingRun, roll_clusters
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.caps import Caps
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import Sign, Watch
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER, StaticParameter, at
from ansible_collections.oceanbase.ocp.tests.unit.support.plan_changes import (
    add_server,
    fields,
    locality,
    option,
    restarted,
    tenant,
    thing,
)

ASKED = RollingRequest(["orders"], None, None, 1, Strategy.SERVER, None, change="memory")
HINTS = Hints({"change": "rolling_restart_change"})
NEW_LOCALITY = "FULL{1}@zone1, FULL{1}@zone2"


@pytest.fixture
def approve(service):
    """The plan as its file has it."""

    def run(asked=ASKED):
        kept = []
        plan = plan_rolling_restart(
            service, replace(asked, approval=Approval(keep=kept.append, hints=HINTS)), service.time.clock
        )
        assert plan["digest"] == kept[0]["digest"]
        return parsed_plan(plan_text(kept[0]), ROLLING, "approved_plan: plan.json")

    return run


@pytest.fixture
def roll(service):
    def run(approved=None, asked=ASKED, *, check_mode=False, pause_file=None, keep=None):
        run.lines = []
        policy = PollPolicy(7200, 10, run.show, announce=run.show)
        if approved is not None or keep is not None:
            asked = replace(asked, approval=Approval(approved, "approved_plan plan.json", keep, HINTS))
        restart = RestartRequest(
            check_mode,
            True,
            policy,
            asked.started_before,
            change=asked.change,
            safety=Safety(healthy=True),
            safety_timeout=60,
            until_effective=asked.until_effective,
        )
        each = ClusterRun(asked, restart, True, pause_file=pause_file)
        return roll_clusters(service, RollingRun(each, 0, None), service.time.clock)

    run.show = lambda line, _failed: run.lines.append(line.strip())
    return run


# What happens between the plan and its run, and the words by which it is named.
CHANGES = {
    "a server moved": (thing(42, zone="zone3"), "server 10.1.0.2:2882 has the zone zone3 now, the plan has zone2"),
    "a server in a new zone": (thing(43, zone="zone9"), "server 10.1.0.3:2882 has the zone zone9 now"),
    "a server in no zone": (thing(43, zone=""), 'server 10.1.0.3:2882 has the zone "" now'),
    "another address": (fields(moved_to={43: "10.1.0.9"}), "server 10.1.0.3:2882 is gone"),
    "an address that is new": (fields(moved_to={43: "10.1.0.9"}), "server 10.1.0.9:2882 is new"),
    "another id": (thing(43, id=48), "server 10.1.0.8:2882 is new"),
    "a server joined": (add_server(44, "zone1"), "server 10.1.0.4:2882 is new"),
    "a server left": (lambda service: service.servers_there.pop(), "server 10.1.0.3:2882 is gone"),
    "a voter down": (thing(43, status="STOPPED"), "server 10.1.0.3:2882 has the status STOPPED now"),
    "a voter not reached": (thing(43, status="UNAVAILABLE"), "server 10.1.0.3:2882 has the status UNAVAILABLE now"),
    "a voter deleted": (thing(42, status="DELETING"), "server 10.1.0.2:2882 has the status DELETING now"),
    "a server in another IDC": (fields(idcs={42: "idc9"}), "server 10.1.0.2:2882 has the IDC idc9 now"),
    "the root server": (thing(43, root_server=True), "the root server is"),
    "a tenant created": (tenant("shop"), "tenant shop is new"),
    "a tenant dropped": (lambda service: service.localities.pop("app"), "tenant app is gone"),
    "a tenant of two zones": (locality("app", NEW_LOCALITY), "tenant app has the voters"),
    "a locality": (locality("app", "FULL{1}@zone1, FULL{1}@zone2, READONLY{1}@zone3"), "tenant app has the locality"),
    "a primary zone": (tenant("app", primaryZone="zone2"), "tenant app has the primary zone zone2 now"),
    "a tenant made anew": (tenant("app", id=599), "tenant app has the id 599 now, the plan has 502"),
    "another change": (option(change="disk"), "rolling_restart_change is disk now, the plan has memory"),
    "an instant": (option(started_before=at(-600)), "started_before is 2"),
    "another value": (option(until_effective={"stack_size": "6M"}), 'until_effective is {"stack_size": "6M"} now'),
    "a batch": (option(batch=2), "batch is 2 now, the plan has 1"),
    "canaries": (option(canary=1), "canary is 1 now, the plan has 0"),
    "the strategy": (option(strategy=Strategy.ZONE), "strategy is zone now, the plan has server"),
    "fewer zones": (option(zones=["zone1"]), 'zones is ["zone1"] now, the plan has null'),
    "fewer servers": (option(servers=["41"]), 'servers is ["41"] now, the plan has null'),
    "no safety": (option(majority=False), "safety is none now, the plan has majority"),
    "an outage": (option(tolerated=["app"]), 'tolerate_outage_of is ["app"] now, the plan has []'),
    "a cap": (option(caps=Caps({"idc": 1})), 'most_down is {"idc": 1} now, the plan has {}'),
    "signs of trouble": (option(watch=Watch(frozenset({Sign.LAG}), 5)), 'stop_on is ["lag"] now, the plan has []'),
    "least zones": (option(min_zones=2), "min_zones is 2 now, the plan has 0"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_since_the_plan_is_named_and_nothing_is_sent(service, approve, roll, name):
    happens, words = CHANGES[name]
    service.localities["app"] = service.localities["sys"]
    service.parameters["stack_size"] = StaticParameter("4M", "6M")
    approved = approve()
    given = happens(service)
    asked = replace(ASKED, **given) if isinstance(given, dict) else ASKED
    with pytest.raises(PlanChanged) as refusal:
        roll(approved, asked)
    assert words in str(refusal.value)
    assert str(refusal.value).startswith("Nothing was sent, since approved_plan plan.json does not fit any more (")
    assert service.posts == []


def test_thirty_changes_and_more_are_tried():
    assert len(CHANGES) >= 30


def test_value_that_somebody_sets_on_a_server_is_named(service, approve, roll):
    service.parameters["stack_size"] = StaticParameter("4M", "5M")
    asked = replace(ASKED, until_effective={"stack_size": "5M"})
    approved = approve(asked)
    service.parameters["stack_size"] = StaticParameter("3M", "5M")
    with pytest.raises(PlanChanged, match=r"server 10\.1\.0\.1:2882 shows stack_size=3M now, the plan has 4M"):
        roll(approved, asked)
    assert service.posts == []


def test_of_many_differences_fifty_are_named_and_the_rest_counted(approve):
    approved = approve()
    servers = [{**approved["clusters"][0]["servers"][0], "name": f"10.2.0.{n}:2882", "id": n} for n in range(60)]
    now = {**approved, "clusters": [{**approved["clusters"][0], "servers": servers}]}
    found = list(differences(approved, now))
    assert len(found) == 63
    with pytest.raises(PlanChanged, match=r"\(63 differences\):\n(- .*\n){50}- and 13 more\n"):
        check_unchanged(approved, now, "approved_plan plan.json", (), str)


def test_unchanged_plan_is_run_in_its_order(service, approve, roll):
    approved = approve()
    found = roll(approved)
    assert restarted(service) == [one["id"] for batch in approved["batches"] for one in batch["servers"]]
    assert found["plan"]["digest"] == approved["digest"]
    assert f"approved plan, unchanged: {approved['digest']}" in roll.lines


def test_interrupted_run_goes_on_with_its_plan_and_keeps_its_canary(service, approve, roll):
    asked = replace(ASKED, canary=1)
    approved = approve(asked)
    service.after_restart = lambda: setattr(service, "end", "FAILED")
    with pytest.raises(NotAllRestarted):
        roll(approved, asked)
    assert restarted(service) == [41, 42]
    service.after_restart, service.end = lambda: None, "SUCCESSFUL"
    service.jobs[-1].end = "SUCCESSFUL"
    service.servers_there[1].operated_by = None
    service.servers_there[1].started = service.now
    service.passes(60)
    found = roll(approved, asked)
    assert restarted(service)[2:] in ([43], [42, 43])
    assert not any(batch["canary"] for batch in found["plan"]["batches"])


def test_restart_of_a_planned_server_that_runs_still_is_progress(service, approve, roll):
    approved = approve()
    roll(approved, pause_file=None, check_mode=True)

    def interrupt():
        raise KeyboardInterrupt

    service.after_restart = interrupt
    with pytest.raises(KeyboardInterrupt):
        roll(approved)
    service.after_restart = lambda: None
    service.begin(SERVER, [service.servers_there[1]])
    service.servers_there[1].status = "RESTARTING"
    now = approve()
    assert list(differences(approved, now, {31})) == []
    assert "status RESTARTING" in " ".join(differences(approved, now, ()))


def test_restarted_server_may_serve_again_and_is_named_if_it_is_down(service, approve):
    service.servers_there[0].status = "STOPPED"
    approved = approve()
    [cluster] = approved["clusters"]

    def found(status):
        servers = [{**one, "needed": False, "status": status} for one in cluster["servers"]]
        return list(differences(approved, {**approved, "clusters": [{**cluster, "servers": servers}]}))

    assert found("RUNNING") == []
    assert "server 10.1.0.2:2882 has the status UNAVAILABLE now, the plan has RUNNING" in " ".join(found("UNAVAILABLE"))
    assert "server 10.1.0.1:2882 has the status UNAVAILABLE now, the plan has STOPPED" in " ".join(found("UNAVAILABLE"))


def test_root_service_that_the_restart_of_its_server_has_moved_is_no_change(service, approve):
    service.servers_there[0].root_server = True
    approved = approve()
    [cluster] = approved["clusters"]
    moved = [{**one, "root": one["name"] == "10.1.0.2:2882"} for one in cluster["servers"]]
    root = next(place for place, one in enumerate(cluster["servers"]) if one["root"])

    def found(busy=(), **of_root):
        servers = [{**one, **(of_root if place == root else {})} for place, one in enumerate(moved)]
        return list(differences(approved, {**approved, "clusters": [{**cluster, "servers": servers}]}, busy))

    assert len(found()) == 1
    assert found(needed=False) == []
    assert found({31}, status="RESTARTING") == []


def test_check_mode_names_the_digest_and_changes_nothing(service, approve, roll):
    approved = approve()
    roll(approved, check_mode=True)
    assert service.posts == []
    assert f"approved plan, unchanged: {approved['digest']}" in roll.lines


def test_run_that_writes_its_plan_restarts_nothing_and_the_same_state_has_the_same_digest(service, approve, roll):
    kept = []
    roll(keep=kept.append)
    assert service.posts == []
    assert kept[0]["digest"] == approve()["digest"]
    assert f"plan: {kept[0]['digest']}" in roll.lines


def test_plan_tells_who_loses_a_voter_for_how_long(service, approve):
    service.begin(SERVER, [service.servers_there[0]], ago=300.0, seconds=42.0)
    service.passes(0)
    found = approve()
    assert [(batch["tenants_without_a_voter"], batch["seconds"]) for batch in found["batches"]] == [(["sys"], 42.0)] * 3
    assert (found["requests"], found["seconds"]) == (3, 126.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "approved_plan: plan.json is not JSON"),
        ("[]", "approved_plan: plan.json is not a plan"),
        ("{}", "approved_plan: plan.json is not a plan"),
        ('{"schema": 2, "digest": "", "kind": "x"}', "has schema 2, and this version reads 1"),
        (json.dumps(sealed({"kind": "fleet_restart", "options": {}})), "is a plan for fleet_restart, not for rolling"),
        ('{"schema": 1, "kind": "rolling_restart", "digest": "sha256:0"}', "was edited"),
    ],
)
def test_file_that_is_no_plan_is_one_sentence(text, words):
    with pytest.raises(OptionError, match=words):
        parsed_plan(text, ROLLING, "approved_plan: plan.json")


def test_file_that_somebody_has_edited_is_refused(approve):
    edited = plan_text(approve()).replace("10.1.0.3", "10.1.0.7")
    with pytest.raises(OptionError, match="was edited: its content has the digest sha256:"):
        parsed_plan(edited, ROLLING, "approved_plan: plan.json")


def test_file_is_written_whole_and_for_its_owner_alone(tmp_path, approve):
    path, plan = tmp_path / "plan.json", approve()
    path.write_text("old")
    write_plan(str(path), plan, "plan_file")
    assert (stat.S_IMODE(path.stat().st_mode), [*tmp_path.iterdir()]) == (0o600, [path])
    assert read_plan(str(path), ROLLING, "approved_plan") == plan
    with pytest.raises(OptionError, match=r"plan_file: .*/none/plan\.json cannot be written"):
        write_plan(str(tmp_path / "none" / "plan.json"), plan, "plan_file")
    with pytest.raises(OptionError, match=r"approved_plan: .*/other cannot be read"):
        read_plan(str(tmp_path / "other"), ROLLING, "approved_plan")


def test_digest_does_not_depend_on_the_order_of_keys():
    assert digest_of({"a": 1, "b": [2]}) == digest_of({"b": [2], "a": 1}) != digest_of({"a": 1, "b": [3]})


def test_run_pauses_after_its_batch_and_goes_on_when_the_file_is_gone(service, roll, tmp_path):
    pause = tmp_path / "pause"
    service.after_restart = lambda: pause.write_text("")
    found = roll(pause_file=str(pause))
    assert restarted(service) == [41]
    assert found["postponed"] == f"{pause} is there; remove it, then run the same command again"
    assert found["untouched"] == ["10.1.0.2:2882", "10.1.0.3:2882"]
    assert any(line.startswith("Left for the next run, since") for line in roll.lines)
    service.after_restart = lambda: None
    assert roll(pause_file=str(pause))["changed"] is False
    pause.unlink()
    roll(pause_file=str(pause))
    assert restarted(service) == [41, 42, 43]
