# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of options: each kind of bad value for every option of every module."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._module.connection_options import CONNECTION_OPTIONS
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import transport
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import (
    ANSIBLE,
    OPTIONS,
    Entry,
    definition_of,
    keys_of,
    outcome_of,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import (
    BASIC,
    KEY,
    MODULES,
    OWN,
    WITHOUT_SERVICE,
)

LEFT_OUT = "<left out>"
TYPE, CHOICE, NULL, MISSING, RANGE, EMPTY, UNUSABLE, TOGETHER = (
    "is of another type",
    "is none of the choices",
    "is null",
    "is left out",
    "is out of range",
    "is empty",
    "cannot be used",
    "does not go with another option",
)
UNKNOWN = "is no option of the module"

# Why an option has no bad value of a kind that its type allows.
NO_BAD_VALUE = {
    ("ca_path", EMPTY): "an empty path is none",
    ("client_cert", EMPTY): "an empty path is none",
    ("client_key", EMPTY): "an empty path is none",
    ("apart_from_tasks", EMPTY): "there may be no such task",
    ("request", RANGE): "which numbers there are only the journal knows",
    ("judged_tasks", RANGE): "which ids there are only the service knows",
    ("judged_tasks", EMPTY): "nobody may have judged any",
    ("run", TYPE): "ansible-core does not name an option that is a dictionary of options",
    ("alarms_before", RANGE): "which ids there are only the service knows",
    ("alarms_before", EMPTY): "there may have been none",
    ("stop_on", EMPTY): "nothing may be asked for",
    ("metric_limits", EMPTY): "nothing may be asked for",
    ("task_id", RANGE): "which ids there are only the service knows",
    ("subtask_id", RANGE): "which ids there are only the service knows",
}
NO_BAD_TYPE = {
    "str": "ansible-core turns whatever it gets into text",
    "path": "ansible-core turns whatever it gets into text",
}


@dataclass(frozen=True)
class Bad:
    """A refused value, its fault, and the other options that make it one.

    ``shown`` is the value in the message, by default ``value``; "" if the message must not show it.
    """

    fault: str
    value: Any
    others: dict[str, Any] = field(default_factory=dict)
    shown: str | None = None


KEYED = {"username": LEFT_OUT, "password": LEFT_OUT, **KEY}
A_SERVER = {"servers": ["10.1.0.1:2882"]}
NO_ENTRY = (Bad(EMPTY, []), Bad(EMPTY, [""]))
NO_VALUES = (
    Bad(EMPTY, {}, shown=""),
    Bad(UNUSABLE, {"stack size": "5M"}, shown="stack size"),
    Bad(UNUSABLE, {"stack_size": None}, shown="nothing"),
    Bad(UNUSABLE, {"stack_size": ["5M"]}, shown="a list"),
    Bad(UNUSABLE, {"stack_size": "5M", "STACK_SIZE": "6M"}, shown="stack_size and STACK_SIZE"),
    Bad(UNUSABLE, {"stack_size": "5M "}, shown="'5M '"),
)
RUN = {"record": "/dev/null", "host": "orders", "clusters": 1, "forks": 1}
BY_HAND: dict[str, tuple[Bad, ...]] = {
    "apart_from_tasks": (),
    "alarms_before": (),
    "stop_on": (),
    "url": (
        Bad(EMPTY, ""),
        Bad(UNUSABLE, "ocp.example.com"),
        Bad(UNUSABLE, "https://ocp.example.com/?tenant=1"),
        Bad(UNUSABLE, "https://ocp.example.com/api/v2", shown="/api/v2"),
        Bad(MISSING, LEFT_OUT, shown="OCP_URL"),
        Bad(UNUSABLE, f"https://admin:{BASIC['password']}@ocp.example.com", shown=""),
    ),
    "username": (
        Bad(EMPTY, ""),
        Bad(MISSING, LEFT_OUT, shown="OCP_USERNAME"),
        Bad(MISSING, LEFT_OUT, {"password": LEFT_OUT}, "OCP_USERNAME"),
        Bad(TOGETHER, "admin", KEY, "access_key_id"),
    ),
    "password": (Bad(EMPTY, ""), Bad(MISSING, LEFT_OUT, shown="OCP_PASSWORD")),
    "access_key_id": (
        Bad(EMPTY, "", KEYED | {"access_key_id": ""}),
        Bad(UNUSABLE, "key\n", KEYED | {"access_key_id": "key\n"}, shown=""),
    ),
    "access_key_secret": (Bad(EMPTY, "", KEYED | {"access_key_secret": ""}),),
    "ca_path": (Bad(UNUSABLE, "/no/such/ca.pem"),),
    "client_cert": (Bad(UNUSABLE, "/no/such/client.crt"), Bad(UNUSABLE, "/dev/null")),
    "client_key": (Bad(TOGETHER, "/no/such/client.key"),),
    "recording": (
        Bad(EMPTY, ""),
        Bad(UNUSABLE, "/no/such/folder/recording.json"),
        Bad(UNUSABLE, "/dev/null"),
    ),
    "timeout": (Bad(RANGE, 0), Bad(RANGE, 604801)),
    "log_lines": (Bad(RANGE, -1), Bad(RANGE, 10_000_000)),
    "wait_timeout": (Bad(RANGE, 0), Bad(RANGE, 604801)),
    "wait_interval": (Bad(RANGE, 0.1), Bad(RANGE, 604801)),
    "safety_timeout": (Bad(RANGE, -1), Bad(RANGE, 604801)),
    "proof_timeout": (Bad(RANGE, -1), Bad(RANGE, 604801)),
    "threads": (Bad(RANGE, 0), Bad(RANGE, 65)),
    "metric_limits": (
        Bad(UNUSABLE, [{"name": "sql rt", "most": 1}], shown="sql rt"),
        Bad(RANGE, [{"name": "sql_rt", "rise": -1}], shown="rise of sql_rt is -1"),
        Bad(RANGE, [{"name": "sql_rt", "most": 1, "samples": 0}], shown="0 is out"),
        Bad(RANGE, [{"name": "sql_rt", "most": 1, "seconds": 10}], shown="10 is out"),
    ),
    "metrics_before": (Bad(UNUSABLE, {"sql_rt": "many"}, shown="many"),),
    "max_lag": (Bad(RANGE, -1), Bad(RANGE, 604801)),
    "offline_time": (Bad(RANGE, 0), Bad(RANGE, 604801)),
    "raise_to": (Bad(EMPTY, ""), Bad(UNUSABLE, "soon"), Bad(TOGETHER, "4h", {"state": "restored"}, "state=restored")),
    "raise_offline_time": (Bad(EMPTY, ""), Bad(UNUSABLE, "soon")),
    "change": (
        Bad(EMPTY, ""),
        Bad(UNUSABLE, "memory\x1b[31m", shown="memory\\x1b"),
        Bad(UNUSABLE, " memory"),
        Bad(UNUSABLE, "m" * 201, shown="201"),
    ),
    "started_before": (Bad(EMPTY, ""), Bad(UNUSABLE, "2026-05-04T03:00:00"), Bad(UNUSABLE, "yesterday")),
    "finish_before": (Bad(EMPTY, ""), Bad(UNUSABLE, "2026-05-04T03:00:00"), Bad(UNUSABLE, "tomorrow")),
    "request": (),
    "everything": (Bad(UNUSABLE, False, shown="false"),),
    "min_zones": (Bad(RANGE, -1),),
    "settle_time": (Bad(RANGE, 0), Bad(RANGE, 604801)),
    "max_failures": (Bad(RANGE, -1),),
    "judged_tasks": (),
    "most_down": (
        Bad(EMPTY, {}, shown=""),
        Bad(RANGE, {"idc": 0}, shown="most_down.idc: 0"),
        Bad(RANGE, {"percent": 101}, shown="101"),
        Bad(UNUSABLE, {"rack": 1}, shown="rack"),
        Bad(UNUSABLE, {"regoin": 1}, shown="region"),
        Bad(UNUSABLE, {"host": "one"}, shown="one"),
    ),
    "plan_file": (Bad(EMPTY, ""),),
    "approved_plan": (Bad(EMPTY, ""), Bad(UNUSABLE, "/no/such/plan.json")),
    "pause_file": (Bad(EMPTY, ""),),
    "windows": (
        Bad(UNUSABLE, {"zone": "UTC"}, shown="zone"),
        Bad(UNUSABLE, {"time_zone": "Berlin"}, shown="Berlin"),
        Bad(UNUSABLE, {"time_zone": "UTC", "weekly": [{"start": 1320, "end": "23:00"}]}, shown="1320"),
    ),
    "run": (
        Bad(RANGE, {**RUN, "clusters": 0}, shown="0"),
        Bad(RANGE, {**RUN, "forks": 0}, shown="0"),
        Bad(UNUSABLE, {**RUN, "record": "/no/such/folder/record"}, shown="/no/such/folder/record"),
    ),
    "parameters": NO_VALUES,
    "until_effective": NO_VALUES,
    "batch": (Bad(EMPTY, ""), Bad(RANGE, "0"), Bad(UNUSABLE, "all")),
    "canary": (Bad(RANGE, -1),),
    "max_servers": (Bad(RANGE, -1),),
    "soak": (Bad(RANGE, -1), Bad(RANGE, 604801)),
    "limit": (Bad(RANGE, 0), Bad(RANGE, 1_000_000)),
    "strategy": (Bad(TOGETHER, "zone", {**A_SERVER, "freeze_server": LEFT_OUT}),),
    "state": (
        Bad(TOGETHER, "skipped"),
        Bad(TOGETHER, "canceled"),
        Bad(TOGETHER, "rolled_back", {"subtask_id": 5}),
    ),
    "subtask": (Bad(TOGETHER, "running", {"state": "retried"}), Bad(TOGETHER, "failed", {"state": "canceled"})),
}
# What options need beside them.
BESIDE: dict[str, Any] = {
    "zone": {"servers": ["41"]},
    "request": {"change": LEFT_OUT},
    "everything": {"change": LEFT_OUT},
    "servers": {"zone": "zone1"},
    "clusters": {"cluster": LEFT_OUT},
    "canary": {"cluster": LEFT_OUT, "clusters": ["orders"]},
    "max_servers": {"cluster": LEFT_OUT, "clusters": ["orders"]},
    "apart_from_tasks": {"apart_from_zone": "zone1"},
}
SAMPLES: dict[str, Any] = {
    "task_id": 81,
    "subtask_id": 5,
    "subtask": "failed",
    "status": ["RUNNING"],
    "request": 12,
    "everything": True,
    "run": RUN,
}


def expected_faults(module: str) -> set[tuple[str, str, str]]:
    """The possible faults of each option by the argument spec."""
    return {
        (module, option, fault)
        for option, spec in options_of(module).items()
        for fault in _faults_of(spec)
        if (option, fault) not in NO_BAD_VALUE
    }


def options_of(module: str) -> dict[str, Any]:
    """Those of which it refuses values; journal_entries has those of journal_url, and notify_url is never refused."""
    unused = {"journal_url", "notify_url", *(CONNECTION_OPTIONS if module in WITHOUT_SERVICE else ())}
    return {name: spec for name, spec in definition_of(module).argument_spec.items() if name not in unused}


def _faults_of(spec: dict[str, Any]) -> Iterator[str]:
    if spec["type"] not in NO_BAD_TYPE:
        yield TYPE
        if spec.get("required") or spec.get("default") is not None:
            yield NULL
    if spec.get("choices"):
        yield CHOICE
    elif spec["type"] in ("int", "float"):
        yield RANGE
    if spec["type"] == "list" or (spec["type"] in ("str", "path") and not spec.get("choices")):
        yield EMPTY
    if spec.get("required"):
        yield MISSING


def option_entries() -> Iterator[Entry]:
    """A message for each bad value of each option."""
    for module in MODULES:
        definition = definition_of(module)
        for option, spec in options_of(module).items():
            for bad in _bad_values(option, spec):
                yield _entry(module, option, bad)
        for pair in definition.rules.get("mutually_exclusive", ()):
            first, other = (SAMPLES.get(name, "orders") for name in pair)
            yield _entry(module, pair[0], Bad(TOGETHER, first, {pair[1]: other}, pair[1]))
        for other, value, [needed] in definition.rules.get("required_if", ()):
            yield _entry(module, needed, Bad(MISSING, LEFT_OUT, {other: value}, value))
        yield _entry(module, "clutser", Bad(UNKNOWN, "orders", shown=""))


def _bad_values(option: str, spec: dict[str, Any]) -> Iterator[Bad]:
    choices = spec.get("choices")
    if option in BY_HAND:
        yield from BY_HAND[option]
    elif spec["type"] == "list":
        yield from NO_ENTRY if spec["elements"] == "str" and not choices else NO_ENTRY[:1]
    elif spec["type"] == "str" and not choices:
        yield Bad(EMPTY, "")
    yield from _bad_types(spec)
    if choices:
        yield Bad(CHOICE, ["OTHER"] if spec["type"] == "list" else "other", shown="OTHER" * (spec["type"] == "list"))
    if spec.get("required"):
        yield Bad(MISSING, LEFT_OUT)
    if NULL in _faults_of(spec):
        yield Bad(NULL, None, shown="None")


def _bad_types(spec: dict[str, Any]) -> Iterator[Bad]:
    if spec["type"] in ("int", "bool"):
        yield Bad(TYPE, "maybe")
    elif spec["type"] == "float":
        yield Bad(TYPE, "maybe", shown="str")
    elif spec["type"] == "dict" and "options" not in spec:
        yield Bad(TYPE, ["first"], shown="list")
    elif spec["type"] == "list":
        yield Bad(TYPE, {"a": 1}, shown="dict")
        if spec["elements"] == "int":
            yield Bad(TYPE, ["first"], shown="first")


def _entry(module: str, option: str, bad: Bad) -> Entry:
    is_bound = definition_of(module).rules.keys() & {"required_together", "required_one_of"}
    known = definition_of(module).argument_spec
    beside = {name: value for name, value in BESIDE.get(option, {}).items() if is_bound and name in known}
    given = {"url": "https://ocp.example.com:8080", **BASIC, **OWN[module], **beside, option: bad.value, **bad.others}
    sends = AssertionError(f"{module} sends a request, though {option} {bad.fault}: {bad.value!r}")
    with mock.patch.object(transport.Adapter, "send", side_effect=sends):
        result, kind = outcome_of(module, {name: value for name, value in given.items() if value is not LEFT_OUT})
    return Entry(
        ANSIBLE if kind is None else OPTIONS,
        bad.fault if kind is None else option,
        f"`{option}` {bad.fault}" if kind is None else bad.fault,
        result["msg"],
        (option, *_shown(bad)),
        kind,
        (module,),
        frozenset({(module, option, bad.fault)}),
        keys_of(module, result),
    )


def _shown(bad: Bad) -> Iterator[str]:
    if bad.shown is not None:
        yield bad.shown
    elif bad.fault == EMPTY:
        yield "empty"
    elif bad.value is not LEFT_OUT:
        yield str(bad.value)
