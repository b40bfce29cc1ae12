# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Names and logs of a service that are hostile or huge: none steers a terminal, runs in a page or floods a result."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from credentials import BASIC

HUGE = "x" * 10_000_000
HOSTILE = "<script>alert('\"')</script>\x1b[2J\x1b]0;owned\x07\r\u202e\u2028&amp;"
INNOCENT = {"id": 1001, "name": "Restart OB server", "status": "FAILED", "operation": "EXECUTE"}
# Of names and of a log.
TEXTS = {
    "hostile": (HOSTILE, HOSTILE),
    "huge": (HOSTILE + HUGE, HUGE + HOSTILE),
    "many lines": (HOSTILE + "\n" * 10_000, (HOSTILE + "\n") * 200_000),
}


@pytest.fixture
def service():
    """Serve a failed task whose names are ``texts[0]`` and whose log is ``texts[1]``."""
    texts = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            name, log = texts
            step = {"id": 7, "name": name, "description": name, "status": "FAILED", "executor": HOSTILE}
            data = {"log": log} if self.path.endswith("/log") else {**INNOCENT, "name": name, "subtasks": [step]}
            envelope = {"successful": True, "status": 200, "traceId": HOSTILE, "server": HOSTILE, "data": data}
            body = json.dumps(envelope).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", texts
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.nightly] * (kind != "many lines")) for kind in TEXTS]
)
def test_hostile_service_texts_are_escaped_and_truncated(kind, service, ansible, tmp_path):
    url, texts = service
    texts += TEXTS[kind]
    page = tmp_path / "page.html"
    outcome = ansible.tasks(
        {
            "name": "wait",
            "ansible.builtin.include_role": {"name": "oceanbase.ocp.wait_for_restart"},
            "vars": {"wait_for_restart_tasks": 1001, "wait_for_restart_report": str(page)},
        },
        module_defaults={"group/oceanbase.ocp.ocp": {"url": url, **BASIC}},
    )
    assert outcome.rc == 2
    result = outcome.results["Wait until all tasks have ended"]
    assert "<script>alert(" in result["msg"]
    assert "\\x1b[2J" in result["failed_subtasks"][0]["log_tail"]
    assert len(json.dumps(result)) < 1_000_000
    assert len(result["msg"]) < 50_000
    for shown in (outcome.output, result["msg"], result["failed_subtasks"][0]["log_tail"]):
        assert not set(shown) & set("\x1b\x07\u202e\u2028")
    assert len(outcome.output) < 2_000_000
    document = page.read_text()
    assert "<script" not in document
    assert "&lt;script&gt;" in document
    assert not set(document) & set("\x1b\x07\u202e\u2028")
    assert len(document) < 1_000_000
