# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Who is calling: HTTP Basic and access keys."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from ocp_emulator.base.compatibility import Switches
from ocp_emulator.fleet.fleet_file import FleetFile
from ocp_emulator.fleet.resolve_fleet import resolve

TASKS = "/api/v2/tasks/instances"
SERVER = "/api/v2/ob/clusters/1/servers/1/restart"
CLUSTER = "/api/v2/ob/clusters/1/restart"
AGENTS = "/compute/hosts/batchRestartAgents"
ARBITRATION = "/api/v2/arbitration/services/1/restart"


def basic(text):
    return {"Authorization": f"Basic {base64.b64encode(text.encode()).decode()}"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Basic"},
        {"Authorization": "Basic !!!"},
        {"Authorization": b"Basic \xe9"},
        {"Authorization": b"OCP-ACCESS-KEY-HMACSHA1 \xe9:\xe9", "Date": b"\xe9"},
        {"Authorization": "Basic " + base64.b64encode(b"\xff\xfe:x").decode()},
        {"Authorization": "Bearer abc"},
        {"Authorization": "OCP-ACCESS-KEY-HMACSHA256 emulator:abc"},
        {"Authorization": "OCP-ACCESS-KEY-HMACSHA1 emulator"},
        {"Authorization": "OCP-ACCESS-KEY-HMACSHA1 emulator:abc"},
        basic("admin"),
        basic("admin:"),
        basic("admin:wrong"),
        basic("nobody:ocp-demo-1"),
        basic(":"),
    ],
)
def test_missing_and_wrong_credentials_are_401(emulated, headers):
    emulated.error(401, "GET", TASKS, auth=None, headers=headers)


def test_missing_credentials_get_a_basic_challenge(emulated):
    assert emulated.request("GET", TASKS, auth=None).headers["WWW-Authenticate"].startswith("Basic ")


def test_basic_scheme_is_case_insensitive(emulated):
    name, credentials = basic("admin:ocp-demo-1")["Authorization"].split()
    emulated.get(TASKS, auth=None, headers={"Authorization": f"{name.upper()} {credentials}"})


def test_password_may_contain_colons_and_non_ascii_letters(start):
    users = [{"name": "dba", "password": "a:b:ü", "permissions": ["TASK_VIEWER"]}]
    emulated = start(fleet=resolve(FleetFile.model_validate({"users": users})))
    emulated.get(TASKS, auth=None, headers=basic("dba:a:b:ü"))
    emulated.error(401, "GET", TASKS, auth=None, headers=basic("admin:ocp-demo-1"))


# --- access keys ---------------------------------------------------------------------------------------------------


def http_date(emulated, seconds=0):
    moment = datetime.fromtimestamp(emulated.clock.instant / 1000, UTC) + timedelta(seconds=seconds)
    return format_datetime(moment, usegmt=True)


def signed(method, path, headers, body="", secret="emulator-secret"):
    """The headers with a signature; `path` with its query in the form that is signed."""
    lower = {name.lower(): value for name, value in headers.items()}
    date = lower.get("date") or lower["x-ocp-date"]
    digest = hashlib.md5(body.encode()).hexdigest().upper() if body else ""
    ours = "\n".join(f"{name}:{lower[name]}" for name in sorted(lower) if name.startswith("x-ocp-"))
    text = "\n".join([method, digest, lower.get("content-type", ""), date, "127.0.0.1:8080", ours, path])
    signature = base64.b64encode(hmac.new(secret.encode(), text.encode(), hashlib.sha1).digest()).decode()
    return {**headers, "Authorization": f"OCP-ACCESS-KEY-HMACSHA1 emulator:{signature}"}


def test_access_key_has_the_permissions_of_its_user(emulated):
    headers = signed("GET", TASKS, {"Date": http_date(emulated)})
    emulated.get(TASKS, auth=None, headers=headers)
    headers = signed("POST", ARBITRATION, {"Date": http_date(emulated)})
    assert emulated.data("POST", ARBITRATION, auth=None, headers=headers)["creator"] == "admin"


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "answer", "action": "ignore", "parameters": ["status"]},
        {"kind": "proxy", "action": "replace", "path": TASKS, "when": "before"},
        {"kind": "proxy", "action": "replace", "path": TASKS, "when": "after"},
        {"kind": "proxy", "action": "repeat"},
    ],
    ids=str,
)
def test_signature_holds_for_the_request_as_it_was_sent(emulated, fault):
    emulated.data("POST", "/emulator/faults", json=fault)
    path = f"{TASKS}?status=FAILED"
    headers = signed("GET", path, {"Date": http_date(emulated)})
    assert emulated.get(path, auth=None, headers=headers)["contents"] == []
    assert [each["hits"] for each in emulated.get("/emulator/faults")["contents"]] == [1]


def test_body_content_type_and_ocp_headers_are_signed(emulated):
    body = '{"hostIds": [1]}'
    headers = {"Date": http_date(emulated), "Content-Type": "application/json", "x-ocp-origin": "here"}
    headers = signed("POST", AGENTS, headers, body)
    for changed in ({"content": body + " "}, {"headers": {**headers, "x-ocp-origin": "there"}}):
        emulated.error(401, "POST", AGENTS, **{"auth": None, "content": body, "headers": headers, **changed})
    emulated.data("POST", AGENTS, auth=None, content=body, headers=headers)


def test_the_query_is_signed_sorted_and_encoded(start):
    emulated = start(switches=Switches(signed_query="rfc3986"))
    headers = signed("GET", f"{TASKS}?name=Restart%20OB&size=5", {"Date": http_date(emulated)})
    emulated.get(f"{TASKS}?size=5&name=Restart+OB", auth=None, headers=headers)
    emulated.error(401, "GET", f"{TASKS}?size=6&name=Restart+OB", auth=None, headers=headers)


def test_the_time_may_be_given_as_x_ocp_date(emulated):
    emulated.get(TASKS, auth=None, headers=signed("GET", TASKS, {"x-ocp-date": http_date(emulated)}))


def test_date_without_leading_zero_is_accepted(emulated):
    emulated.pass_time(10 * 86_400)
    date = http_date(emulated)
    assert ", 01 Dec" in date
    emulated.get(TASKS, auth=None, headers=signed("GET", TASKS, {"Date": date.replace(", 01", ", 1")}))


@pytest.mark.parametrize("seconds", [-900, 900])
def test_a_date_15_minutes_off_is_accepted(emulated, seconds):
    emulated.get(TASKS, auth=None, headers=signed("GET", TASKS, {"Date": http_date(emulated, seconds)}))


@pytest.mark.parametrize("seconds", [-901, 901])
def test_a_date_more_than_15_minutes_off_is_refused(emulated, seconds):
    headers = signed("GET", TASKS, {"Date": http_date(emulated, seconds)})
    assert "15 minutes" in emulated.error(401, "GET", TASKS, auth=None, headers=headers)["message"]


@pytest.mark.parametrize("date", ["", "now", "2026-11-21T04:00:00Z", "Sat, 99 Nov 2026 04:00:00 GMT"])
def test_invalid_date_is_refused(emulated, date):
    headers = signed("GET", TASKS, {"x-ocp-date": date, "Date": date or "-"})
    emulated.error(401, "GET", TASKS, auth=None, headers=headers)


def test_signature_requires_a_date(emulated):
    headers = signed("GET", TASKS, {"Date": http_date(emulated)})
    del headers["Date"]
    assert "Date" in emulated.error(401, "GET", TASKS, auth=None, headers=headers)["message"]


@pytest.mark.parametrize("place", range(0, 15, 3))
def test_one_altered_character_of_the_secret_is_refused(emulated, place):
    secret = "emulator-secret"
    altered = f"{secret[:place]}X{secret[place + 1 :]}"
    headers = signed("GET", TASKS, {"Date": http_date(emulated)}, secret=altered)
    emulated.error(401, "GET", TASKS, auth=None, headers=headers)


def test_an_unknown_access_key_is_refused(emulated):
    headers = signed("GET", TASKS, {"Date": http_date(emulated)}, secret="")
    headers["Authorization"] = headers["Authorization"].replace(" emulator:", " unknown:")
    emulated.error(401, "GET", TASKS, auth=None, headers=headers)


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("GET", "/api/v2/no/such/url", {}),
        ("DELETE", TASKS, {}),
        ("GET", f"{TASKS}/x", {}),
        ("GET", f"{TASKS}?size=0", {}),
        ("POST", AGENTS, {"content": "{", "headers": {"Content-Type": "application/json"}}),
        ("POST", SERVER, {}),
    ],
)
def test_credentials_are_checked_before_anything_else(emulated, method, path, options):
    emulated.error(401, method, path, auth=("admin", "wrong"), **options)


def test_refused_request_starts_no_task(emulated):
    for path in (SERVER, CLUSTER, ARBITRATION):
        emulated.error(401, "POST", path, auth=None, params={"freezeServer": "true"})
        emulated.error(403, "POST", path, auth=("viewer", "ocp-demo-1"), params={"freezeServer": "true"})
    assert emulated.get(TASKS)["contents"] == []
