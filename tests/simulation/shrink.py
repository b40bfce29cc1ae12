# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Make a failing run smaller: fewer and plainer choices, as long as the same promise is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Recorded = dict[str, list[int]]
MOST_ATTEMPTS = 600


def shrink(recorded: Recorded, fails: Callable[[Recorded], bool], attempts: int = MOST_ATTEMPTS) -> Recorded:
    """The smallest choices found that still fail, after at most ``attempts`` runs."""
    best, improved = recorded, True
    while improved and attempts > 0:
        improved = False
        for candidate in _smaller(best):
            attempts -= 1
            if attempts <= 0:
                break
            if fails(candidate):
                best, improved = candidate, True
                break
    return best


def _smaller(recorded: Recorded) -> Iterator[Recorded]:
    """Simpler choices, the boldest first."""
    for name in sorted(recorded, key=lambda name: -len(recorded[name])):
        yield {other: numbers for other, numbers in recorded.items() if other != name}
    for name in sorted(recorded, key=lambda name: -len(recorded[name])):
        numbers = recorded[name]
        size = len(numbers) // 2
        while size:
            for begin in range(0, len(numbers), size):
                zeros = [0] * len(numbers[begin : begin + size])
                if numbers[begin : begin + size] != zeros:
                    yield {**recorded, name: numbers[:begin] + zeros + numbers[begin + size :]}
            size //= 2
    for name, numbers in recorded.items():
        for place, number in enumerate(numbers):
            for smaller in sorted({number // 2, number - 1} - {0, -1}) if number > 1 else ():
                yield {**recorded, name: [*numbers[:place], smaller, *numbers[place + 1 :]]}
