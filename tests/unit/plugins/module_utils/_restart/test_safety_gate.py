# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a restart may take down: refusals, waits, what is read for them, and what a whole cluster's restart tells."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    NotSafe,
    RequestRefused,
    ResponseUnreadable,
    TargetBusy,
    TaskFailed,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import note_first_use, restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import Sign, Watch
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import ARBITRATION as ARBITRATION_TASK
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import (
    CLUSTER,
    FULL3,
    URL,
    Thing,
    at,
    refused,
    unreadable,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER as SERVER_TASK
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import ORDERS, RESTART_CASES, RestartCase

SERVER, ZONE, ALL = (RESTART_CASES[name] for name in ("server", "zone", "cluster"))
ARBITER = RestartCase(ArbitrationService(61, "10.1.0.8:2888", (31,)), ("arbitration", 61), "", lambda s: s.arbitration)
FULL2 = "FULL{1}@zone1, FULL{1}@zone2"
FULL4 = "FULL{1}@zone1, FULL{1}@zone2, FULL{1}@zone3, FULL{1}@zone4"
parts = pytest.mark.parametrize("case", [SERVER, ZONE], ids=["server", "zone"])


def restart(
    service, case=SERVER, *, tolerated=(), seconds=0, check_mode=False, started_before=None, wait=False, max_lag=None
):
    shown = []
    policy = PollPolicy(60, 10, lambda line, _failed: shown.append(line))
    safety = Safety(frozenset(tolerated))
    watch = None if max_lag is None else Watch(frozenset({Sign.LAG}), max_lag)
    request = RestartRequest(
        check_mode, wait, policy, started_before, safety=safety, safety_timeout=seconds, watch=watch
    )
    result = restart_target(service, case, request, service.time.clock)
    return {**result, "shown": shown}


def refusal(service, case=SERVER, **options):
    with pytest.raises(NotSafe) as raised:
        restart(service, case, **options)
    assert service.posts == []
    facts = raised.value.facts
    assert (facts["changed"], facts["action"], facts["task_id"]) == (False, None, None)
    return raised.value


@parts
def test_zone_of_three_full_replicas_may_go(case, service):
    service.localities = {"sys": FULL3, "shop": FULL3}
    result = restart(service, case)
    assert (result["action"], result["warnings"]) == ("submitted", [])
    assert result["safety"] == {
        "evidence": "tenants",
        "tenants": ["sys", "shop"],
        "outages": [],
        "problems": [],
        "allowed": True,
    }


@parts
def test_refusal_names_the_tenants_what_remains_who_is_down_and_the_options(case, service):
    service.localities["shop"] = "FULL{1}@zone1, FULL{1}@zone2, FULL{1}@zone3, READONLY{1}@zone4"
    service.servers_there[1].status = "UNAVAILABLE"
    error = refusal(service, case)
    assert f"Did not restart {case.target.label}: it is not safe." in str(error)
    for tenant in ("sys", "shop"):
        assert (
            f"Tenant {tenant} would lose its majority: 1 of 3 voters would remain (zone3), and it needs 2; also, "
            "10.1.0.2:2882 is UNAVAILABLE in zone2." in str(error)
        )
    assert str(error).endswith(
        " The database may refuse a stop that takes a tenant away (-4179); its task then FAILS and holds the "
        "server. To go on, wait until the others are up again with safety_timeout=600 or allow it with "
        "tolerate_outage_of=sys,shop or ask for safety=none this time."
    )
    assert error.facts["safety"]["outages"][1] == {
        "tenant": "shop",
        "voters": 3,
        "needed": 2,
        "remaining_zones": ["zone3"],
        "restarted_zones": ["zone1"],
        "others_down": ["10.1.0.2:2882 is UNAVAILABLE in zone2"],
        "tolerated": False,
    }


# What is shown of another server, and how to go on: a longer wait starts no server that is stopped.
STOPPED_ELSEWHERE = {
    "it was stopped": ({"status": "STOPPED", "inner_status": "ACTIVE"}, " With OCP_URL"),
    "it restarts": ({"status": "RESTARTING"}, " To go on, wait until "),
}


@pytest.mark.parametrize(("shown", "ways"), STOPPED_ELSEWHERE.values(), ids=STOPPED_ELSEWHERE)
@pytest.mark.parametrize("case", [SERVER, ZONE], ids=["server", "zone"])
def test_outage_that_the_database_would_refuse_is_not_proposed_to_be_tolerated(shown, ways, case, service):
    for name, value in shown.items():
        setattr(service.servers_there[1], name, value)
    error = str(refusal(service, case)).replace("\n", " ")
    assert "The database would refuse it, too, since 10.1.0.2:2882 is " in error
    assert f" in zone2 (-4660).{ways}" in error
    assert "allow it" not in error
    assert "would refuse to stop it, since 10.1.0.2:2882 is " in str(refusal(service, case, tolerated=["sys", "shop"]))


def test_tenants_that_are_tolerated_already_stay_in_the_option_that_is_proposed(service):
    service.localities |= {"shop": "FULL{1}@zone1", "cart": "FULL{1}@zone1", "blog": "FULL{1}@zone1"}
    words = str(refusal(service, tolerated=["shop", "blog"]))
    assert "allow it with tolerate_outage_of=blog,shop,cart or" in words


def test_check_mode_refuses_and_says_the_same(service):
    service.localities["shop"] = "FULL{1}@zone1"
    checked = refusal(service, check_mode=True, seconds=60)
    assert str(checked) == str(refusal(service, seconds=60))
    assert checked.facts["safety"] == refusal(service).facts["safety"]


def test_single_replica_is_refused_at_once_even_with_time(service):
    """Nobody comes back who would help."""
    service.localities["shop"] = "FULL{1}@zone1"
    began = service.time.time
    error = refusal(service, seconds=600)
    assert service.time.time == began
    assert "Tenant shop would lose its majority: 0 of 1 voters would remain, and it needs 1." in str(error)
    assert "safety_timeout" not in str(error)


def test_tolerated_tenant_may_go_and_is_told(service):
    service.localities["shop"] = "FULL{1}@zone1"
    result = restart(service, tolerated=["shop", "shpo"])
    assert result["action"] == "submitted"
    [outage] = result["safety"]["outages"]
    assert (outage["tenant"], outage["tolerated"]) == ("shop", True)
    assert result["warnings"] == ["tolerate_outage_of: no tenant of cluster orders has the name shpo."]


@pytest.mark.parametrize("word", ["STOPPED", "UNAVAILABLE"])
def test_refusal_for_a_server_that_was_stopped_ends_with_what_starts_it(service, word):
    service.servers_there[1].status = word
    end = str(refusal(service)).splitlines()[1:]
    command = (
        "ansible localhost -m oceanbase.ocp.server_restart -a "
        "'cluster=31 server=10.1.0.2:2882 freeze_server=false wait=true detail=compact'"
    )
    assert end == (
        [
            "With OCP_URL and the credentials in the environment:",
            f"  Start 10.1.0.2:2882 by a restart: {command}",
            "Then run the same command again.",
        ]
        if word == "STOPPED"
        else []
    )


@pytest.mark.parametrize("is_ours", [False, True], ids=["of somebody else", "of this controller"])
def test_refusal_for_a_server_that_a_failed_task_holds_ends_with_what_releases_it(is_ours, service):
    service.end = "FAILED"
    if is_ours:
        other = replace(SERVER, target=Server(42, "10.1.0.2:2882", ORDERS, 52, "zone2", True, True, False))
        with pytest.raises(TaskFailed):
            restart(service, other, wait=True)
    else:
        service.restart_server(31, 42, freeze_server=True, force=False)
        service.passes(60)
    service.posts.clear()
    service.servers_there[1].status, service.servers_there[1].operated_by = "RESTARTING", 1001
    first, *end = str(refusal(service)).splitlines()
    assert "10.1.0.2:2882 is RESTARTING (FAILED task 1001 holds it) in zone2" in first
    assert "safety_timeout" not in first
    assert [line.partition(":")[0].strip() for line in end] == [
        "With OCP_URL and the credentials in the environment",
        "Show why 1001 FAILED",
        "Retry what failed",
        "Skip this subtask, leaving its work undone",
        "Roll the task back",
        "Then run the same command again.",
    ]


def test_misspelt_tenant_is_named_in_the_refusal(service):
    service.localities["shop"] = "FULL{1}@zone1"
    error = refusal(service, tolerated=["shpo"])
    assert "not safe. tolerate_outage_of: no tenant of cluster orders has the name shpo. Tenant shop" in str(error)


def test_tenant_whose_units_are_elsewhere_is_no_hindrance(service):
    service.servers_there.append(Thing(44, 54, "zone1"))
    service.localities["shop"] = "FULL{1}@zone1"
    service.units["shop"] = {"zone1": [44]}
    result = restart(service)
    assert (result["action"], result["safety"]["evidence"]) == ("submitted", "units")
    service.units["shop"] = {"zone1": [41, 44]}
    service.passes(100)
    service.posts.clear()
    refusal(service)


def test_servers_are_seen_again_after_units_were_read(service):
    """Meanwhile another one may have gone down."""
    service.servers_there.append(Thing(44, 54, "zone1"))
    service.localities["shop"] = "FULL{1}@zone1"
    service.units["shop"] = {"zone1": [44]}
    read_tenant = service.tenant

    def slow(*ids):
        service.servers_there[1].status = "UNAVAILABLE"
        return read_tenant(*ids)

    service.tenant = slow
    assert "Tenant sys would" in str(refusal(service))


def test_two_full_replicas_and_an_arbiter_may_lose_one(service):
    service.localities = {"sys": FULL2, "shop": FULL2}
    service.arbitrated = {"sys": [], "shop": []}
    assert restart(service)["action"] == "submitted"
    service.arbitrated["shop"] = [1001]
    service.posts.clear()
    service.passes(100)
    assert "its log streams are degraded" in str(refusal(service))


def test_arbiter_that_is_down_does_not_count(service):
    service.localities, service.arbitrated = {"sys": FULL2}, {"sys": []}
    service.arbitration[0].status = "UNAVAILABLE"
    assert "arbitration service 10.1.0.8:2888 is UNAVAILABLE" in str(refusal(service))


def test_stopped_arbitration_service_is_to_be_started_and_not_waited_for(service):
    service.localities, service.arbitrated = {"sys": FULL2}, {"sys": []}
    service.arbitration[0].status = "STOPPED"
    message = str(refusal(service))
    command = "ansible localhost -m oceanbase.ocp.arbitration_service_restart -a 'arbitration_service=10.1.0.8:2888"
    assert f"\n  Start arbitration service 10.1.0.8:2888 by a restart: {command} " in message
    assert message.endswith("\nThen run the same command again.")
    assert "safety_timeout" not in message


def test_restart_of_an_arbiter_is_nothing_that_the_database_refuses(service):
    service.localities, service.arbitrated = {"sys": FULL2}, {"sys": []}
    service.servers_there[1].status = "UNAVAILABLE"
    service.servers_there[1].inner_status = "INACTIVE"
    assert "-4179" not in str(refusal(service, ARBITER))


def test_last_serving_replica_beside_an_arbiter_is_not_restarted(service):
    service.localities, service.arbitrated = {"sys": FULL2}, {"sys": []}
    service.servers_there[1].status = "UNAVAILABLE"
    error = refusal(service)
    assert "Tenant sys would lose its majority: 0 of 2 voters would remain, and it needs 1; also, 10.1.0.2:2882" in str(
        error
    )
    assert service.calls.count("arbitration_services") == 1


def test_second_server_does_not_follow_while_the_first_one_is_inactive_and_degraded(service):
    service.localities, service.arbitrated = {"sys": FULL2}, {"sys": [1001]}
    service.servers_there[1].inner_status = "INACTIVE"
    assert "10.1.0.2:2882 is RUNNING and INACTIVE in zone2, its log streams are degraded" in str(refusal(service))


def test_four_full_replicas_with_a_degraded_half_may_not_lose_one(service):
    service.servers_there.append(Thing(44, 54, "zone4"))
    service.localities, service.arbitrated = {"sys": FULL4}, {"sys": [1001]}
    words = "would lose its majority: at most 2 of 4 voters count, since log streams are degraded, and it needs 3."
    assert words in str(refusal(service))
    service.arbitrated = {"sys": []}
    service.passes(100)
    assert restart(service)["action"] == "submitted"


def test_last_two_of_four_full_replicas_beside_an_arbiter_are_not_restarted(service):
    service.servers_there.append(Thing(44, 54, "zone4"))
    service.localities, service.arbitrated = {"sys": FULL4}, {"sys": []}
    service.servers_there[1].status = service.servers_there[2].status = "STOPPED"
    assert "1 of 4 voters would remain (zone4), and it needs 2" in str(refusal(service))


def test_server_that_is_shown_as_down_and_active_may_serve(service):
    service.servers_there[0].status, service.servers_there[0].inner_status = "UNAVAILABLE", "ACTIVE"
    assert restart(service)["action"] == "submitted"
    service.passes(100)
    service.posts.clear()
    service.servers_there[0].operated_by = None
    service.servers_there[0].status, service.servers_there[0].inner_status = "UNAVAILABLE", "ACTIVE"
    service.servers_there[1].status = "UNAVAILABLE"
    assert str(refusal(service)).startswith(
        "Did not restart server 10.1.0.1:2882 (id 41) of cluster orders (id 31): it is not safe. Tenant sys would lose "
        "its majority: 1 of 3 voters would remain (zone3), and it needs 2; also, 10.1.0.2:2882 is UNAVAILABLE in "
        "zone2; 10.1.0.1:2882 is UNAVAILABLE and ACTIVE, so it may serve."
    )


def test_arbiters_that_cannot_be_read_may_help_the_last_replica(service):
    service.localities = {"sys": FULL2}
    service.failing["arbitration_services"] = [refused(404)] * 4
    service.servers_there[1].status = "UNAVAILABLE"
    error = refusal(service, seconds=0)
    assert "0 of 2 voters would remain, and it needs 2" in str(error)


def test_zones_stand_for_tenants_that_may_have_an_arbiter(service):
    """Tenants cannot be read; the arbitration service shows that some of the cluster have it."""
    service.servers_there.pop()
    service.failing["tenants"] = [refused(403)] * 9
    service.servers_there[1].status = "UNAVAILABLE"
    assert restart(service)["action"] == "submitted"
    service.passes(100)
    service.posts.clear()
    service.arbitrated = {"shop": []}
    assert "0 of 2 zones would remain" in str(refusal(service))


def test_restart_of_three_full_replicas_reads_no_arbitration_services(service):
    service.arbitrated = {"sys": []}
    assert restart(service)["action"] == "submitted"
    assert not {"tenant", "arbitration_services"} & set(service.calls)


def test_unit_that_moves_may_be_on_any_server_of_its_zone(service):
    service.servers_there.append(Thing(44, 54, "zone1"))
    service.localities["shop"] = "FULL{1}@zone1"
    units = [{"serverId": 44, "status": "ACTIVE"}]
    zones = [{"name": "zone1", "replicaType": "FULL", "units": units}]
    service.tenant = lambda _cluster, _tenant: {"id": 502, "name": "shop", "zones": zones}
    assert restart(service)["action"] == "submitted"
    service.passes(100)
    service.posts.clear()
    units[0]["status"] = "MIGRATING"
    assert "Tenant shop would" in str(refusal(service))


def test_arbiter_that_a_task_works_on_does_not_count(service):
    service.localities, service.arbitrated = {"sys": FULL2}, {"sys": []}
    read = service.arbitration_services
    service.arbitration_services = lambda: [{**one, "operatingTaskInstanceId": 77} for one in read()]
    assert "arbitration service 10.1.0.8:2888 is RUNNING (task 77)" in str(refusal(service))


def test_arbiter_that_two_replicas_need_is_not_restarted(service):
    service.localities, service.arbitrated = {"sys": FULL2}, {"sys": []}
    assert restart(service, ARBITER)["action"] == "submitted"
    service.passes(100)
    service.posts.clear()
    service.servers_there[1].status = "UNAVAILABLE"
    error = refusal(service, ARBITER)
    assert "Tenant sys would lose its majority: 1 of 2 voters would remain (zone1), and it needs 2" in str(error)


def test_arbiter_of_three_full_replicas_may_go(service):
    service.arbitrated = {"sys": []}
    service.servers_there[1].status = "UNAVAILABLE"
    assert restart(service, ARBITER)["action"] == "submitted"


def test_arbiter_without_clusters_may_go_without_evidence(service):
    unused = replace(ARBITER, target=ArbitrationService(61, "10.1.0.8:2888", ()))
    result = restart(service, unused)
    assert (result["action"], result["safety"]["evidence"], result["safety"]["tenants"]) == ("submitted", None, [])


def test_dead_server_is_restarted_whatever_is_down(service):
    for thing in service.servers_there[:2]:
        thing.status = "UNAVAILABLE"
    assert restart(service)["action"] == "submitted"


@pytest.mark.parametrize("error", [refused(404), refused(403), refused(400), refused(405)])
def test_zones_decide_where_tenants_cannot_be_read(error, service):
    service.failing["tenants"] = [error, error]
    result = restart(service)
    assert (result["action"], result["safety"]["evidence"]) == ("submitted", "zones")
    assert any("the tenants of cluster 31 cannot be read" in warning for warning in result["warnings"])
    service.passes(100)
    service.posts.clear()
    service.servers_there[1].status = "STOPPED"
    message = str(refusal(service))
    assert "The cluster would lose its majority: 1 of 3 zones would remain (zone3), and it needs 2" in message
    assert "safety_timeout" not in message
    assert message.endswith("detail=compact'\nThen run the same command again.")


def test_list_without_sys_is_not_the_whole(service):
    service.localities = {}
    assert restart(service)["safety"]["evidence"] == "zones"
    service.localities = {"shop": "FULL{1}@zone2"}
    service.servers_there[2].status = "UNAVAILABLE"
    service.posts.clear()
    service.passes(100)
    assert "The cluster would lose its majority" in str(refusal(service))


def test_tenants_of_other_clusters_do_not_count(service):
    tenants = service.tenants

    def with_others(number):
        return [*tenants(number), {"id": 9, "name": "far", "clusterId": 32, "locality": "FULL{1}@zone1"}]

    service.tenants = with_others
    assert restart(service)["safety"]["tenants"] == ["sys"]


@pytest.mark.parametrize("error", [refused(500), refused(401)])
def test_passing_failure_is_no_licence(error, service):
    service.failing["tenants"] = [error]
    with pytest.raises(RequestRefused, match="cannot be read"):
        restart(service)
    assert service.posts == []


def test_refused_credentials_are_not_used_again(service):
    """Each attempt counts towards the lock of the account."""
    service.failing["tenants"] = [refused(401)] * 9
    with pytest.raises(AuthenticationFailed):
        restart(service)
    assert service.calls[-1] == "tenants"
    assert service.posts == []


def test_status_of_500_that_names_the_path_says_that_there_is_no_such_call(service):
    url = f"{URL}/api/v2/ob/clusters/31/tenants"
    reason = "No handler for GET /api/v2/ob/clusters/31/tenants"
    service.failing["tenants"] = [RequestRefused(f"Refused: {reason}", status=500, reason=reason, url=url)]
    result = restart(service)
    assert (result["action"], result["safety"]["evidence"]) == ("submitted", "zones")
    assert "the tenants of cluster 31 cannot be read" in result["warnings"][0]


def test_page_in_place_of_an_answer_is_asked_again(service):
    service.failing["tenants"] = [unreadable()]
    result = restart(service)
    assert (result["safety"]["evidence"], result["warnings"]) == ("tenants", [])


def test_locality_that_is_not_understood_is_told_by_the_units(service):
    service.localities["shop"] = "FULL"
    zones = [{"name": f"zone{n}", "replicaType": "FULL", "units": [{"serverId": 40 + n}]} for n in (1, 2, 3)]
    service.tenant = lambda _cluster, _tenant: {"id": 502, "name": "shop", "zones": zones}
    tenants = service.tenants
    service.tenants = lambda number: [{**one, "zoneList": "zone1;zone2;zone3"} for one in tenants(number)]
    assert restart(service)["safety"]["evidence"] == "units"
    del zones[1]["replicaType"]
    del zones[2]["replicaType"]
    service.posts.clear()
    service.passes(100)
    assert "Tenant shop would" in str(refusal(service))


def test_waits_until_it_is_safe(service):
    service.begin(SERVER_TASK, service.servers_there[1:2], seconds=50)
    result = restart(service, seconds=120)
    assert (result["action"], len(service.posts)) == ("submitted", 1)
    assert 50 <= service.time.time - service._opened < 120
    assert [line.strip() for line in result["shown"]] == [
        f"{SERVER.target.label}: not safe yet, waiting until 03:02:00+08:00 at the latest",
        "10.1.0.2:2882 is RUNNING (task 1001 (Restart OB server)) in zone2",
    ]


def test_wait_for_safety_ends(service):
    service.begin(SERVER_TASK, service.servers_there[1:2], seconds=5000)
    error = refusal(service, seconds=200)
    assert re.search(r"Waiting (199|200) seconds did not help\.", str(error))


def test_wait_for_safety_uses_up_no_wait_timeout(service):
    service.begin(SERVER_TASK, service.servers_there[1:2], seconds=100)
    assert restart(service, seconds=200, wait=True)["verified"] is True


def test_tenants_are_read_anew_after_each_wait(service):
    service.servers_there[1].status = "UNAVAILABLE"
    service.localities["shop"] = FULL3
    tenants = service.tenants

    def moving(number):
        if service.time.time - service._opened > 30:
            service.localities = {"sys": "FULL{1}@zone1,FULL{1}@zone3,FULL{1}@zone4"}
            service.servers_there[3:] = [Thing(44, 54, "zone4")]
        return tenants(number)

    service.tenants = moving
    assert restart(service, seconds=200)["action"] == "submitted"


def test_others_of_this_controller_look_while_one_waits(service):
    service.servers_there[1].status = "STARTING"
    looked = []

    def look_too():
        with journal_here().lock(["cluster 31"], service.time.clock, 0.0):
            looked.append(service.time.time)
        service.servers_there[1].status, service.servers_there[1].started = "RUNNING", service.now

    service.time.after_sleep = look_too
    assert (restart(service, seconds=60)["action"], len(looked)) == ("submitted", 1)


def test_others_of_this_controller_wait_while_one_sends(service):
    """From its last look to the noted answer."""
    refused = []

    def send_too():
        with pytest.raises(TargetBusy) as raised, journal_here().lock(["cluster 31"], service.time.clock, 0.0):
            pass
        refused.append(str(raised.value))

    service.before_post = send_too
    assert (restart(service)["action"], len(refused)) == ("submitted", 1)


def test_rest_of_a_zone_is_looked_at_too(service):
    """One of its servers has been restarted, and the other has not."""
    service.servers_there.append(Thing(44, 54, "zone1"))
    service.start_shown_late = 100.0
    service.begin(SERVER_TASK, service.servers_there[:1], ago=20, seconds=5)
    service.servers_there[1].status = "UNAVAILABLE"
    zone = Zone(71, "zone1", ORDERS, ((41, "10.1.0.1:2882"), (44, "10.1.0.4:2882")), (51, 54), True)
    case = RestartCase(zone, ("zone", (31, "zone1")), ZONE.task_name, lambda s: s.servers_there[:1])
    assert "Tenant sys would" in str(refusal(service, case, started_before=at(-30)))
    service.servers_there[1].status = None
    assert restart(service, case, started_before=at(-30))["action"] == "submitted"


def test_without_safety_nothing_is_read(service):
    service.localities["shop"] = "FULL{1}@zone1"
    request = RestartRequest(check_mode=False, wait=False, policy=PollPolicy(60, 10))
    result = restart_target(service, SERVER, request, service.time.clock)
    assert (result["action"], result["safety"]) == ("submitted", None)
    assert not {"tenants", "tenant", "arbitration_services"} & set(service.calls)


def test_skip_is_not_judged(service):
    service.servers_there[0].started = 0.0
    result = restart(service, started_before=at(-100))
    assert (result["action"], result["safety"]) == ("skipped", None)


@pytest.mark.parametrize("names_operations", [True, False])
def test_just_accepted_restart_of_this_controller_is_in_flight(names_operations, service):
    """Also where no answer shows it yet, and no task names its server."""
    service.names_operations, service.tags, service.list_lacks, service.seconds = names_operations, False, 20.0, 300
    other = RestartCase(
        type(SERVER.target)(42, "10.1.0.2:2882", SERVER.target.cluster, 52, "zone2", True, True, False),
        SERVER.post, SERVER.task_name, lambda s: s.servers_there[1:2],
    )  # fmt: skip
    assert restart(service)["action"] == "submitted"
    service.servers_there[0].operated_by = None
    service.posts.clear()
    assert "10.1.0.1:2882 is RUNNING (task 1001 of this controller) in zone1" in str(refusal(service, other))


def test_unfinished_restart_that_names_no_server_may_be_of_any(service):
    service.names_operations = service.tags = False
    service.begin(SERVER_TASK, [], seconds=300)
    with pytest.raises(TargetBusy, match=r"task 1001 \(Restart OB server\) is running"):
        restart(service, ZONE)
    assert service.posts == []


def test_cluster_restart_says_what_it_means_and_is_not_refused(service):
    service.localities = {"sys": FULL3, "shop": "FULL{1}@zone1", "empty": "READONLY{1}@zone2"}
    request = RestartRequest(check_mode=False, wait=False, policy=PollPolicy(60, 10))
    result = restart_target(service, ALL, request, service.time.clock)
    assert result["action"] == "submitted"
    assert result["reason"].endswith(
        "; OCP chooses the order of its servers, so the majority of the tenants sys, shop may be lost meanwhile"
    )
    assert [outage["tenant"] for outage in result["safety"]["outages"]] == ["sys", "shop"]
    assert service.calls.count("tenants") == 1
    assert not {"tenant", "arbitration_services"} & set(service.calls)


def test_cluster_restart_goes_on_without_its_tenants(service):
    service.failing["tenants"] = [refused(500)]
    request = RestartRequest(check_mode=True, wait=False, policy=PollPolicy(60, 10))
    result = restart_target(service, ALL, request, service.time.clock)
    assert "what that means for its tenants is not known: Refused with 500." in result["reason"]


def test_running_cluster_restart_is_joined_whatever_can_be_read_of_tenants(service):
    service.begin(CLUSTER, service.servers_there)
    service.failing["tenants"] = [refused(500)] * 9
    assert (restart(service)["action"], service.posts) == ("attached", [])


@pytest.fixture
def small(service):
    """A service with a cluster of one zone, and no tenants that are shown."""
    service.servers_there = [Thing(41, 51, "zone1"), Thing(42, 52, "zone1")]
    service.localities = {}
    return service


@parts
@pytest.mark.parametrize("count", [None, 0])
def test_cluster_of_one_zone_without_tenants_has_none_to_lose(count, case, small):
    small.tenant_count = count
    result = restart(small, case)
    assert (result["action"], result["safety"]["outages"]) == ("submitted", [])
    [warning] = result["warnings"]
    assert warning.startswith("Cluster 31 has one zone and, as far as the service shows, no tenant.")


def test_cluster_of_one_zone_without_tenants_may_hide_its_list(small):
    small.tenant_count = 0
    small.failing["tenants"] = [refused(404)]
    assert restart(small)["action"] == "submitted"


@pytest.mark.parametrize("count", [None, 2])
def test_cluster_of_one_zone_whose_tenants_cannot_be_read_is_refused(count, small):
    small.tenant_count = count
    small.failing["tenants"] = [refused(404)]
    assert "0 of 1 zones would remain" in str(refusal(small))


def test_cluster_of_one_zone_that_counts_tenants_is_refused_without_a_list_of_them(small):
    small.tenant_count = 2
    assert "0 of 1 zones would remain" in str(refusal(small))


def test_zones_decide_in_a_cluster_of_several_without_tenants(service):
    service.localities, service.tenant_count = {}, 0
    service.servers_there[1].status = "UNAVAILABLE"
    assert "1 of 3 zones would remain" in str(refusal(service))


# Five zones: a tenant keeps its majority if two of its voters are away.
FULL5 = f"{FULL4}, FULL{{1}}@zone5"


def of_five_zones(service):
    service.servers_there += [Thing(44, 54, "zone4"), Thing(45, 55, "zone5")]
    service.localities = {"sys": FULL5, "shop": FULL5}


@parts
def test_stopped_server_of_another_zone_is_told_before_the_database_refuses(case, service):
    of_five_zones(service)
    service.servers_there[3].status, service.servers_there[3].inner_status = "STOPPED", "INACTIVE"
    error = refusal(service, case)
    assert str(error).splitlines()[0] == (
        f"Did not restart {case.target.label}: the database would refuse to stop it, since 10.1.0.4:2882 is "
        "STOPPED and INACTIVE in zone4 (-4660)."
    )
    assert "  Start 10.1.0.4:2882 by a restart: ansible localhost -m " in str(error)
    problem = "10.1.0.4:2882 is STOPPED and INACTIVE in zone4 (-4660)"
    assert error.facts["safety"]["problems"] == [problem]
    assert error.facts["safety"]["allowed"] is False


@parts
def test_tenant_that_changes_is_waited_for_and_read_again(case, service):
    read, until = service.tenants, service.now + 25
    service.tenants = lambda number: [
        {**one, "status": "MODIFYING" if service.now < until else "NORMAL"} for one in read(number)
    ]
    result = restart(service, case, seconds=60)
    assert result["action"] == "submitted"
    assert any("tenant sys is MODIFYING (-4179)" in line for line in result["shown"])
    assert result["safety"]["problems"] == []


@parts
def test_tenant_that_does_not_end_its_change_is_refused(case, service):
    service.tenant_fields = {"sys": {"status": "CREATING"}}
    words = "since tenant sys is CREATING (-4179). Waiting 60 seconds did not help."
    assert words in str(refusal(service, case, seconds=60))


@parts
def test_locked_tenant_is_refused_at_once_unless_it_is_tolerated(case, service):
    service.localities["shop"] = FULL3
    service.tenant_fields = {"shop": {"locked": True, "status": "NORMAL"}}
    error = refusal(service, case, seconds=600)
    assert str(error).endswith(
        "tenant shop is locked. To go on, unlock tenant shop or leave it out with tolerate_outage_of=shop or ask for "
        "safety=none this time."
    )
    assert "tolerate_outage_of=blog,shop or" in str(refusal(service, case, tolerated=["blog"]))
    assert restart(service, case, tolerated=["shop"])["action"] == "submitted"


def test_unknown_status_of_a_tenant_is_a_warning(service):
    service.tenant_fields = {"sys": {"status": "RESTORING"}}
    result = restart(service)
    assert result["action"] == "submitted"
    assert len([warning for warning in result["warnings"] if "RESTORING" in warning]) == 1


def test_gate_of_the_database_costs_one_request_and_is_off_with_the_others(service):
    of_five_zones(service)
    restart(service)
    calls = list(service.calls)
    service.passes(100)
    service.calls.clear()
    service.servers_there[3].status, service.tenant_fields, service.lag = "STOPPED", {"sys": {"locked": True}}, 60.0
    request = RestartRequest(False, False, PollPolicy(60, 10, lambda _line, _failed: None), safety=None)
    assert restart_target(service, SERVER, request, service.time.clock)["action"] == "submitted"
    assert (calls.count("tenants"), calls.count("lag_samples")) == (1, 1)
    assert sorted(calls) == sorted([*service.calls, "tenants", "lag_samples"])


def test_server_that_is_down_is_restarted_whatever_the_database_says(service):
    of_five_zones(service)
    service.servers_there[0].status = service.servers_there[3].status = "UNAVAILABLE"
    service.tenant_fields, service.lag = {"sys": {"locked": True, "status": "MODIFYING"}}, 60.0
    assert restart(service)["action"] == "submitted"


def test_arbitration_service_is_not_stopped_by_the_database(service):
    service.tenant_fields, service.lag = {"sys": {"locked": True}}, 60.0
    service.localities = {"sys": FULL3}
    assert restart(service, ARBITER)["action"] == "submitted"
    assert restart(service, RESTART_CASES["agents"])["action"] == "submitted"
    assert restart(service, ALL)["action"] == "submitted"
    assert "lag_samples" not in service.calls


@parts
def test_replicas_that_lag_more_than_the_database_allows_are_waited_for(case, service):
    service.lag = 5.5
    error = refusal(service, case)
    assert str(error) == (
        f"Did not restart {case.target.label}: the database would refuse to stop it, since replicas lag 5.5 seconds "
        "behind, more than 5 (-4179). To go on, wait until that has ended with safety_timeout=600 this time."
    )
    assert error.facts["safety"]["problems"] == ["replicas lag 5.5 seconds behind, more than 5 (-4179)"]
    assert str(refusal(service, case, check_mode=True)) == str(error)
    assert "Waiting 60 seconds did not help." in str(refusal(service, case, seconds=60, tolerated=["sys"]))
    service.time.after_sleep = lambda: setattr(service, "lag", 5.0)
    result = restart(service, case, seconds=60)
    assert (result["action"], result["safety"]["allowed"]) == ("submitted", True)


def test_lag_is_read_before_the_look_and_once_for_the_sign_too(service):
    """Nothing is read between the look and the request."""
    assert restart(service, max_lag=30)["action"] == "submitted"
    assert service.calls.count("lag_samples") == 1
    assert service.calls.index("lag_samples") < service.calls.index("tasks")
    service.lag = 4.0
    service.passes(100)
    service.posts.clear()
    assert "lag 4 seconds behind, more than max_lag=3 (stop_on: lag)" in str(refusal(service, max_lag=3))
    service.lag = 6.0
    error = str(refusal(service, max_lag=30))
    assert "lag 6 seconds behind, more than 5 (-4179)" in error
    assert error.endswith("To go on, wait until that has ended with safety_timeout=600 this time.")


@pytest.mark.parametrize("errors", [[refused(404)], [refused(403)], [unreadable(), unreadable()], []])
def test_service_that_does_not_show_the_lag_stops_nothing_and_is_no_warning(errors, service):
    service.failing["lag_samples"] = list(errors)
    service.lag = 60.0 if errors else None
    result = restart(service)
    assert (result["action"], result["warnings"]) == ("submitted", [])
    assert service.calls.count("lag_samples") == max(1, len(errors))


def test_lag_that_is_not_shown_is_a_warning_where_the_sign_asks_for_it(service):
    service.failing["lag_samples"] = [refused(404)]
    result = restart(service, max_lag=30)
    [warning] = result["warnings"]
    assert (result["action"], service.calls.count("lag_samples")) == ("submitted", 1)
    assert "The service does not show lag of replicas (status 404), so stop_on=lag cannot check it." in warning


def test_lag_that_cannot_be_read_for_now_is_a_warning(service):
    """The service that shows metrics is another one than OCP, and no tenant is lost without them."""
    service.failing["lag_samples"] = [refused(500)]
    result = restart(service)
    [warning] = result["warnings"]
    assert (result["action"], warning) == ("submitted", "It was not checked how far replicas lag: Refused with 500.")


def test_lag_that_cannot_be_read_for_now_stops_who_asks_for_it(service):
    service.failing["lag_samples"] = [refused(500)]
    with pytest.raises(RequestRefused):
        restart(service, max_lag=30)
    assert service.posts == []


def test_lag_that_cannot_be_read_matters_only_where_a_server_would_be_stopped(service):
    service.failing["lag_samples"] = [refused(500)] * 3
    started = service.begin(SERVER_TASK, service.servers_there[:1], ago=500, seconds=100)
    assert restart(service, started_before=at(-1000))["action"] == "skipped"
    assert started.applied
    service.servers_there[0].status = "UNAVAILABLE"
    result = restart(service)
    assert (result["action"], result["warnings"]) == ("submitted", [])


def test_lag_of_a_restart_beside_it_does_not_count(service):
    """Of the servers of a zone the second one follows at once."""
    service.servers_there.append(Thing(44, 54, "zone1"))
    service.lag = 60.0
    service.begin(SERVER_TASK, service.servers_there[3:])
    assert restart(service)["action"] == "submitted"


def of_four_voters_and_an_arbiter(service):
    """The server of zone2 is away, which is half of the voters with that of zone1."""
    service.servers_there += [Thing(44, 54, "zone4"), Thing(45, 55, "zone5"), Thing(46, 56, "zone1")]
    service.localities = {"sys": f"{FULL4}, FULL{{1}}@zone5", "shop": FULL4}
    service.arbitrated = {"shop": []}
    service.servers_there[1].status = "UNAVAILABLE"


def test_arbitration_service_counts_for_two_voters_only_when_the_database_stops_a_server(service):
    of_four_voters_and_an_arbiter(service)
    words = (
        "tenant shop would keep 2 of 4 voters, which is no majority, and the database counts an arbitration service "
        "for 2 voters only (-4179)"
    )
    error = refusal(service)
    assert f"the database would refuse to stop it, since {words}. To go on, wait" in str(error)
    assert error.facts["safety"]["problems"] == [words]
    assert restart(service, tolerated=["shop"])["action"] == "submitted"
    service.passes(100)
    service.posts.clear()
    service.time.after_sleep = lambda: setattr(service.servers_there[1], "status", "RUNNING")
    # What was down counts for a minute more.
    assert restart(service, seconds=70)["action"] == "submitted"


def test_units_of_such_a_tenant_may_be_elsewhere_and_are_read_before_a_new_look(service):
    of_four_voters_and_an_arbiter(service)
    service.units["shop"] = {"zone1": [46], "zone2": [42], "zone3": [43], "zone4": [44]}
    assert restart(service)["action"] == "submitted"
    assert service.calls.count("tenant") == 1
    assert service.calls.index("tenant") < max(at for at, call in enumerate(service.calls) if call == "tasks")
    service.units["shop"]["zone1"] = [41]
    service.passes(100)
    service.posts.clear()
    assert "tenant shop would keep 2 of 4 voters" in str(refusal(service))


def test_server_that_is_down_is_restarted_beside_an_arbitration_service(service):
    of_four_voters_and_an_arbiter(service)
    service.servers_there[0].status = "UNAVAILABLE"
    assert restart(service)["action"] == "submitted"
    assert "tenant" not in service.calls


# Which clusters an arbitration service serves


def test_cluster_that_an_arbiter_has_got_since_it_was_found_counts(service):
    service.localities, service.arbitrated = {"sys": FULL2}, {"sys": []}
    service.servers_there[1].status = "UNAVAILABLE"
    read = service.arbitration_service
    service.arbitration_service = lambda number: {**read(number), "clusters": [{"clusterId": 31}]}
    unused = replace(ARBITER, target=ArbitrationService(61, "10.1.0.8:2888", ()))
    assert "Tenant sys would lose its majority" in str(refusal(service, unused))


def test_arbiter_whose_clusters_are_not_shown_goes_with_a_warning(service):
    unused = replace(ARBITER, target=ArbitrationService(61, "10.1.0.8:2888", ()))
    result = restart(service, unused)
    words = "OCP does not show all clusters that arbitration service 10.1.0.8:2888 (id 61) serves"
    assert [words in warning for warning in result["warnings"]] == [True]


@pytest.mark.parametrize("cluster", [{"id": 31}, {"clusterId": 31}, {"name": "orders"}, {"clusterName": "orders"}])
def test_clusters_of_an_arbiter_are_found_by_id_or_name(cluster, service):
    listed = service.arbitration_services()
    service.arbitration_services = lambda: [{**listed[0], "clusters": [cluster]}]
    found = ArbitrationService.find(service, "61")
    assert found.serves == (31,)


def test_own_restart_of_an_arbiter_counts_before_the_service_shows_it(service):
    service.localities, service.arbitrated = {"sys": FULL2}, {"sys": []}
    service.names_operations, service.list_lacks, service.seconds = False, 30.0, 60.0
    assert restart(service, ARBITER)["action"] == "submitted"
    assert "being restarted by this controller" in str(refusal_of_next(service))


def test_server_that_our_restart_has_just_left_stopped_is_to_be_started(service):
    """A person has skipped the step that starts it. A wait was proposed until the journal forgot the task."""
    other = replace(SERVER, target=Server(42, "10.1.0.2:2882", SERVER.target.cluster, 52, "zone2", True, True, False))
    service.end = "FAILED"
    with pytest.raises(TaskFailed):
        restart(service, wait=True)
    service.servers_there[0].status = "STOPPED"
    service.servers_there[0].operated_by = None
    service.posts.clear()
    message = str(refusal(service, other))
    assert "10.1.0.1:2882 is STOPPED (task 1001 of this controller) in zone1" in message
    assert "\n  Start 10.1.0.1:2882 by a restart: ansible localhost -m oceanbase.ocp.server_restart -a '" in message
    assert "safety_timeout" not in message


@pytest.mark.parametrize("tags", [True, False])
def test_restart_of_an_arbiter_counts_as_soon_as_its_task_is_there(tags, service):
    """A person has requested it, and its status does not show it yet."""
    service.localities, service.arbitrated = {"sys": FULL2}, {"sys": []}
    service.names_operations, service.arbitration_tags = False, tags
    service.begin(ARBITRATION_TASK, service.arbitration, seconds=60.0)
    assert "task 1001 (Restart arbitration service)" in str(refusal(service))


def refusal_of_next(service):
    with pytest.raises(NotSafe) as raised:
        restart(service)
    return raised.value


# Answers of an application server that is behind


@pytest.mark.parametrize("status", ["UNAVAILABLE", "STOPPED", "RESTARTING"])
def test_server_that_was_down_is_not_up_by_an_older_answer(status, service):
    """Every other answer shows the state of before."""
    other, called, asked = service.servers_there[1], service._called, []

    def answer(name):
        if name == "servers":
            asked.append(name)
            other.status = status if len(asked) % 2 else None
        return called(name)

    service._called = answer
    error = refusal(service, seconds=20)
    assert "10.1.0.2:2882" in str(error)
    assert len(asked) > 3


def test_server_that_was_down_is_up_when_it_has_started_since_or_after_a_minute(service):
    other = service.servers_there[1]
    other.status = "UNAVAILABLE"

    def back():
        if service.now > 5:
            other.status = None

    service.time.after_sleep = back
    assert 60 <= restart(service, seconds=100)["elapsed"] <= 80
    other.status, other.started = "UNAVAILABLE", -3600.0

    def started():
        other.status, other.started = None, service.now

    service.time.after_sleep = started
    assert restart(service, seconds=100)["elapsed"] <= 15


def test_own_restart_that_has_just_failed_may_have_taken_its_server_down(service):
    """It failed before the other application server shows what it did."""
    service.end, service.seconds = "FAILED", 10.0
    server = Server(42, "10.1.0.2:2882", ORDERS, 52, "zone2", True, True, False)
    neighbour = RestartCase(server, ("server", (31, 42, True, False)), SERVER_TASK, lambda s: s.servers_there[1:2])
    with pytest.raises(TaskFailed):
        restart(service, neighbour, wait=True)
    service.servers_there[1].status = service.servers_there[1].operated_by = None
    service.end = "SUCCESSFUL"
    with pytest.raises(NotSafe, match=r"10\.1\.0\.2:2882"):
        restart(service)
    service.passes(61)
    assert restart(service)["action"] == "submitted"


def test_tenants_that_were_read_before_answers_lagged_do_not_decide(service):
    """Meanwhile the tenant has lost a zone."""
    shown, servers = [], service.servers

    def lagging(cluster_id):
        found = servers(cluster_id)
        shown.append(found)
        if len(shown) == 2:
            for server in found:
                server["startTime"] = at(-7200).isoformat()
            service.localities["sys"] = FULL2
        return found

    service.servers = lagging
    named = {"cluster": "31", "server": "41", "freeze_server": True, "force": False}
    with pytest.raises(NotSafe, match="1 of 2 voters would remain"):
        restart(service, Selector(Server, named), started_before=at(-10))
    assert service.posts == []
    assert len(service.time.pauses) == 1


@pytest.mark.parametrize("locality", [None, "FULL{1}@zone1;FULL{1}", "somewhere"])
def test_tenant_whose_zones_are_not_shown_needs_more_than_half_of_all_zones(locality, service):
    """It had nothing to lose, and its voters were taken without a word."""
    service.localities = {"sys": locality}
    result = restart(service, check_mode=True)
    assert result["warnings"] == [
        "The service does not show in which zones of cluster 31 tenant sys is. So more than half of its zones have to "
        "stay up."
    ]
    service.servers_there[1].status = "UNAVAILABLE"
    assert "Tenant sys would lose its majority: 1 of 3 voters would remain" in str(refusal(service))


@pytest.mark.parametrize("unit", [{"serverId": None}, {"serverId": 77}, {"serverIp": "10.1.0.1"}], ids=str)
def test_unit_of_which_no_server_is_shown_may_be_on_any_of_its_zone(unit, service):
    service.localities["shop"] = "FULL{1}@zone1"
    zones = [{"name": "zone1", "replicaType": "FULL", "units": [unit]}]
    service.tenant = lambda _cluster, _tenant: {"id": 502, "name": "shop", "zones": zones}
    assert "Tenant shop would lose its majority: 0 of 1 voters would remain" in str(refusal(service))


ARBITER_61 = {"id": 61, "svrIp": "10.1.0.8", "svrPort": 2888, "status": "RUNNING"}


def serves(service, *tenants, **more):
    shown = {**ARBITER_61, "clusters": [{"id": 31, "tenants": list(tenants)}], **more}
    service.arbitration_services = lambda: [shown]
    service.localities["shop"] = FULL2


@pytest.mark.parametrize("tenant", [{"obTenantId": 1002, "id": 1002}, {"degradedLsIdList": []}], ids=str)
def test_arbiter_of_a_tenant_that_is_not_known_may_serve_any(tenant, service):
    """It counted as none, so that the half that serves was taken."""
    serves(service, tenant)
    service.servers_there[1].status = "UNAVAILABLE"
    assert "Tenant shop would lose its majority: 0 of 2 voters" in str(refusal(service, tolerated=["sys"]))


def test_degraded_streams_of_a_tenant_that_is_not_known_may_be_those_of_any(service):
    """With both halves up, the other one would do if it counted."""
    service.localities = {"sys": FULL3}
    serves(service, {"name": "shop"}, {"id": 1002, "degradedLsIdList": [1001]})
    assert "its log streams are degraded" in str(refusal(service))


def test_list_of_tenants_that_is_not_complete_is_not_none(service):
    """The zones decided instead, although a single replica was on the page."""
    service.failing["tenants"] = [ResponseUnreadable("It is not complete.", url=URL)] * 9
    with pytest.raises(ResponseUnreadable, match="the data for its safety checks cannot be read"):
        restart(service)
    assert service.posts == []


def test_servers_that_name_a_task_which_is_gone_serve(service):
    """A service may name the last task of a server for ever, and archive it."""
    for thing in service.servers_there:
        thing.operated_by = 999
    assert restart(service)["action"] == "submitted"
    assert service.time.time - service._opened >= 60


def test_task_that_the_health_of_the_cluster_needed_is_read_before_the_next_look(service):
    """Read after it, it asked for another look after each pause, without end."""
    service.servers_there[1].operated_by = 999
    pauses = []

    def limited(_requests, clock):
        pauses.append(clock.now())
        assert len(pauses) < 20
        clock.sleep(1.0)

    service.wait_for_room = limited
    request = RestartRequest(False, False, PollPolicy(60, 10), safety=Safety(majority=False, healthy=True))
    assert restart_target(service, SERVER, request, service.time.clock)["action"] == "submitted"


@pytest.mark.parametrize("is_used", [False, True], ids=["the name is new for it", "the name was used for it"])
def test_start_that_is_proposed_counts_for_the_name(is_used, service):
    """Else the next run with the name would restart it again."""
    service.servers_there[1].status = "STOPPED"
    asked = RestartRequest(False, False, PollPolicy(60, 10), change="memory-2", safety=Safety())
    if is_used:
        note_first_use(service, ALL, ["10.1.0.2:2882"], asked, service.time.clock)
    with pytest.raises(NotSafe) as raised:
        restart_target(service, SERVER, asked, service.time.clock)
    [line] = [line for line in str(raised.value).splitlines() if line.startswith("  Start 10.1.0.2:2882 by a restart")]
    assert ("change=memory-2" in line) is not is_used
