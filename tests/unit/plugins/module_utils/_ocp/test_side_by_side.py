# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Jobs side by side: what stops all of them, what each sends after that, and whose results are kept."""

from __future__ import annotations

import signal
import threading
import warnings
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    Halted,
    ModuleCrashed,
    TargetError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.quiet import Quiet
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.side_by_side import MOST_UNANSWERED, Crew, Ended, Halt

URL = "http://ocp.example.com:8080"
# Far above what a busy machine needs.
PATIENCE = 20


class Service:
    """Counts connections; ``ask`` sends a request as a client does, with its permit and what it observes."""

    def __init__(self, status=200):
        self.status = status
        self.sent = []
        self.opened = self.closed = 0
        self._guard = threading.Lock()
        self._second = threading.Event()

    @contextmanager
    def connect(self):
        with self._guard:
            self.opened += 1
        yield SimpleNamespace(url=URL, client=SimpleNamespace())
        self.closed += 1

    def ask(self, api, method="GET"):
        api.client.permit(method, URL)
        with self._guard:
            self.sent.append(method)
            is_first = len(self.sent) == 1
        # The first one is answered late enough for others to be sent, if they may.
        if is_first:
            self._second.wait(0.2)
        else:
            self._second.set()
        api.client.observe(SimpleNamespace(status=self.status))
        if self.status == 401:
            raise AuthenticationFailed("refused with status 401.", status=401, reason="", url=URL)


@pytest.fixture
def service():
    return Service()


def run(service, lines, job, threads=16):
    """The end of each item by a run of ``job``."""
    ends = {}
    Crew(service.connect, threads).run(lines, job, ends.__setitem__)
    return ends


def test_lines_go_side_by_side_and_the_items_of_a_line_one_after_another(service):
    together = threading.Barrier(4, timeout=PATIENCE)
    order = []

    def job(api, item, _clock):
        service.ask(api)
        together.wait()
        order.append(item)
        return item * 10

    ends = run(service, [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]], job, threads=4)
    assert {item: end.found for item, end in ends.items()} == {item: item * 10 for item in range(1, 13)}
    assert all(order.index(item) < order.index(item + 1) for item in (1, 2, 4, 5, 7, 8, 10, 11))
    assert (service.opened, service.closed) == (4, 4)


def test_wrong_password_is_sent_once_by_any_number_of_threads():
    service = Service(401)
    ends = run(service, [[number] for number in range(50)], lambda api, *_rest: service.ask(api))
    assert service.sent == ["GET"]
    kinds = [type(end.error) for end in ends.values()]
    assert (kinds.count(AuthenticationFailed), kinds.count(Halted)) == (1, 49)
    assert {str(end.error) for end in ends.values() if isinstance(end.error, Halted)} == {
        "The request was not sent, since another request was refused with status 401, and retrying only locks the "
        "account."
    }


def test_password_that_is_refused_meanwhile_stops_reads_too(service):
    def job(api, item, _clock):
        service.status = 401 if item == 20 else 200
        service.ask(api)

    ends = run(service, [[number] for number in range(50)], job, threads=1)
    assert (len(service.sent), sum(isinstance(end.error, Halted) for end in ends.values())) == (21, 29)


def test_service_that_does_not_answer_is_left_alone_after_a_few(service):
    asked = []

    def job(_api, item, _clock):
        asked.append(item)
        if item == 2:
            raise TargetError("cluster: there is none.")  # which the service has answered
        raise ConnectionFailed(f"no connection {item}", url=URL)

    ends = run(service, [[number] for number in range(50)], job, threads=1)
    assert asked == list(range(3 + MOST_UNANSWERED))
    assert str(ends[49].error) == (
        "The request was not sent, since the service did not answer 5 times in a row; the last error: no connection 7."
    )


def test_crash_of_a_job_is_its_own_end_alone(service):
    ends = run(service, [[0], [1]], lambda _api, item, _clock: 1 // item)
    assert (type(ends[0].error), ends[1].found) == (ModuleCrashed, 1)


class TimeIsOver(BaseException):
    """As Ansible raises it in the main thread."""


@pytest.fixture
def alarm():
    """Make the main thread raise TimeIsOver."""

    def raise_it(_number, _frame):
        raise TimeIsOver

    before = signal.signal(signal.SIGUSR1, raise_it)
    yield lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)


def test_interruption_keeps_what_is_known_and_begins_nothing_new(service, alarm, monkeypatch):
    interrupted, looking = threading.Event(), threading.Event()
    ends, stop = {}, Halt.stop

    def stop_then_tell(halt, why):
        stop(halt, why)
        interrupted.set()

    monkeypatch.setattr(Halt, "stop", stop_then_tell)

    def job(api, item, clock):
        service.ask(api)
        if item == "asked for":
            service.ask(api, "POST")
            looking.wait(PATIENCE)
            alarm()
            interrupted.wait(PATIENCE)
            clock.sleep(0.01)  # the search for its task goes on
            service.ask(api)
            return "task 1"
        if item == "about to ask":
            looking.set()
        interrupted.wait(PATIENCE)
        if item == "pausing":
            clock.sleep(PATIENCE)
        service.ask(api, "POST")
        return "never"

    lines = [["asked for"], ["pausing"], ["about to ask"], *([number] for number in range(20))]
    with pytest.raises(TimeIsOver):
        Crew(service.connect, 3).run(lines, job, ends.__setitem__)
    assert ends["asked for"] == Ended("task 1")
    assert isinstance(ends["about to ask"].error, Halted)
    assert isinstance(ends["pausing"].error, Halted)
    assert service.sent.count("POST") == 1
    assert all(isinstance(ends[number].error, Halted) for number in range(20) if number in ends)


def test_thread_whose_start_was_interrupted_is_awaited_too(service, alarm):
    """It may be about to send, and nobody else would know what it has started."""
    interrupted, ends = threading.Event(), {}

    def job(api, _item, _clock):
        service.ask(api, "POST")
        alarm()
        interrupted.wait(0.2)
        return "task 1"

    with pytest.raises(TimeIsOver):
        Crew(service.connect, 2).run([["asked for"], ["other"]], job, ends.__setitem__)
    assert ends["asked for"] == Ended("task 1")


def test_first_error_in_the_order_of_the_items_is_raised(service):
    def job(api, item, _clock):
        service.ask(api)
        if item in (3, 7):
            raise TargetError(f"cluster: {item}")
        return item

    crew = Crew(service.connect, 4)
    with pytest.raises(TargetError, match="cluster: 3"):
        crew.each(list(range(10)), job)
    assert crew.each([9, 8], job) == [9, 8]


def test_warning_filters_of_the_process_are_restored_where_threads_cross():
    """The first in is the first out, and nested ``catch_warnings`` would leave the filter of the second behind."""
    quiet, before = Quiet(UserWarning), list(warnings.filters)
    quiet.__enter__()
    quiet.__enter__()
    quiet.__exit__()
    with warnings.catch_warnings(record=True) as seen:
        warnings.warn("still quiet", UserWarning, stacklevel=1)
    quiet.__exit__()
    assert (seen, warnings.filters) == ([], before)
