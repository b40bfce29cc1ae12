# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which worker may send next when the workers of one user share a request limit: first come, first served, if it fits.

Pure: times are monotonic seconds, and what it knows is plain JSON, so that the workers of a machine can pass it on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

# Seconds without a claim or a request after which a worker counts as gone, or as waiting for something else.
LAPSES_AFTER = 5.0
# Seconds. Reset is in whole seconds, so the end of a window is only known to the second.
RESOLUTION = 1.0
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 1.0


@dataclass
class Claim:
    """The ``requests`` that a worker wants to send one after another, or may still send; when it was last ``seen``."""

    worker: str
    requests: int
    seen: float


@dataclass
class RequestQueue:
    """A window of ``limit`` requests that ``ends`` then, of which ``left`` were left by the last answers.

    ``seconds`` is how long a window is, as far as it was seen; ``is_presumed``: no answer has shown this one yet.
    ``promised`` are claims of which the answers do not show all yet, ``waiting`` are those that came after, in their
    order.
    """

    limit: int = 0
    left: int = 0
    ends: float = 0.0
    seconds: float = RESOLUTION
    is_presumed: bool = False
    promised: list[Claim] = field(default_factory=list)
    waiting: list[Claim] = field(default_factory=list)

    @classmethod
    def from_json(cls, found: Any) -> RequestQueue:
        """What ``to_json`` gave; an empty queue for anything else."""
        try:
            queue = cls(**found)
            queue.promised = [Claim(**claim) for claim in found["promised"]]
            queue.waiting = [Claim(**claim) for claim in found["waiting"]]
            numbers = [queue.limit, queue.left, queue.ends, queue.seconds]
            numbers += [
                number for claim in (*queue.promised, *queue.waiting) for number in (claim.requests, claim.seen)
            ]
            is_whole = all(isinstance(number, int | float) for number in numbers)
        except (TypeError, KeyError, AttributeError):
            return cls()
        return queue if is_whole else cls()

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    def shown(self, limit: int | None, left: int, reset: float, now: float) -> None:
        """Note what an answer shows; without ``limit`` it is at least what is left."""
        end = now + reset
        is_next = left > self.left and end > self.ends + RESOLUTION / 2
        if self._is_over(now) or self.is_presumed or is_next:
            # A window may begin with its first request.
            self.left, self.ends, self.seconds, self.is_presumed = left, end, max(reset, RESOLUTION), False
        else:
            # Answers may overtake each other.
            self.left, self.ends = min(self.left, left), min(self.ends, end)
        self.limit = limit if limit is not None else max(self.limit, left + 1)

    def ask(self, worker: str, requests: int, now: float) -> float:
        """Promise the worker this many requests in place of what it had; else the seconds until it may ask again."""
        if not self.limit:
            return 0.0
        self._forget_gone(worker, now)
        if self._is_over(now):
            # There was no answer since; until there is one, the new window counts as equal to the last.
            self.left, self.ends, self.is_presumed = self.limit, now + self.seconds, True
        claim = next((claim for claim in self.waiting if claim.worker == worker), None)
        if claim is None:
            claim = Claim(worker, 0, now)
            self.waiting.append(claim)
        # More than the limit never fits.
        claim.requests, claim.seen = min(requests, self.limit), now
        if any(served is claim for served in self._served()):
            self.waiting.remove(claim)
            self.promised.append(claim)
            return 0.0
        may_fit = claim.requests <= self.left
        pause = SHORTEST_PAUSE * (1 + self.waiting.index(claim)) if may_fit else LONGEST_PAUSE
        return min(max(self.ends - now, 0.001), pause, LONGEST_PAUSE)

    def is_full_for(self, now: float) -> float:
        """Seconds until the window ends, if nothing is left of it; else 0."""
        return 0.0 if self.left > 0 or self._is_over(now) else self.ends - now

    def sent(self, worker: str, now: float) -> None:
        """One of the promised requests was answered, or not; the answer shows how many are left."""
        for claim in self.promised:
            if claim.worker == worker:
                claim.requests, claim.seen = claim.requests - 1, now
        self.promised = [claim for claim in self.promised if claim.requests > 0]

    def leave(self, worker: str) -> None:
        """The worker sends nothing more for now."""
        self.promised = [claim for claim in self.promised if claim.worker != worker]
        self.waiting = [claim for claim in self.waiting if claim.worker != worker]

    def _is_over(self, now: float) -> bool:
        """Whether the window has ended. Notes from before a reboot of the machine use another time."""
        return not now < self.ends <= now + self.seconds + RESOLUTION

    def _forget_gone(self, worker: str, now: float) -> None:
        self.promised = [claim for claim in self.promised if claim.worker != worker and _is_there(claim, now)]
        self.waiting = [claim for claim in self.waiting if claim.worker == worker or _is_there(claim, now)]

    def _served(self) -> Iterator[Claim]:
        """The waiting claims that fit now, in their order."""
        free = self.left - sum(claim.requests for claim in self.promised)
        for claim in self.waiting:
            if claim.requests <= free:
                free -= claim.requests
                yield claim
            elif claim.requests <= self.left:
                # It will fit if others do not use what they were promised, so nobody overtakes it. A claim that only
                # fits the next window leaves the rest of this window to others.
                return


def _is_there(claim: Claim, now: float) -> bool:
    return abs(now - claim.seen) < LAPSES_AFTER
