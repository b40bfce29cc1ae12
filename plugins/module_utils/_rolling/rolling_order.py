# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The order of a rolling restart: which servers at a time, one zone after another, those with the root server last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Strategy(StrEnum):
    """What is restarted by one call; the option ``strategy``."""

    SERVER = "server"
    ZONE = "zone"


@dataclass(frozen=True)
class Node:
    """A server in a zone, whether the root server is on it, and whether it is to be restarted with the reason."""

    id: int
    name: str
    zone: str
    root: bool
    needed: bool
    reason: str


@dataclass(frozen=True)
class Batch:
    """Servers of one zone of a cluster that are restarted at the same time, and why they come when they do.

    ``first`` and ``last`` tell whether it is the first and the last batch of its zone.
    """

    zone: str
    nodes: tuple[Node, ...]
    reason: str
    first: bool
    last: bool


def order_batches(nodes: Iterable[Node], root_zones: Sequence[str], size: int, strategy: Strategy) -> list[Batch]:
    """The batches of one cluster, in order: ``nodes`` are those within the scope, in the order of the service.

    No batch is of two zones. With Strategy.SERVER it has up to ``size`` servers, all of which need the restart; with
    Strategy.ZONE all of a zone, of which at least one does. ``root_zones`` come last, and a root server last in them.
    """
    zones = [(zone, members) for zone, members in _nodes_by_zone(nodes) if any(node.needed for node in members)]
    zones.sort(key=lambda zone: zone[0] in root_zones)
    return [batch for zone, members in zones for batch in _zone_batches(zone, members, root_zones, size, strategy)]


def unchanged_nodes(nodes: Iterable[Node], planned: Iterable[Batch]) -> list[Node]:
    """The ``nodes`` that are in none of the batches."""
    taken = {node.id for batch in planned for node in batch.nodes}
    return [node for node in nodes if node.id not in taken]


def _nodes_by_zone(nodes: Iterable[Node]) -> list[tuple[str, list[Node]]]:
    zones: dict[str, list[Node]] = {}
    for node in nodes:
        zones.setdefault(node.zone, []).append(node)
    return list(zones.items())


def _zone_batches(
    zone: str, members: Sequence[Node], root_zones: Sequence[str], size: int, strategy: Strategy
) -> Iterator[Batch]:
    whole = strategy is Strategy.ZONE
    ordered = sorted((node for node in members if whole or node.needed), key=lambda node: node.root)
    size = len(ordered) if whole else size
    for start in range(0, len(ordered), size):
        part = tuple(ordered[start : start + size])
        yield Batch(zone, part, _reason(zone, part, root_zones), start == 0, start + size >= len(ordered))


def _reason(zone: str, part: Iterable[Node], root_zones: Sequence[str]) -> str:
    root = next((node.name for node in part if node.root), None)
    if root is not None:
        return f"{zone} comes last, and in it the root server, {root}"
    if zone in root_zones:
        return f"{zone} comes last, since it has the root server"
    return f"before {' and '.join(root_zones)}, where the root server is" if root_zones else "as the service lists them"
