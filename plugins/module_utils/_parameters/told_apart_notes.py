# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Where this controller remembers that a service shows old and new values of a parameter apart.

After a restart all servers show the same value, so nothing shows that they ever differed. So there is a note for each
service, cluster and parameter.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._base.note_files import NoteFiles
from .effect import Effect

LOST = (
    "This controller cannot remember that the service shows old and new values of parameters apart, so a later run may "
    "ask for started_before"
)


class ToldApartNotes:
    """The notes of one cluster at the service with this ``url``; ``warnings`` are as in NoteFiles."""

    def __init__(self, url: str, cluster_id: int, warnings: list[str]) -> None:
        self._of = url, cluster_id
        self._files = NoteFiles("told-apart", warnings, LOST)

    def known(self, effect: Effect, *, after_set: bool = False) -> frozenset[str]:
        """The names whose old and new values are told apart: by ``effect``, which is noted, or by an earlier one.

        A new value takes some seconds to reach all servers, so ``effect`` has to be read after that.
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
        """Forget the notes: the service has shown that it does not show old and new values apart."""
        for name in names:
            self._files.remove(*self._of, name)
