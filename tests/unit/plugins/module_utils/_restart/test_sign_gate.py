# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What stops a restart besides tenants: signs of trouble and the time that a server may be away; and what it costs."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import Hints
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotSafe,
    PermissionDenied,
    RequestRefused,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.failure_limit import FailureLimit
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.metric_limit import MetricLimit
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.offline_budget import OfflineBudget
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import Sign, Watch
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import SERVER as SERVER_TASK
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES

SERVER, ZONE = RESTART_CASES["server"], RESTART_CASES["zone"]
EVERY = frozenset(Sign)
ALARM = {"id": 12, "alarmType": "ob_cluster_merge_error", "labels": {"ob_cluster_name": "orders"}}
parts = pytest.mark.parametrize("case", [SERVER, ZONE], ids=["server", "zone"])


def restart(
    service,
    case=SERVER,
    *,
    signs=EVERY,
    seconds=0,
    wait=False,
    check_mode=False,
    since=None,
    healthy=False,
    limits=(),
    **more,
):
    shown = []
    policy = PollPolicy(7200, 10, lambda line, _failed: shown.append(line))
    watch = Watch(signs, 3, limits=limits) if signs else None
    request = RestartRequest(
        check_mode, wait, policy, since, safety=Safety(healthy=healthy), watch=watch, safety_timeout=seconds, **more
    )
    return {**restart_target(service, case, request, service.time.clock), "shown": shown}


def refusal(service, case=SERVER, **options):
    with pytest.raises(NotSafe) as raised:
        restart(service, case, **options)
    assert service.posts == []
    assert (raised.value.facts["changed"], raised.value.facts["task_id"]) == (False, None)
    return raised.value


@parts
def test_healthy_cluster_is_restarted_for_three_requests_more(case, service):
    restart(service, case, signs=frozenset())
    plain = list(service.calls)
    service.passes(100)
    service.calls.clear()
    assert restart(service, case)["warnings"] == []
    # How far replicas lag is read anyway, for the database.
    assert plain.count("lag_samples") == 1
    assert sorted(service.calls) == sorted([*plain, "active_alarms", "data_backups", "tenant_restores"])


def test_restart_by_the_role_reads_each_thing_once_besides_its_polls(service):
    """With all that the role asks for by default, and what its plan has read already. The target is found before."""
    more = {"offline_budget": OfflineBudget.REFUSE, "offline_time": 3600.0, "failures": FailureLimit(0)}
    assert restart(service, wait=True, since=at(-600), **more)["verified"] is True
    gates = ["lag_samples", "tenants", "tasks", "active_alarms", "data_backups", "tenant_restores"]
    # Here the list of servers is apart from the cluster.
    target = ["cluster", "servers"]
    asked = [call for call in service.calls if call not in ("task", "wait_for_room", "wait_to_send")]
    assert asked == [*gates, "tasks", *target, "server", *target]


def planted(**fields):
    def plant(service):
        for name, value in fields.items():
            setattr(service, name, value)

    return plant


RISE = MetricLimit("sql_rt", rise=50)


def risen(since, level=20.0):
    """A metric with another level from so many seconds on after the beginning."""
    return lambda _name, instant: level if instant > at(since).timestamp() else 10.0


@parts
def test_metric_that_has_risen_since_the_change_stops_also_a_later_run(case, service):
    """What it was before the change is read from the time before that, however late the run."""
    service.passes(3600)
    service.metric = risen(since=60)
    words = "sql_rt of orders has risen from 10 to 20, by more than 50 % (stop_on: metrics)"
    assert words in str(refusal(service, case, limits=[RISE], since=at(30)))
    service.metric = risen(since=-300)
    assert restart(service, case, limits=[RISE], since=at(30))["action"] == "submitted"


def test_samples_from_before_the_restart_of_another_server_do_not_count(service):
    service.passes(600)
    service.restart_server(31, 42, freeze_server=True, force=False)
    service.passes(30)
    words = "since the last restart, not 5 (stop_on: metrics)"
    assert words in str(refusal_after(service, limits=[MetricLimit("sql_rt", most=30)]))
    service.passes(30)
    assert restart(service, limits=[MetricLimit("sql_rt", most=30)])["action"] == "submitted"


def refusal_after(service, **options):
    """A refusal although somebody has restarted something before."""
    service.posts.clear()
    return refusal(service, **options)


def test_metric_that_recovers_is_waited_for(service):
    service.passes(600)
    service.metric = lambda _name, instant: 40.0 if instant < at(700).timestamp() else 10.0
    assert restart(service, limits=[MetricLimit("sql_rt", most=30)], seconds=600)["action"] == "submitted"
    assert service.now > 700


def test_too_few_samples_are_waited_for_and_then_stop(service):
    """Samples count that are later than the end of the last restart."""
    limit = MetricLimit("sql_rt", most=30)
    restart(service, limits=[limit], wait=True)
    assert restart(service, limits=[limit], seconds=120, wait=True)["action"] == "submitted"
    service.metric = lambda _name, _instant: None
    service.posts.clear()
    assert "has 0 samples of 120 seconds and since the last restart, not 5" in str(
        refusal(service, limits=[limit], seconds=60)
    )


SIGNS = {
    "alarms": planted(alarms=[ALARM]),
    "lag": planted(lag=4.0),
    "backup": planted(backups=[{"status": "DOING"}]),
    "merge": planted(compaction="MERGING"),
    "versions": planted(versions={42: "4.3.0.1"}),
    "metrics": planted(metric=lambda _name, _instant: 40.0),
    "ntp": planted(alarms=[{"id": 13, "alarmType": "host_ntp_offset_too_large", "labels": {"host_ip": "10.1.0.3"}}]),
}


@parts
@pytest.mark.parametrize("sign", Sign)
def test_each_sign_stops_the_request_and_is_named_and_can_be_left_out(sign, case, service):
    SIGNS[sign.value](service)
    limits = [MetricLimit("sql_rt", most=30)]
    error = refusal(service, case, limits=limits)
    assert f"Did not restart {case.target.label}: there are signs of trouble: " in str(error)
    others = ",".join(other for other in Sign if other is not sign)
    assert str(error).endswith(f"(stop_on: {sign}). To go on regardless, ask for stop_on={others} this time.")
    [words] = error.facts["signs"]
    assert words in str(error)
    assert str(refusal(service, case, check_mode=True, limits=limits)) == str(error)
    # An alarm about a clock is an alarm too.
    assert restart(service, case, signs=EVERY - {sign, Sign.ALARMS}, limits=limits)["action"] == "submitted"


@pytest.mark.parametrize("sign", ["lag", "backup", "merge", "ntp"])
def test_what_a_wait_may_end_is_waited_for(sign, service):
    before = {"alarms": [], "lag": 0.05, "backups": [], "compaction": "IDLE"}
    SIGNS[sign](service)
    service.time.after_sleep = lambda: planted(**before)(service)
    result = restart(service, seconds=60)
    assert result["action"] == "submitted"
    assert result["shown"][0] == f"  {SERVER.target.label}: not safe yet, waiting until 03:01:00+08:00 at the latest"
    assert result["elapsed"] > 0


def test_what_stays_stops_it_after_the_time_for_it(service):
    SIGNS["merge"](service)
    error = refusal(service, seconds=60)
    assert "there are signs of trouble after 60 seconds: cluster orders is merging" in str(error)


@pytest.mark.parametrize("sign", ["alarms", "versions"])
def test_what_no_wait_ends_stops_it_at_once(sign, service):
    SIGNS[sign](service)
    began = service.time.time
    refusal(service, seconds=600)
    assert service.time.time == began


def test_alarm_of_our_own_restart_does_not_count_for_as_long_as_clearing_it_takes(service):
    service.servers_there[1].started = service.now - 20
    service.alarms = [{**ALARM, "labels": {"svr_ip": "10.1.0.2"}, "activeAt": at(service.now - 30).isoformat()}]
    assert restart(service)["action"] == "submitted"
    service.passes(290)
    service.posts.clear()
    assert "there are signs of trouble after 60 seconds: alarm 12" in str(refusal(service, seconds=60))
    service.time.after_sleep = service.alarms.clear
    assert restart(service, seconds=300)["action"] == "submitted"


def test_alarm_that_names_no_server_may_be_of_our_own_restart_and_is_waited_for(service):
    service.servers_there[1].started = service.now - 20
    service.alarms = [{**ALARM, "activeAt": at(service.now - 30).isoformat()}]
    assert "after 60 seconds: alarm 12" in str(refusal(service, seconds=60))
    service.time.after_sleep = service.alarms.clear
    assert restart(service, seconds=300)["action"] == "submitted"


def test_tenants_are_read_anew_after_a_wait_for_signs(service):
    SIGNS["merge"](service)

    def ends():
        service.compaction = "IDLE"
        service.localities["shop"] = "FULL{1}@zone1"

    service.time.after_sleep = ends
    assert "Tenant shop would lose its majority" in str(refusal(service, seconds=60))


def test_server_that_needs_no_restart_is_skipped_whatever_the_signs_say(service):
    service.failing["active_alarms"] = [refused(500)] * 2
    SIGNS["versions"](service)
    service.offline_time = "1s"
    service.begin(SERVER_TASK, service.servers_there[:1], ago=500, seconds=100)
    result = restart(service, since=at(-1000), offline_budget=OfflineBudget.REFUSE)
    assert (result["action"], service.posts) == ("skipped", [])


def test_signs_that_cannot_be_read_for_now_stop_it(service):
    service.failing["active_alarms"] = [refused(500)]
    with pytest.raises(RequestRefused, match=r"Did not restart .*: the data for its safety checks cannot be read"):
        restart(service)
    assert service.posts == []


def test_signs_that_the_service_does_not_show_are_warned_of_once(service):
    service.failing |= {"active_alarms": [refused(404)], "lag_samples": [refused(403)]}
    SIGNS["merge"](service)
    service.time.after_sleep = lambda: planted(compaction="IDLE")(service)
    result = restart(service, seconds=60)
    assert result["action"] == "submitted"
    assert len(result["warnings"]) == 2
    assert service.calls.count("active_alarms") == 1


def long_restart(service, seconds=4000, **fields):
    service.begin(SERVER_TASK, service.servers_there[:1], ago=seconds + 100, seconds=seconds, **fields)


@pytest.mark.parametrize(
    ("variables", "end"),
    [
        (
            {"offline_budget": "rolling_restart_offline_budget"},
            ", or allow it with -e rolling_restart_offline_budget=warn this time.",
        ),
        ({"safety": "fleet_restart_safety"}, " for the cluster."),
    ],
    ids=["has a variable", "has none"],
)
def test_way_past_a_restart_that_took_too_long_is_in_the_words_of_the_caller(variables, end, service):
    long_restart(service)
    error = refusal(service, signs=frozenset(), offline_budget=OfflineBudget.REFUSE, hints=Hints(variables))
    assert str(error).endswith(end)


@pytest.mark.parametrize("budget", OfflineBudget)
def test_past_restart_that_took_too_long(budget, service):
    long_restart(service)
    if budget is OfflineBudget.REFUSE:
        error = refusal(service, signs=frozenset(), offline_budget=budget)
        assert "one of its last restarts took 4000 seconds (task 1001 (Restart OB server)" in str(error)
        assert "server_permanent_offline_time=3600 seconds" in str(error)
        assert str(error).endswith("or allow it with offline_budget=warn this time.")
        return
    result = restart(service, signs=frozenset(), offline_budget=budget)
    assert result["action"] == "submitted"
    assert [words for words in result["warnings"] if "may take too long" in words] == result["warnings"]
    assert bool(result["warnings"]) is (budget is OfflineBudget.WARN)
    assert ("cluster_parameters" in service.calls) is (budget is OfflineBudget.WARN)
    # The list of the look has them.
    assert service.calls.count("tasks") == 1


@pytest.mark.parametrize("option", ["offline_budget", "rolling_restart_offline_budget"])
def test_past_restarts_that_cannot_be_read_stop_it(option, service):
    service.failing["tasks"] = [refused(403)] * 2
    hints = Hints({"offline_budget": option})
    with pytest.raises(PermissionDenied, match=f"With {option}=ignore this is not checked"):
        restart(service, signs=frozenset(), offline_budget=OfflineBudget.WARN, hints=hints)
    assert service.posts == []


def test_budget_is_read_once_or_taken_from_the_plan(service):
    long_restart(service)
    SIGNS["merge"](service)
    service.time.after_sleep = lambda: planted(compaction="IDLE")(service)
    restart(service, seconds=60, offline_budget=OfflineBudget.WARN)
    assert service.calls.count("cluster_parameters") == 1
    service.passes(100)
    service.posts.clear()
    service.calls.clear()
    assert "=3999 seconds" in str(refusal(service, offline_budget=OfflineBudget.REFUSE, offline_time=3999.0))
    assert "cluster_parameters" not in service.calls
    assert restart(service, offline_budget=OfflineBudget.REFUSE, offline_time=4000.0)["action"] == "submitted"


def test_budget_that_is_not_shown_is_warned_of(service):
    service.failing["cluster_parameters"] = [refused(403)]
    result = restart(service, offline_budget=OfflineBudget.REFUSE)
    assert result["action"] == "submitted"
    assert result["warnings"] == [
        "The service does not show server_permanent_offline_time of cluster 31, so offline_budget is ignored."
    ]


def test_wait_shows_what_is_left_of_the_budget_from_half_of_it_on(service):
    service.offline_time, service.seconds = "10m", 700.0
    result = restart(service, signs=frozenset(), wait=True, offline_budget=OfflineBudget.REFUSE)
    lines = [line for line in result["shown"] if "server_permanent_offline_time" in line]
    assert lines[0] == "  server_permanent_offline_time: 5:00 of 10:00 left"
    assert [line.rpartition(": ")[2] for line in lines[-2:]] == ["10:00 used up"] * 2
    assert len(lines) == 7
    assert result["warnings"] == [
        f"The restart of {SERVER.target.label} took 700 of the 600 seconds that a server may be offline "
        "(server_permanent_offline_time)."
    ]


def test_quick_restart_says_nothing_of_the_budget(service):
    result = restart(service, signs=frozenset(), wait=True, offline_budget=OfflineBudget.REFUSE)
    assert result["warnings"] == []
    assert not any("server_permanent_offline_time" in line for line in result["shown"])


def test_refusal_by_a_sign_is_no_restart_that_is_allowed(service):
    """Roles tell by it whom they did not touch."""
    SIGNS["merge"](service)
    safety = refusal(service).facts["safety"]
    assert (safety["allowed"], safety["outages"]) == (False, [])
    assert safety["problems"] == ["cluster orders is merging: its compaction is MERGING (stop_on: merge)"]
    planted(compaction="IDLE")(service)
    assert restart(service)["safety"]["allowed"] is True


def test_refusal_by_the_budget_is_none_either(service):
    long_restart(service)
    assert refusal(service, offline_budget=OfflineBudget.REFUSE).facts["safety"]["allowed"] is False


def test_time_offline_that_could_not_be_read_once_is_read_again(service):
    """The error was kept, and the run failed when its time was up."""
    service.failing["cluster_parameters"] = [refused(500)]
    result = restart(service, signs=frozenset(), seconds=600, offline_budget=OfflineBudget.REFUSE, healthy=True)
    assert (result["action"], len(service.posts)) == ("submitted", 1)
