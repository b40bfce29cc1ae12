# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Fuzz what reads the answers of a service: ``python tests/fuzz/answers.py [option of libFuzzer ...]``.

The bytes that atheris makes up are the body of an answer. Whatever they are, every reader gives a result or raises a
ServiceError; anything else ends the run, with the bytes that did it.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ansible_collections.oceanbase"]):
    from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ServiceError
    from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import transport
    from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
    from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
    from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
    from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.task_model import Task

from requests.adapters import HTTPAdapter
from urllib3 import HTTPResponse

STEP = {"id": 11, "status": "FAILED", "description": "Stop", "upstreams": [10], "downstreams": [12], "parallelIdx": -1}
TASK = {
    "id": 700,
    "status": "SUCCESSFUL",
    "operation": "ROLLBACK",
    "creator": {"id": 5, "name": "dba"},
    "cluster": {"id": 31, "name": "orders"},
    "tags": [{"hostId": 32}],
    "startTime": "2026-05-04T03:02:01.5+08:00",
    "finishTime": "2026-05-04T03:04:01Z",
    "subtasks": [STEP, {**STEP, "id": 12, "upstreams": [11]}],
}
SEEDS = [
    {"data": TASK, "successful": True, "status": 200, "traceId": "a1", "timestamp": "2026-05-04T03:02:01+08:00"},
    {"data": {"contents": [TASK], "page": {"totalPages": 1}}, "successful": True},
    {"data": {"log": "############{ attempt"}, "successful": True},
    {"error": {"code": 4, "message": "Busy."}, "successful": False, "status": 409},
]
client = HttpClient("http://127.0.0.1:9", basic_auth("admin", "not-a-secret"), verify=True, timeout=1)
api = OcpApi(client)
answered = [b""]


def send(adapter, request, **_options):
    raw = HTTPResponse(io.BytesIO(answered[-1]), status=200, preload_content=False)
    return HTTPAdapter.build_response(adapter, request, raw)


def read(body: bytes) -> None:
    """Give ``body`` to every reader."""
    answered[-1] = body
    calls = (
        lambda: json.dumps(Task.from_api(api.task(1)).result()),
        lambda: [Task.from_api(task).result(full=False) for task in api.tasks(limit=10)],
        lambda: api.tasks(above=1),
        lambda: api.subtask_log(1, 2),
        lambda: api.restart_cluster(1),
    )
    for call in calls:
        try:
            call()
        except ServiceError as error:
            str(error)


def main() -> None:
    transport.Adapter.send = send
    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS):
            Path(corpus, str(number)).write_text(json.dumps(seed))
        atheris.Setup([*sys.argv, corpus], read)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
