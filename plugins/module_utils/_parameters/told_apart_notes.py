# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Where this controller remembers that a service tells the old value of a parameter from the new one.

After a restart of all servers they show the same, and nothing shows any more that they ever differed. So there is a
note for each service, cluster and parameter.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._base.note_files import NoteFiles
from .effect import Effect

LOST = (
    "It cannot be noted that this service tells the old value of a parameter from the new one, so a later run may ask "
    "for started_before"
)


class ToldApartNotes:
    """The notes of one cluster at the service with this ``url``; ``warnings`` are as in NoteFiles."""

    def __init__(self, url: str, cluster_id: int, warnings: list[str]) -> None:
        self._of = url, cluster_id
        self._files = NoteFiles("told-apart", warnings, LOST)

    def known(self, effect: Effect, *, after_set: bool = False) -> frozenset[str]:
        """The names whose old and new values are told apart: by ``effect``, which is noted, or by an earlier one.

        A set takes some seconds to reach all servers. So ``effect`` has to be of a time when they had them.
        """
        shown = {name for name in effect.wanted if effect.told_apart(name, after_set=after_set)}
        noted = self.noted(effect.wanted)
        for name in sorted(shown - noted):
            self._files.write(*self._of, name, value=True)
        return noted | shown

    def noted(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the names that are known from earlier."""
        return frozenset(name for name in names if self._files.read(*self._of, name) is True)

    def forget(self, names: Iterable[str]) -> None:
        """The service has shown that it does not tell old from new."""
        for name in names:
            self._files.remove(*self._of, name)
