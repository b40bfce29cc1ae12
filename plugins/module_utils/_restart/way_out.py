# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The way out of a change for which a target is refused for good: one more restart of it that is for no change."""

from __future__ import annotations

from collections.abc import Sequence

from .._base.cli_hints import NEXT_STEPS_HEADING, RUN_AGAIN
from .._base.text import counted
from .._targets.target import Target

MOST_NAMED = 3


TO_RESTART, TO_BRING_BACK = "If it is to restart for this change", "If a restart is to bring it back"


def with_way_out(
    words: str, target: Target, names: Sequence[str], why: str = TO_RESTART, first: Sequence[str] = ()
) -> str:
    """The message about a ``target``, and the commands that restart its members with these ``names`` once more.

    The lines of ``first`` come before these. Afterwards the same command leaves them alone: they have started since the
    change, whatever was before. A new name would restart again all that is done.
    """
    has_commands = bool(names) and all(map(target.command_for, names))
    lines = [f"  Restart {name} once more: {target.command_for(name)}" for name in names[:MOST_NAMED] if has_commands]
    more = len(names) - MOST_NAMED
    rest = [f"  And so {counted(more, 'other')}: {', '.join(names[MOST_NAMED:])}"] if has_commands and more > 0 else []
    way = f"{words} {why}, restart it once more without the change."
    if not first and not lines:
        return f"{way} {RUN_AGAIN}"
    return "\n".join([f"{way} {NEXT_STEPS_HEADING}", *first, *lines, *rest, RUN_AGAIN])
