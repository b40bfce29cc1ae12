# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Tasks that OCP has archived: what they did still counts, or the run fails. None leads to a second restart."""

from __future__ import annotations

import importlib
from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotVerified, TargetBusy
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import RunMode
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.task_ends import noting_ends
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import (
    another_controller,
    another_process,
    journal_here,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import at, lost
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    RESTART_CASES,
    every_restart,
    failure,
    request,
    restart,
)

ARBITRATION = RESTART_CASES["arbitration service"]
NAME = {"change": "memory-2026-11-20"}
# By somebody else, or for another change.
OTHER = {"change": "another"}
SHOWN = {name: case for name, case in RESTART_CASES.items() if case.proven}
every_shown_restart = pytest.mark.parametrize("case", SHOWN.values(), ids=SHOWN)
CHANGES = pytest.mark.parametrize("dated", [NAME, {"started_before": at(-100)}], ids=["name", "instant"])


def asked(dated, **options):
    return replace(request(**{"wait": dated is not OTHER, **options}), **dated)


def archives(service, seconds=7200):
    """Time passes, and the service forgets all tasks."""
    service.passes(seconds)
    service.jobs.clear()
    service.list_lacks = 0.0
    another_process()


@CHANGES
def test_request_whose_task_may_be_archived_is_not_followed_by_another_one(dated, service):
    """No start shows whether it ran."""
    service.lose_after, service.list_lacks = [lost()], 9e9
    failure(service, ARBITRATION, asked(dated))
    archives(service)
    error = failure(service, ARBITRATION, asked(dated))
    assert (error.__class__, len(service.posts)) == (NotVerified, 1)
    assert "shows no start of 10.1.0.8:2888, and may no longer list the task of that request" in str(error)


def test_request_never_ran_if_an_older_task_is_still_listed(service):
    restart(service, ARBITRATION, asked(OTHER, wait=True))
    service.lose_before = [lost()]
    failure(service, ARBITRATION, asked(NAME))
    service.passes(7200)
    another_process()
    assert restart(service, ARBITRATION, asked(NAME))["action"] == "submitted"


@every_shown_restart
def test_restart_that_ran_at_the_first_use_and_is_archived_has_not_restarted_what_shows_the_start_of_before(
    case, service
):
    """It was rolled back before it stopped anything."""
    service.seconds, service.restarts_really = 60.0, False
    restart(service, case, asked(OTHER))
    service.passes(20)
    assert isinstance(failure(service, case, asked(NAME, in_flight="fail")), TargetBusy)
    archives(service)
    service.restarts_really = True
    assert restart(service, case, asked(NAME))["action"] == "submitted"


@every_restart
def test_restart_that_ran_at_the_first_use_and_is_archived_may_have_restarted_it(case, service):
    service.seconds = 60.0
    restart(service, case, asked(OTHER))
    service.passes(20)
    error = failure(service, case, asked(NAME, in_flight="fail"))
    assert isinstance(error, TargetBusy)
    archives(service)
    if case.proven:
        assert restart(service, case, asked(NAME))["action"] == "skipped"
    else:
        error = failure(service, case, asked(NAME))
        assert isinstance(error, NotVerified)
        assert "task 1001" in str(error)
    assert len(service.posts) == 1


@CHANGES
@pytest.mark.parametrize("passed", [5.0, 60.0], ids=["joined", "skipped"])
def test_restart_by_somebody_else_that_proved_the_change_is_remembered(passed, dated, service):
    """It began since the first use of the name, and no start shows."""
    service.arbitration[0].status = "OPERATING"
    failure(service, ARBITRATION, asked(dated, in_flight="fail"))
    service.arbitration[0].status = "RUNNING"
    service.seconds = 20.0
    service.restart_arbitration_service(61)
    service.passes(passed)
    another_process()
    first = restart(service, ARBITRATION, asked(dated))
    assert first["action"] == ("attached" if passed < 20 else "skipped")
    archives(service)
    again = restart(service, ARBITRATION, asked(dated))
    assert (again["action"], again["reason"].count("task 1001")) == ("skipped", 1)


@every_shown_restart
@pytest.mark.parametrize("passed", [5.0, 60.0], ids=["joined", "skipped"])
def test_restart_by_somebody_else_is_remembered_where_its_start_is_too_near_to_the_change(passed, case, service):
    """Its host's clock may be off by a minute: only the task proves the change."""
    service.seconds = 20.0
    restart(service, case, asked(OTHER))
    another_controller()
    service.passes(passed)
    first = restart(service, case, asked({"started_before": at(-10)}))
    assert first["action"] == ("attached" if passed < 20 else "skipped")
    archives(service)
    assert restart(service, case, asked({"started_before": at(-10)}))["action"] == "skipped"
    assert len(service.posts) == 1


def test_restart_by_somebody_else_is_remembered_of_a_host_that_is_left_alone_beside_others(service):
    agents = RESTART_CASES["agents"]
    service.restart_agents([51])
    service.passes(60)
    first = restart(service, agents, asked({"started_before": at(-10)}))
    assert (first["action"], service.posts[1:]) == ("submitted", [("agents", [52])])
    service.passes(60)
    archives(service)
    assert restart(service, agents, asked({"started_before": at(-10)}))["action"] == "skipped"
    assert len(service.posts) == 2


@CHANGES
def test_own_restart_for_another_change_that_proved_this_one_is_remembered(dated, service):
    """It is in the journal, but not for this change."""
    service.arbitration[0].status = "OPERATING"
    failure(service, ARBITRATION, asked(dated, in_flight="fail"))
    service.arbitration[0].status = "RUNNING"
    assert restart(service, ARBITRATION, asked(OTHER, wait=True))["action"] == "submitted"
    assert restart(service, ARBITRATION, asked(dated))["action"] == "skipped"
    archives(service)
    assert restart(service, ARBITRATION, asked(dated))["action"] == "skipped"
    assert len(service.posts) == 1


@pytest.mark.parametrize("is_ours", [True, False], ids=["ours", "of somebody else"])
def test_restart_that_only_its_task_proves_is_remembered_for_as_long_as_somebody_may_ask(is_ours, service):
    if not is_ours:
        service.restart_arbitration_service(61)
        service.passes(60)
    restart(service, ARBITRATION, asked({"started_before": at(-100)}))
    archives(service)
    assert [row["since"] for row in journal_here().entries()["requests"]] == [at(-100).timestamp()]
    assert restart(service, ARBITRATION, asked({"started_before": at(-100)}))["action"] == "skipped"
    assert len(service.posts) == 1


def test_restart_that_began_before_the_change_and_started_the_target_since_is_remembered(service):
    service.seconds = 40.0
    service.restart_arbitration_service(61)
    service.passes(60)
    since = {"started_before": at(1)}
    assert restart(service, ARBITRATION, asked(since))["action"] == "skipped"
    archives(service)
    assert restart(service, ARBITRATION, asked(since))["action"] == "skipped"
    assert len(service.posts) == 1


@pytest.mark.parametrize("end", ["SUCCESSFUL", "ROLLBACK", "FAILED"])
@every_restart
def test_end_that_a_wait_for_the_task_sees_is_noted(case, end, service):
    """As ``wait: false`` and then ``task_wait``, or a retry by ``task``."""
    service.seconds, service.end = 20.0, end
    task_id = restart(service, case, asked(NAME, wait=False))["task_id"]
    service.passes(30)
    with noting_ends(service, None, [task_id]):
        pass
    [row] = journal_here().entries()["requests"]
    assert row["outcome"] == {"SUCCESSFUL": "SUCCESSFUL", "ROLLBACK": "ROLLED_BACK", "FAILED": "FAILED"}[end]
    if end == "SUCCESSFUL":
        archives(service)
        assert restart(service, case, asked(NAME))["action"] == "skipped"


def test_end_of_another_task_that_got_the_id_is_not_noted(service):
    """As in an OCP that was installed anew."""
    restart(service, ARBITRATION, asked(NAME, wait=False))
    service.passes(3600)
    service.jobs.clear()
    service.restart_arbitration_service(61)
    service.passes(60)
    with noting_ends(service, None, [1001]):
        pass
    assert [row["outcome"] for row in journal_here().entries()["requests"]] == ["RUNNING"]


def test_end_that_a_failed_wait_sees_is_noted(service):
    service.end = "FAILED"
    task_id = restart(service, ARBITRATION, asked(NAME, wait=False))["task_id"]
    service.passes(60)
    with pytest.raises(NotVerified), noting_ends(service, None, [task_id, 999]):
        raise NotVerified("as after a wait")
    assert [row["outcome"] for row in journal_here().entries()["requests"]] == ["FAILED"]


def test_task_that_proves_a_restart_is_not_noted_in_check_mode(service):
    service.restart_agents([51, 52])
    service.passes(60)
    agents, dated = RESTART_CASES["agents"], {"started_before": at(-10)}
    assert restart(service, agents, asked(dated, check_mode=True))["action"] == "skipped"
    assert journal_here().entries()["requests"] == []
    restart(service, agents, asked(dated))
    assert len(journal_here().entries()["requests"]) == 1


def test_joined_restart_that_was_rolled_back_is_not_noted(service):
    service.seconds, service.end = 20.0, "ROLLBACK"
    service.restart_arbitration_service(61)
    error = failure(service, ARBITRATION, asked({"started_before": at(-100)}))
    assert error.facts["action"] == "attached"
    assert journal_here().entries()["requests"] == []


def test_restart_by_somebody_else_that_a_start_proves_is_not_noted(service):
    server = RESTART_CASES["server"]
    service.restart_server(31, 41, freeze_server=True, force=False)
    service.passes(60)
    result = restart(service, server, asked({"started_before": at(-100)}))
    assert (result["action"], result["verified"]) == ("skipped", True)
    assert journal_here().entries()["requests"] == []


def test_own_success_and_a_later_start_are_proof_although_the_clock_of_the_host_was_set_back(service):
    server = RESTART_CASES["server"]
    assert restart(service, server, asked(NAME))["verified"] is True
    service.servers_there[0].started -= 1800
    archives(service)
    assert restart(service, server, asked(NAME))["action"] == "skipped"
    assert len(service.posts) == 1


@pytest.mark.parametrize(
    ("name", "given", "act"),
    [
        ("task_wait", {"task_ids": [1001]}, "await_tasks"),
        ("task", {"task_id": 1001, "state": "retried", "wait": True}, "act_on_task"),
    ],
)
@pytest.mark.parametrize("check_mode", [False, True])
def test_modules_that_await_a_task_note_its_end(check_mode, name, given, act, service, monkeypatch):
    """But not in check mode."""
    restart(service, ARBITRATION, asked(NAME, wait=False))
    module = importlib.import_module(f"ansible_collections.oceanbase.ocp.plugins.modules.{name}")
    monkeypatch.setattr(module, act, lambda *_given, **_options: service.passes(60))
    options = {option: spec.get("default") for option, spec in module.DEFINITION.argument_spec.items()}
    module.run(service, {**options, **given}, RunMode(check_mode))
    [row] = journal_here().entries()["requests"]
    assert row["outcome"] == ("RUNNING" if check_mode else "SUCCESSFUL")
