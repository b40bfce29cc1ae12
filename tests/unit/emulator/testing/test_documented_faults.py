# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each example of a fault on docs/emulator-reference.md hits, in an emulator that does a bit of everything."""

import contextlib
import json
import re
from pathlib import Path

import pytest
import requests
from ocp_emulator.testing.emulated_ocp import EmulatedOcp

PAGE = (Path(__file__).parents[4] / "docs/emulator-reference.md").read_text()
EXAMPLES = re.findall(r"^\| `\w+` \|.* \| `(\{.*\})` \|$", PAGE, re.MULTILINE)
# No answer is waited for that is dropped or late, and none is read.
PATIENCE = 0.5
RESTART = "/api/v2/ob/clusters/1/servers/1/restart?freezeServer=true"
READS = [
    "/api/v2/ob/clusters/1/topSql?inner=true",
    "/api/v2/time",
    "/api/v2/tasks/instances?size=5&clusterId=1",
    "/api/v2/ob/clusters/1/servers",
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_fault_hits(example):
    with EmulatedOcp(step_seconds=1) as ocp:
        fault = json.loads(example)
        planned = ocp.faults.plan(fault.pop("kind"), fault.pop("action"), fault.pop("match", None), **fault)

        def ask(path, method="GET"):
            with contextlib.suppress(requests.RequestException):
                auth = (ocp.username, ocp.password)
                requests.request(method, ocp.url + path, auth=auth, timeout=PATIENCE, stream=True).close()

        ocp.clock.stop()
        for path in (RESTART, RESTART, "/api/v2/ob/clusters/2/restart"):
            ask(path, "POST")
        for _second in range(40):
            for path in (*READS, "/api/v2/tasks/instances/1001"):
                ask(path)
            if ocp.faults.hits(planned):
                return
            ocp.clock.advance(1)
        pytest.fail(ocp.faults.unused())


def test_examples_are_found():
    assert len(EXAMPLES) > 20
