# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The request limit that sessions of one user share by a file: what they read and write, and what they wait for."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.shared_limit import SharedLimit
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import ask, connect
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import Reply, envelope, refusal

URL = "http://ocp.example.com:8080"
NOW = 1000.0


def headers(left, reset=10, limit=10):
    return {"RateLimit-Limit": str(limit), "RateLimit-Remaining": str(left), "RateLimit-Reset": str(reset)}


def limited(left, reset=10):
    reply = envelope("good")
    return Reply(reply.status, reply.body, {**reply.headers, **headers(left, reset)})


def files():
    return sorted(Path(tempfile.gettempdir()).glob("oceanbase.ocp-*/limit-*"))


@pytest.fixture
def monotonic(monkeypatch, time_passes):
    """The client's clock, which sleeps too."""
    clock = time_passes.clock
    monkeypatch.setattr(session, "time", SimpleNamespace(monotonic=clock.now, time=clock.wall, sleep=clock.sleep))
    return time_passes


def test_nothing_is_written_as_long_as_no_limit_is_shown(server):
    server.expect("GET", "/api/v2/x", envelope("good"))
    client = connect(server.url)
    ask(client, "GET")
    client.close()
    assert files() == []


def test_sessions_of_one_user_share_what_is_left():
    mine, others = SharedLimit(URL, "admin"), SharedLimit(URL, "admin")
    mine.shown(headers(6), NOW)
    assert mine.pause(5, NOW) == 0
    assert others.pause(5, NOW) > 0
    mine.leave()
    assert others.pause(5, NOW) == 0


@pytest.mark.parametrize(("url", "user"), [(URL, "root"), ("http://other.example.com:8080", "admin"), (URL, None)])
def test_another_user_or_service_has_its_own(url, user):
    SharedLimit(URL, "admin").shown(headers(0), NOW)
    assert SharedLimit(url, user).pause(5, NOW) == 0


def test_file_is_of_this_user_alone():
    SharedLimit(URL, "admin").shown(headers(0), NOW)
    [file] = files()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert "admin" not in file.name + file.read_text()


def test_request_waits_for_the_next_window_and_the_last_of_a_look_does_not(server, monotonic):
    server.expect("GET", "/api/v2/x", *(limited(left, 4) for left in (5, 4, 3, 2, 1)))
    server.expect("POST", "/api/v2/x", limited(0, 4))
    server.expect("GET", "/api/v2/x", limited(9, 4))
    mine, others = connect(server.url), connect(server.url)
    ask(mine, "GET")
    mine.wait_for_room(5, monotonic.clock)
    for _read in range(4):
        ask(mine, "GET")
    assert monotonic.pauses == []
    ask(mine, "POST")
    assert monotonic.pauses == []
    ask(others, "GET")
    assert sum(monotonic.pauses) == pytest.approx(4)


def test_look_that_needs_more_reads_than_thought_keeps_its_request(server, monotonic):
    server.expect("GET", "/api/v2/x", limited(2, 4), limited(1, 4), limited(9, 4))
    server.expect("POST", "/api/v2/x", limited(8, 4))
    client, told = connect(server.url), []
    client.paused = lambda: told.append(sum(monotonic.pauses))
    ask(client, "GET")
    client.wait_for_room(2, monotonic.clock)
    ask(client, "GET")
    assert monotonic.pauses == []
    ask(client, "GET")
    assert sum(monotonic.pauses) == pytest.approx(4)
    assert told == [pytest.approx(4)]
    ask(client, "POST")
    assert sum(monotonic.pauses) == pytest.approx(4)


def test_request_after_a_look_is_waited_for_before_it_is_decided(server, monotonic):
    server.expect("GET", "/api/v2/x", limited(0, 4))
    server.expect("POST", "/api/v2/x", limited(8, 4))
    client, heard = connect(server.url), []
    client.paused = lambda: heard.append(True)
    ask(client, "GET")
    client.wait_to_send(monotonic.clock)
    assert sum(monotonic.pauses) == pytest.approx(4)
    ask(client, "POST")
    assert sum(monotonic.pauses) == pytest.approx(4)
    assert heard == []


def test_window_that_ends_too_late_is_not_waited_for(server, monotonic):
    """The service refuses it then, and the failure says until when."""
    server.expect("GET", "/api/v2/x", limited(0, 3600), refusal(429, RateLimit_Remaining="0", RateLimit_Reset="3600"))
    client = connect(server.url)
    ask(client, "GET")
    with pytest.raises(Exception, match="429"):
        ask(client, "GET")
    assert monotonic.pauses == []


def test_unreadable_file_and_folder_limit_nobody(monkeypatch, tmp_path):
    limit = SharedLimit(URL, "admin")
    limit.shown(headers(0), NOW)
    [file] = files()
    file.write_text("{")
    assert limit.pause(5, NOW) == 0
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file"))
    limit.shown(headers(0), NOW)
    assert limit.pause(5, NOW) == 0


class Limited:
    """Answers with the headers of a limit of ten requests in a second, by real time, and counts refusals."""

    def __init__(self):
        self._guard = threading.Lock()
        self.used, self.refused = 0, 0

    def answer(self, limit, now, ends):
        with self._guard:
            self.used += 1
            self.refused += self.used > 40
            limit.shown(headers(40 - self.used, max(1, round(ends - now)), 40), now)


def test_threads_never_take_more_than_is_left():
    """A window that does not end: of twenty threads that want five each, eight get their turn."""
    SharedLimit(URL, "admin").shown(headers(39, limit=40), NOW)
    service, begin, served = Limited(), threading.Barrier(20), []
    service.used = 1

    def work():
        limit = SharedLimit(URL, "admin")
        begin.wait()
        for _try in range(5):
            if not limit.pause(5, NOW):
                served.append(5)
                for _request in range(5):
                    service.answer(limit, NOW, NOW + 10)
                return

    threads = [threading.Thread(target=work) for _number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (service.refused, len(served)) == (0, 7)


def test_client_leaves_its_turn_when_it_is_closed_and_after_a_post(server, monotonic):
    server.expect("GET", "/api/v2/x", limited(9))
    server.expect("POST", "/api/v2/x", limited(8))
    client, others = connect(server.url), SharedLimit(server.url, "admin")
    ask(client, "GET")
    client.wait_for_room(9, monotonic.clock)
    assert others.pause(8, NOW) > 0
    ask(client, "POST")
    assert others.pause(8, NOW) == 0
    others.leave()
    client.wait_for_room(8, monotonic.clock)
    assert others.pause(8, NOW) > 0
    client.close()
    assert others.pause(8, NOW) == 0
