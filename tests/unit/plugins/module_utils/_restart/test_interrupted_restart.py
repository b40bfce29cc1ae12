# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A restart that Ansible's time-out or Ctrl-C ends: what is known of it is not lost."""

from __future__ import annotations

import json

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import attached_facts
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import lost
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import (
    SERVER,
    every_restart,
    request,
    restart,
)


class Interruption(BaseException):
    """No Exception, as Ansible's time-out and KeyboardInterrupt."""


def interrupted(service, case, options):
    """Restart until the interruption; returns what is attached to it."""
    with pytest.raises(Interruption) as raised:
        restart_target(service, case, options, service.time.clock)
    facts = attached_facts(raised.value)
    assert facts.keys() == case.keys
    assert facts["target"] == case.target.result()
    json.dumps(facts)
    return facts


def interrupt():
    raise Interruption


@every_restart
def test_interrupted_wait_keeps_the_task(service, case):
    service.failing["task"] = [Interruption()]
    facts = interrupted(service, case, request(wait=True))
    assert (facts["changed"], facts["action"], facts["task_id"]) == (True, "submitted", 1001)
    assert facts["task"]["id"] == 1001
    assert facts["trace_id"] == "trace-post"
    assert facts["verified"] is None


def test_interrupted_wait_for_another_restart_keeps_its_task(service):
    service.begin(SERVER.task_name, SERVER.things(service))
    service.time.after_sleep = interrupt
    facts = interrupted(service, SERVER, request(wait=True))
    assert (facts["changed"], facts["action"], facts["task_id"]) == (False, "attached", 1001)


@every_restart
def test_request_that_is_interrupted_may_have_run(service, case):
    service.before_post = interrupt
    facts = interrupted(service, case, request(wait=True))
    assert (facts["changed"], facts["action"], facts["task_id"]) == (True, "submitted", None)


def test_interrupted_search_for_a_lost_response_may_have_run(service):
    service.lose_after = [lost()]
    service.before_post = lambda: service.failing.update(tasks=[Interruption()])
    facts = interrupted(service, SERVER, request(wait=True))
    assert (facts["changed"], facts["action"], facts["task_id"]) == (True, "submitted", None)


@every_restart
def test_interruption_before_the_request_started_nothing(service, case):
    service.failing["tasks"] = [Interruption()]
    facts = interrupted(service, case, request(wait=True))
    assert (facts["changed"], facts["action"], facts["task_id"]) == (False, None, None)
    assert service.posts == []


# The line with the task id


@pytest.mark.parametrize("action", ["submitted", "attached", "adopted"])
def test_line_with_the_task_id_precedes_the_wait_even_if_progress_is_hidden(service, action):
    if action == "attached":
        service.begin(SERVER.task_name, SERVER.things(service))
    if action == "adopted":
        service.lose_after = [lost()]
    lines = []

    def announce(line, failed):
        lines.append((line, failed, len(service.time.pauses)))

    result = restart(service, SERVER, request(wait=True, announce=announce))
    assert result["action"] == action
    assert lines == [(f"  {SERVER.target.label}: {action}, task 1001", False, 0)]


def test_restart_that_is_not_awaited_announces_nothing(service):
    lines = []
    restart(service, SERVER, request(announce=lambda line, _failed: lines.append(line)))
    assert lines == []
