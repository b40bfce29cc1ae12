# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is asked for signs of trouble, how much that costs, and what is said of what the service does not show."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import AuthenticationFailed, RequestRefused
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import service_time
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.sign_reads import LAG
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.read_signs import SignReader, newest_lag
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.sign_rules import Readings, Sign, Watch
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp, refused, unreadable
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock

CALLS = {"alarms": "active_alarms", "ntp": "active_alarms", "lag": "lag_samples", "backup": "data_backups"}


@pytest.fixture
def ocp():
    return FakeOcp(FakeClock())


def reader(ocp, *signs):
    return SignReader(ocp, Watch(frozenset(signs), 30), ocp.time.clock)


@pytest.mark.parametrize("sign", Sign)
def test_each_sign_costs_what_it_takes(sign, ocp):
    one = reader(ocp, sign)
    one.read(31, "orders")
    assert ocp.calls == [CALLS[name] for name in [sign.value] if name in CALLS]
    assert one.requests == len(ocp.calls)


def test_alarms_are_read_once_for_two_signs(ocp):
    every = reader(ocp, *Sign)
    every.read(31, "orders")
    assert sorted(ocp.calls) == ["active_alarms", "data_backups", "lag_samples"]
    assert every.requests == 3


def test_everything_is_read(ocp):
    ocp.alarms, ocp.lag, ocp.backups = [{"id": 1}], 45, [{"status": "DOING"}]
    found = reader(ocp, *Sign).read(31, "orders")
    assert ([one["id"] for one in found.alarms], found.lag, len(found.backups)) == ([1], 45.0, 1)


@pytest.mark.parametrize(
    ("errors", "why"),
    [
        ([refused(404)], "status 404"),
        ([refused(403)], "status 403"),
        ([refused(400)], "status 400"),
        ([unreadable(), unreadable()], "its answer has another form"),
    ],
)
@pytest.mark.parametrize("sign", ["alarms", "lag", "backup"])
def test_what_is_not_shown_is_warned_of_once_and_not_asked_again(sign, errors, why, ocp):
    ocp.failing[CALLS[sign]] = list(errors)
    one = reader(ocp, Sign(sign))
    what = {"alarms": "alarms", "lag": "lag of replicas", "backup": "backups"}[sign]
    for _look in range(3):
        assert one.read(31, "orders") == Readings(service_time(ocp.service_clock, ocp.time.clock))
    assert one.warnings == [f"The service does not show {what} ({why}), so stop_on={sign} cannot check it."]
    assert len(ocp.calls) == len(errors)


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
