# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""On which servers of a cluster the wanted values of parameters are in effect, by what the service shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .._base.parsing import Record
from .parameter import Parameter, parameters_by_name


@dataclass(frozen=True)
class Effect:
    """The ``wanted`` value of each name, beside what the service shows on each of the ``servers`` (``ip:port``).

    Every name in ``wanted`` has a parameter.
    """

    wanted: Mapping[str, str]
    parameters: Mapping[str, Parameter]
    servers: tuple[str, ...]

    @classmethod
    def of(cls, wanted: Mapping[str, str], shown: Iterable[Record], servers: Iterable[str] = ()) -> Effect:
        """From records of ``OcpApi.cluster_parameters``; without ``servers``, on all that a value is shown of."""
        every = parameters_by_name(shown)
        found = {name: every.get(name, Parameter(name, {})) for name in wanted}
        named = tuple(servers) or tuple(dict.fromkeys(server for each in found.values() for server in each.values))
        return cls(dict(wanted), found, named)

    def shown(self, server: str) -> dict[str, str | None]:
        """The value of each wanted parameter on a server; None where none is shown."""
        return {name: each.values.get(server) for name, each in self.parameters.items()}

    def pending(self, server: str) -> list[str]:
        """The names whose value on this server is not the wanted one, or is not shown."""
        return [name for name, value in self.shown(server).items() if not self.is_wanted(name, value)]

    @property
    def pending_servers(self) -> list[str]:
        """The servers on which something is pending."""
        return [server for server in self.servers if self.pending(server)]

    def differs(self, name: str) -> bool:
        """Whether some server, or the cluster as a whole, shows another value than the wanted one, or nothing does."""
        shown = [*self._shown_values(name), *self.parameters[name].cluster_values]
        return not shown or not all(self.is_wanted(name, value) for value in shown)

    @property
    def values_per_server(self) -> bool:
        """Whether the service shows, for each wanted parameter, the value of some server."""
        return all(self.shows_servers(name) for name in self.wanted)

    def shows_servers(self, name: str) -> bool:
        """Whether the service shows the value of some server."""
        return bool(self._shown_values(name))

    def told_apart(self, name: str, *, after_set: bool = False) -> bool:
        """Whether this answer proves that the service shows on a server the value it runs with.

        It does if it shows two values, or, of a static parameter that has just been set, another than the wanted one.
        """
        parameter, shown = self.parameters[name], self._shown_values(name)
        two_values = any(not parameter.same(shown[0], value) for value in shown[1:])
        static_and_old = bool(parameter.needs_restart) and any(not self.is_wanted(name, value) for value in shown)
        return two_values or (after_set and static_and_old)

    def is_wanted(self, name: str, value: str | None) -> bool:
        """Whether this is the wanted value, in whatever words."""
        return self.parameters[name].same(self.wanted[name], value)

    def _shown_values(self, name: str) -> list[str]:
        shown = self.parameters[name].values
        return [value for server in self.servers if (value := shown.get(server)) is not None]
