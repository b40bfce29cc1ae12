# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What speaks against a plan, in words: the majorities that its batches would take, what the database would refuse now.

A batch is judged as if everything else served. Its size makes no difference to that: within a zone a tenant loses its
replica with the first of its servers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from .._base.cli_hints import BY_OPTIONS, NEXT_STEPS_HEADING, RUN_AGAIN, Hints, start_arbiter_line
from .._base.parsing import Record
from .._base.text import NAMED_AT_MOST
from .._safety.database_rules import Obstacle, obstacle_words, obstacles, ways_past
from .._safety.layout import Layout
from .._safety.server_states import server_states
from .._safety.verdict import Taken, allowing_options, judge, refusal_words, stopped_arbiters
from .._safety.voters import Outage, ServerState
from .._targets.target import PlacedServer
from .rolling_order import Batch

# So many batches that take different tenants are told apart.
MOST_TOLD = 3


def unsafe_words(
    layout: Layout,
    placed: Sequence[PlacedServer],
    batches: Iterable[Batch],
    tolerated: Collection[str],
    hints: Hints = BY_OPTIONS,
) -> str:
    """Which tenants would be lost, by which servers, and what allows it; empty if the batches are safe.

    A batch that is safe once an arbitration service has recovered is judged right before its restart; one that is
    stopped does not recover. Raises a ServiceError if the tenants cannot be read.
    """
    lost: dict[tuple[str, ...], Sequence[Outage]] = {}
    stopped: list[str] = []
    # The servers of each batch, as only those are down at the same time, by the tenants that they take.
    by: dict[tuple[str, ...], list[str]] = {}
    for batch in batches:
        names = {node.name for node in batch.nodes}
        states = {server.member.name: ServerState(server.zone, taken=server.member.name in names) for server in placed}
        verdict = judge(layout, Taken(placed, states), tolerated)
        arbiters = stopped_arbiters(verdict.refused)
        if verdict.refused and (arbiters or not verdict.passes):
            stopped += arbiters
            tenants = tuple(one.tenant.name for one in verdict.refused)
            lost.setdefault(tenants, verdict.refused)
            by.setdefault(tenants, []).append(" and ".join(node.name for node in batch.nodes))
    if not lost:
        return ""
    told = [f"With {_alternatives(by[each])} down: {refusal_words(lost[each])}" for each in list(lost)[:MOST_TOLD]]
    others = [name for each in list(lost)[MOST_TOLD:] for name in by[each]]
    told += [f"With {_alternatives(others)} down it is others."] if others else []
    found = list({one.tenant.name: one for outages in lost.values() for one in outages}.values())
    words = " ".join([*told, allowing_options(found, tolerated, hints)])
    steps = [*map(start_arbiter_line, dict.fromkeys(stopped))]
    return "\n".join([f"{words} {NEXT_STEPS_HEADING}", *steps, RUN_AGAIN]) if steps else words


def _alternatives(names: Sequence[str]) -> str:
    more = f", or {len(names) - NAMED_AT_MOST} more" if len(names) > NAMED_AT_MOST else ""
    return ", or ".join(names[:NAMED_AT_MOST]) + more


def first_obstacles(
    layout: Layout,
    placed: Sequence[PlacedServer],
    listed: Sequence[Record],
    batches: Sequence[Batch],
    tolerated: Collection[str],
) -> list[Obstacle]:
    """What the database would refuse of the first batch, as the cluster and its tasks are shown now.

    Raises a ServiceError if the tenants cannot be read.
    """
    names = [node.name for node in batches[0].nodes]
    return obstacles(placed, server_states(placed, listed, (), names), layout.read(), tolerated)


def obstacle_reason(found: Sequence[Obstacle], tolerated: Collection[str] = (), hints: Hints = BY_OPTIONS) -> str:
    """Why no restart should begin, for what no wait ends; empty if there is nothing like that."""
    stays = [obstacle for obstacle in found if not obstacle.passes]
    if not stays:
        return ""
    ways = ways_past(stays, tolerated, hints, 0.0)
    return f"The database would refuse to stop a server, since {obstacle_words(stays)}. {ways}"
