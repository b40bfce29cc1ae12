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

# Batches are named with the tenants that they take down, in so many groups of the same tenants.
MOST_GROUPS = 3


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
    # By the tenants that a batch takes down: what becomes of them, and the servers of each such batch.
    groups: dict[tuple[str, ...], tuple[Sequence[Outage], list[str]]] = {}
    stopped: list[str] = []
    for batch in batches:
        names = {node.name for node in batch.nodes}
        states = {server.member.name: ServerState(server.zone, taken=server.member.name in names) for server in placed}
        verdict = judge(layout, Taken(placed, states), tolerated)
        arbiters = stopped_arbiters(verdict.refused)
        if verdict.refused and (arbiters or not verdict.passes):
            stopped += arbiters
            tenants = tuple(one.tenant.name for one in verdict.refused)
            _outages, batches_of_them = groups.setdefault(tenants, (verdict.refused, []))
            batches_of_them.append(" and ".join(node.name for node in batch.nodes))
    if not groups:
        return ""
    words = _group_words(list(groups.values()))
    lost = list({one.tenant.name: one for outages, _names in groups.values() for one in outages}.values())
    words = f"{words} {allowing_options(lost, tolerated, hints)}"
    steps = [*map(start_arbiter_line, dict.fromkeys(stopped))]
    return "\n".join([f"{words} {NEXT_STEPS_HEADING}", *steps, RUN_AGAIN]) if steps else words


def _group_words(groups: Sequence[tuple[Sequence[Outage], Sequence[str]]]) -> str:
    """A sentence for the batches of each of the first groups, and one for all others."""
    words = [f"With {_alternatives(names)} down: {refusal_words(lost)}" for lost, names in groups[:MOST_GROUPS]]
    rest = [name for _lost, names in groups[MOST_GROUPS:] for name in names]
    if rest:
        words.append(f"Other tenants would be lost with {_alternatives(rest)} down.")
    return " ".join(words)


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
