# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How parameters of a cluster are set: which are sent, where they take effect, and which servers have to restart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import ServiceError
from .._base.text import counted, join_names
from .._journal.open_journal import check_journal_url
from .._ocp.endpoints import OcpApi
from .effect import Effect
from .read_parameters import ClusterParameters, Facts, parameter_facts, pending_servers, read_cluster_parameters
from .told_apart_notes import ToldApartNotes
from .wanted_parameters import check_wanted

# Seconds between two reads while values settle.
PAUSE = 1.0
_NOT_SHOWN = "the service does not show whether all servers have restarted"


def set_parameters(
    api: OcpApi,
    cluster: str,
    wanted: Mapping[str, str],
    settle_time: float,
    *,
    check_mode: bool,
    journal_url: str | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Facts:
    """Set what differs, and return what is in effect where, at most ``settle_time`` seconds later.

    Raises OptionError and TargetError before anything is sent, and ServiceError.
    """
    check_journal_url(journal_url)
    found = read_cluster_parameters(api, cluster)
    check_wanted("parameters", wanted, found.by_name, found.cluster_name)
    before = found.effect(wanted)
    differing = {name: value for name, value in wanted.items() if before.differs(name)}
    if check_mode or not differing:
        return _Change(found, before, before, differing, None, check_mode, journal_url).result(api.url)
    api.set_cluster_parameters(found.cluster_id, differing)
    set_at = _up_to_a_second(clock.wall())
    try:
        after = _settled(api, found, wanted, settle_time, clock)
    except ServiceError as error:
        error.add_context(f"{_assignments(differing)} was set, but the servers where it is in effect cannot be read.")
        error.facts.update(changed=True, set_at=set_at, previous=_previous(before))
        raise
    return _Change(found, before, after, differing, set_at, check_mode, journal_url).result(api.url)


def _settled(
    api: OcpApi, found: ClusterParameters, wanted: Mapping[str, str], settle_time: float, clock: Clock
) -> Effect:
    """The parameters once all servers show the new values, or else after ``settle_time``.

    A value takes some seconds to reach all servers. Until then an old value does not prove that a parameter is static.
    """
    began = clock.now()
    while True:
        after = found.read_again(api).effect(wanted)
        left = settle_time - (clock.now() - began)
        if left <= 0 or not any(map(after.differs, wanted)):
            return after
        clock.sleep(min(PAUSE, left))


@dataclass(frozen=True)
class _Change:
    """``before`` and ``after`` what was sent, or would be in check mode; ``set_at`` is None if nothing was set."""

    found: ClusterParameters
    before: Effect
    after: Effect
    sent: Mapping[str, str]
    set_at: str | None
    check_mode: bool
    journal_url: str | None

    def result(self, url: str) -> Facts:
        """What the module returns, with its warnings and its diff."""
        warnings: list[str] = []
        notes = ToldApartNotes(
            url, self.found.cluster_id, warnings, journal_url=self.journal_url, read_only=self.set_at is None
        )
        notes.forget(self._at_once)
        known = notes.noted(self.after.wanted) if self.set_at is None else notes.known(self.after, after_set=True)
        return {
            "changed": bool(self.sent),
            "reason": " ".join(self._reasons(known)),
            "cluster": self.found.facts(),
            "servers": list(self.found.servers),
            "parameters": [self._facts(name, name in known) for name in self.after.wanted],
            "in_effect": _all_of([self._in_effect(name, name in known) for name in self.after.wanted]),
            "needs_restart": self._static,
            "restart_servers": self._restart_servers(known),
            "previous": _previous(self.before),
            "set_at": self.set_at,
            "warnings": [*warnings, *self._warnings()],
            "diff": self._diff(),
        }

    @cached_property
    def _at_once(self) -> list[str]:
        """The static parameters whose new value is shown on every server as soon as they are set."""
        if self.set_at is None:
            return []
        static = [name for name in self.sent if self.after.parameters[name].needs_restart]
        return [name for name in static if not self.after.differs(name)]

    @cached_property
    def _static(self) -> list[str]:
        """The parameters that some server takes only after a restart."""
        found = []
        for name, parameter in self.after.parameters.items():
            is_static = parameter.needs_restart or (parameter.needs_restart is None and self.set_at is not None)
            if name in self._at_once or (is_static and self._is_pending(name)):
                found.append(name)
        return found

    def _restart_servers(self, known: Collection[str]) -> list[str] | None:
        """The servers that have to restart; None if the service does not show which."""
        if self._unknown(known) or not all(self.after.shows_servers(name) for name in self._static):
            return None
        old = {*pending_servers(self.after, self._static), *pending_servers(self.before, self._at_once)}
        return [server for server in self.found.servers if server in old]

    def _unknown(self, known: Collection[str]) -> list[str]:
        """The static parameters that show the wanted value everywhere, although servers may run with another one."""
        static = [name for name, parameter in self.after.parameters.items() if parameter.needs_restart]
        return [name for name in static if name not in (*known, *self._static)]

    def _is_pending(self, name: str) -> bool:
        not_shown = self.after.shows_servers(name) and pending_servers(self.after, [name])
        return self.after.differs(name) or bool(not_shown)

    def _in_effect(self, name: str, known: bool) -> bool | None:
        """None if the value that is shown may not be the one that servers run with."""
        if self._is_pending(name):
            return False
        return True if known or self.after.parameters[name].needs_restart is False else None

    def _facts(self, name: str, known: bool) -> Facts:
        shown = parameter_facts(self.after.parameters[name], self.after)
        previous = self.before.parameters[name].values
        return {
            **shown,
            "previous": {server: previous.get(server) for server in self.found.servers} if previous else None,
            "in_effect": self._in_effect(name, known),
            "told_apart": True if known else False if name in self._at_once else None,
        }

    def _reasons(self, known: Collection[str]) -> list[str]:
        words = "Would set" if self.check_mode else "Set"
        unknown = join_names(self._unknown(known))
        return [
            f"{words} {_assignments(self.sent)}." if self.sent else "The wanted values are set already.",
            *([self._static_words(self._restart_servers(known))] if self._static else []),
            *([f"{unknown} needs a restart; {_NOT_SHOWN}."] if unknown else []),
        ]

    def _static_words(self, servers: list[str] | None) -> str:
        names, every = join_names(self._static), len(self.found.servers)
        if servers is None:
            way_out = "" if self.set_at is None else f": restart those that started before {self.set_at}"
            return f"{names} takes effect at a restart; the service does not show which servers need one{way_out}."
        whom = f"{len(servers)} of {counted(every, 'server')} {'has' if len(servers) == 1 else 'have'} to restart"
        return f"{names} takes effect at a restart; {whom}: {join_names(servers)}."

    def _warnings(self) -> list[str]:
        found = []
        if self._at_once:
            found.append(
                f"{join_names(self._at_once)} takes effect only at a restart, but the service already shows the new "
                "value on all servers. So it does not show which servers still run with the old one; restart those "
                f"that started before {self.set_at}, with started_before."
            )
        late = [name for name in self.sent if self.set_at is not None and self.after.differs(name)]
        for name in late:
            needs_restart = self.after.parameters[name].needs_restart
            where = join_names(pending_servers(self.after, [name])) or "some servers"
            if needs_restart is None:
                found.append(
                    f"The service does not show whether {name} needs a restart; it is not in effect on {where} yet."
                )
            elif not needs_restart:
                found.append(
                    f"{name} needs no restart, but is not in effect on {where} yet. Read it again with "
                    "oceanbase.ocp.cluster_parameter_info."
                )
        for name in self.sent:
            others = _others(self.before, name)
            if len(others) > 1:
                shown = ", ".join(f"{value or 'an empty text'} on {count}" for value, count in others.most_common())
                found.append(f"Servers had different values of {name} before: {shown}. previous has one of them.")
        return found

    def _diff(self) -> dict[str, str]:
        label = f"parameters of cluster {self.found.cluster_name}"
        before = {name: _shown_words(self.before, name) for name in self.before.wanted}
        after = {**before, **{name: value or '""' for name, value in self.sent.items()}}
        return {
            "before_header": label,
            "after_header": label,
            "before": "".join(f"{name}: {words}\n" for name, words in before.items()),
            "after": "".join(f"{name}: {words}\n" for name, words in after.items()),
        }


def _others(before: Effect, name: str) -> Counter[str]:
    """How many servers show each value but the wanted one; the cluster counts where no server is shown."""
    parameter = before.parameters[name]
    of_servers = [value for server in before.servers if (value := parameter.values.get(server)) is not None]
    return Counter(value for value in of_servers or parameter.cluster_values if not before.is_wanted(name, value))


def _previous(before: Effect) -> dict[str, str | None]:
    """The values that undo the change: for each name the value that most servers show, apart from the wanted one."""
    found: dict[str, str | None] = {}
    for name, wanted in before.wanted.items():
        others = _others(before, name).most_common(1)
        found[name] = others[0][0] if others else None if before.differs(name) else wanted
    return found


def _shown_words(effect: Effect, name: str) -> str:
    """As in ``512K``, or ``512K on 10.0.0.1:2882, 10.0.0.2:2882; 5M on 10.0.0.3:2882``."""
    parameter = effect.parameters[name]
    servers: dict[str, list[str]] = {}
    for server in effect.servers:
        value = parameter.values.get(server)
        if value is not None:
            servers.setdefault(value or '""', []).append(server)
    if len(servers) > 1:
        return "; ".join(f"{value} on {join_names(names)}" for value, names in servers.items())
    return "".join(servers) or ", ".join(value or '""' for value in parameter.cluster_values) or "not shown"


def _assignments(wanted: Mapping[str, str]) -> str:
    return join_names(f"{name}={value}" for name, value in wanted.items())


def _all_of(states: list[bool | None]) -> bool | None:
    return False if False in states else None if None in states else True


def _up_to_a_second(wall: float) -> str:
    """The first whole second after this one; a start within it is not known to be later."""
    return datetime.fromtimestamp(math.floor(wall) + 1, UTC).isoformat()
