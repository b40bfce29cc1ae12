# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A short search for outages that restarts cause; `make outages` runs a long one. It finds what is put back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from unittest import mock

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import OwnNotes
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.safety_gate import SafetyGate
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety import verdict
from ansible_collections.oceanbase.ocp.tests.outages.campaign import Setting, batch, story
from ansible_collections.oceanbase.ocp.tests.outages.verdicts import CAUSED
from ansible_collections.oceanbase.ocp.tests.simulation.choices import Choices

pytestmark = pytest.mark.slow
SEEDS = (20_004, 20_005, 20_010, 20_013, 20_018, 20_021)
# In which two processes look at one cluster at the same time.
CROSSING = (24, 38)
# What the database would refuse keeps some of these restarts from being sent, too.
NO_DATABASE_RULES = mock.patch.object(
    SafetyGate, "_database", lambda _self, _taken, _tolerated, _waited, allowed: allowed
)
# Two controllers of one journal that restart servers of two zones within a second.
MEETING = Setting(controllers=2, meeting=True, shared=True)


@pytest.mark.parametrize("controllers", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_restarts_cause_no_outage(controllers):
    tally = batch((Setting(controllers=controllers), SEEDS))
    assert tally.seeds == {}
    assert tally.counts["restarts"] > len(SEEDS)
    assert tally.counts["refused as unsafe"] > 0
    assert tally.counts["waves"] > 0


@pytest.mark.nightly
def test_ledger_sees_the_outages_without_safety():
    assert batch((Setting(safety="none"), SEEDS)).outages[CAUSED] > len(SEEDS)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("setting", "seeds"), [(Setting(), CROSSING), (MEETING, range(1, 9))], ids=["one controller", "a shared journal"]
)
def test_processes_that_know_nothing_of_each_other_are_found_out(setting, seeds):
    unlocked = mock.patch.object(MemoryJournal, "lock", lambda *_arguments: nullcontext())
    unread = mock.patch.object(OwnNotes, "own_restarts", lambda *_arguments: [])
    with unlocked, unread, NO_DATABASE_RULES:
        assert batch((setting, seeds)).outages[CAUSED] > 0


def test_of_two_controllers_with_one_journal_that_meet_only_one_restarts():
    tally = batch((MEETING, range(1, 9)))
    assert (tally.seeds, tally.counts["restarts"], tally.counts["refused as unsafe"]) == ({}, 8, 8)


@pytest.mark.nightly
def test_rule_that_does_not_count_what_is_being_restarted_is_found_out():
    """Restarts of one wave or loop after the other."""

    def without_flight(tenants: object, states: Mapping[str, verdict.ServerState]) -> object:
        return outages(tenants, {name: verdict.replace(state, in_flight=False) for name, state in states.items()})

    outages = verdict.outages
    with mock.patch.object(verdict, "outages", without_flight), NO_DATABASE_RULES:
        assert batch((Setting(), SEEDS)).outages[CAUSED] > 0


def test_seed_gives_the_same_run_again():
    told = [list(story(Choices(20_001), Setting())) for _run in range(2)]
    assert told[0] == told[1]
    assert told[0][-1].startswith("  REPLAY=")
