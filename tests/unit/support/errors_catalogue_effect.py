# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of restarts for values of parameters: what the service does not show, and what has no effect."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import OPTIONS, TASKS, Entry
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_tasks import (
    ADDRESS_41,
    Happening,
    entry,
    fails,
    together,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import FakeOcp, StaticParameter, at

WANTED = {"stack_size": "5M"}


def effect_entries() -> Iterator[Entry]:
    """The messages of restarts until values are in effect."""
    option = partial(entry, (OPTIONS, "until_effective"), until_effective=WANTED)
    hidden = set_to(servers=())
    for module in ("server_restart", "cluster_rolling_restart_info"):
        given = {"started_before": None} if module == "cluster_rolling_restart_info" else {}
        yield option("no values of servers are shown", module, ("stack_size", "started_before"), hidden, **given)
        proves = ("stack_size=5M", "started_before")
        yield option("nothing tells that old values are shown", module, proves, set_to(at_once=True), **given)
    unknown = {"until_effective": {"stack_sise": "5M"}}
    yield entry((OPTIONS, "until_effective"), "the cluster has no such", "zone_restart", ("stack_sise",), **unknown)
    undated = ("started_before", "until_effective")
    for module in ("cluster_rolling_restart", "cluster_rolling_restart_info"):
        cause = "and no `started_before` or `until_effective`"
        yield entry((OPTIONS, "change"), cause, module, undated, started_before=None)

    effect = partial(entry, (TASKS, "The values are not in effect"), until_effective=WANTED)
    shown = (ADDRESS_41, "stack_size=4M", "5M")
    yield effect("after the restart", "server_restart", ("1001", *shown), set_to(never=True), wait=True)
    since = at(-800).isoformat()
    yield effect(
        "since an earlier start", "server_restart", shown, together(set_to(never=True), started), started_before=since
    )
    unread = together(set_to(), fails("cluster_parameters", 500, "/api/v2/ob/clusters/31/parameters"))
    yield effect("they cannot be read", "server_restart", (ADDRESS_41, "500"), unread)


def set_to(**more: Any) -> Happening:
    """The parameter was set."""

    def happen(service: FakeOcp) -> None:
        service.parameters["stack_size"] = StaticParameter("4M", "5M", **more)

    return happen


def started(service: FakeOcp) -> None:
    """The first server has started since, some time ago."""
    service.servers_there[0].started = -500.0
