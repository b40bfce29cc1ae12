# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a fuzzing case may be: module, options, service, changed answers; how cases are drawn and kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from ansible_collections.oceanbase.ocp.tests.fuzz.hostile_service import (
    BOMBS,
    DOCUMENTED_FORMS,
    KEPT,
    FieldPath,
    Mutation,
)
from ansible_collections.oceanbase.ocp.tests.fuzz.hostile_values import (
    Value,
    echoes,
    evenly,
    instead,
    markups,
    scalars,
    texts,
    values,
)
from ansible_collections.oceanbase.ocp.tests.fuzz.whole_ocp import FAILED_TASK, RUNNING_TASKS
from ansible_collections.oceanbase.ocp.tests.unit.support.documented_ocp import UNKNOWN
from hypothesis import strategies as st

INVENTORY, EVENTS, PAGES = "inventory", "event source", "pages"
WAIT_SECONDS = 30
TIMEOUT = 5

# Valid options for each module; OPTIONS below are drawn on top.
MODULES: dict[str, dict[str, Any]] = {
    "server_restart": {"cluster": "billing", "server": "172.20.1.43:2882", "freeze_server": True},
    "cluster_restart": {"cluster": "billing"},
    "zone_restart": {"cluster": "billing", "zone": "east"},
    "agent_restart": {"hosts": ["172.20.1.51"]},
    "arbitration_service_restart": {"arbitration_service": "172.20.1.61:2888"},
    "obproxy_restart": {"obproxy_cluster": "entry", "obproxies": ["172.20.1.71:2883"]},
    "cluster_wait": {"cluster": "billing", "min_zones": 2},
    "cluster_rolling_restart_info": {
        "clusters": ["billing"],
        "min_zones": 2,
        "started_before": "2026-05-04T03:00:00+08:00",
    },
    "fleet_restart": {
        "servers": [{"cluster": "billing", "server": "172.20.1.43:2882"}],
        "freeze_server": True,
        "started_before": "2026-05-04T03:00:00+08:00",
    },
    "cluster_rolling_restart": {
        "cluster": "billing",
        "freeze_server": True,
        "started_before": "2026-05-04T03:00:00+08:00",
    },
    "fleet_restart_info": {
        "servers": [{"cluster": "billing", "server": "172.20.1.43:2882"}],
        "started_before": "2026-05-04T03:00:00+08:00",
    },
    "task": {},
    "cluster_info": {},
    "cluster_parameter_info": {"cluster": "billing"},
    "cluster_parameter": {"cluster": "billing", "parameters": {"stack_size": "5M", "tcp_keepidle": "1h"}},
    "cluster_offline_time": {"cluster": "billing"},
    "server_info": {},
    "host_info": {},
    "arbitration_service_info": {},
    "obproxy_info": {},
    "ocp_info": {},
    "task_info": {},
    "task_wait": {},
}
# They restart several servers, with options of their own.
OF_SEVERAL = ("fleet_restart", "cluster_rolling_restart")
RESTARTS = [name for name in MODULES if name.endswith("_restart") and name not in OF_SEVERAL]
KINDS = [*MODULES, INVENTORY, EVENTS, PAGES]
# Restarts and waits have the most to get wrong.
WEIGHED = [*KINDS, *RESTARTS, *RESTARTS, "task", "task_wait", INVENTORY, INVENTORY, EVENTS, EVENTS]

WAITING = {
    "wait": st.booleans(),
    "wait_timeout": st.just(WAIT_SECONDS),
    "wait_interval": st.sampled_from((1, 10)),
    "show_progress": st.just(True),
}
RESTARTING = {
    **WAITING,
    "started_before": st.sampled_from((None, "2026-05-04T03:00:00+08:00")),
    "change": st.sampled_from((None, "memory-2026-05-04")),
    "in_flight": st.sampled_from(("attach", "queue", "fail")),
}
SAFETY = {
    "safety": st.sampled_from(("majority", "none")),
    "tolerate_outage_of": st.sampled_from((None, ["pay"])),
    "safety_timeout": st.sampled_from((0, 5)),
}
OPTIONS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    **dict.fromkeys(RESTARTS, RESTARTING),
    **{name: {**RESTARTING, **SAFETY} for name in ("server_restart", "zone_restart", "arbitration_service_restart")},
    "cluster_wait": {name: WAITING[name] for name in ("wait_timeout", "wait_interval", "show_progress")},
    "task": {
        **WAITING,
        "task_id": st.sampled_from((FAILED_TASK, RUNNING_TASKS[0])),
        "state": st.sampled_from(("retried", "rolled_back", "skipped", "canceled")),
        "subtask": st.sampled_from((None, "failed", "running")),
    },
    "cluster_parameter_info": {
        "names": st.sampled_from((None, ["tcp_keepidle"])),
        "parameters": st.sampled_from((None, {"stack_size": "5M"})),
    },
    "obproxy_info": {"with_parameters": st.booleans()},
    "cluster_parameter": {"settle_time": st.sampled_from((1, 10))},
    "cluster_offline_time": {"state": st.just("raised"), "raise_to": st.sampled_from(("2h", "4h"))},
    "task_wait": {
        "wait_timeout": st.just(WAIT_SECONDS),
        "task_ids": st.sampled_from((RUNNING_TASKS[:1], [FAILED_TASK, RUNNING_TASKS[0]], RUNNING_TASKS)),
        "detail": st.sampled_from(("summary", "full")),
    },
    "task_info": {"task_id": st.sampled_from((None, FAILED_TASK)), "cluster": st.none()},
    PAGES: {"task_id": st.just(FAILED_TASK)},
    INVENTORY: {
        "hosts": st.sampled_from(("servers", "clusters")),
        "strict": st.booleans(),
        "filters": st.sampled_from(({"cluster": "billing"}, {})),
    },
}

LONGEST_FLOODED = 1000


@dataclass(frozen=True)
class Case:
    """A ``kind`` with ``options``, on a service with these properties, whose answers are changed by ``mutations``.

    ``shown`` are changes of a registered result before it becomes a page.
    """

    kind: str
    options: dict[str, Any] = field(default_factory=dict)
    check_mode: bool = False
    auth: str = "password"
    service: dict[str, Any] = field(default_factory=dict)
    pause: float = 0.01
    mutations: list[Mutation] = field(default_factory=list)
    shown: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> str:
        """The case as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Case:
        """The case that ``to_json`` has written."""
        return cls(**json.loads(text))


class Field(NamedTuple):
    """A field in the answers to a call, whose value is of this form there; once more with no form."""

    call: str
    path: FieldPath
    form: str


# What was seen in the answers to an undisturbed run of each kind.
Catalogue = Mapping[str, Sequence[Field]]

WHEN = st.sampled_from((None, None, None, 0, 0, 1, 2, "posted", "posted"))
STATUSES = st.sampled_from(
    (200, 204, 302, 400, 401, 403, 404, 405, 408, 409, 418, 425, 429, 499, 500, 502, 503, 504, 599)
)
SECONDS = st.sampled_from(
    ("0", "1", "2", "4", "86400", "86401", "1777834800", "9" * 400, "-5", "1.5", "NaN", "soon", "٣", "")
)
DATES = st.sampled_from(
    (
        "Mon, 04 May 2026 03:00:01 GMT",
        "Sun, 03 May 2026 19:00:01 GMT",
        "Sun, 06 Nov 1994 08:49:37 -9999",
        "Mon, 01 Jan 0001 00:00:00 +2359",
        "Fri, 31 Dec 9999 23:59:59 -2359",
        "Thu, 99 Foo 99999999999 99:99:99 GMT",
        "0" * 5_000,
        "{{ 7777 * 7777 }}",
        "",
    )
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "Date": DATES,
        "Retry-After": SECONDS | DATES,
        "RateLimit-Reset": SECONDS,
        "RateLimit-Remaining": st.sampled_from(("0", "00", "-1", "x")),
        "Content-Type": st.sampled_from(("text/html", "application/json; charset=utf-16", "x" * 5_000, "\x1b[2J")),
        "Content-Encoding": st.sampled_from(("gzip", "br", "deflate", "gzip, gzip", "identity", "{{ 7777 * 7777 }}")),
        "Transfer-Encoding": st.sampled_from(("chunked", "gzip, chunked")),
        "Set-Cookie": st.just("a=b"),
        "X-Long": st.just("x" * 70_000),
    },
)
# Without these a target is not found, or nothing is waited for.
SPARED = ["name", "zoneName", "status", "ip", "innerIpAddress", "svrIp", "alias", "startTime", "timestamp"]
CODES = (
    st.sampled_from((0, 401, 11020, 19003, 18004, "OBE11020", "OBE19003", "COM10009", "TSK10010", "OBE19001")) | scalars
)


def _fault(
    name: str, call: st.SearchStrategy[str], when: st.SearchStrategy[Any] = WHEN, **parameters: st.SearchStrategy[Any]
) -> st.SearchStrategy[Mutation]:
    return st.fixed_dictionaries({"call": call, "when": when, "fault": st.just(name), **parameters})


def _faults(call: st.SearchStrategy[str]) -> st.SearchStrategy[Mutation]:
    before = st.booleans()
    pauses = st.sampled_from((0.002, 0.1, 0.9, 4.9, 30.0))
    pages = st.sampled_from((2, 10**9))
    likely = (
        _fault(
            "refusal",
            call,
            status=STATUSES,
            code=CODES,
            message=texts | echoes | values,
            headers=HEADERS,
            before=before,
        ),
        _fault("status", call, status=STATUSES),
        _fault("lost", call, before=before),
        _fault("headers", call, headers=HEADERS),
        _fault("html", call, status=STATUSES, before=before),
        _fault("truncate", call, share=st.sampled_from((0.0, 0.5, 0.99))),
        # Quick enough for more pages than are read, or so slow that time ends it.
        _fault("pages", call, st.integers(0, 1), pages=pages, pause=st.just(0.002)),
        _fault("pages", call, pages=pages, pause=st.just(0.1)),
        _fault(
            "bytes", call, bytes=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=9)
        ),
    )
    rare = (
        _fault("refused", st.just("*")),
        _fault("redirect", call, status=st.sampled_from((301, 302, 303, 307, 308, 300, 304))),
        _fault("reason", call, status=STATUSES),
        _fault("packed", call, encoding=st.sampled_from(("gzip", "br", "deflate", "GZIP", "gzip, gzip"))),
        _fault("slow", call, pause=pauses),
        _fault("endless", call, pause=pauses),
        # Each costs as much as a hundred others.
        _fault("bomb", call, st.integers(0, 2), of=st.sampled_from(sorted(BOMBS))),
    )
    return st.one_of(*likely, *likely, *likely, *likely, *rare)


def _mutations(fields: Sequence[Field]) -> st.SearchStrategy[list[Mutation]]:
    """A few of any kind; or texts in many or all fields, which break little and show much; or all of one form."""
    anywhere = [field for field in fields if not field.form]

    def changes(of: st.SearchStrategy[Value], when: st.SearchStrategy[Any]) -> st.SearchStrategy[Mutation]:
        only = st.sampled_from((None, None, 0, 1))
        return st.tuples(st.sampled_from(anywhere), when, only, of).map(_change)

    every = sorted({field.call for field in fields})
    # One of many calls, and the one that must not be repeated.
    posts = [call for call in every if call.startswith("POST ")]
    calls = st.sampled_from(every) | st.sampled_from(posts or every)
    one = evenly(changes(values, WHEN), _faults(calls))
    few = st.lists(one, max_size=1)
    shown = st.lists(changes(texts | echoes, st.none()), min_size=1, max_size=16)
    floods = [_flood_of_texts(calls | st.just("*"))]
    for form in DOCUMENTED_FORMS:
        with_form = sorted({field.call for field in fields if field.form == form})
        if with_form:
            floods.append(_flood_of(form, st.sampled_from(["*", *with_form])))
    many = st.one_of(shown, *floods, *floods[:1])
    return st.lists(one, min_size=1, max_size=4) | st.tuples(many, few).map(lambda both: both[0] + both[1])


def _flood_of_texts(calls: st.SearchStrategy[str]) -> st.SearchStrategy[list[Mutation]]:
    """Every text in the answers, but for those without which little is read."""
    any_texts = st.lists(instead["text"].filter(_is_short), min_size=1, max_size=9)
    secrets = st.lists(echoes.filter(_is_short), min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {
            "call": calls,
            "when": st.none(),
            "flood": any_texts | secrets,
            "form": st.just("text"),
            "spared": st.sampled_from((SPARED, SPARED, [])),
        }
    ).map(lambda alone: [alone])


def _flood_of(form: str, calls: st.SearchStrategy[str]) -> st.SearchStrategy[list[Mutation]]:
    """Values of a form in the answers to calls that have some, each by another."""
    others = instead[form].filter(_is_short) | st.just(KEPT)
    return st.fixed_dictionaries(
        {
            "call": calls,
            "when": st.sampled_from((None, None, None, 0, "posted")),
            "flood": st.lists(others, min_size=3, max_size=9, unique_by=json.dumps),
            "form": st.just(form),
            # Without its id a record is none.
            "spared": st.sampled_from(([], ["id"], ["id"])),
        }
    ).map(lambda alone: [alone])


def _is_short(value: Value) -> bool:
    """Whether it may stand in every field of an answer."""
    return max(len(str(value)), value.get("pad", 0) if isinstance(value, dict) else 0) < LONGEST_FLOODED


def _change(drawn: tuple[Field, Any, int | None, Value]) -> Mutation:
    field, when, only, value = drawn
    return {"call": field.call, "when": when, "field": list(field.path), "only": only, "value": value}


def cases(catalogue: Catalogue, kinds: Sequence[str] = WEIGHED) -> st.SearchStrategy[Case]:
    """Cases of these ``kinds``."""
    # Made once, since hypothesis takes as long to make a strategy as to draw from it.
    of = {kind: _cases_of(kind, catalogue[kind]) for kind in kinds}
    return st.sampled_from(kinds).flatmap(of.__getitem__)


def _cases_of(kind: str, fields: Sequence[Field]) -> st.SearchStrategy[Case]:
    shown_values = evenly(values, markups)
    shown = st.fixed_dictionaries({"field": st.sampled_from(SHOWN_FIELDS), "only": st.none(), "value": shown_values})
    return st.builds(
        Case,
        kind=st.just(kind),
        options=st.fixed_dictionaries(OPTIONS.get(kind, {})),
        check_mode=st.sampled_from((False, False, False, True)),
        auth=st.sampled_from(("password", "password", "access_key")),
        service=st.fixed_dictionaries(
            {
                "newest": st.booleans(),
                "fails": st.sampled_from((False, False, True)),
                "unknown": st.sampled_from(sorted(UNKNOWN)),
                "agents_below": st.sampled_from(("/api/v2", "")),
            }
        ),
        pause=st.sampled_from((0.0001, 0.01, 0.3)),
        # A page shows what a playbook makes of results too, for which the service may be honest.
        mutations=_mutations(fields) | st.just([]) if kind == PAGES else _mutations(fields),
        shown=st.lists(shown, min_size=1, max_size=4) if kind == PAGES else st.just([]),
    )


TASK_FIELDS = (
    "id", "name", "status", "operation", "creator", "cluster_name", "start_time", "finish_time", "duration",
    "rolled_back", "progress", "subtasks",
)  # fmt: skip
STEP_FIELDS = ("id", "name", "description", "status", "operation", "start_time", "finish_time", "executor", "run_time")
SHOWN_FIELDS = [
    ["tasks"],
    *(["tasks", name] for name in TASK_FIELDS),
    *(["tasks", "subtasks", name] for name in STEP_FIELDS),
    ["failed_subtasks"],
    ["results"],
]
