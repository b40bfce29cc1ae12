# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Entries of the catalogue of error messages: servers of a fleet that were not restarted as asked."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling import plan_file
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.approved_plan import FLEET, ROLLING, sealed
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import OPTIONS, TASKS, Entry
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_service import error_lost
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_tasks import (
    ADDRESS_41,
    SERVER_PATH,
    entry,
    fails,
    turned,
)

SERVERS = [{"cluster": "orders", "server": f"10.1.0.{last}:2882"} for last in (1, 2, 3)]


def fleet_entries() -> Iterator[Entry]:
    """What the module names of those that failed."""
    fleet = partial(entry, (TASKS, "Servers of a fleet are not restarted as asked"), module="fleet_restart")
    mine = (f"orders {ADDRESS_41}",)
    yield fleet("one is not safe", names=("10.1.0.2:2882", "sys"), servers=SERVERS[:2])
    yield fleet("the service does not answer", names=mine, happening=fails("tasks", 503, "/api/v2/tasks/instances"))
    lost = turned(lose_before=[error_lost(SERVER_PATH)], timeout=5)
    yield fleet("the answer of one is lost", names=mine, happening=lost)
    yield fleet("a task FAILED", names=(*mine, "1001"), happening=turned(end="FAILED"), wait=True)
    yield fleet("a start does not show", names=mine, happening=turned(restarts_really=False), wait=True)
    proves = ("change", "started_before", "wait")
    yield fleet("neither a name nor an instant to prove by", names=proves, wait=True, started_before=None)
    undated = ("started_before",)
    plans = {kind: sealed({"kind": kind, "options": {}, "clusters": []}) for kind in (ROLLING, FLEET)}
    with mock.patch.object(plan_file, "read_plan", lambda _path, kind, _option: plans[kind]):
        other = ("approved_plan", "cluster orders (id 31)")
        given = {"approved_plan": "/ops/plan.json"}
        place = (TASKS, "An approved plan does not fit any more")
        yield entry(place, "what the plan rests on has changed", "cluster_rolling_restart_info", other, **given)
        yield entry(place, "what the plan of a fleet rests on has changed", "fleet_restart_info", other, **given)
        alone = ("approved_plan", "/ops/plan.json", "wait")
        yield entry((OPTIONS, "approved_plan"), "and no `wait`", "fleet_restart", alone, **given)
    rise = {"cluster": "orders", "metric_limits": [{"name": "sql_rt", "rise": 50}]}
    named = ("metrics_before", "rise")
    yield entry(
        (OPTIONS, "metrics_before"), "is not given, and `metric_limits` has `rise`", "cluster_wait", named, **rise
    )
    yield entry((OPTIONS, "change"), "and no `started_before`", "fleet_restart_info", undated, started_before=None)
