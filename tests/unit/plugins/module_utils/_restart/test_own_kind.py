# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A kind of target that the collection does not have, on a service of its own shape: restarted without a change of it.

The kind is a log proxy: it has no cluster, and shows when its process started. The service is an OCP that knows log
proxies and tasks, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotFound,
    ResponseLost,
    TargetError,
    TargetHeld,
    TaskFailed,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.parsing import instant
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import MemberKey
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.records import task_record
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import forget_process
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.lookup import exactly_one
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.serving import database_serves
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import (
    Member,
    Observation,
    Selector,
    Target,
    TaskOnTarget,
    check_identity,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL, response
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import request

PROXIES, TASKS = "/api/v2/oblogproxy/instances", "/api/v2/tasks/instances"
RESTART = "Restart log proxy"
CHANGE = "memory-2026-11-20"
SECONDS = 30.0


@dataclass(frozen=True)
class LogProxy(Target):
    """The registration: all that the collection has to know of a kind."""

    id: int
    name: str

    kind = "log_proxy"
    task_name = RESTART
    cluster_id = None
    shows_start = True
    first_observation = None

    @classmethod
    def find(cls, api, log_proxy):
        listed = api.client.get(PROXIES).data["contents"]
        matches = [one for one in listed if log_proxy in (str(one["id"]), one["name"])]
        found = exactly_one("log_proxy", log_proxy, matches, [one["name"] for one in listed])
        return cls(found["id"], found["name"])

    @property
    def label(self):
        return f"log proxy {self.name} (id {self.id})"

    def result(self):
        return {"kind": self.kind, "id": self.id, "name": self.name}

    @property
    def locks(self):
        return [f"log proxy {self.id}"]

    def member_keys(self, _observed):
        return {self.name: MemberKey("", self.kind, self.id, self.name)}

    def observe(self, api):
        found = api.client.get(f"{PROXIES}/{self.id}").data
        check_identity("log proxy", self.label, self.name, found["name"])
        began = found["bootTime"]
        member = Member(
            self.name, found["state"], began, started=instant(began), serves=database_serves(found["state"])
        )
        return Observation(found["state"], (member,))

    def listed(self, api, **query):
        return api.tasks(name="proxy", **query)

    def touching(self, _api, listed, **_query):
        return [TaskOnTarget(task, None) for task in listed if task["name"] == RESTART and task["hostId"] == self.id]

    def restart(self, api, _members):
        answer = api.client.post(f"{PROXIES}/{self.id}/restart")
        return replace(answer, data=task_record(answer.data))


@dataclass
class LogProxyService:
    """The service, as a client of HTTP: two log proxies, of which a restart takes ``SECONDS``."""

    time: Any
    url: str = URL
    user: str = "admin"
    timeout: float = 20.0
    retry_after: float = 0.0
    sent: int = 0
    room: int | None = None
    trace_id: str | None = None
    paused: Any = None
    answers_are_lost: bool = False
    status_at_end: str = "SUCCESSFUL"
    restarts: list[tuple[int, float]] = field(default_factory=list)

    def __post_init__(self):
        self.service_clock = ServiceClock()
        self.began = self.time.clock.wall() - 86_400

    def wait_for_room(self, _requests, _clock):
        """There is no limit."""

    def wait_to_send(self, _clock):
        """As before."""

    def get(self, path, _params=None):
        now = self.time.clock.wall()
        self.service_clock.shown(shown(now), now, now)
        last = path.rpartition("/")[2]
        if not (last.isdigit() or path in (PROXIES, TASKS)):
            raise NotFound("There is no such path.", status=404, reason="Not Found", url=URL)
        if path == PROXIES:
            return response({"contents": [self._proxy(7), self._proxy(8)]})
        if path == TASKS:
            return response({"contents": [self._task(each) for each in reversed(range(len(self.restarts)))]})
        return response(self._task(int(last) - 501) if path.startswith(TASKS) else self._proxy(int(last)))

    def post(self, path, _params=None, _body=None):
        self.restarts.append((int(path.split("/")[-2]), self.time.clock.wall()))
        if self.answers_are_lost:
            raise ResponseLost("The answer was lost.", url=URL, may_have_run=True)
        return response(self._task(len(self.restarts) - 1))

    def _task(self, place):
        number, at = self.restarts[place]
        is_over = self.time.clock.wall() >= at + SECONDS
        status = self.status_at_end if is_over else "RUNNING"
        return {
            "id": 501 + place,
            "name": RESTART,
            "hostId": number,
            "status": status,
            "operation": "EXECUTE",
            "creator": self.user,
            "startTime": shown(at).isoformat(),
            "finishTime": shown(at + SECONDS).isoformat() if is_over else None,
            "subtasks": [{"id": 1, "name": "Start log proxy", "status": status, "operation": "EXECUTE"}],
        }

    def _proxy(self, number):
        now = self.time.clock.wall()
        mine = [at for each, at in self.restarts if each == number]
        up = [at + SECONDS - 5 for at in mine if now >= at + SECONDS - 5]
        fails = self.status_at_end == "FAILED"
        began = max(up, default=self.began) if not fails else self.began
        works = any(at <= now < at + SECONDS for at in mine) or (mine and fails)
        state = "RESTARTING" if works else "RUNNING"
        return {"id": number, "name": f"logs-{number}", "state": state, "bootTime": shown(began).isoformat()}


def shown(wall):
    return datetime.fromtimestamp(wall, UTC)


@pytest.fixture
def own(time_passes):
    return LogProxyService(time_passes)


@pytest.fixture
def restart(own):
    """Restart log proxy 7 in a process of its own, with one journal."""
    journal = MemoryJournal(own.time.clock)

    def run(name="logs-7", change=None, **options):
        forget_process()
        asked = replace(request(**{"wait": True, **options}), change=change)
        selector = Selector(LogProxy, {"log_proxy": name})
        return restart_target(OcpApi(own), selector, asked, own.time.clock, journal)

    return run


def test_restart_is_proven_by_its_own_start(restart, own):
    result = restart()
    assert result["target"] == {"kind": "log_proxy", "id": 7, "name": "logs-7"}
    assert (result["action"], result["task_id"], result["verified"], len(own.restarts)) == ("submitted", 501, True, 1)


def test_change_with_a_name_restarts_it_once(restart, own):
    actions = [restart(change=CHANGE)["action"] for _run in range(3)]
    assert (actions, len(own.restarts)) == (["submitted", "skipped", "skipped"], 1)


def test_instant_restarts_it_once(restart, own):
    own.time.time += 3600
    since = shown(own.time.clock.wall()) - timedelta(minutes=10)
    actions = [restart(started_before=since)["action"] for _run in range(2)]
    assert (actions, len(own.restarts)) == (["submitted", "skipped"], 1)


def test_running_restart_is_joined(restart, own):
    assert restart(change=CHANGE, wait=False)["action"] == "submitted"
    joined = restart(change=CHANGE)
    assert (joined["action"], joined["task_id"], joined["verified"], len(own.restarts)) == ("attached", 501, True, 1)


def test_task_of_a_lost_answer_is_found(restart, own):
    own.answers_are_lost = True
    found = restart(change=CHANGE)
    assert (found["action"], found["task_id"], found["verified"], len(own.restarts)) == ("adopted", 501, True, 1)


def test_task_that_failed_holds_it(restart, own):
    own.status_at_end = "FAILED"
    with pytest.raises(TaskFailed):
        restart(change=CHANGE)
    with pytest.raises(TargetHeld, match="501"):
        restart(change=CHANGE)
    assert len(own.restarts) == 1


def test_other_one_is_left_alone(restart, own):
    restart("logs-8", change=CHANGE)
    assert restart(change=CHANGE, check_mode=True)["action"] == "submitted"
    assert [number for number, _at in own.restarts] == [8]


def test_unknown_name_is_refused_before_anything_is_sent(restart, own):
    with pytest.raises(TargetError, match="log_proxy"):
        restart("logs-9")
    assert own.restarts == []
