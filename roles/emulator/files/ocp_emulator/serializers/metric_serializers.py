# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Samples of a metric: which servers are chosen, at which instants, and the largest value of them."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ocp_emulator.base.clock import SECOND
from ocp_emulator.schemas.envelope import Page
from ocp_emulator.schemas.schema import Schema

# How far replicas lag, unless another value was planted. Other metrics are those that were planted, and 0 before.
METRICS: Mapping[str, float] = {"max_full_clog_sync_delay_second": 0.05}
LARGEST_POINTS = 1_440
# As the documented sample has it.
_PAGE_SIZE = 2**31 - 1

_CHOSEN = """
    SELECT servers.id FROM servers JOIN zones ON zones.id = zone_id JOIN clusters ON clusters.id = servers.cluster_id
    WHERE clusters.name = coalesce(:cluster, clusters.name) AND zones.name = coalesce(:zone, zones.name)
    AND CAST(clusters.ob_cluster_id AS TEXT) = coalesce(:ob_cluster_id, clusters.ob_cluster_id)
    AND servers.ip = coalesce(:ip, servers.ip)
"""
# The labels that choose servers; others choose nothing here.
_LABELS = {
    "ob_cluster_name": "cluster",
    "obregion": "cluster",
    "ob_cluster_id": "ob_cluster_id",
    "obzone": "zone",
    "svr_ip": "ip",
}


class Samples(Schema):
    """Samples in the order of time: each has `timestamp`, in seconds, and the value of each metric."""

    contents: list[dict[str, int | float]]
    page: Page


@dataclass(frozen=True)
class MetricRequest:
    """Which samples: instants in milliseconds, a step in seconds, `labels` by name."""

    metrics: Sequence[str]
    labels: Mapping[str, str]
    since: int
    until: int
    step: int
    points: int


def known_metrics(db: sqlite3.Connection) -> set[str]:
    """The names of all metrics that the service has."""
    return {*METRICS, *(row["name"] for row in db.execute("SELECT DISTINCT name FROM metric_values"))}


def samples(db: sqlite3.Connection, wanted: MetricRequest, now: int) -> Samples:
    """The largest values of the chosen servers up to now. Where there are too many instants, the step is longer."""
    chosen: dict[str, str | None] = {"cluster": None, "zone": None, "ip": None, "ob_cluster_id": None}
    chosen |= {_LABELS[name]: value for name, value in wanted.labels.items() if name in _LABELS}
    servers = [row["id"] for row in db.execute(_CHOSEN, chosen)]
    first, last = -(-wanted.since // SECOND), min(wanted.until, now) // SECOND
    step = max(wanted.step, -(-(last - first + 1) // wanted.points))
    instants = range(first + -first % step, last + 1, step) if servers else range(0)
    courses = {name: [_course(db, name, server) for server in servers] for name in wanted.metrics}
    contents: list[dict[str, int | float]] = [
        {**{name: _largest(name, courses[name], at * SECOND) for name in wanted.metrics}, "timestamp": at}
        for at in instants
    ]
    page = Page(number=1, size=_PAGE_SIZE, total_elements=len(contents), total_pages=1)
    return Samples(contents=contents, page=page)


def _course(db: sqlite3.Connection, name: str, server_id: int) -> list[tuple[int, float]]:
    """What was planted for a server, as instants and values, the newest first."""
    rows = db.execute(
        "SELECT at, value FROM metric_values WHERE server_id = ? AND name = ? ORDER BY at DESC, id DESC",
        (server_id, name),
    )
    return [(row["at"], row["value"]) for row in rows]


def _largest(name: str, courses: Sequence[Sequence[tuple[int, float]]], instant: int) -> float:
    return max(next((value for at, value in course if at <= instant), METRICS.get(name, 0.0)) for course in courses)
