# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Every choice of one run, in named streams: drawn from a seed, or played back, so that a run can be made smaller."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")

Recorded = Mapping[str, Sequence[int]]


class Stream:
    """The choices about one subject, such as the network of one controller. The first option is the plainest."""

    def __init__(self, name: str, seed: str | None, played: Sequence[int], counts: Counter[str]) -> None:
        self._random = None if seed is None else Random(f"{seed}/{name}")
        self._played = played
        self._counts = counts
        self.recorded: list[int] = []

    def below(self, number: int) -> int:
        """A number from 0 to ``number`` - 1."""
        return self._take(number, None)

    def pick(self, options: Sequence[T], weights: Sequence[float] | None = None) -> T:
        """One of ``options``."""
        return options[self._take(len(options), weights)]

    def chance(self, probability: float) -> bool:
        """True as often as this; false is the plainer."""
        return self._take(2, (1.0 - probability, probability)) == 1

    def counted(self, what: str) -> None:
        """Count one more event of this kind in the report."""
        self._counts[what] += 1

    def _take(self, number: int, weights: Sequence[float] | None) -> int:
        place = len(self.recorded)
        if self._random is None:
            chosen = min(self._played[place], number - 1) if place < len(self._played) else 0
        elif weights is None:
            chosen = int(self._random.random() * number)
        else:
            chosen = self._weighed(weights)
        self.recorded.append(chosen)
        return chosen

    def _weighed(self, weights: Sequence[float]) -> int:
        assert self._random is not None
        left = self._random.random() * sum(weights)
        for place, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return place
        return len(weights) - 1


class Choices:
    """All streams of one run.

    With a ``seed`` they are drawn, but for the streams in ``played``; without one they are those in ``played``. After
    the end of what is played the choices are the plainest.
    """

    def __init__(self, seed: int | None = None, played: Recorded | None = None) -> None:
        self._seed = None if seed is None else str(seed)
        self._played = played or {}
        self._streams: dict[str, Stream] = {}
        self.counts: Counter[str] = Counter()

    def stream(self, name: str) -> Stream:
        """The stream of this name, the same one each time."""
        if name not in self._streams:
            seed = None if name in self._played else self._seed
            self._streams[name] = Stream(name, seed, self._played.get(name, ()), self.counts)
        return self._streams[name]

    def recorded(self) -> dict[str, list[int]]:
        """What was chosen, without the plainest choices at the end of each stream."""
        found = {name: _stripped(stream.recorded) for name, stream in self._streams.items()}
        return {name: numbers for name, numbers in sorted(found.items()) if numbers}


def _stripped(numbers: list[int]) -> list[int]:
    end = len(numbers)
    while end and numbers[end - 1] == 0:
        end -= 1
    return numbers[:end]


def as_text(recorded: Recorded) -> str:
    """Choices as one word for a command line, as in ``fleet=1.0.2,people=3``."""
    return ",".join(f"{name}={'.'.join(map(str, numbers))}" for name, numbers in recorded.items())


def from_text(text: str) -> dict[str, list[int]]:
    """The choices in such a word; raises ValueError for another one."""
    pairs = (part.split("=") for part in text.split(",") if part)
    return {name: [int(number) for number in numbers.split(".")] for name, numbers in pairs}
