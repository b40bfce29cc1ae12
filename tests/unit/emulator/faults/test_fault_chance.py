# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which requests a fault hits by chance: those that its seed and their number decide."""

import pytest
from ocp_emulator.faults.fault_chance import hits

TASKS = "/api/v2/tasks/instances"


def statuses(emulated, calls):
    return [emulated.request("GET", TASKS).status_code for _call in range(calls)]


def plan(emulated, **fault):
    emulated.data("POST", "/emulator/faults", json={"kind": "http", "action": "error", "status": 503, **fault})


def test_seeded_probability_is_repeatable_across_processes(start, tmp_path):
    fault = {"probability": 0.4, "seed": 11, "times": None}
    emulated = start()
    plan(emulated, **fault)
    expected = statuses(emulated, 40)
    assert 5 < expected.count(503) < 35
    first = start(database=tmp_path / "state.db")
    plan(first, **fault)
    told = statuses(first, 15)
    first.app.state.service.close()
    second = start(database=tmp_path / "state.db")
    assert told + statuses(second, 25) == expected
    other = start()
    plan(other, **{**fault, "seed": 12})
    assert statuses(other, 40) != expected


@pytest.mark.parametrize("probability", [0.05, 0.5, 0.9])
def test_hit_rate_approximates_the_probability(probability):
    count = sum(hits(match, None, probability, seed=7) for match in range(1, 2_001))
    assert count / 2_000 == pytest.approx(probability, abs=0.03)
