# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is told about a run: its events and counts, never a secret, and never a reason to fail."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import TaskFailed
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import RunMode
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.notify_option import notified
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.notification import send_notification

PAGE = Path(__file__).parents[5] / "docs/notify.md"
RESULTS = [{"outcome": "submitted"}, {"outcome": "skipped"}]
DONE = {"results": RESULTS, "left_alone": 2, "untouched": [], "postponed": None}
ENDED = {"restarted": 1, "left_alone": 3, "failed": 0, "untouched": 0}


class Receiver(BaseHTTPRequestHandler):
    """Keeps what it gets, and answers with a status."""

    def do_POST(self):
        self.server.got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(self.server.status)
        self.send_header("Location", self.path)
        self.end_headers()

    def log_message(self, *_words):
        """Not to the screen."""


@pytest.fixture
def receiver():
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    server.got, server.status = [], 204
    server.url = f"http://me:hush-hush@127.0.0.1:{server.server_port}/hook"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def run(receiver):
    def told(body, *, check_mode=False, **more):
        params = {"notify_url": receiver.url, "change": "memory", "password": "ocp-demo-1", **more}
        return notified("cluster_rolling_restart", ["orders"], params, RunMode(check_mode), body)

    return told


def events(receiver):
    return [each["event"] for each in receiver.got]


def test_begin_and_end_have_the_documented_keys_and_the_same_id(receiver, run):
    result = run(lambda: dict(DONE))
    begin, end = receiver.got
    assert (events(receiver), result["warnings"], begin["id"]) == (["begin", "end"], [], end["id"])
    assert (end["servers"], end["clusters"], end["change"], end["message"]) == (ENDED, ["orders"], "memory", "")
    sample = json.loads(PAGE.read_text().partition("```json\n")[2].partition("```")[0])
    assert (sample.keys(), sample["servers"].keys(), sample["schema"]) == (end.keys(), ENDED.keys(), end["schema"])


def test_stop_has_the_message_without_a_secret(receiver, run):
    def fails():
        raise TaskFailed("task 5 failed with ocp-demo-1", results=[{"outcome": "failed"}], untouched=["a", "b"])

    with pytest.raises(TaskFailed):
        run(fails)
    stop = receiver.got[1]
    assert (stop["event"], stop["servers"]["failed"], stop["servers"]["untouched"]) == ("stop", 1, 2)
    assert stop["message"].startswith("task 5 failed with ")
    assert "ocp-demo-1" not in json.dumps(receiver.got)


def test_what_is_left_for_the_next_run_is_a_pause(receiver, run):
    run(lambda: {**DONE, "postponed": "it would not end in time"})
    assert (events(receiver), receiver.got[1]["message"]) == (["begin", "pause"], "it would not end in time")
    servers = [{"action": "postponed", "failed": False, "reason": "it is late"}]
    run(lambda: {"servers": servers})
    assert receiver.got[3]["servers"] == {"restarted": 0, "left_alone": 0, "failed": 0, "untouched": 1}


@pytest.mark.parametrize(
    "more", [{"options_only": True}, {"plan_file": "plan.json"}, {"run": {}, "clusters": ["orders"]}]
)
def test_nothing_is_sent_where_nothing_is_restarted(receiver, run, more):
    run(lambda: dict(DONE), check_mode=True)
    run(lambda: dict(DONE), **more)
    assert receiver.got == []


@pytest.mark.parametrize("status", [302, 500])
def test_document_that_is_not_accepted_is_one_warning_without_the_address(receiver, run, status):
    receiver.status = status
    result = run(lambda: dict(DONE))
    words = f"notify_url: the document about the begin of the run was not delivered: status {status}."
    assert (result["warnings"], len(receiver.got)) == ([words], 2)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/hush", "nonsense", "ftp://hush", "http://[hush", "http://\x00hush"]
)
def test_address_that_cannot_be_used_is_no_error(url):
    why = send_notification(url, {})
    assert why
    assert "hush" not in why
