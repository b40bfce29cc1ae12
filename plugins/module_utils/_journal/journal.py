# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What every journal can do, wherever it is kept, and how long somebody waits for the lock of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from .._base.clock import Clock
from .._base.errors import TargetBusy
from .._base.parsing import Record
from .._base.text import in_seconds
from .rows import FirstSight, MemberKey, RequestRow, Wish

# Seconds. How long a request without a name of a change and without values is kept.
KEPT_FOR = 7 * 86400.0
# Seconds between two attempts to get a lock.
SHORTEST_PAUSE = 0.05


# Whether a request may be noted, by those whose servers may be down.
Allows = Callable[[Sequence[RequestRow]], bool]


class Journal(Protocol):
    """What the collection knows of its own doing. Each method raises JournalError if the journal cannot be used."""

    @property
    def place(self) -> str:
        """Where it is, for people."""

    @property
    def is_shared(self) -> bool:
        """Whether several controllers use it. They may reach the same service by different addresses."""

    def is_of_service(self, row: RequestRow, url: str) -> bool:
        """Whether the service with this address got a request, if it shows what that restarts.

        In a shared journal always: controllers may use different addresses of a service. One controller uses one, so
        another address is that of another service, such as a second emulator with the same clusters.
        """

    def lock(self, names: Sequence[str], clock: Clock, timeout: float) -> AbstractContextManager[None]:
        """Hold the locks of the clusters with these identities.

        Raises TargetBusy if others hold one of them for ``timeout`` seconds. Who holds one must not ask for it again.
        """

    def renew(self) -> None:
        """Keep the locks that this thread holds. Raises JournalError if one of them was lost."""

    def now(self) -> float:
        """Seconds since 1970 by the clock that all who share it have in common."""

    def sights(self, change: str, members: Iterable[MemberKey]) -> dict[MemberKey, FirstSight]:
        """The first sights of those of the members for which this change was asked for before."""

    def first_uses(self, change: str) -> list[FirstSight]:
        """The first sights of all members for which this change was asked for before."""

    def register(self, change: str, wish: Wish, sights: Sequence[FirstSight]) -> None:
        """Bind the name of a change to a wish, and keep the first sight of each member.

        A sight that is open gets what is shown now, but keeps its time. Raises NameTaken, and keeps nothing, if the
        name stands for another wish in one of the clusters.
        """

    def check(self, change: str, wish: Wish, members: Iterable[MemberKey]) -> None:
        """Raise NameTaken if the name of a change stands for another wish in the cluster of one of these members."""

    def requests(self, members: Iterable[MemberKey]) -> list[RequestRow]:
        """The requests for one of these members or more, the oldest first.

        Those for a change are kept for ever until they are settled, others for KEPT_FOR.
        """

    def requests_of_task(self, task_id: int) -> list[RequestRow]:
        """The requests that are noted to have started the task with this id, of any service, the oldest first."""

    def down(self) -> list[RequestRow]:
        """The requests of all clusters whose servers may be down because of them (``takes_down``), the oldest first."""

    def begin(self, row: RequestRow, allows: Allows | None = None) -> int | None:
        """Note a request that is about to be sent; returns its number once that is on the disk.

        None, and nothing is noted, unless it ``allows`` this by what ``down`` returns at this moment: no other request
        of this journal is noted in between.
        """

    def note(
        self,
        number: int,
        *,
        task_id: int | None = None,
        began: str | None = None,
        outcome: str | None = None,
        back: bool | None = None,
        looked_at: float | None = None,
    ) -> None:
        """Note what is known now of a request; None leaves what was noted."""

    def claim(self, number: int, task_id: int, began: str | None) -> bool:
        """Note the task of a request whose answer was lost, RUNNING; False, and nothing, if a request has a task.

        That is this request, or another one for one of its members that has the same task.
        """

    def remember(self, kind: str, key: Sequence[str | int], value: str) -> None:
        """Keep a small fact."""

    def recall(self, kind: str, key: Sequence[str | int]) -> str | None:
        """The fact, None if there is none."""

    def forget(self, kind: str, key: Sequence[str | int]) -> None:
        """Remove the fact, if there is one."""

    def entries(self) -> dict[str, list[Record]]:
        """All that is kept, for people: ``changes`` with their ``sights``, ``requests`` and ``facts``."""

    def clear(
        self,
        *,
        change: str | None = None,
        cluster: str | None = None,
        number: int | None = None,
        everything: bool = False,
    ) -> int:
        """Let what a person has settled count no more; returns how many names and requests that are.

        ``number`` settles one request. ``change`` forgets a name, in one ``cluster`` if that is given, and settles its
        requests. ``everything`` empties the journal.
        """


def acquire(
    attempt: Callable[[], bool], clock: Clock, timeout: float, *, holders: str, pause: float = SHORTEST_PAUSE
) -> None:
    """Repeat the ``attempt`` to get a lock until it succeeds. Raises TargetBusy after ``timeout`` seconds.

    It pauses for ``pause`` seconds, or up to twice as much, in between.
    """
    began = clock.now()
    while not attempt():
        waited = clock.now() - began
        if waited >= timeout:
            raise TargetBusy(
                f"For {in_seconds(round(waited))} {holders} held the lock of the cluster. Run this again, with fewer "
                "forks or a longer wait_timeout."
            )
        clock.sleep(pause * (1 + clock.jitter()))
