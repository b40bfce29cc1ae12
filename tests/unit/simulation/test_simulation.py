# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The simulation itself: the same seed gives the same run, choices are played back, and bugs are found."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import SYSTEM_CLOCK
from ansible_collections.oceanbase.ocp.tests.simulation import campaign
from ansible_collections.oceanbase.ocp.tests.simulation.choices import Choices, as_text, from_text
from ansible_collections.oceanbase.ocp.tests.simulation.mutations import MUTATIONS, put_back
from ansible_collections.oceanbase.ocp.tests.simulation.shrink import shrink
from ansible_collections.oceanbase.ocp.tests.simulation.simulation import NAMES_ALONE
from ansible_collections.oceanbase.ocp.tests.simulation.virtual_time import virtual_time


def told(choices):
    with virtual_time() as current:
        simulation, _findings = campaign.simulate(choices, current, tell=True)
    return simulation.history.told


def test_plainest_choices_restart_once_and_are_green():
    with virtual_time() as current:
        simulation, findings = campaign.simulate(Choices(played={}), current, tell=True)
    [run] = simulation.history.runs
    assert findings == []
    assert (run.result["action"], run.result["verified"], len(run.restarts)) == ("submitted", True, 1)
    assert "server 111 STARTS by task 1001" in [text for _when, text in simulation.history.told]


@pytest.mark.parametrize(
    ("journal", "words"),
    [
        pytest.param([1, 0, 0, 0, 0], "No space left on device", id="write fails"),
        pytest.param([1, 1, 0, 0, 0], "No space left on device", id="read-only for a time"),
        pytest.param([0, 1, 0, 1, 0, 0], "The lock of cluster 1", id="lease ends"),
        pytest.param([0, 1, 0, 1, 0, 1], "The lock of cluster 1", id="suspended for longer than a lease"),
    ],
)
def test_journal_that_fails_before_a_request_stops_it(journal, words):
    """In the scenario the change has a name."""
    with virtual_time() as current:
        choices = Choices(played={"journal m1": journal, **NAMES_ALONE})
        simulation, findings = campaign.simulate(choices, current, tell=True)
    first = simulation.history.runs[0]
    assert findings == []
    assert (first.failed, first.posts) == (True, [])
    assert words in first.result["msg"]


def test_journal_that_fails_after_a_request_changes_nothing():
    with virtual_time() as current:
        simulation, findings = campaign.simulate(Choices(played={"journal m1": [1, 0, 1]}), current)
    [run] = simulation.history.runs
    assert (findings, run.green, len(run.restarts)) == ([], True, 1)
    assert simulation.machines[0].task_ids.failed == {run.result["task_id"]}


def test_server_is_added_again_under_another_id():
    with virtual_time() as current:
        simulation, findings = campaign.simulate(Choices(played={"identities": [1, 1]}), current, tell=True)
    added = simulation.fleet.newest(("server", 111))
    assert (findings, added) == ([], ("server", 920))
    assert "server 920 is added with the address of server 111" in [text for _when, text in simulation.history.told]


@pytest.mark.parametrize("seed", [3, 15])
def test_seed_and_its_recorded_choices_give_the_same_story(seed):
    choices = Choices(seed)
    story = told(choices)
    assert len(story) > 5
    recorded = from_text(as_text(choices.recorded()))
    assert told(Choices(seed)) == story
    assert told(Choices(played=recorded)) == story


def test_names_alone_restart_with_no_clock_near_another():
    with virtual_time() as current:
        for seed in range(1, 6):
            choices = Choices(seed, NAMES_ALONE)
            simulation, findings = campaign.simulate(choices, current)
            assert [finding for finding in findings if not finding.unseen] == []
            assert simulation.profile.spread >= 600
            assert {run.since for run in simulation.history.runs} == {None}
            assert choices.recorded()["world"] == NAMES_ALONE["world"]


def test_clocks_and_sockets_are_those_of_the_machine_again():
    before = (SYSTEM_CLOCK.now, SYSTEM_CLOCK.sleep)
    with virtual_time():
        assert SYSTEM_CLOCK.now is not before[0]
    assert (SYSTEM_CLOCK.now, SYSTEM_CLOCK.sleep) == before
    assert abs(SYSTEM_CLOCK.wall() - time.time()) < 60


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("seed", [20, 25, 5147])
def test_run_that_once_broke_a_promise_or_misled_the_oracle_breaks_none(seed):
    """In a process of its own, where hashes are fixed: they decide what a seed means."""
    module = campaign.__name__.rpartition(".")[0]
    command = [sys.executable, "-m", module, "--seed", str(seed), "--runs", "1", "--processes", "1", "--stories", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.nightly
def test_some_runs_break_no_promise():
    tally = campaign.batch((range(30_001, 30_041), {}))
    assert tally.broken == {}
    assert (tally.runs, tally.restarts > 20, tally.requests > 400) == (40, True, True)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("mutation", ["redirects-are-refusals", "adoption-by-id-alone"])
def test_bug_that_is_put_back_is_found(mutation):
    found = campaign.catch(mutation, 1, 150)
    assert found.by, found


@pytest.mark.slow
@pytest.mark.nightly
def test_bug_that_the_simulation_meets_too_seldom_is_found_by_its_unit_test():
    assert campaign.catch("no-rule-running", 1, 0).by.startswith("tests/unit/")


def test_every_mutation_can_be_put_back_and_taken_away():
    """What it patches has to be there still."""
    for name in MUTATIONS:
        with put_back(name):
            pass
    with virtual_time() as current:
        assert campaign.simulate(Choices(played={}), current)[1] == []


def test_failing_choices_become_smaller():
    def fails(recorded):
        return sum(recorded.get("a", [])) >= 5

    assert shrink({"a": [0, 9, 4], "b": [7, 7]}, fails) == {"a": [0, 5, 0]}
