# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Limits of metrics: what is too much, which samples count, and how few decide nothing."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.metric_limit import MetricLimit
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.metric_rules import (
    last_restart,
    medians_before,
    metric_words,
    parse_limit,
    parse_medians,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING

NAME = "sql_rt"
RISE = MetricLimit(NAME, rise=50)
NOW = BEGINNING + timedelta(hours=1)


def samples(*values, until=NOW):
    """Samples of every five seconds, the last one at ``until``."""
    last = int(until.timestamp())
    return [{"timestamp": last - 5 * place, NAME: value} for place, value in enumerate(reversed(values))]


def found(limit, *values, before=None, settled=None):
    return list(
        metric_words("orders", [limit], samples(*values), {} if before is None else {NAME: before}, NOW, settled)
    )


def test_median_above_the_limit_is_too_much_and_one_outlier_is_not():
    limit = MetricLimit(NAME, most=30)
    assert found(limit, *[30] * 6) == found(limit, 1, 900, 1, 1, 2, 1) == []
    assert found(limit, *[31] * 6) == ["sql_rt of orders is 31, more than 30"]


def test_rise_is_compared_with_the_median_before_the_change():
    assert found(RISE, *[15] * 6, before=10) == []
    assert found(RISE, *[16] * 6, before=10) == ["sql_rt of orders has risen from 10 to 16, by more than 50 %"]
    assert found(RISE, *[1] * 6, before=0) == ["sql_rt of orders has risen from 0 to 1, by more than 50 %"]
    assert found(RISE, *[0] * 6, before=0) == []


@pytest.mark.parametrize("values", [(), (1, 1, 1, 1), (1, None, "2", True, float("nan"), 1, 1)])
def test_too_few_samples_decide_nothing(values):
    [words] = found(MetricLimit(NAME, most=30), *values)
    assert " of 120 seconds and since the last restart, not 5" in words


def test_rise_without_samples_from_before_is_not_known():
    assert found(RISE, *[1] * 6) == [
        "sql_rt of orders has too few samples from before the change, so it is not known whether it has risen"
    ]


def test_samples_from_before_the_last_restart_or_too_old_do_not_count():
    limit = MetricLimit(NAME, most=30)
    bad, good = [90] * 20, [10] * 5
    assert found(limit, *bad, *good) != []
    assert found(limit, *bad, *good, settled=NOW - timedelta(seconds=24)) == []
    assert "has 4 samples" in found(limit, *bad, *good, settled=NOW - timedelta(seconds=20))[0]
    assert found(MetricLimit(NAME, most=30, seconds=25), *bad, *good) == []


def test_last_restart_is_the_newest_end_of_a_restart_of_the_database():
    ends = ["2026-05-04T03:00:00+08:00", "2026-05-04T02:59:00+08:00", None]
    tasks = [{"name": "Restart OB server", "finishTime": end} for end in ends]
    other = {"name": "Create tenant", "finishTime": "2026-05-04T04:00:00+08:00"}
    assert last_restart([*tasks, other]).isoformat() == ends[0]
    assert last_restart([other]) is last_restart([]) is None


def noisy(random, level, count):
    """Values that scatter by a fifth, with an outlier now and then."""
    return [abs(random.gauss(level, level / 5)) * (10 if random.random() < 0.03 else 1) for _each in range(count)]


def judged(seed, factor):
    """What is found after a restart that changes the level of a metric by a factor."""
    random = Random(seed)
    level = random.uniform(0.5, 500)
    began = NOW - timedelta(seconds=600)
    before = medians_before([RISE], samples(*noisy(random, level, 30), until=began), began)
    after = samples(*noisy(random, level, 90), *noisy(random, level * factor, 15))
    return list(metric_words("orders", [RISE], after, before, NOW, NOW - timedelta(seconds=73)))


def test_every_regression_stops_and_hardly_any_healthy_run_does():
    """Twenty injected regressions of twice the level or more, and a thousand runs with noise."""
    assert all(judged(seed, 2 + seed / 10) for seed in range(20))
    assert sum(bool(judged(seed, 1.0)) for seed in range(1000)) <= 1


GIVEN = {"name": NAME, "most": None, "rise": 50.0, "samples": 5, "seconds": 120}


def test_option_becomes_a_limit():
    assert parse_limit(GIVEN) == RISE
    assert parse_medians({NAME: 12.5}) == {NAME: 12.5}
    assert parse_medians(None) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"name": ""},
            "metric_limits: an empty text is not the name of a metric; give one as OCP has it, like sql_all_rt.",
        ),
        ({"name": "a b"}, "metric_limits: a b is not the name"),
        ({"rise": -1.0}, "metric_limits: rise of sql_rt is -1; give a number of at least 0."),
        ({"most": float("nan")}, "metric_limits: most of sql_rt is nan; give"),
        ({"samples": 0}, "metric_limits.samples of sql_rt: 0"),
        ({"seconds": 20}, "metric_limits.seconds of sql_rt: 20"),
        ({"seconds": 3601}, "metric_limits.seconds of sql_rt: 3601"),
    ],
)
def test_wrong_option_is_one_sentence(changes, words):
    with pytest.raises(OptionError) as raised:
        parse_limit({**GIVEN, **changes})
    assert words in str(raised.value)


def test_median_that_is_no_number_is_refused():
    with pytest.raises(OptionError, match="metrics_before: many is not a number; give the median of sql_rt"):
        parse_medians({NAME: "many"})
