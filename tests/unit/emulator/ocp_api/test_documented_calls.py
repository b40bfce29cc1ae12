# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The calls of the emulator against the documented ones, in each profile: parameters, words, examples of sorting.

documented_calls.yml is the table. What differs is listed in ALLOWED with a reason; a reason that is not needed any more
is an error too. The keys of answers are compared by test_documented_answers.py.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from ocp_emulator.base.compatibility import PROFILES

TABLE = yaml.safe_load(Path(__file__).with_name("documented_calls.yml").read_text())
# Calls, parameters, words and examples that are equal in each profile. Lower numbers mean that less is compared.
EQUAL = {"4.3": (57, 103, 173), "4.2": (53, 92, 160)}

_BOTH = ("4.2", "4.3")
_PATH = "the documents have it under one path only; clients and sample requests use this one"
_PAGES = "the documents show pages, but no parameters of them"
_OLDER = "of versions before 4.2, which recorded clients still send"
_SIBLING = "of the related service; clients ask it without credentials"
_DEPRECATED = "answered with 501: deprecated"
_INFO = "answered with 501: what requests had in their bodies is not kept"
# What differs: profiles, call or field, difference, and why it may.
ALLOWED: list[tuple[tuple[str, ...], str, str, str]] = [
    *(
        (_BOTH, f"{method} /api/v2/compute/hosts/{path}", "extra call", _PATH)
        for method, path in (
            ("GET", "{}/agent"),
            ("GET", "{}/agent/processes"),
            ("POST", "{}/agent/restart"),
            ("POST", "{}/agent/stop"),
            ("POST", "{}/agent/processes/{}/restart"),
            ("POST", "{}/agent/processes/{}/stop"),
            ("POST", "batchRestartAgents"),
            ("POST", "batchStopAgents"),
        )
    ),
    (_BOTH, "GET /api/v2/ob/clusters/{}/zones/{}/servers", "extra call", _PATH),
    (_BOTH, "GET /api/v2/ob/cluster/{}/tenants/{}", "extra call", _PATH),
    (_BOTH, "GET /api/v2/ob/clusters/{}/tenants/{}/units", "extra call", _PATH),
    (("4.2",), "GET /api/v2/ob/clusters/{}/tenants/{}/backup/task/dataBackupTasks", "extra call", "of 4.3"),
    (_BOTH, "GET /api/v2/status", "extra call", _SIBLING),
    (_BOTH, "GET /api/v2/ob/clusters", "refused withStandby", _DEPRECATED),
    (_BOTH, "GET /api/v2/audit/events", "refused eventInfo", _INFO),
    (_BOTH, "GET /api/v2/audit/events", "extra sort", "as in all other lists"),
    *(
        (_BOTH, "GET /api/v2/alarm/alarms", f"extra {name}", _OLDER)
        for name in ("alarmType", "hostIp", "hostName", "obCluster", "obTenant")
    ),
    (_BOTH, "GET /api/v2/tasks/instances", "extra clusterName", "cluterName is a slip of the documents"),
    (_BOTH, "GET /api/v2/ob/clusters/{}/backup/task/dataBackupTasks", "extra status", "as for a tenant"),
    *(
        (("4.3",), "GET /api/v2/ob/clusters/{}/tenants/{}/backup/task/dataBackupTasks", f"extra {name}", _PAGES)
        for name in ("page", "size")
    ),
    *((_BOTH, "GET /api/v2/obproxy/clusters", f"extra {name}", _PAGES) for name in ("name", "page", "size", "sort")),
    *((_BOTH, "GET /compute/hosts/{}/agent/processes", f"extra {name}", _PAGES) for name in ("page", "size", "sort")),
    *((("4.3",), "GET /api/v2/arbitration/services", f"extra {name}", _PAGES) for name in ("page", "size", "sort")),
    (("4.2",), "GET /api/v2/monitor/metric", "extra startTime", "its name in newer versions"),
    (("4.2",), "GET /api/v2/monitor/metric", "extra endTime", "its name in newer versions"),
    (("4.3",), "GET /api/v2/monitor/metric", "extra start_time", "its name in older versions"),
    (("4.3",), "GET /api/v2/monitor/metric", "extra end_time", "its name in older versions"),
    (_BOTH, "AuditEvent.status", "missing FAILED", "only operations that were accepted are events"),
    (_BOTH, "AuditEvent.executionType", "missing RETRY", "only new tasks are events"),
]


def anonymous(path: str) -> str:
    return re.sub(r"\{\w+\}", "{}", path)


def documented(profile: str) -> dict[str, dict[str, Any]]:
    """Each call of this version, with its parameters: an example, a list of words, or None."""
    found = {}
    for call, parameters in TABLE["calls"].items():
        if parameters.get("only", profile) == profile:
            found[call] = {
                name: value.get("words", value.get("example")) if isinstance(value, dict) else value
                for name, value in parameters.items()
                if name != "only" and (not isinstance(value, dict) or value["only"] == profile)
            }
    return found


def served(document: dict[str, Any]) -> dict[str, set[str]]:
    """Each call of the emulator with its parameters in the query and in the body."""
    found: dict[str, set[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items() if not path.startswith("/emulator") else ():
            names = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
            for content in operation.get("requestBody", {}).get("content", {}).values():
                schema = content["schema"]
                names |= set(schema.get("items", schema)["properties"])
            found[f"{method.upper()} {anonymous(path)}"] = names
    return found


def words_of(document: dict[str, Any], field: str) -> set[str]:
    form, name = field.split(".")
    schema = document["components"]["schemas"][form]["properties"][name]
    return set(schema.get("enum", [schema.get("const")]))


def compare(emulated: Any, profile: str) -> tuple[set[tuple[str, str]], Counter[str]]:
    """What differs, and how many calls, parameters and words are equal."""
    there, here = documented(profile), served(emulated.app.openapi())
    found = {(call, "missing call") for call in there.keys() - here.keys()}
    found |= {(call, "extra call") for call in here.keys() - there.keys()}
    equal: Counter[str] = Counter()
    for call in there.keys() & here.keys():
        equal["calls"] += 1
        found |= {(call, f"extra {name}") for name in here[call] - there[call].keys()}
        for name, value in there[call].items():
            difference = parameter(emulated, call, name, value, here[call])
            found |= {(call, difference)} if difference else set()
            equal["parameters"] += not difference
            equal["words"] += len(value) if isinstance(value, list) and not difference else 0
    for field, words in TABLE["fields"].items():
        shown = words_of(emulated.app.openapi(), field)
        found |= {(field, f"missing {word}") for word in set(words) - shown}
        found |= {(field, f"extra {word}") for word in shown - set(words)}
        equal["words"] += len(set(words) & shown)
    return found, equal


def parameter(emulated: Any, call: str, name: str, value: Any, known: set[str]) -> str | None:
    """What is wrong with a parameter; each of its words and its example have to be taken."""
    method, path = call.split(" ")
    if name not in known:
        path = path.format(1, 1)
        is_refused = emulated.request(method, path, params={name: "x"}).status_code == 501
        return f"{'refused' if is_refused else 'missing'} {name}"
    if method != "GET" or "{}" in path.replace("/clusters/{}", "") or value is None or "metric" in path:
        return None
    for word in value if isinstance(value, list) else [value]:
        answer = emulated.request("GET", path.format(1), params={name: word})
        if answer.status_code != 200:
            return f"refused {name}={word}"
    return None


@pytest.mark.parametrize("profile", PROFILES)
def test_calls_have_the_documented_parameters_and_words(start, profile):
    emulated = start(switches=PROFILES[profile])
    found, equal = compare(emulated, profile)
    allowed = {(call, difference) for profiles, call, difference, _why in ALLOWED if profile in profiles}
    print(f"profile {profile}: {dict(equal)} equal, {len(allowed)} differ with a reason")
    assert found - allowed == set()
    assert allowed - found == set(), "these do not differ any more"
    assert (equal["calls"], equal["parameters"], equal["words"]) == EQUAL[profile]


def test_a_parameter_that_is_not_served_is_missed(start, monkeypatch):
    monkeypatch.setitem(TABLE["calls"]["GET /api/v2/ob/clusters"], "colour", "red")
    monkeypatch.setitem(TABLE["calls"]["GET /api/v2/tasks/instances"], "status", ["RUNNING", "PAUSED"])
    monkeypatch.setitem(TABLE["fields"], "Tenant.mode", ["MYSQL"])
    found, _equal = compare(start(), "4.3")
    assert ("GET /api/v2/ob/clusters", "missing colour") in found
    assert ("GET /api/v2/tasks/instances", "refused status=PAUSED") in found
    assert ("Tenant.mode", "extra ORACLE") in found
