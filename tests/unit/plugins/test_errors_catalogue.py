# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of errors has every error class, status and bad option, and RETURN documents what failures hold."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest
import yaml
from ansible_collections.oceanbase.ocp.plugins.module_utils._base import errors
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.result_detail import LONG_LISTS
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import envelope
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.send_once import DoubtfulAnswer
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import (
    ANSIBLE,
    ANSWERS,
    OPTIONS,
    TARGETS,
    TASKS,
    TRANSPORT,
    outcome_of,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_entries import entries, every_entry
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_options import (
    EMPTY,
    MISSING,
    NO_BAD_TYPE,
    NO_BAD_VALUE,
    RANGE,
    TOGETHER,
    TYPE,
    UNKNOWN,
    expected_faults,
    options_of,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_service import REASONS, REDIRECTS, no_pauses
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import (
    COLLECTION,
    CONNECTION,
    MODULES,
    OWN,
    WITHOUT_SERVICE,
    definition_of,
    every_module,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import closed_port

# Each test goes through the whole catalogue, which takes seconds to build.
pytestmark = pytest.mark.slow


def leaves(kind: type[errors.OcpError]) -> set[type[errors.OcpError]]:
    return {kind} if not kind.__subclasses__() else set().union(*map(leaves, kind.__subclasses__()))


def test_every_error_class_is_in_the_catalogue():
    raised = {entry.kind for entry in every_entry() if entry.kind is not None}
    # A bug has no message of its own, what was not sent any more is a part of the message about others, and an answer
    # with another task is a part of the message that the outcome is not known.
    assert leaves(errors.OcpError) - {errors.ModuleCrashed, errors.Halted, DoubtfulAnswer} <= raised
    # Raised themselves, besides being the base of others.
    assert {errors.RequestRefused, errors.OptionError, errors.ResponseUnreadable} <= raised
    assert not raised & {errors.OcpError, errors.ServiceError, errors.TaskError}


# Options that messages propose with a value.
PROPOSED = "in_flight|judged_tasks|max_failures|most_down|offline_budget|safety|safety_timeout|stop_on|strategy|waves"
GLUED = re.compile(rf"\b(?:tolerate_outage_of|{PROPOSED})=\S*[.,;:](?=\s|$)")


def test_nothing_touches_the_value_of_an_option_that_is_copied_up_to_the_blank():
    assert [found for entry in every_entry() for found in GLUED.findall(entry.message)] == []


def test_leaf_error_classes_are_found():
    assert {errors.NameTaken, errors.NotFound, errors.NotVerified} <= leaves(errors.OcpError)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_every_status_is_in_the_catalogue(method):
    told = {
        int(found[1])
        for entry in entries(ANSWERS)
        if (found := re.match(rf"{method} .* refused with status (\d+)", entry.message))
    }
    documented = {400, 401, 403, 404, 409, 415, 429, 500, 502, 503, 504}
    assert documented | envelope.NEXT_STEPS.keys() <= told
    assert documented == REASONS.keys()
    assert REDIRECTS == (301, 302, 303, 307, 308)
    assert any(
        entry.message.startswith(f"{method} ") and "is redirected to" in entry.message for entry in entries(ANSWERS)
    )


def test_every_group_has_entries():
    assert {entry.group for entry in every_entry()} == {ANSIBLE, OPTIONS, TARGETS, ANSWERS, TRANSPORT, TASKS}


@every_module
def test_every_option_has_its_invalid_values_in_the_catalogue(name):
    told = {fault for entry in entries(ANSIBLE, OPTIONS) for fault in entry.faults if fault[0] == name}
    assert expected_faults(name) <= told
    assert {option for _name, option, _fault in told} >= options_of(name).keys()
    assert any(fault == UNKNOWN for _name, _option, fault in told)
    for pair in definition_of(name).rules.get("mutually_exclusive", ()):
        assert (name, pair[0], TOGETHER) in told
    for _option, _value, [needed] in definition_of(name).rules.get("required_if", ()):
        assert (name, needed, MISSING) in told


def test_expected_faults_come_from_the_argument_spec():
    assert {("cluster_wait", "min_zones", fault) for fault in (TYPE, RANGE)} <= expected_faults("cluster_wait")
    assert {("zone_restart", "zone", fault) for fault in (EMPTY, MISSING)} <= expected_faults("zone_restart")


def test_exempt_options_exist_and_have_a_reason():
    options = {option: spec for name in MODULES for option, spec in definition_of(name).argument_spec.items()}
    assert {option for option, _fault in NO_BAD_VALUE} <= options.keys()
    assert {spec["type"] for spec in options.values()} >= NO_BAD_TYPE.keys()
    told = {(option, fault) for entry in entries(ANSIBLE, OPTIONS) for _module, option, fault in entry.faults}
    assert not told & NO_BAD_VALUE.keys()
    assert all([*NO_BAD_VALUE.values(), *NO_BAD_TYPE.values()])


# Results agree with RETURN

# Keys of every Ansible result.
COMMON = {"msg", "changed"}


def returned_by(name: str) -> dict[str, Any]:
    told: dict[str, Any] = yaml.safe_load(importlib.import_module(f"{COLLECTION}.plugins.modules.{name}").RETURN)
    return told


def failures_of(name: str) -> set[frozenset[str]]:
    """The keys of its failures, including those of an unreachable service, unless the module tolerates failed reads."""
    failures = {keys for entry in every_entry() for module, keys in entry.results if module == name}
    if name not in ("cluster_wait", "ocp_info", "task_wait", *WITHOUT_SERVICE):
        with no_pauses():
            unreached, _kind = outcome_of(name, {**CONNECTION, **OWN[name], "url": f"http://127.0.0.1:{closed_port()}"})
        failures.add(frozenset(unreached))
    return failures


@every_module
def test_failure_has_only_documented_keys_in_complete_groups(name):
    told = returned_by(name)
    kinds: dict[str, set[str]] = {}
    for key, facts in told.items():
        if key in LONG_LISTS:
            continue
        kinds.setdefault(facts["returned"], set()).add(key)
    kinds["always"] = kinds.get("always", set()) - COMMON
    failures = failures_of(name)
    # A request that fails is a part of the result of ocp_info.
    assert any(keys - COMMON for keys in failures) is (name not in ("ocp_info", *WITHOUT_SERVICE))
    for keys in failures:
        assert keys - COMMON <= told.keys()
        assert keys.isdisjoint(kinds.get("success", set()))
        assert kinds["always"] <= keys
        torn = {kind for kind, together in kinds.items() if together & keys not in (set(), together)}
        assert torn == set()


@pytest.mark.parametrize("name", ["server_restart", "task", "task_wait", "cluster_wait"])
def test_every_documented_key_is_returned(name):
    told = returned_by(name)
    # No failure has the command that waits: its message names the next step.
    success = {key for key, facts in told.items() if facts["returned"] == "success" or key == "wait_command"}
    assert told.keys() - success - COMMON - {*LONG_LISTS} <= set().union(*failures_of(name))
