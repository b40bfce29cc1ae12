# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""For which values this controller has already restarted a server, whatever the outcome of that run.

If the server still shows other values, it is not restarted for them again. No clock is compared: only whether its start
has moved since the request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from .._base.note_files import NoteFiles
from .._targets.target import Member

LOST = (
    "This controller cannot remember for which parameter values a server was restarted, so a later run may restart it "
    "for them again"
)


class TriedValues:
    """The notes for the ``wanted`` values of one cluster at the service with this ``url``; see NoteFiles."""

    def __init__(self, url: str, cluster_id: int, wanted: Mapping[str, str], warnings: list[str]) -> None:
        self._of = url, cluster_id, json.dumps(wanted, sort_keys=True)
        self._files = NoteFiles("tried", warnings, LOST)

    def note(self, members: Iterable[Member]) -> None:
        """Note that a restart of these members is requested now, with the start that each of them shows before."""
        for member in members:
            self._files.write(*self._of, member.name, value=member.start_time)

    def started_since(self, members: Iterable[Member]) -> frozenset[str]:
        """The names of those that have started since they were noted."""
        return frozenset(member.name for member in members if self._has_started_since(member))

    def forget(self, names: Iterable[str]) -> None:
        """They show the values now, or were not restarted."""
        for name in names:
            self._files.remove(*self._of, name)

    def _has_started_since(self, member: Member) -> bool:
        noted = self._files.read(*self._of, member.name)
        return isinstance(noted, str) and member.start_time is not None and member.start_time != noted
