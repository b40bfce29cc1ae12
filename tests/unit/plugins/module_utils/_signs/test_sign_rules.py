# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which signs of trouble there are, which of them a wait may end, and what they are called."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import BY_OPTIONS, Hints
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.metric_limit import MetricLimit
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import (
    Readings,
    Sign,
    Watch,
    allowing_words,
    troubles,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Member, PlacedServer
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING

EVERY = Watch(frozenset(Sign), 30, frozenset({7}), [MetricLimit("sql_rt", most=30)])


def server(number, status="RUNNING", started=-3600, version="4.2.1.8", compaction=("IDLE", "IDLE"), serves=True):
    """A server that started so many seconds after BEGINNING."""
    start = BEGINNING + timedelta(seconds=started)
    member = Member(f"10.1.0.{number}:2882", status, started=start, serves=serves)
    return PlacedServer(number, 50 + number, f"zone{number}", "RUNNING", member, version, compaction)


HEALTHY = [server(1), server(2), server(3)]


def alarm(number=12, raised=0, **fields):
    at = (BEGINNING + timedelta(seconds=raised)).isoformat()
    labels = {"ob_cluster_name": "orders", **fields.pop("labels", {})}
    return {
        "id": number, "alarmType": "ob_cluster_merge_error", "level": 2, "status": "Active", "activeAt": at,
        "summary": "it hurts", "labels": labels, **fields,
    }  # fmt: skip


def readings(seconds=0, **read):
    return Readings(BEGINNING + timedelta(seconds=seconds), **read)


def found(servers=tuple(HEALTHY), watch=EVERY, **read):
    return [(one.sign.value, one.passes) for one in troubles("orders", servers, readings(**read), watch)]


def words(servers=tuple(HEALTHY), **read):
    [one] = troubles("orders", servers, readings(**read), EVERY)
    return one.words


def test_metrics_do_not_count_while_a_server_restarts():
    """Too few samples are no sign either: the restart disturbs them."""
    assert found(metrics=[]) == [("metrics", True)]
    assert found([server(1, "RESTARTING"), server(2)], metrics=[]) == []
    assert found(watch=replace(EVERY, limits=()), metrics=[]) == []


def test_healthy_cluster_shows_none():
    assert found(alarms=[], lag=30.0, backups=[{"status": "DONE"}, {"status": "UNKNOWN"}, {"status": None}]) == []
    assert found([server(1, version=None, compaction=())]) == []


def test_only_signs_that_are_asked_for_count():
    ill = [server(1, version="4.2.0"), server(2, compaction=("MERGING",))]
    read = {"alarms": [alarm()], "lag": 31.0, "backups": [{"status": "DOING"}]}
    assert {sign for sign, _passes in found(ill, **read)} == {"alarms", "lag", "backup", "merge", "versions"}
    for sign in Sign:
        only = Watch(frozenset({sign}), 30)
        assert {name for name, _passes in found(ill, only, **read)} <= {sign.value}


def test_new_alarm_stops_at_once_and_a_known_one_does_not_count():
    assert found(alarms=[alarm()]) == [("alarms", False)]
    assert found(alarms=[alarm(7)]) == []
    assert words(alarms=[alarm()]) == "alarm 12 (ob_cluster_merge_error, critical): it hurts (stop_on: alarms)"
    bare = {"id": None, "labels": {"ob_cluster_name": "orders"}}
    assert words(alarms=[bare]) == "alarm None (of an unknown type) is active (stop_on: alarms)"


@pytest.mark.parametrize(("level", "counts"), [(1, True), (3, True), (4, False), (5, False), (9, True), (None, True)])
def test_cautions_and_reminders_do_not_count(level, counts):
    assert bool(found(alarms=[alarm(level=level)])) is counts


@pytest.mark.parametrize(
    ("labels", "target", "counts"),
    [
        ({"ob_cluster_name": "orders"}, "", True),
        ({"ob_cluster_name": "payments", "svr_ip": "10.1.0.1"}, "", False),
        ({"obregion": "orders"}, "", True),
        ({"ob_cluster": "orders-101"}, "", True),
        ({"ob_cluster": "orders-eu-101"}, "", False),
        ({}, "ob_cluster=orders-101:svr_ip=10.1.0.9", True),
        ({}, "ob_cluster=payments-102:svr_ip=10.1.0.1", False),
        ({"svr_ip": "10.1.0.3"}, "", True),
        ({"host_ip": "10.1.0.3"}, "", True),
        ({"host_ip": "10.1.0.33"}, "service=OCP", False),
        ({}, "service=OCP", False),
    ],
)
def test_alarms_of_the_cluster_and_its_hosts_count(labels, target, counts):
    assert bool(found(alarms=[{**alarm(), "labels": labels, "target": target}])) is counts


def test_alarm_that_has_ended_does_not_count():
    assert found(alarms=[alarm(status="Inactive"), alarm(status="Silenced")]) == []
    assert found(alarms=[alarm(status=None)]) == [("alarms", False)]


def test_alarm_about_a_server_that_is_being_restarted_does_not_count():
    moving = [server(1, "RESTARTING"), server(2), server(3)]
    assert found(moving, alarms=[alarm(labels={"svr_ip": "10.1.0.1", "svr_port": 2882})]) == []
    assert found(moving, alarms=[alarm(labels={"svr_ip": "10.1.0.2"})]) == [("alarms", False)]
    # Which names no server may be of the restart, and passes.
    assert found(moving, alarms=[alarm()]) == [("alarms", True)]


@pytest.mark.parametrize(("raised", "passes"), [(-60, True), (60, True), (61, True), (120, True), (121, False)])
def test_alarm_that_a_restart_may_have_raised_is_waited_for(raised, passes):
    restarted = [server(1, started=0), server(2), server(3)]
    own = {"svr_ip": "10.1.0.1", "svr_port": 2882}
    later = {"seconds": 301}
    assert found(restarted, alarms=[alarm(raised=raised)]) == [("alarms", passes)]
    assert found(restarted, alarms=[alarm(raised=raised, labels=own)], **later) == [("alarms", passes)]
    assert found(restarted, alarms=[alarm(raised=raised, labels={"svr_ip": "10.1.0.2"})]) == [("alarms", False)]
    # Another one on the same host, of another cluster perhaps.
    other = {"svr_ip": "10.1.0.1", "svr_port": 3882}
    assert found(restarted, alarms=[alarm(raised=raised, labels=other)], **later) == [("alarms", passes)]
    assert found(restarted, alarms=[alarm(activeAt=None, labels=own)]) == [("alarms", False)]


@pytest.mark.parametrize(
    ("seconds", "raised", "serves", "counts"),
    [(0, 0, True, False), (300, 60, True, False), (301, 60, True, True), (90, 61, True, True), (90, 0, False, True)],
    ids=["new", "as long as clearing takes", "stays", "of the new process", "does not serve"],
)
def test_alarm_about_a_server_that_has_just_restarted_does_not_count_unless_it_stays(seconds, raised, serves, counts):
    restarted = [server(1, started=0, serves=serves), server(2), server(3)]
    own = alarm(raised=raised, labels={"svr_ip": "10.1.0.1"})
    assert bool(found(restarted, alarms=[own], seconds=seconds)) is counts


def test_clock_of_a_host_counts_even_if_it_was_off_before():
    off = alarm(7, alarmType="host_ntp_offset_too_large", labels={"ob_cluster_name": None, "host_ip": "10.1.0.2"})
    assert found(alarms=[off]) == [("ntp", True)]
    assert found(alarms=[{**off, "level": 5}]) == [("ntp", True)]
    without = Watch(frozenset({Sign.ALARMS}), 30)
    assert found(watch=without, alarms=[off]) == [("alarms", False)]
    assert found(watch=Watch(frozenset({Sign.ALARMS}), 30, frozenset({7})), alarms=[off]) == []
    assert found(alarms=[alarm(alarmType="ob_tenant_request_queue_contention")]) == [("alarms", False)]


@pytest.mark.parametrize("shown", ["fd00::1", "FD00:0:0::1"])
def test_host_with_an_ipv6_address_is_known_by_its_alarms(shown):
    """The address of a server has brackets, that of a host has none."""
    one = server(1)
    ipv6 = replace(one, member=replace(one.member, name="[fd00::1]:2882"))
    off = alarm(7, alarmType="host_ntp_offset_too_large", labels={"ob_cluster_name": None, "host_ip": shown})
    assert found([ipv6], alarms=[off]) == [("ntp", True)]


def test_lag_counts_above_the_limit_unless_a_server_restarts():
    assert found(lag=30.5) == [("lag", True)]
    assert words(lag=45.0) == "replicas of orders lag 45 seconds behind, more than max_lag=30 (stop_on: lag)"
    assert found([*HEALTHY, server(4, "RESTARTING")], lag=1e6) == []


@pytest.mark.parametrize("status", ["BEGINNING", "INITIALIZING", "DOING", "CANCELING", "doing"])
def test_backup_that_runs_counts(status):
    assert found(backups=[{"status": status}]) == [("backup", True)]


def test_backup_is_named():
    backup = {"taskId": 5, "status": "DOING", "tenantName": "shop"}
    assert words(backups=[backup]) == "backup 5 of tenant shop of orders is DOING (stop_on: backup)"
    assert words(backups=[{"taskId": 5, "status": "DOING"}]) == "backup 5 of orders is DOING (stop_on: backup)"


def test_merge_of_a_zone_or_the_cluster_counts():
    assert found([server(1, compaction=("MERGING", "IDLE")), server(2)]) == [("merge", True)]
    assert words([server(1, compaction=("idle", "VERIFYING"))]) == (
        "cluster orders is merging: its compaction is VERIFYING (stop_on: merge)"
    )


def test_two_versions_count_and_no_wait_ends_that():
    mixed = [server(1), server(2, version="4.3.0.1"), server(3)]
    assert found(mixed) == [("versions", False)]
    assert words(mixed) == (
        "the servers of orders have different versions: 4.2.1.8 (10.1.0.1:2882, 10.1.0.3:2882); 4.3.0.1 "
        "(10.1.0.2:2882) (stop_on: versions)"
    )


def test_how_to_go_on_names_each_sign_once():
    several = troubles("orders", HEALTHY, readings(alarms=[alarm(1), alarm(2)], lag=99.0), EVERY)
    others = ",".join(sign for sign in Sign if sign not in ("alarms", "lag"))
    assert allowing_words(several, EVERY, BY_OPTIONS) == f"To go on regardless, ask for stop_on={others} this time."
    by_role = Hints({"stop_on": "rolling_restart_stop_on"})
    assert allowing_words(several, EVERY, by_role).endswith(f" ask for -e rolling_restart_stop_on={others} this time.")
    only = replace(EVERY, signs=frozenset({Sign.ALARMS, Sign.LAG}))
    assert allowing_words(several, only, by_role).endswith(" leave alarms, lag out of rolling_restart_stop_on.")


@pytest.mark.parametrize(
    "restore",
    [
        {"status": "RESTORING", "finished": False},
        {"status": "RESTORING"},
        {"status": "SOMETHING_NEW", "finishTime": None},
        {"finished": False, "finishTime": "2026-05-04T03:00:00Z"},
        {"finished": False},
    ],
)
def test_restore_that_has_not_ended_counts_as_a_backup(restore):
    assert found(restores=[restore]) == [("backup", True)]
    without = Watch(frozenset(Sign) - {Sign.BACKUP}, 30)
    assert found(restores=[restore], watch=without) == []


@pytest.mark.parametrize(
    "restore",
    [
        {"status": "RESTORE_SUCCESS"},
        {"status": "restore_fail"},
        {"status": "RESTORING", "finished": True},
        {"status": "SOMETHING_NEW", "finishTime": "2026-05-04T03:00:00Z"},
        {"status": None},
        {},
    ],
)
def test_restore_that_has_ended_or_does_not_show_what_it_does_is_none(restore):
    assert found(restores=[restore]) == []


def test_restore_is_named():
    restore = {"id": 12, "status": "RESTORING", "restoreTenantName": "shop"}
    assert words(restores=[restore]) == "restore 12 of tenant shop of orders is RESTORING (stop_on: backup)"
    assert words(restores=[{"id": 12, "finished": False}]) == "restore 12 of orders has not ended (stop_on: backup)"
