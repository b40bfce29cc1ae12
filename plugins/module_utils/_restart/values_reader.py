# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How the parameter values that a restart is for are read, and what is refused or warned about before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .._base.clock import Clock
from .._base.errors import OptionError
from .._base.parsing import Record
from .._base.text import join_names
from .._journal.journal import Journal
from .._ocp.endpoints import OcpApi
from .._ocp.unknown_path import if_shown
from .._parameters.effect import Effect
from .._parameters.parameter import parameters_by_name
from .._parameters.told_apart_notes import ToldApartNotes
from .values_seen import ValuesSeen

OPTION = "until_effective"
# A set takes some seconds to reach all servers.
SECONDS_TO_SETTLE = 10.0


class ValuesReader:
    """Reads the ``wanted`` values of a ``cluster``, its id and name, again and again.

    ``alone``: nothing else decides, so what the service does not show is refused; else ``warnings`` gets a sentence.
    ``journal`` is that of this controller.
    """

    def __init__(
        self,
        api: OcpApi,
        cluster: tuple[int, str],
        wanted: Mapping[str, str],
        warnings: list[str],
        journal: Journal | None = None,
        *,
        alone: bool,
    ) -> None:
        self._api = api
        self._cluster_id, self._cluster = cluster
        self._wanted = wanted
        self._warnings = warnings
        self._alone = alone
        self._notes = ToldApartNotes(api.url, self._cluster_id, warnings, journal)
        self._told_apart: frozenset[str] = frozenset()
        self._read: Sequence[Record] = ()

    def read(self) -> None:
        """Read all parameters of the cluster. Raises a ServiceError."""
        if self._wanted:
            self._read = if_shown(lambda: self._api.cluster_parameters(self._cluster_id), lambda _error: None) or ()

    def learn(self, clock: Clock, *, check_mode: bool = False) -> None:
        """Learn whether the service shows old and new values apart, if that is not known. Raises a ServiceError.

        Two values at once may also be a new one on its way to all servers. So they are read again some time later, but
        not in check mode, which notes nothing.
        """
        self._told_apart |= self._notes.noted(self._wanted)
        if self._told_apart >= self._wanted.keys():
            return
        self.read()
        effect = Effect.of(self._wanted, self._read)
        found = frozenset(name for name in self._wanted if effect.told_apart(name))
        if found and not check_mode:
            clock.sleep(SECONDS_TO_SETTLE)
            self.read()
            found = self._notes.known(Effect.of(self._wanted, self._read))
        self._told_apart |= found

    def seen(self, servers: Sequence[str]) -> ValuesSeen | None:
        """What was read means for the ``servers`` of the cluster; None if the values do not decide.

        Raises OptionError for values that cannot be, and where the service does not show the value of each server
        though nothing else decides.
        """
        if not self._wanted:
            return None
        if self._read:
            from .._parameters.wanted_parameters import check_wanted

            check_wanted(OPTION, self._wanted, parameters_by_name(self._read), self._cluster, is_set=False)
        seen = self.shown(servers)
        if seen is None:
            self._refuse_or_warn()
        return seen

    def shown(self, servers: Sequence[str]) -> ValuesSeen | None:
        """The same without any objection; None if the service does not show the value of each server."""
        effect = Effect.of(self._wanted, self._read, servers)
        return ValuesSeen(effect, self._told_apart) if effect.values_per_server else None

    def _refuse_or_warn(self) -> None:
        what = f"{OPTION}: the service does not show the value of {join_names(self._wanted)} on each server"
        if self._alone:
            raise OptionError(
                f"{what} of cluster {self._cluster}, so it is not known which of them need the restart. Give "
                "started_before, the instant of the change."
            )
        self._warnings.append(f"{what}, so started_before alone decides.")
