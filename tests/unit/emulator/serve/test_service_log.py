# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The log: one line for each request, one for a task accepted and one when it ends, and no secrets."""

import logging
import re

import pytest


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, logger="ocp_emulator")
    return lambda: [record.getMessage() for record in caplog.records]


def test_request_is_logged_on_one_line(emulated, lines):
    answer = emulated.request("GET", "/api/v2/tasks/instances?size=5&name=a%0Ab")
    (line,) = lines()
    trace = answer.json()["traceId"]
    pattern = rf"GET /api/v2/tasks/instances\?size=5&name=a%0Ab 200 \d+\.\d ms user=admin trace={trace}"
    assert re.fullmatch(pattern, line)


def test_refused_request_is_logged_on_one_line_without_user(emulated, lines):
    emulated.request("GET", "/api/v2/%0Aevil", auth=("admin", "wrong-password"))
    (line,) = lines()
    assert re.fullmatch(r"GET /api/v2/%0Aevil 401 \d+\.\d ms user=- trace=[0-9a-f]{16}", line)


def test_task_is_logged_when_accepted_and_when_it_ends(emulated, lines):
    task_id = emulated.restart_server(2)["id"]
    emulated.pass_time(13)
    emulated.get("/api/v2/tasks/instances")
    told = [line for line in lines() if line.startswith("task ")]
    assert told == [
        f"task {task_id} (Restart OB server) accepted from admin: Server 2 (10.0.0.2:2882) of cluster orders",
        f"task {task_id} (Restart OB server) SUCCESSFUL after 13.0 s",
    ]


def test_log_contains_no_secret(emulated, lines):
    headers = {"Authorization": "OCP-ACCESS-KEY-HMACSHA1 emulator:the-signature", "Date": "today"}
    emulated.request("GET", "/api/v2/tasks/instances", auth=None, headers=headers)
    emulated.request("GET", "/api/v2/tasks/instances", auth=("admin", "a-password"))
    emulated.request("POST", "/compute/hosts/batchRestartAgents", json={"hostIds": [1], "password": "in-body"})
    text = "\n".join(lines())
    assert len(lines()) == 4
    for secret in ("the-signature", "a-password", "in-body", "emulator-secret", "Authorization", "YWRtaW46"):
        assert secret not in text
