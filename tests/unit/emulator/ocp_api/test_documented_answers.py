# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The emulator's answers against the documented ones, key by key and type by type, in each profile.

documented_answers.yml is the table: whoever adds an answer writes its keys there, and how to ask for it in CALLS. What
differs is listed in ALLOWED with a reason; a reason that is not needed any more is an error too.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ocp_emulator.base.compatibility import PROFILES
from ocp_emulator.security.rate_limit import Rate

TABLE = yaml.safe_load(Path(__file__).with_name("documented_answers.yml").read_text())["answers"]
PAGE = Path(__file__).parents[4] / "docs/emulator-reference.md"
ENVELOPE = {
    "duration": "integer",
    "server": "string",
    "status": "integer",
    "successful": "boolean",
    "timestamp": "string",
    "traceId": "string",
}
FIELDS = {"4.3": "newest", "4.2": "older"}
# Answers, keys and types that are compared in each profile. Lower numbers mean that something is not compared any more.
COMPARED = {"4.3": (58, 1950, 1959), "4.2": (54, 1791, 1800)}

_ENVELOPED = "the documents have bare text; the switch time_answer chooses it, and is so in the profile 4.2"
_SERVED = "the documents show that there are clusters and tenants, but not which fields name them"
_BOTH = ("4.2", "4.3")
# What differs: profiles, answer, difference, and why it may.
ALLOWED: list[tuple[tuple[str, ...], str, str, str]] = [
    (("4.3",), "tasks", "undocumented contents[].tags[].obproxyId", "no document shows a tag of such a task"),
    (_BOTH, "restart of a cluster", "undocumented operation", "the sample of 2021 lacks it, the specification has it"),
    *(
        (("4.3",), answer, f"undocumented {at}clusters[].{key}", _SERVED)
        for answer, at in (("arbitration services", "contents[]."), ("arbitration service", ""))
        for key in ("id", "name", "obClusterId", "tenants[].id", "tenants[].name")
    ),
    (("4.3",), "time", "object for , documented as string", _ENVELOPED),
    *((("4.3",), "time", f"undocumented {key}", _ENVELOPED) for key in ("data", *ENVELOPE)),
]

TASKS = "/api/v2/tasks/instances"
CLUSTER = "/api/v2/ob/clusters/1"
METRIC = {
    "metrics": "max_full_clog_sync_delay_second",
    "labels": "app:OB,ob_cluster_name:orders",
    "groupBy": "ob_cluster_name",
    "interval": 5,
    "start_time": "2026-11-21T03:59:00Z",
    "end_time": "2026-11-21T04:00:00Z",
}

CALLS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "clusters": ("GET", "/api/v2/ob/clusters", {}),
    "zones": ("GET", f"{CLUSTER}/zones", {}),
    "servers": ("GET", f"{CLUSTER}/servers", {}),
    "servers_of_zone": ("GET", f"{CLUSTER}/zones/zone1/servers", {}),
    "hosts": ("GET", "/api/v2/compute/hosts", {}),
    "host": ("GET", "/api/v2/compute/hosts/1", {}),
    "agent": ("GET", "/api/v2/compute/hosts/1/agent", {}),
    "processes": ("GET", "/api/v2/compute/hosts/1/agent/processes", {}),
    "tenants": ("GET", f"{CLUSTER}/tenants", {}),
    "tenant": ("GET", f"{CLUSTER}/tenants/5001", {}),
    "all_tenants": ("GET", "/api/v2/ob/tenants", {}),
    "units": ("GET", f"{CLUSTER}/tenants/5001/units", {}),
    "parameters": ("GET", f"{CLUSTER}/parameters", {}),
    "set_parameters": ("PUT", f"{CLUSTER}/parameters", {"json": [{"name": "stack_size", "value": "5M"}]}),
    "obproxy_clusters": ("GET", "/api/v2/obproxy/clusters", {}),
    "obproxy_cluster": ("GET", "/api/v2/obproxy/clusters/1", {}),
    "obproxy_parameters": ("GET", "/api/v2/obproxy/clusters/1/parameters", {}),
    "alarms": ("GET", "/api/v2/alarm/alarms", {}),
    "alarm": ("GET", "/api/v2/alarm/alarms/1", {}),
    "metric": ("GET", "/api/v2/monitor/metric", {"params": METRIC}),
    "audit": ("GET", "/api/v2/audit/events", {"params": {"size": 100}}),
    "tasks": ("GET", TASKS, {}),
    "task": ("GET", f"{TASKS}/1001", {}),
    "log": ("GET", f"{TASKS}/1001/subtasks/50001/log", {}),
    "cluster_backups": ("GET", f"{CLUSTER}/backup/task/dataBackupTasks", {}),
    "tenant_backups": ("GET", f"{CLUSTER}/tenants/5002/backup/task/dataBackupTasks", {}),
    "restores": ("GET", f"{CLUSTER}/backup/task/restoreTasks", {}),
    "restart_zone": ("POST", "/api/v2/ob/clusters/2/zones/zone1/restart", {}),
    "restart_agents": ("POST", "/api/v2/compute/hosts/batchRestartAgents", {"json": {"hostIds": [1, 2]}}),
    "restart_agent": ("POST", "/api/v2/compute/hosts/3/agent/restart", {}),
    "restart_obproxies": ("POST", "/api/v2/obproxy/clusters/1/obproxies/1,2/restart", {}),
    "restart_arbitration": ("POST", "/api/v2/arbitration/services/1/restart", {}),
    "restart_server": ("POST", "/api/v2/ob/clusters/2/servers/7/restart", {"params": {"freezeServer": True}}),
    "restart_cluster": ("POST", f"{CLUSTER}/restart", {}),
    "stop_agents": ("POST", "/api/v2/compute/hosts/batchStopAgents", {"json": {"hostIds": [4]}}),
    "stop_agent": ("POST", "/api/v2/compute/hosts/5/agent/stop", {}),
    "restart_process": ("POST", "/compute/hosts/6/agent/processes/1000000006/restart", {}),
    "stop_process": ("POST", "/compute/hosts/7/agent/processes/1000000007/stop", {}),
    "arbitration_services": ("GET", "/api/v2/arbitration/services", {}),
    "arbitration_service": ("GET", "/api/v2/arbitration/services/1", {}),
    "info": ("GET", "/api/v2/info", {}),
    "time": ("GET", "/api/v2/time", {}),
    "health": ("GET", "/api/status", {}),
}
# On an emulator of their own, where each has ended before the next.
STARTS_AND_STOPS = {
    f"{verb}_{kind}": f"/api/v2/ob/clusters/1/{path}{verb}"
    for kind, path in (("cluster", ""), ("zone", "zones/zone1/"), ("server", "servers/1/"))
    for verb in ("stop", "start")
}
# The first task has ended when the others are asked for; the last ones still run when their targets are read.
FIRST = "restart_zone"


def prepared(start: Callable[..., Any], profile: str) -> dict[str, Any]:
    """All answers of an emulator in which there is something of everything."""
    emulated = start(switches=PROFILES[profile])
    emulated.plan("fail", "Stop zone")
    server = {"alarmType": "ob_tenant_log_stream_degraded", "server": 3, "cluster": "orders", "tenant": "app"}
    for _twice in range(2):
        alarm = emulated.data("POST", "/emulator/alarms", json=server)
    emulated.request("DELETE", f"/emulator/alarms/{alarm['id']}").raise_for_status()
    degraded = {"degraded": [{"cluster": "orders", "tenant": "app", "logStreams": [1001]}]}
    emulated.request("PUT", "/emulator/arbitration-services/1", json=degraded).raise_for_status()
    plant_ended(emulated)
    answers = actions(start, profile) | inspections(start, profile)
    posts = [name for name, (method, _path, _options) in CALLS.items() if method != "GET" and name != FIRST]
    for name in (FIRST, *posts, *(name for name in CALLS if CALLS[name][0] == "GET")):
        if name in needed(profile):
            method, path, options = CALLS[name]
            answer = emulated.request(method, path, **options)
            assert answer.status_code == 200, (name, answer.text)
            is_text = answer.headers["Content-Type"].startswith("text/plain")
            answers[name] = answer.text if is_text else answer.json()
        if name == FIRST:
            emulated.pass_time(3)
            emulated.steer(1001, "retry").raise_for_status()
            emulated.pass_time(60)
    other = start(switches=PROFILES[profile])
    for name, path in STARTS_AND_STOPS.items():
        answers[name] = other.request("POST", path).json()
        assert answers[name]["successful"], (name, answers[name])
        other.pass_time(60)
    answers["too_many"] = start(switches=PROFILES[profile], rates=(Rate(0, 10),)).request("GET", TASKS).json()
    return answers


def plant_ended(emulated: Any) -> None:
    """A data backup and a restore of a tenant, which have ended."""
    of_tenant = {"cluster": "orders", "tenant": "app"}
    for kind, ended in (("backups", "DONE"), ("restores", "RESTORE_FAIL")):
        planted = emulated.data("POST", f"/emulator/{kind}", json=of_tenant)
        emulated.request("PUT", f"/emulator/{kind}/{planted['id']}", json={"status": ended}).raise_for_status()


def actions(start: Callable[..., Any], profile: str) -> dict[str, Any]:
    """The answer to each action on a task: of one that fails until it is rolled back, then of one that is skipped."""
    emulated = start(switches=PROFILES[profile])
    emulated.plan("fail", "Stop observer process", times=None)
    answers = {}

    def act(task: int, *names: str) -> None:
        for name in names:
            emulated.pass_time(20)
            stopping = emulated.step(task, "Stop observer process")["id"]
            verb, _line, of_subtask = name.partition("_")
            answer = emulated.steer(task, verb, stopping if of_subtask else None)
            assert answer.status_code == 200, (name, answer.text)
            answers[name] = answer.json()

    act(emulated.restart_server(1)["id"], "retry_subtask", "retry", "rollback")
    emulated.pass_time(60)
    act(emulated.restart_server(1)["id"], "skip_subtask")
    running = emulated.restart_server(7)["id"]
    emulated.pass_time(0.5)
    first = next(each["id"] for each in emulated.steps(running) if each["status"] == "RUNNING")
    answers["cancel_subtask"] = emulated.steer(running, "cancel", first).json()
    return answers


def inspections(start: Callable[..., Any], profile: str) -> dict[str, Any]:
    """The answers to an inspection and to the reads of its report, in which an item is a risk."""
    emulated = start(switches=PROFILES[profile])
    emulated.data("POST", "/emulator/inspection-risks", json={"cluster": "orders", "item": "replica_count"})
    body = {"inspectionObjectType": "OB_CLUSTER", "objectIds": [1], "tags": 1}
    answers = {"run_inspection": emulated.request("POST", "/api/v2/inspection/run", json=body).json()}
    emulated.pass_time(3)
    last = emulated.request("GET", "/api/v2/inspection/report/info", params={"tagId": 1, "objectType": "OB_CLUSTER"})
    report = emulated.request("GET", "/api/v2/inspection/report/1")
    return answers | {"last_inspections": last.json(), "inspection_report": report.json()}


def needed(profile: str) -> set[str]:
    return {answer["call"] for answer in TABLE.values() if answer.get("only", FIELDS[profile]) == FIELDS[profile]}


# What is documented


def documented(answer: dict[str, Any], fields: str) -> dict[str, set[str]]:
    """Each path of an answer with its types; a path that ends with ? may be absent."""
    tree = copy.deepcopy(answer.get("data", answer.get("body")))
    own = answer.get(fields, {})
    for path, keys in own.get("more", {}).items():
        node = tree
        for part in filter(None, path.split(".")):
            node = node[part.removesuffix("[]")][0]
        node.update(keys)
    paths = dict(walk_types(tree if "body" in answer else {**ENVELOPE, "data": tree}, ""))
    prefix = "" if "body" in answer else "data."
    for path in own.get("less", ()):
        del paths[prefix + path]
    return paths


def walk_types(node: Any, path: str) -> Iterator[tuple[str, set[str]]]:
    if isinstance(node, dict):
        yield path, {"object"}
        for key, below in node.items():
            yield from walk_types(below, f"{path}.{key}".removeprefix("."))
    elif isinstance(node, list):
        yield path, {"array"}
        for below in node:
            yield from walk_types(below, f"{path}[]")
    else:
        yield f"{path}{'?' if node.endswith('?') else ''}", set(node.removesuffix("?").split("|"))


# What is answered


def walk_values(value: Any, path: str) -> Iterator[tuple[str, str]]:
    yield path, json_type(value)
    if isinstance(value, dict):
        for key, below in value.items():
            # Values of parameters are keys too, and some have a dot.
            name = key.replace(".", "_")
            yield from walk_values(below, f"{path}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for below in value:
            yield from walk_values(below, f"{path}[]")


def json_type(value: Any) -> str:
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number"}
    return "null" if value is None else kinds[type(value)]


def differences(expected: dict[str, set[str]], answer: Any) -> tuple[list[str], int, int]:
    """The differences, and how many keys and types were compared."""
    exact = {path.replace("?", ""): types for path, types in expected.items()}
    names = {re.compile(re.escape(path).replace(r"\*", r"[^.\[\]]*")): path for path in exact if "*" in path}
    shown: dict[str, set[str]] = {}
    for path, kind in walk_values(answer, ""):
        known = path if path in exact else next((names[rule] for rule in names if rule.fullmatch(path)), path)
        shown.setdefault(known, set()).add(kind)
    optional = {path.replace("?", "") for path in expected if "?" in path}
    found = [f"missing {told(path)}" for path in exact if path not in shown and path not in optional]
    found += [f"undocumented {told(path)}" for path in shown if path not in exact]
    keys = [path for path in shown if path in exact]
    types = 0
    for path in keys:
        for kind in shown[path]:
            types += 1
            fits = kind in exact[path] or (kind == "integer" and "number" in exact[path])
            found += [] if fits else [f"{kind} for {told(path)}, documented as {'|'.join(sorted(exact[path]))}"]
    return found, len(keys), types


def told(path: str) -> str:
    return path.removeprefix("data.")


@pytest.mark.parametrize("profile", PROFILES)
def test_answers_have_the_documented_keys_and_types(start, profile):
    answers = prepared(start, profile)
    found, compared, keys, types = set(), 0, 0, 0
    for name, answer in TABLE.items():
        if answer.get("only", FIELDS[profile]) == FIELDS[profile]:
            differing, more_keys, more_types = differences(documented(answer, FIELDS[profile]), answers[answer["call"]])
            found |= {(name, difference) for difference in differing}
            compared, keys, types = compared + 1, keys + more_keys, types + more_types
    allowed = {(name, difference) for profiles, name, difference, _why in ALLOWED if profile in profiles}
    print(f"profile {profile}: {compared} answers, {keys} keys, {types} types compared; {len(allowed)} may differ")
    assert found - allowed == set()
    assert allowed - found == set(), "these do not differ any more"
    assert (compared, keys, types) == COMPARED[profile]
    page = " ".join(PAGE.read_text().split())
    assert re.search(f"{compared} answers with {keys} keys in {profile}", page)
