# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Where this controller remembers that a service shows old and new values of a parameter apart.

After a restart all servers show the same value, so nothing shows that they ever differed. So there is a note for each
service, cluster and parameter.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property

from .._base.errors import JournalError
from .._journal.journal import Journal
from .._journal.open_journal import open_journal
from .effect import Effect

LOST = (
    "This controller cannot remember that the service shows old and new values of parameters apart, so a later run may "
    "ask for started_before"
)
KIND, YES = "told apart", "yes"


class ToldApartNotes:
    """The notes of one cluster at the service with this ``url``.

    They are in the ``journal``, by default the one of ``journal_url``, or that of this controller. If that cannot be
    used, nothing is known, and ``warnings`` gets a sentence when there is something to note. With ``read_only`` nothing
    is noted for later.
    """

    def __init__(
        self,
        url: str,
        cluster_id: int,
        warnings: list[str],
        journal: Journal | None = None,
        *,
        journal_url: str | None = None,
        read_only: bool = False,
    ) -> None:
        self._of = url, cluster_id
        self._warnings = warnings
        self._given = journal
        self._journal_url = journal_url
        self._read_only = read_only

    @cached_property
    def _journal(self) -> Journal:
        """Raises JournalError."""
        return self._given or open_journal(
            self._journal_url, read_only=self._read_only, is_required=True, warnings=self._warnings
        )

    def known(self, effect: Effect, *, after_set: bool = False) -> frozenset[str]:
        """The names whose old and new values are told apart: by ``effect``, which is noted, or by an earlier one.

        A new value takes some seconds to reach all servers, so ``effect`` has to be read after that.
        """
        shown = {name for name in effect.wanted if effect.told_apart(name, after_set=after_set)}
        noted = self.noted(effect.wanted)
        try:
            for name in sorted(shown - noted):
                self._journal.remember(KIND, (*self._of, name), YES)
        except JournalError as error:
            self._warnings.append(f"{LOST}: {error}")
        return noted | shown

    def noted(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the names that are known from earlier."""
        with suppress(JournalError):
            return frozenset(name for name in names if self._journal.recall(KIND, (*self._of, name)) == YES)
        return frozenset()

    def forget(self, names: Iterable[str]) -> None:
        """Forget the notes: the service has shown that it does not show old and new values apart."""
        with suppress(JournalError):
            for name in names:
                self._journal.forget(KIND, (*self._of, name))
