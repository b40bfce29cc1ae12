# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The order of a rolling restart: zone by zone in batches, the root server last in its zone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from .._journal.rows import Place
from .zone_order import ZoneOrder

# How many servers of a zone restart at the same time, however many the tenants allow.
LARGEST_BATCH = 25


class Strategy(StrEnum):
    """What one request restarts; the option ``strategy``."""

    SERVER = "server"
    ZONE = "zone"


@dataclass(frozen=True)
class Node:
    """A server: its zone, whether the root server is on it, whether it needs the restart and why, and serves now.

    ``restarted``: it has started since the change; if it still needs the restart, it shows other values than wanted.
    """

    id: int
    name: str
    zone: str
    root: bool
    needed: bool
    reason: str
    serves: bool = True
    restarted: bool = False
    idc: str | None = None
    region: str | None = None

    @property
    def place(self) -> Place:
        """Where it is."""
        return Place(self.name, self.idc, self.region)


# Whether these may be down at the same time.
Fits = Callable[[Sequence[Node]], bool]


@dataclass(frozen=True)
class Batch:
    """Servers of one zone that restart at the same time, and the reason for their place in the order.

    ``first`` and ``last``: it is the first or the last batch of its zone. ``canary``: it is one of those that go before
    all others.
    """

    zone: str
    nodes: tuple[Node, ...]
    reason: str
    first: bool
    last: bool
    canary: bool = False


def order_batches(
    nodes: Iterable[Node],
    order: ZoneOrder,
    size: int | None,
    strategy: Strategy,
    fits: Fits = lambda _nodes: True,
) -> list[Batch]:
    """The batches of one cluster, in order; ``nodes`` are those in scope, in the order of the service.

    A batch never spans zones. With Strategy.SERVER it has up to ``size`` servers that all need the restart, without
    ``size`` all of the zone, or LARGEST_BATCH, and no more than ``fits`` allows. A root server is a batch of its own,
    the last of its zone, so that the root service moves once. With Strategy.ZONE a batch has a whole zone if any server
    of it needs the restart, and the root server is the last in it.
    """
    zones = [(zone, members) for zone, members in _nodes_by_zone(nodes) if any(node.needed for node in members)]
    zones.sort(key=lambda zone: order.rank(zone[0]))
    reasons = {zone: order.reason(zone, is_last=zone == zones[-1][0]) for zone, _members in zones}
    return [
        batch for zone, members in zones for batch in _zone_batches(zone, members, reasons[zone], size, strategy, fits)
    ]


def with_canaries(batches: Iterable[Batch], count: int, strategy: Strategy) -> list[Batch]:
    """The batches with the first ``count`` nodes as canaries: one at a time, or whole zones with Strategy.ZONE."""
    found: list[Batch] = []
    for batch in batches:
        nodes, left = list(batch.nodes), max(0, count)
        if strategy is Strategy.ZONE:
            found.append(replace(batch, canary=left > 0))
        else:
            parts = [(node,) for node in nodes[:left]] + ([tuple(nodes[left:])] if nodes[left:] else [])
            found += [
                replace(
                    batch,
                    nodes=part,
                    first=batch.first and place == 0,
                    last=batch.last and place == len(parts) - 1,
                    canary=place < left,
                )
                for place, part in enumerate(parts)
            ]
        count -= len(nodes)
    return found


def unchanged_nodes(nodes: Iterable[Node], planned: Iterable[Batch]) -> list[Node]:
    """The ``nodes`` that are in no batch."""
    taken = {node.id for batch in planned for node in batch.nodes}
    return [node for node in nodes if node.id not in taken]


def done_by_zone(unchanged: Sequence[Node], planned: Sequence[Batch]) -> list[Batch]:
    """The ``unchanged`` nodes and those that have restarted, by zone; the last of a zone if none is ``planned``."""
    busy = {batch.zone for batch in planned}
    restarted = [node for batch in planned for node in batch.nodes if node.needed and node.restarted]
    return [
        Batch(zone, tuple(members), "has started since", False, zone not in busy)
        for zone, members in _nodes_by_zone([*unchanged, *restarted])
    ]


def _nodes_by_zone(nodes: Iterable[Node]) -> list[tuple[str, list[Node]]]:
    zones: dict[str, list[Node]] = {}
    for node in nodes:
        zones.setdefault(node.zone, []).append(node)
    return list(zones.items())


def _zone_batches(
    zone: str, members: Sequence[Node], reason: str, size: int | None, strategy: Strategy, fits: Fits
) -> Iterator[Batch]:
    whole = strategy is Strategy.ZONE
    ordered = sorted((node for node in members if whole or node.needed), key=lambda node: node.root)
    parts: list[list[Node]] = [[]]
    most = len(ordered) if whole else size or LARGEST_BATCH
    for node in ordered:
        is_alone = not whole and (node.root or not fits([*parts[-1], node]))
        if parts[-1] and (len(parts[-1]) >= most or is_alone):
            parts.append([])
        parts[-1].append(node)
    for place, part in enumerate(parts):
        yield Batch(zone, tuple(part), _with_root(reason, part), place == 0, place == len(parts) - 1)


def _with_root(reason: str, part: Iterable[Node]) -> str:
    root = next((node.name for node in part if node.root), None)
    return reason if root is None else f"{reason}; the root server, {root}, is the last in it"
