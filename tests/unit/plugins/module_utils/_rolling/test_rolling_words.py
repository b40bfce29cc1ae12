# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A plan over several clusters in words: what is blocked does not count as to restart."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_order import Strategy
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_plan import RollingRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.rolling_words import plan_lines, scope_lines


def cluster(number, *, blocked):
    why = "server 10.0.0.1:2882 is STOPPED. With OCP_URL" if blocked else ""
    return {
        "id": number,
        "name": f"c{number}",
        "blocked": blocked,
        "message": why,
        "batches": 2,
        "task_ids": [],
        "signs": [],
        "obstacles": [],
    }


def batch(number, of):
    server = {"name": f"10.0.{of}.{number}:2882", "reason": "new", "serves": True}
    place = {"cluster": f"c{of}", "cluster_id": of, "zone": f"zone{number}", "canary": False}
    return {"number": number, **place, "reason": "first", "servers": [server]}


@pytest.fixture
def plan():
    batches = [batch(number, of) for of in (1, 2, 3) for number in (1, 2)]
    clusters = [cluster(of, blocked=of == 1) for of in (1, 2, 3)]
    return {"clusters": clusters, "batches": batches, "left_alone": []}


def test_plan_counts_blocked_clusters_apart(plan):
    wanted = RollingRequest(["c1", "c2", "c3"], None, None, 1, Strategy.SERVER, None, change="memory")
    first, why, *zones = plan_lines(plan, wanted, in_full=False)
    assert first == "blocked: 1 of 3 clusters, 2 servers; 4 to restart, 0 left alone of 3 clusters"
    assert why.startswith("blocked: c1: server 10.0.0.1:2882 is STOPPED.")
    assert [line.split(":")[0] for line in zones] == ["c2 zone1", "c2 zone2", "c3 zone1", "c3 zone2"]


def test_scope_counts_blocked_clusters_apart(plan):
    *_others, last = scope_lines(plan, 20, [], in_full=False, would=False)
    assert last == (
        "3 clusters with 6 servers: 4 to restart in 2 clusters, 0 left alone, 1 cluster with 2 servers blocked; up to "
        "2 clusters at the same time"
    )
