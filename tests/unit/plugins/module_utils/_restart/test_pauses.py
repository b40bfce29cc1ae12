# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A pause that the service asks for, whatever request it comes in: what was read before it decides nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ResponseUnreadable, WaitTimeout
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import MOST_INTERRUPTED
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp, at
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import SERVER, request, restart

PAUSE = 12.0
DATED = request(started_before=at(-100))


@pytest.fixture
def service(time_passes):
    return FakeOcp(time_passes)


def pause_in(service, name, times=1, meanwhile=lambda: None, *, is_late=False):
    """The answer to this read comes after a pause, and is from before it, unless it ``is_late``."""
    read, seen = getattr(service, name), []

    def paused(*arguments, **more):
        found = read(*arguments, **more)
        seen.append(name)
        if len(seen) <= times:
            service.passes(PAUSE)
            meanwhile()
            service.client.paused()
            found = read(*arguments, **more) if is_late else found
        return found

    setattr(service, name, paused)


def restarted_by_a_person(service):
    def restart_it():
        service.begin("Restart OB server", [service.servers_there[0]], seconds=1)
        service.passes(2)

    return restart_it


@pytest.mark.parametrize("name", ["cluster", "servers"])
def test_restart_of_a_person_during_the_pause_is_seen(service, name):
    pause_in(service, name, meanwhile=restarted_by_a_person(service))
    assert restart(service, SERVER, DATED)["action"] == "skipped"
    assert service.posts == []


@pytest.mark.parametrize("wait", [False, True])
def test_restart_within_the_first_look_of_a_name_makes_no_run_green(wait, service):
    """The start was read after it; the list, too, since the look took long."""
    pause_in(service, "servers", meanwhile=restarted_by_a_person(service), is_late=True)
    result = restart(service, SERVER, replace(request(wait=wait), change="memory"))
    assert (result["action"], result["task_id"], len(service.posts)) == ("submitted", 1002, 1)


def test_what_gates_have_read_before_the_pause_is_read_again(service):
    pause_in(service, "servers")
    safely = replace(DATED, safety=Safety(majority=True, healthy=False))
    assert restart(service, SERVER, safely)["action"] == "submitted"
    assert service.calls.count("tenants") == 2


def test_request_that_is_not_allowed_yet_is_decided_anew(service):
    person, waited = restarted_by_a_person(service), []

    def wait(clock):
        if not waited:
            waited.append(True)
            person()
            clock.sleep(PAUSE)

    service.wait_to_send = wait
    assert restart(service, SERVER, DATED)["action"] == "skipped"
    assert service.posts == []


def test_service_that_interrupts_each_look_is_not_asked_for_ever(service):
    pause_in(service, "servers", times=1000)
    with pytest.raises(ResponseUnreadable, match=f"a pause in each of {MOST_INTERRUPTED} looks") as raised:
        restart(service, SERVER, DATED)
    assert service.posts == []
    assert "Did not restart server 10.1.0.1:2882" in str(raised.value)


def test_look_after_an_interrupted_one_asks_for_more_room(service):
    pause_in(service, "servers", times=2)
    asked = []
    service.wait_for_room = lambda requests, _clock: asked.append(requests)
    assert restart(service, SERVER, DATED)["action"] == "submitted"
    assert asked == [asked[0], 2 * asked[0], 3 * asked[0]]


def test_wait_asks_for_no_more_than_the_service_allows_by_default(service):
    """100 requests in 10 seconds, however many each look takes."""
    lists, asked = service.tasks, []

    def tasks(*arguments, **filters):
        found = lists(*arguments, **filters)
        service.calls.extend(["page"] * 29)
        asked.append(service.time.time)
        return found

    service.tasks = tasks
    service.servers_there[0].status = "RESTARTING"
    with pytest.raises(WaitTimeout):
        restart(service, SERVER, request("queue", at(-100), wait=True))
    within = max(sum(1 for each in asked if begin <= each < begin + 10) for begin in asked)
    assert within * 30 <= 120
