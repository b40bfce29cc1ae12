# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is known for a change, and what is wanted: immutable values without texts, clocks or times.

All that a rule may ask is here. Instants have become ``Relative`` to the change, durations have become flags.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class InFlight(StrEnum):
    """What to do if the target is already being restarted; the option ``in_flight``."""

    ATTACH = "attach"
    FAIL = "fail"
    QUEUE = "queue"


class Relative(Enum):
    """Where a start or the begin of a task lies: before or since the change, not clear by clocks, or not shown.

    MOVED: the start is not the one that was shown before the change, and yet it lies before the change by all clocks.
    The clock of its host is off or was set. Whether it has started since, or the same start is shown as another time,
    is not known.
    """

    BEFORE = "before"
    SINCE = "since"
    UNCLEAR = "unclear"
    HIDDEN = "hidden"
    MOVED = "moved"

    @property
    def is_sure(self) -> bool:
        """Whether it is before the change or since, so that nothing else has to decide."""
        return self in (Relative.BEFORE, Relative.SINCE)


class Work(Enum):
    """What a task has done to the target.

    RESTARTED: it ended SUCCESSFUL by doing its work. RAN: it ended otherwise, and may have restarted something. UNDONE:
    it was rolled back, which may start something again.
    SKIPPED: it ended SUCCESSFUL, and a step was skipped that stops or starts something, or may. NOTHING: it ended
    before it started anything. GONE: it is one of our own, the service does not show it any more, and its end was not
    seen.
    """

    RUNNING = "running"
    RESTARTED = "restarted"
    RAN = "ran"
    UNDONE = "undone"
    SKIPPED = "skipped"
    NOTHING = "nothing"
    GONE = "gone"

    @property
    def may_have_started(self) -> bool:
        """Whether it has ended, and may have started the target."""
        return self not in (Work.RUNNING, Work.NOTHING)

    @property
    def is_final(self) -> bool:
        """Whether no other restart may follow it for the same change: it has restarted the target, or may have."""
        return self in (Work.RESTARTED, Work.SKIPPED, Work.GONE)


class Values(Enum):
    """What a member shows of the wanted values of parameters."""

    NOT_WANTED = "not wanted"
    IN_EFFECT = "in effect"
    OTHERS = "others"
    HIDDEN = "hidden"


@dataclass(frozen=True)
class Member:
    """A part of the target. ``start`` is that of its process; ``is_new``: it is so late that values may follow.

    ``was_tried``: it has started since this controller requested that for the wanted values. ``is_late``: the name of
    the change is new for it, and the start of an earlier restart may show later.
    """

    name: str
    start: Relative
    serves: bool | None = True
    is_new: bool = False
    values: Values = Values.NOT_WANTED
    was_tried: bool = False
    is_late: bool = False


@dataclass(frozen=True)
class Task:
    """A task on the target, and the names of the members that it restarts; none for other work.

    For those in ``since`` it began since the change, for those in ``unclear`` that is not clear. ``is_due``: it has
    ended, and the service may show the start that it made, or may have made, later. ``is_told``: the service shows what
    it restarts. If not, it may restart the target.
    """

    id: int
    work: Work
    restarts: frozenset[str] = frozenset()
    since: frozenset[str] = frozenset()
    unclear: frozenset[str] = frozenset()
    is_due: bool = False
    is_told: bool = True


@dataclass(frozen=True)
class Request:
    """A request of this controller for ``members`` of the target whose task is not known.

    ``is_searched``: the time is over in which its task should have shown. ``is_here``: this process has sent it, and
    something on the way may deliver it at any time. ``is_of_change``: it was sent for the change that is asked for.
    ``is_due``: the start that it may have made may still show; its task may have ended unseen. ``is_forgotten``: the
    service may no longer list its task.
    """

    members: frozenset[str]
    is_searched: bool
    is_here: bool = False
    is_of_change: bool = False
    is_due: bool = False
    is_forgotten: bool = False


@dataclass(frozen=True)
class Knowledge:
    """What is known of a target.

    ``is_there``: the service shows it. ``tasks`` are newest first. ``is_moving``: its status alone says that something
    works on it. ``holder`` is the id of the FAILED task that holds it, ``own`` are the ids of tasks that a request of
    this run may have started, of those that began since. ``reads_tasks``: these credentials may read tasks.
    ``values_doubted``: the values that it shows prove nothing.
    """

    members: tuple[Member, ...]
    tasks: tuple[Task, ...] = ()
    serves: bool | None = True
    is_moving: bool = False
    holder: int | None = None
    own: frozenset[int] = frozenset()
    requests: tuple[Request, ...] = ()
    reads_tasks: bool = True
    values_doubted: bool = False
    is_there: bool = True


@dataclass(frozen=True)
class Wish:
    """What is asked for. ``is_dated``: for a change with an instant or a name; ``has_values``: until values show.

    ``waits``: for a start that does not show yet, and until it serves. ``proven_later``: who asks waits for the starts
    of several targets at once, afterwards. ``settles``: there is time left to wait for values that may show late.
    """

    is_dated: bool
    in_flight: InFlight = InFlight.ATTACH
    has_values: bool = False
    waits: bool = True
    proven_later: bool = False
    settles: bool = True

    @property
    def is_conditional(self) -> bool:
        """Whether the target may need no restart."""
        return self.is_dated or self.has_values
