# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Options and results of all restart modules, as Ansible sees them."""

from __future__ import annotations

import re
from contextlib import nullcontext
from datetime import UTC, datetime

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base import errors
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ResponseLost
from ansible_collections.oceanbase.ocp.plugins.module_utils._module import bridge, restart_options
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import run as restart_run
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import InFlight
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import RESULT_KEYS, URL
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import (
    CONNECTION,
    MODULES,
    OWN,
    RESTARTS,
    ROOT,
    definition_of,
    every_module,
)

# What takes an instant takes a name.
DATED = [name for name in MODULES if "started_before" in definition_of(name).options]
NO_INSTANTS = ["2026-05-04T03:02:01", "2026-05-04", "1777834921000", "-5", "", "nan", "yesterday"]


@pytest.mark.parametrize("name", RESTARTS)
@pytest.mark.parametrize("value", NO_INSTANTS, ids=repr)
@pytest.mark.usefixtures("_offline")
def test_invalid_started_before_is_refused(value, name, run):
    result = run(name, {**CONNECTION, **OWN[name], "started_before": value})
    assert result["failed"] is True
    assert result["msg"].startswith(
        f"started_before: {value or 'an empty text'} is not an instant; give ISO 8601 with an offset"
    )


@pytest.mark.parametrize("name", DATED)
@pytest.mark.parametrize("value", ["", " memory", "memory\x07", "m" * 201], ids=repr)
@pytest.mark.usefixtures("_offline")
def test_invalid_change_is_refused(value, name, run):
    result = run(name, {**CONNECTION, **OWN[name], "change": value})
    assert result["failed"] is True
    assert re.match(r"change: .* is not the name of a change; give at most 200 printable characters", result["msg"])


@pytest.mark.parametrize("name", RESTARTS)
@pytest.mark.usefixtures("_offline")
def test_unknown_in_flight_value_is_refused(name, run):
    message = run(name, {**CONNECTION, **OWN[name], "in_flight": "skip"})["msg"]
    assert message == "value of in_flight must be one of: attach, fail, queue, got: skip"


# OCP takes the choice for the restart of a server, not of a zone or a cluster.
SEND_FREEZE_SERVER = {"server_restart", "fleet_restart", "cluster_rolling_restart"}


@every_module
@pytest.mark.usefixtures("_offline")
def test_freeze_server_is_required_where_it_is_sent_and_unknown_elsewhere(name, run):
    options = {option: value for option, value in OWN[name].items() if option != "freeze_server"}
    if name in SEND_FREEZE_SERVER:
        said = run(name, {**CONNECTION, **options})["msg"]
        assert "freeze_server has no default because OCP requires the choice" in said
    else:
        said = run(name, {**CONNECTION, **options, "freeze_server": True})["msg"]
        assert said.startswith("Unsupported parameters for") and "freeze_server" in said


@pytest.mark.usefixtures("_offline")
def test_freeze_server_is_refused_for_restarts_of_zones(run):
    given = {**CONNECTION, **OWN["cluster_rolling_restart"], "strategy": "zone"}
    assert run("cluster_rolling_restart", given)["msg"] == (
        "freeze_server: true does not go with strategy=zone, since OCP takes it for the restart of a server alone; "
        "leave it out."
    )


def test_freeze_server_is_true_by_default_in_roles_and_playbooks():
    roles = "\n".join(path.read_text() for path in ROOT.glob("roles/*/defaults/main.yml"))
    playbooks = "\n".join(path.read_text() for path in ROOT.glob("playbooks/*.yml"))
    assert re.findall(r"_freeze_server: (\w+)", roles) == ["true"]
    assert re.findall(r"{{ \w+_freeze_server *(.*?) *}}", playbooks) == ["| default(true)"]


def show(_line, _failed):
    raise AssertionError("Nothing is to be shown yet.")


def announce(_line, _failed):
    raise AssertionError("Nothing is to be shown yet.")


def restart_options_of(**given):
    spec = {option: rules.get("default") for option, rules in restart_options.RESTART_OPTIONS.items()}
    mode = bridge.RunMode(check_mode=False, show=show, announce=announce)
    return restart_options.restart_options({**spec, "journal_url": None, **given}, mode)


def test_restart_options_have_their_defaults():
    options = restart_options_of()
    assert (options.check_mode, options.wait, options.started_before, options.change) == (False, False, None, None)
    assert options.in_flight is InFlight.ATTACH
    assert options.policy == PollPolicy(7200, 10, show, announce=announce)


def test_restart_options_are_parsed():
    given = {
        "change": "memory-2026-11-20",
        "started_before": "1777834921",
        "in_flight": "queue",
        "wait": True,
        "wait_timeout": 5,
        "wait_interval": 0.5,
        "show_progress": False,
    }
    options = restart_options_of(**given)
    quiet = PollPolicy(5, 0.5, announce=announce)
    assert (options.wait, options.in_flight, options.policy) == (True, InFlight.QUEUE, quiet)
    assert options.started_before == datetime(2026, 5, 3, 19, 2, 1, tzinfo=UTC)
    assert options.change == "memory-2026-11-20"


@pytest.mark.parametrize(
    ("given", "is_dated"),
    [({}, False), ({"change": "memory"}, True), ({"started_before": "1777834921"}, True), ({"wait": True}, False)],
    ids=["nothing", "name", "instant", "wait"],
)
def test_restart_is_dated_by_a_name_or_an_instant(given, is_dated):
    assert restart_options_of(**given).is_dated is is_dated


@pytest.fixture
def small(monkeypatch, service):
    """Put the fake OCP and its clock below the modules."""
    monkeypatch.setattr(bridge, "connected", lambda _params: nullcontext(service))
    monkeypatch.setattr(restart_run.restart_target, "__defaults__", (service.time.clock, None, None))
    return service


@pytest.mark.parametrize("name", RESTARTS)
@pytest.mark.parametrize("check_mode", [False, True], ids=["for real", "check mode"])
def test_diff_mode_returns_a_diff(check_mode, name, run, small):
    result = run(name, {**CONNECTION, **OWN[name], "_ansible_diff": True, "_ansible_check_mode": check_mode})
    assert result["diff"].keys() == {"before_header", "after_header", "before", "after"}
    assert result["diff"]["after"].endswith(" restarted\n")
    assert len(small.posts) == (not check_mode)


def test_attached_restart_has_no_diff(run, small):
    small.begin("Restart OB cluster", small.servers_there, seconds=500)
    result = run("cluster_restart", {**CONNECTION, **OWN["cluster_restart"], "_ansible_diff": True})
    assert result["action"] == "attached"
    assert "diff" not in result


def test_unverified_restart_has_an_unchanged_diff(run, small):
    small.restarts_really = False
    result = run("cluster_restart", {**CONNECTION, **OWN["cluster_restart"], "wait": True, "_ansible_diff": True})
    assert result["failed"] is True
    assert result["verified"] is False
    assert result["diff"]["before"] == result["diff"]["after"]


@pytest.mark.parametrize("name", RESTARTS)
def test_clock_offset_is_a_warning(name, run, small, warned):
    small.clock_offset = 40
    result = run(name, {**CONNECTION, **OWN[name], "started_before": "2026-05-04T03:00:00+08:00"})
    assert "The clock of the service is 40 seconds ahead" in str(warned)
    assert result["action"] == "submitted"


@pytest.mark.parametrize("name", RESTARTS)
def test_unknown_outcome_is_a_failure_with_all_keys(name, run, small, warned):
    small.names_operations = False
    small.failing["tasks"] = [errors.PermissionDenied("No.", status=403, reason="", url=URL)] * 9
    small.lose_after = [ResponseLost("The answer was lost.", url=URL, may_have_run=True)]
    result = run(name, {**CONNECTION, **OWN[name], "detail": "full"})
    assert result["failed"] is True
    assert result["msg"].startswith("It is not known whether ")
    assert result.keys() >= RESULT_KEYS
    assert (result["changed"], len(small.posts)) == (True, 1)
    assert "is running already" in str(warned)


@pytest.mark.parametrize(
    ("given", "refused"),
    [({"change": "memory-2026-11-20"}, False), ({"started_before": "2026-05-04T03:00:00+08:00"}, False), ({}, True)],
    ids=["name", "instant", "nothing"],
)
@pytest.mark.usefixtures("small")
def test_fleet_waits_only_for_a_change_that_it_can_prove(given, refused, run):
    options = {name: value for name, value in OWN["fleet_restart"].items() if name != "started_before"}
    result = run("fleet_restart", {**CONNECTION, **options, **given, "wait": True, "_ansible_check_mode": True})
    assert result.get("failed", False) is refused
    assert refused is result.get("msg", "").startswith(
        "change: is not given, nor is started_before, and wait=true needs"
    )


@pytest.mark.parametrize("extreme", ["9999-12-31T23:59:59-08:00", "0001-01-01T00:00:00+08:00", "253402300799"])
@pytest.mark.parametrize("offset", [0, 60, -60])
def test_extreme_started_before_is_accepted_or_refused(offset, extreme, run, small):
    small.clock_offset = offset
    result = run("server_restart", {**CONNECTION, **OWN["server_restart"], "started_before": extreme})
    assert result.get("failed") is None or result["msg"].startswith("started_before: ")
