# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fuzzer of `make fuzz` runs, finds nothing in some cases, and finds what is put back."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.tests.fuzz.cases import EVENTS, INVENTORY, KINDS, PAGES, Case
from ansible_collections.oceanbase.ocp.tests.fuzz.defects import DEFECTS
from ansible_collections.oceanbase.ocp.tests.fuzz.drive import TYPICAL, catalogue, drive
from ansible_collections.oceanbase.ocp.tests.fuzz.hostile_values import CANARIES, CANARY_TEXTS
from ansible_collections.oceanbase.ocp.tests.fuzz.oracle import Finding, check, evaluated
from ansible_collections.oceanbase.ocp.tests.fuzz.search import Search, check_undisturbed, run_case
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import MODULES, WITHOUT_SERVICE

pytestmark = pytest.mark.slow

SEED = 1
# Of those that the kinds beside them show soon.
QUICKLY_FOUND = {
    "variables of the inventory are not marked unsafe": [INVENTORY],
    "the id of the task is lost when a wait fails": ["server_restart", "agent_restart"],
}


def test_every_module_is_driven():
    assert [name for name in MODULES if name not in (*KINDS, *WITHOUT_SERVICE)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_undisturbed_run_is_fine(kind):
    for options in TYPICAL.get(kind, [{}]):
        case = Case(kind, options)
        left, service = drive(case)
        check(case, left, service)
        assert left.error is None
        assert sum(service.calls.values()) > 0
        assert left.result or left.hosts or left.events


def test_inventory_that_ends_the_command_has_an_error_and_no_crash():
    """So that a search goes on."""
    case = Case(INVENTORY, {"filters": {"cluster": "none of these"}})
    left, service = drive(case)
    check(case, left, service)
    assert "none of these" in str(left.error)
    assert left.crash is None


@pytest.mark.nightly
def test_nothing_is_found():
    catalogue()
    search = Search()
    search.look(SEED, 70)
    assert search.found is None, f"{search.found.finding}: {search.found.case.to_json()}"
    assert search.ran.total() >= 70


@pytest.mark.parametrize("text", [text for text in CANARY_TEXTS if not text.startswith("#")])
def test_canary_sings_where_it_is_trusted(text):
    """A header counts in files alone."""
    assert any(canary in evaluated(text, {}) for canary in CANARIES)


@pytest.mark.nightly
@pytest.mark.parametrize("name", QUICKLY_FOUND)
def test_defect_is_found(name):
    catalogue()
    search = Search(shrinks=False)
    with DEFECTS[name]():
        search.look(SEED, 2000, kinds=QUICKLY_FOUND[name])
    assert search.found is not None


@pytest.mark.parametrize("name", DEFECTS)
def test_defect_needs_a_hostile_service(name):
    """Its patch is whole, and what a search finds is its doing."""
    with DEFECTS[name]():
        check_undisturbed(["zone_restart", INVENTORY, PAGES])


def test_defect_of_events_is_found_by_a_case_that_shows_it():
    """The search takes hundreds of cases to come to it, so `make fuzz-defects` does that."""
    call = "GET /api/v2/tasks/instances/{}"
    mutation = {"call": call, "when": None, "field": ["data", "clusterId"], "only": 0, "value": "a text"}
    case = Case(EVENTS, {}, mutations=[mutation])
    run_case(case)
    with DEFECTS["ids of events are as the service sends them"](), pytest.raises(Finding, match="cluster_id='a text'"):
        run_case(case)


def test_case_is_kept_as_json():
    case = Case("task", {"task_id": 7}, mutations=[{"call": "*", "when": None, "fault": "lost"}])
    assert Case.from_json(case.to_json()) == case
