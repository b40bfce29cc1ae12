# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How parameters of a cluster are set: which are sent, where they are in effect then, and which servers restart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import ServiceError
from .._base.text import join_names
from .._ocp.endpoints import OcpApi
from .effect import Effect
from .read_parameters import ClusterParameters, Facts, parameter_facts, pending_servers, read_cluster_parameters
from .told_apart_notes import ToldApartNotes
from .wanted_parameters import check_wanted

# Seconds. A dynamic parameter reaches the servers soon, but not at once.
TAKES_EFFECT_WITHIN = 10.0
PAUSE = 1.0


def set_parameters(
    api: OcpApi, cluster: str, wanted: Mapping[str, str], *, check_mode: bool, clock: Clock = SYSTEM_CLOCK
) -> Facts:
    """Set what differs, and return what is in effect where.

    Raises OptionError and TargetError before anything is sent, and ServiceError.
    """
    found = read_cluster_parameters(api, cluster)
    check_wanted("parameters", wanted, found.by_name, found.cluster_name)
    before = found.effect(wanted)
    differing = {name: value for name, value in wanted.items() if before.differs(name)}
    if check_mode or not differing:
        return _Change(found, before, before, differing, None, check_mode).result(api.url)
    api.set_cluster_parameters(found.cluster_id, differing)
    set_at = _up_to_a_second(clock.wall())
    try:
        after = _effect_after(api, found, wanted, clock)
    except ServiceError as error:
        error.add_context(f"The service has set {_assignments(differing)}, but where that is in effect cannot be read.")
        error.facts.update(changed=True, set_at=set_at, previous=_previous(before))
        raise
    return _Change(found, before, after, differing, set_at, check_mode).result(api.url)


def _effect_after(api: OcpApi, found: ClusterParameters, wanted: Mapping[str, str], clock: Clock) -> Effect:
    """What is shown once all that needs no restart is in effect, or after TAKES_EFFECT_WITHIN."""
    began = clock.now()
    while True:
        after = found.read_again(api).effect(wanted)
        dynamic = [name for name, parameter in after.parameters.items() if parameter.needs_restart is not True]
        if not any(after.differs(name) for name in dynamic) or clock.now() - began >= TAKES_EFFECT_WITHIN:
            return after
        clock.sleep(PAUSE)


@dataclass(frozen=True)
class _Change:
    """``before`` and ``after`` what was sent, or would be in check mode; ``set_at`` is None where nothing was."""

    found: ClusterParameters
    before: Effect
    after: Effect
    sent: Mapping[str, str]
    set_at: str | None
    check_mode: bool

    def result(self, url: str) -> Facts:
        """What the module returns, with its warnings and its diff."""
        warnings: list[str] = []
        notes = ToldApartNotes(url, self.found.cluster_id, warnings)
        known = notes.known(self.after, after_set=self.set_at is not None) - set(self._at_once)
        notes.forget(self._at_once)
        previous = _previous(self.before)
        return {
            "changed": bool(self.sent),
            "reason": " ".join(self._reasons()),
            "cluster": self.found.facts(),
            "servers": list(self.found.servers),
            "parameters": [self._facts(name, name in known) for name in self.after.wanted],
            "in_effect": _all_of([self._in_effect(name, name in known) for name in self.after.wanted]),
            "needs_restart": self._static,
            "restart_servers": self._restart_servers,
            "previous": previous,
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
        """The names of what is in effect on some server only after its restart."""
        found = []
        for name, parameter in self.after.parameters.items():
            is_static = parameter.needs_restart or (parameter.needs_restart is None and self.set_at is not None)
            if name in self._at_once or (is_static and self._is_pending(name)):
                found.append(name)
        return found

    @property
    def _restart_servers(self) -> list[str] | None:
        """The servers that have to restart; None if the service does not show which value a server has."""
        if not all(self.after.shows_servers(name) for name in self._static):
            return None
        old = {*pending_servers(self.after, self._static), *pending_servers(self.before, self._at_once)}
        return [server for server in self.found.servers if server in old]

    def _is_pending(self, name: str) -> bool:
        return self.after.differs(name) or bool(pending_servers(self.after, [name]))

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

    def _reasons(self) -> list[str]:
        words = "Would set" if self.check_mode else "Set"
        done = f"{words} {_assignments(self.sent)}." if self.sent else "The wanted values are set already."
        return [done, *self._pending_words()]

    def _pending_words(self) -> list[str]:
        servers = self._restart_servers
        if not self._static:
            return []
        if servers is None:
            return [f"{join_names(self._static)} takes effect at a restart; of which servers is not shown."]
        return [
            f"{join_names(self._static)} takes effect at a restart; {len(servers)} of "
            f"{len(self.found.servers)} servers have to restart: {join_names(servers)}."
        ]

    def _warnings(self) -> list[str]:
        found = []
        if self._at_once:
            found.append(
                f"{join_names(self._at_once)} takes effect at a restart only, but the service shows the new "
                "value on all servers already. So it does not tell which servers run with the old one; restart those "
                f"that started before {self.set_at}, with started_before."
            )
        late = [name for name in self.sent if self.after.differs(name) and name not in self._static]
        if late and self.set_at is not None:
            found.append(
                f"{join_names(late)} needs no restart, but is not in effect on {self._where_different(late)} after "
                f"{TAKES_EFFECT_WITHIN:.0f} seconds. Read it again with oceanbase.ocp.parameter_info."
            )
        for name in self.sent:
            others = _others(self.before, name)
            if len(others) > 1:
                shown = ", ".join(f"{value or 'an empty text'} on {count}" for value, count in others.most_common())
                found.append(f"Before, servers had different values of {name}: {shown}. previous has one of them.")
        return found

    def _where_different(self, names: list[str]) -> str:
        return join_names(pending_servers(self.after, names)) or "some servers"

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
    """What to set to undo the change: of each name the value, other than the wanted one, that most servers show."""
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
