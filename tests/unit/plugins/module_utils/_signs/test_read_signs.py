# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is asked for signs of trouble, how much that costs, and what is said of what the service does not show."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import AuthenticationFailed, RequestRefused
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.sign_reads import LAG
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.cluster_lag import ClusterLag, newest_lag
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.metric_limit import MetricLimit
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.read_signs import SignReader
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import Sign, Watch
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp, at, refused, unreadable
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock

CALLS = {
    "alarms": ["active_alarms"],
    "ntp": ["active_alarms"],
    "lag": ["lag_samples"],
    "backup": ["data_backups", "tenant_restores"],
    "metrics": ["newest_metrics", "metric_samples"],
}
# What is read, and the sign that needs it.
READS = {
    "active_alarms": ("alarms", "alarms"),
    "lag_samples": ("lag of replicas", "lag"),
    "data_backups": ("backups", "backup"),
    "tenant_restores": ("restores", "backup"),
    "newest_metrics": ("metrics", "metrics"),
}
LIMITS = (MetricLimit("sql_rt", rise=50),)


@pytest.fixture
def ocp():
    return FakeOcp(FakeClock())


def reader(ocp, *signs):
    return SignReader(ocp, Watch(frozenset(signs), 30, limits=LIMITS), ocp.time.clock)


@pytest.mark.parametrize("sign", Sign)
def test_each_sign_costs_what_it_takes(sign, ocp):
    one = reader(ocp, sign)
    most = one.requests
    one.read(31, "orders")
    assert ocp.calls == CALLS.get(sign.value, [])
    assert most == len(ocp.calls)


def test_alarms_are_read_once_for_two_signs(ocp):
    every = reader(ocp, *Sign)
    every.read(31, "orders")
    assert ocp.calls.count("active_alarms") == 1
    assert len(set(ocp.calls)) == len(ocp.calls) == 6


def test_metrics_before_the_change_are_read_once_and_not_if_they_are_known(ocp):
    one = reader(ocp, Sign.METRICS)
    one.began = lambda: at(ocp.now - 600)
    first, second = one.read(31, "orders"), one.read(31, "orders")
    assert first.metrics_before == second.metrics_before
    assert (ocp.calls.count("metric_samples"), one.requests) == (1, 1)
    ocp.calls.clear()
    one.watch = replace(one.watch, metrics_before={"sql_rt": 3.0})
    assert (one.read(31, "orders").metrics_before, ocp.calls) == ({"sql_rt": 3.0}, ["newest_metrics"])


def test_everything_is_read(ocp):
    ocp.alarms, ocp.lag, ocp.backups, ocp.restores = [{"id": 1}], 45, [{"status": "DOING"}], [{"finished": False}]
    found = reader(ocp, *Sign).read(31, "orders")
    assert ([one["id"] for one in found.alarms], found.lag) == ([1], 45.0)
    assert (len(found.backups), len(found.restores)) == (1, 1)


@pytest.mark.parametrize(
    ("errors", "why"),
    [
        ([refused(404)], "status 404"),
        ([refused(403)], "status 403"),
        ([refused(400)], "status 400"),
        ([unreadable(), unreadable()], "its answer has another form"),
    ],
)
@pytest.mark.parametrize("call", READS)
def test_what_is_not_shown_is_warned_of_once_and_not_asked_again(call, errors, why, ocp):
    what, sign = READS[call]
    ocp.failing[call] = list(errors)
    one = reader(ocp, Sign(sign))
    for _look in range(3):
        found = one.read(31, "orders")
        assert (found.alarms, found.lag, found.backups or None, found.restores or None) == (None,) * 4
    assert one.warnings == [f"The service does not show {what} ({why}), so stop_on={sign} cannot check it."]
    assert ocp.calls.count(call) == len(errors)


def test_metric_without_samples_is_not_shown(ocp):
    ocp.lag = None
    one = reader(ocp, Sign.LAG)
    assert one.read(31, "orders").lag is None
    assert one.warnings == [
        "The service does not show lag of replicas (there is none), so stop_on=lag cannot check it."
    ]


@pytest.mark.parametrize("status", [401, 500])
def test_other_errors_are_raised(status, ocp):
    ocp.failing["active_alarms"] = [refused(status)]
    with pytest.raises(AuthenticationFailed if status == 401 else RequestRefused):
        reader(ocp, Sign.ALARMS).read(31, "orders")


@pytest.mark.parametrize(
    ("samples", "lag"),
    [
        ([(5, 1.5), (10, 40), (7, 99)], 40.0),
        ([(5, 1.5), (10, None)], 1.5),
        ([(5, "1"), (10, float("nan")), (11, True), ("x", 3)], None),
        ([], None),
    ],
)
def test_newest_sample_with_a_value_counts(samples, lag):
    assert newest_lag({"timestamp": at, LAG: value} for at, value in samples) == lag


def test_lag_that_is_read_before_is_not_read_again(ocp):
    ocp.lag = 7.0
    shared = ClusterLag(ocp, "orders", ocp.time.clock)
    one = SignReader(ocp, Watch(frozenset({Sign.LAG}), 3), ocp.time.clock, lag=shared)
    shared.read()
    assert (one.requests, one.read(31, "orders").lag, ocp.calls) == (0, 7.0, ["lag_samples"])
    ocp.lag = 8.0
    shared.read()
    assert one.read(31, "orders").lag == 8.0


@pytest.mark.parametrize(
    ("errors", "why"), [([refused(404)], "status 404"), ([unreadable()] * 2, "its answer has another form")]
)
def test_lag_that_is_not_shown_is_asked_for_once_and_warned_of_where_the_sign_needs_it(errors, why, ocp):
    ocp.failing["lag_samples"] = list(errors)
    shared = ClusterLag(ocp, "orders", ocp.time.clock)
    one = SignReader(ocp, Watch(frozenset({Sign.LAG}), 3), ocp.time.clock, lag=shared)
    for _look in range(2):
        shared.read()
        assert (shared.seconds, one.read(31, "orders").lag) == (None, None)
    assert one.warnings == [f"The service does not show lag of replicas ({why}), so stop_on=lag cannot check it."]
    assert ocp.calls == ["lag_samples"] * len(errors)


def test_lag_that_cannot_be_read_for_now_is_raised_where_it_counts_and_read_again(ocp):
    ocp.failing["lag_samples"] = [refused(500)]
    shared = ClusterLag(ocp, "orders", ocp.time.clock)
    shared.read()
    with pytest.raises(RequestRefused):
        str(shared.seconds)
    shared.read()
    assert shared.seconds == 0.05
    ocp.failing["lag_samples"] = [refused(401)]
    with pytest.raises(AuthenticationFailed):
        shared.read()
