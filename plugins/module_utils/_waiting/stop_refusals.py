# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The error codes with which the database refuses to stop a server or zone, and what to do about them.

See docs/dev/contract.md, "Stop of a server by the database".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType


class Code(IntEnum):
    """An error code of the database."""

    OTHER_ZONE_STOPPED = -4660
    NOT_ALLOWED = -4179


# How far the logs of replicas may be apart, in seconds.
MOST_LAG = 5

_EXPLANATIONS: Mapping[Code, str] = MappingProxyType(
    {
        Code.OTHER_ZONE_STOPPED: (
            "the database does not stop servers in two zones at once. Start what is stopped in the other zones, or let "
            "its restart end; then retry the task."
        ),
        Code.NOT_ALLOWED: (
            "the database does not stop a server while a log stream has no leader, the locality of a tenant changes, "
            f"too few voters would remain, or a replica is more than {MOST_LAG} seconds behind. Wait until that has "
            "ended; then retry the task. A tenant with one replica needs more of them first, or the retry fails again."
        ),
    }
)
_STEPS = frozenset({"stop observer service", "stop server", "stop zone"})
_CODES = re.compile(rf"(?<![\w-])-({'|'.join(str(-code) for code in Code)})(?!\w)")


def explained_refusal(step: str, log: str) -> str | None:
    """What the last such code in the ``log`` of a step with this label means; None without one."""
    if step.strip().lower() not in _STEPS:
        return None
    found = _CODES.findall(log)
    if not found:
        return None
    code = Code(-int(found[-1]))
    return f"Error {code.value}: {_EXPLANATIONS[code]}"
