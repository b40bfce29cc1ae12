# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a documented error code makes of a refusal: its kind, whether the state decides, and the next step."""

from __future__ import annotations

import json

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    AuthenticationFailed,
    NotFound,
    PermissionDenied,
    RequestRefused,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.envelope import NEXT_STEPS
from ansible_collections.oceanbase.ocp.tests.unit.support.http_helpers import connect, error_of
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import Reply

# The kind of a refusal with status 400, and what it advises.
MEANINGS = {
    "busy": (RequestRefused, "Wait until the task that works on it has ended, then run this again."),
    "state": (RequestRefused, "Look at its state in OCP; it has to be the one that the message names."),
    "majority": (RequestRefused, "Wait until the tenant's other replicas are back, then restart it."),
    "unreachable": (RequestRefused, "Check that OCP can connect to the cluster, and check its agents."),
    "task": (RequestRefused, "Look at the task; its state does not allow this."),
    "not found": (NotFound, "Check the id or name."),
    "permission": (PermissionDenied, "Ask for the permission, or use credentials that have it."),
    "login": (AuthenticationFailed, "Check username and password. The request was sent only once"),
}
# As the table of 4.2.2 has them.
CODES = {
    "busy": ["OBE11020", "OBE18008", "OBE19012"],
    "state": [
        *("OBE19003", "OBE19004", "OBE18004", "OBE18005", "OBE11007", "OBE11008", "OBE11403", "OBE19020"),
        *("CMP07006", "CMP07019"),
    ],
    "majority": ["OBE11070"],
    "unreachable": ["OBE11102", "OBE12000", "CMP10001", "CMP07021"],
    "task": ["TSK10007", "TSK10009", "TSK10010", "TSK10016", "TSK10017"],
    "not found": ["OBE19001", "OBE19002", "OBE18002", "OBE11001", "OBE11010", "TSK10001", "CMP07005", "CMP07013"],
    "permission": ["COM10009"],
    "login": ["IAM10003", "IAM10004"],
}
EVERY = [(code, meaning) for meaning, codes in CODES.items() for code in codes]


def refused(server, code, status=400) -> RequestRefused:
    body = json.dumps({"successful": False, "status": status, "error": {"code": code, "message": "Why."}}).encode()
    server.expect("POST", "/api/v2/x", Reply(status, body, {"Content-Type": "application/json"}))
    error = error_of(connect(server.url), "POST")
    assert isinstance(error, RequestRefused)
    assert "was refused with status" in str(error)
    assert "Why." in str(error)
    assert not error.may_have_run
    return error


@pytest.mark.parametrize(("code", "meaning"), EVERY)
def test_documented_code_says_what_to_do(code, meaning, server):
    kind, advice = MEANINGS[meaning]
    error = refused(server, code)
    assert error.__class__ is kind
    assert advice in str(error)
    assert NEXT_STEPS[400] not in str(error)
    assert error.is_busy is (meaning == "busy")
    assert error.may_be_due_to_state is (kind is RequestRefused)


@pytest.mark.parametrize(
    ("code", "meaning"), [(int(code[3:]), meaning) for code, meaning in EVERY if int(code[3:]) >= 11_000]
)
@pytest.mark.parametrize("form", [int, str])
def test_digits_of_a_code_mean_the_same(code, meaning, form, server):
    kind, advice = MEANINGS[meaning]
    error = refused(server, form(code))
    assert error.__class__ is kind
    assert advice in str(error)
    assert error.is_busy is (meaning == "busy")


@pytest.mark.parametrize("code", sorted({int(code[3:]) for code, _meaning in EVERY if int(code[3:]) < 11_000}))
def test_digits_that_others_use_too_mean_nothing(code, server):
    error = refused(server, code)
    assert error.__class__ is RequestRefused
    assert NEXT_STEPS[400] in str(error)
    assert error.may_be_due_to_state


@pytest.mark.parametrize(
    "code", [None, 0, -1, 99999, "OBE", "OBE1902", "XXX11020", "obe19012", ["OBE19012"], {"a": 1}, 1e300]
)
def test_other_code_leaves_the_status_to_decide(code, server):
    error = refused(server, code)
    assert error.__class__ is RequestRefused
    assert NEXT_STEPS[400] in str(error)
    assert not error.is_busy


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("code", CODES["login"])
def test_refused_login_is_never_taken_for_a_permission(code, status, server):
    error = refused(server, code, status)
    assert error.__class__ is AuthenticationFailed
    assert MEANINGS["login"][1] in str(error)
