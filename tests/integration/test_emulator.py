# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The emulator as a process: crashes, a rush of clients, other clients than ours."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import random
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from urllib.parse import quote

import httpx
import pytest
import requests
from credentials import ACCESS_KEY, BASIC

AUTH = tuple(BASIC.values())
TASKS = "/api/v2/tasks/instances"
RESTARTS = {
    "OB_SERVER": ("/api/v2/ob/clusters/1/servers/{}/restart", {"freezeServer": False}),
    "HOST": ("/compute/hosts/batchRestartAgents", None),
    "ARBITRATION_SERVICE": ("/api/v2/arbitration/services/{}/restart", None),
}
# More than the usual few by OCP_EMULATOR_CRASHES=100.
CRASHES = int(os.environ.get("OCP_EMULATOR_CRASHES", "5"))


def get(url, path):
    return requests.get(url + path, auth=AUTH, timeout=10).json()["data"]


def ended(url, task_id):
    while (task := get(url, f"{TASKS}/{task_id}"))["status"] == "RUNNING":
        time.sleep(0.01)
    return task


def test_one_of_fifty_simultaneous_server_restarts_is_accepted(start_emulator):
    emulator = start_emulator("--step-seconds", "5")
    path, body = RESTARTS["OB_SERVER"]

    def restart(_number):
        return requests.post(emulator.url + path.format(3), json=body, auth=AUTH, timeout=30).status_code

    with ThreadPoolExecutor(50) as rush:
        statuses = sorted(rush.map(restart, range(50)))
    assert statuses == [200] + [409] * 49
    assert get(emulator.url, TASKS)["page"]["totalElements"] == 1


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, CRASHES))])
def test_a_crash_loses_no_task_and_restarts_nothing_twice(start_emulator, tmp_path, seed):
    chance = random.Random(seed)
    options = ("--database", str(tmp_path / "emulator.db"))
    emulator = start_emulator(*options)
    answered = []
    for kind in chance.sample(sorted(RESTARTS), 3):
        path, body = RESTARTS[kind]
        body = {"hostIds": [1]} if kind == "HOST" else body
        answer = requests.post(emulator.url + path.format(1), json=body, auth=AUTH, timeout=10)
        answered.append((kind, answer.json()["data"]["id"]))
    # The crash may come at any moment of the tasks, which is what is tried here; no rule about time is proven by it.
    time.sleep(chance.uniform(0, 0.3))
    emulator.kill()
    again = start_emulator(*options)
    assert {ended(again.url, task_id)["status"] for _kind, task_id in answered} == {"SUCCESSFUL"}
    counted = get(again.url, "/emulator/restarts")["contents"]
    assert {(target["objectType"], target["restarts"]) for target in counted} == {(kind, 1) for kind in RESTARTS}


# A restart of the service resets the calls of the tool; faults, which it plans too, disturb all but the control API.
CONTROL = ["--include-path-regex", "^/emulator/", "--exclude-path", "/emulator/service/restart"]
SERVICE = ["--exclude-path-regex", "^/emulator/"]


CALLERS = {
    "admin": ("4.3", ["--auth", "admin:ocp-demo-1"]),
    "viewer": ("4.3", ["--auth", "viewer:ocp-demo-1"]),
    "nobody": ("4.3", []),
    "4.2": ("4.2", ["--auth", "admin:ocp-demo-1"]),
}


@pytest.mark.nightly
@pytest.mark.parametrize("paths", [pytest.param(SERVICE, id="service"), pytest.param(CONTROL, id="control")])
@pytest.mark.parametrize(("profile", "credentials"), CALLERS.values(), ids=CALLERS)
def test_responses_match_the_openapi_document(start_emulator, executables, tmp_path, profile, credentials, paths):
    # The tool tries wrong passwords by the dozen.
    emulator = start_emulator("--profile", profile, "--max-attempts", "0")
    # Two checks are left out: the service says 400 to an unknown method, and OpenAPI has no words for a parameter that
    # has to stand in the query or in the body.
    command = [executables / "st", "run", f"{emulator.url}/openapi.json", *credentials, "--phases", "coverage,fuzzing"]
    checks = ["--checks", "all", "--exclude-checks", "unsupported_method,positive_data_acceptance"]
    run = subprocess.run(
        [*command, *paths, *checks, "--max-examples", "10", "--generation-deterministic"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-5000:]
    assert "Traceback" not in emulator.log


def test_basic_authentication_client_can_poll_and_retry(emulator):
    emulator.fail_subtask("Stop arbitration service")
    started = requests.post(emulator.url + RESTARTS["ARBITRATION_SERVICE"][0].format(1), auth=AUTH, timeout=10)
    task_id = started.json()["data"]["id"]
    assert ended(emulator.url, task_id)["status"] == "FAILED"
    retried = requests.post(f"{emulator.url}{TASKS}/{task_id}/retry", auth=AUTH, timeout=10)
    assert retried.json()["successful"] is True
    assert ended(emulator.url, task_id)["status"] == "SUCCESSFUL"


def test_independently_signed_header_and_query_are_accepted(start_emulator):
    """Written anew from the rules of the signature: content type on GET too, x-ocp-origin, query sorted by key."""
    emulator = start_emulator("--signed-query", "rfc3986")
    query = {"status": "RUNNING,FAILED", "size": "5", "name": "Restart OB"}
    date, host = formatdate(usegmt=True), emulator.url.removeprefix("http://")
    encoded = "&".join(f"{key}={quote(value, safe='')}" for key, value in sorted(query.items()))
    lines = [
        "GET",
        "",
        "application/json",
        date,
        host,
        "x-ocp-origin:fleet-report",
        f"/api/v2/tasks/instances?{encoded}",
    ]
    digest = hmac.new(ACCESS_KEY["access_key_secret"].encode(), "\n".join(lines).encode(), hashlib.sha1).digest()
    signature = base64.b64encode(digest).decode()
    headers = {
        "Content-Type": "application/json",
        "Date": date,
        "x-ocp-origin": "fleet-report",
        "Authorization": f"OCP-ACCESS-KEY-HMACSHA1 {ACCESS_KEY['access_key_id']}:{signature}",
    }
    answer = httpx.get(emulator.url + TASKS, params=query, headers=headers)
    assert answer.json()["data"]["contents"] == []
    refused = httpx.get(emulator.url + TASKS, params={**query, "size": "6"}, headers=headers)
    assert refused.status_code == 401
