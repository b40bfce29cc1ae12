# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which batches of a plan would take the majority from a tenant even while everything else serves, in words.

The size of a batch makes no difference to that: within a zone a tenant loses its replica with the first of its servers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from .._base.cli_hints import BY_OPTIONS, Hints
from .._base.text import join_names
from .._safety.layout import Layout
from .._safety.verdict import Taken, allowing_options, judge, refusal_words
from .._safety.voters import Outage, ServerState
from .._targets.target import PlacedServer
from .rolling_order import Batch


def unsafe_words(
    layout: Layout,
    placed: Sequence[PlacedServer],
    batches: Iterable[Batch],
    tolerated: Collection[str],
    hints: Hints = BY_OPTIONS,
) -> str:
    """Which tenants would be lost, by which servers, and what allows it; empty if the batches are safe.

    A batch that is safe once an arbitration service has recovered is judged right before its restart. Raises a
    ServiceError if the tenants cannot be read.
    """
    lost: dict[str, Outage] = {}
    by: dict[str, None] = {}
    for batch in batches:
        names = {node.name for node in batch.nodes}
        states = {server.member.name: ServerState(server.zone, taken=server.member.name in names) for server in placed}
        verdict = judge(layout, Taken(placed, states), tolerated)
        if verdict.refused and not verdict.passes:
            lost.update({one.tenant.name: one for one in verdict.refused if one.tenant.name not in lost})
            by.update(dict.fromkeys(node.name for node in batch.nodes))
    if not lost:
        return ""
    found = list(lost.values())
    return f"Without {join_names(by)}: {refusal_words(found)} {allowing_options(found, hints, passes=False)}"
