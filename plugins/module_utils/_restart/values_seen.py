# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the parameter values say about a target: which members need the restart, and whether that can be trusted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .._base.text import join_names
from .._parameters.effect import Effect
from .._targets.target import Member


@dataclass(frozen=True)
class ValuesSeen:
    """The wanted values beside those that the service shows.

    ``told_apart`` are the names whose old value it is known to show until a server has restarted; ``tried`` are the
    members that have restarted since this controller requested that for these values.
    """

    effect: Effect
    told_apart: frozenset[str]
    tried: frozenset[str] = frozenset()

    def is_in_effect(self, member: str) -> bool | None:
        """Whether a member shows all wanted values; None if it shows no other, and some are not shown."""
        if self._others(member):
            return False
        return None if self._hidden(member) else True

    def doubts(self, members: Iterable[Member]) -> str:
        """Why the values alone do not prove that no server needs the restart, in words; empty if they do."""
        members = list(members)
        hidden = [member for member in members if self.is_in_effect(member.name) is None]
        if hidden:
            return self.words(hidden)
        if not self.doubted:
            return ""
        return (
            f"{self.words(members)}, but this service is not known to show the old value of "
            f"{join_names(self.doubted)} until a server has restarted"
        )

    @property
    def doubted(self) -> list[str]:
        """The names whose value alone proves nothing: a service may show the new value before any restart."""
        dynamic = {name for name, each in self.effect.parameters.items() if each.needs_restart is False}
        return [name for name in self.effect.wanted if name not in self.told_apart | dynamic]

    def words(self, members: Iterable[Member]) -> str:
        """As in ``10.0.0.1:2882 shows stack_size=4M instead of 5M``, for each of the members."""
        return join_names(self._words_of(member.name) for member in members)

    def result(self, members: Iterable[str]) -> dict[str, dict[str, Any]]:
        """For each name the ``value`` that all these members show, None if they differ, and whether it is in effect."""
        names = list(members)
        return {name: self._result_of(name, names) for name in self.effect.wanted}

    def lines(self, *, wanted: Iterable[str] = ()) -> dict[str, str]:
        """For each server its values as in ``stack_size=4M``; for those in ``wanted`` the values that are wanted."""
        every = {server: self.effect.shown(server) for server in self.effect.servers}
        every.update((server, dict(self.effect.wanted)) for server in wanted)
        return {server: _pairs(values) for server, values in every.items()}

    def _others(self, member: str) -> list[str]:
        shown = self.effect.shown(member)
        return [name for name in self.effect.pending(member) if shown[name] is not None]

    def _hidden(self, member: str) -> list[str]:
        return [name for name, value in self.effect.shown(member).items() if value is None]

    def _words_of(self, member: str) -> str:
        shown, wanted = self.effect.shown(member), self.effect.wanted
        others, hidden = self._others(member), self._hidden(member)
        if others:
            return f"{member} shows {join_names(f'{name}={shown[name]} instead of {wanted[name]}' for name in others)}"
        return f"{member} shows {f'no {join_names(hidden)}' if hidden else _pairs(shown)}"

    def _result_of(self, name: str, members: list[str]) -> dict[str, Any]:
        values = {member: self.effect.shown(member)[name] for member in members}
        different = set(values.values())
        pending = [member for member in members if name in self.effect.pending(member)]
        if not pending:
            in_effect: bool | None = True if members else None
        else:
            in_effect = False if any(values[member] is not None for member in pending) else None
        value = different.pop() if len(different) == 1 else None
        return {"value": value, "effective": in_effect, "servers": values}


def _pairs(values: dict[str, str | None]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items() if value is not None)
