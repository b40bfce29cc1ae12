# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which servers of a cluster restart together: as many as may be down at the same time, zone by zone, in waves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

# Whether these servers of the wave with this number, from 1, may be down at the same time.
MayGo = Callable[[Collection[str], int], bool]


@dataclass(frozen=True)
class Waves:
    """The names of the servers of each wave, and of those that no wave can take; both in the order of their zones."""

    waves: tuple[tuple[str, ...], ...]
    refused: tuple[str, ...]


def waves_of(zones: Sequence[Sequence[str]], troubled: Sequence[str], may_go: MayGo) -> Waves:
    """The waves of the servers in ``zones``: the next wave begins when all of the one before serve.

    The ``troubled`` ones are already dead or in flight: they take nothing away, and the first wave brings them back.
    """
    left = [list(zone) for zone in zones]
    waves: list[tuple[str, ...]] = []
    while any(left):
        wave = _fill(left, lambda names: may_go(names, len(waves) + 1))
        if not wave and (waves or not troubled):
            break
        waves.append((*(troubled if not waves else ()), *wave))
        left = [[name for name in zone if name not in wave] for zone in left]
    if troubled and not waves:
        waves.append(tuple(troubled))
    return Waves(tuple(waves), tuple(name for zone in left for name in zone))


def _fill(zones: Sequence[Sequence[str]], may_go: Callable[[Collection[str]], bool]) -> list[str]:
    """Whole zones if they fit; otherwise the servers of them that fit."""
    wave: list[str] = []
    for zone in zones:
        if may_go([*wave, *zone]):
            wave += zone
            continue
        for name in zone:
            if may_go([*wave, name]):
                wave.append(name)
    return wave
