# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The names of groups in the inventory, and groups that are left out as ambiguous."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from ansible.inventory.group import to_safe_group_name

from ..module_utils._base.text import one_line

# The build follows the version number.
NUMBER = re.compile(r"\d+(\.\d+)*")


class Place(NamedTuple):
    """A group that a host is in, the one thing that the group stands for, and the group above it.

    ``of_service``: another OCP may have another thing of this name.
    """

    group: str
    thing: str
    parent: str = ""
    of_service: bool = False


@dataclass
class Groups:
    """The host names in each group, the parent of a group, and the warnings.

    ``of_service`` are the groups that stand for things of one OCP, each with its thing.
    """

    members: dict[str, list[str]] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    of_service: dict[str, str] = field(default_factory=dict)


@dataclass
class Hosts:
    """The variables of each host, the groups, and the warnings about objects that are not hosts.

    ``variables`` are data of the service. ``settings`` are for Ansible, the same for every host, and may be templates.
    """

    variables: dict[str, dict[str, Any]]
    groups: Groups
    settings: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def grouped(everyone: str, places: Iterable[tuple[str, Iterable[Place]]]) -> Groups:
    """The groups of hosts with the places of each; ``everyone`` is the group of all.

    If two names become the same group name, neither gets a group, and there is a warning: a play then matches no hosts
    rather than too many.
    """
    hosts: dict[str, list[str]] = defaultdict(list)
    things: dict[str, set[str]] = defaultdict(set)
    above: dict[str, str] = {}
    found = Groups({everyone: []})
    for host, its_places in places:
        found.members[everyone].append(host)
        for place in its_places:
            hosts[place.group].append(host)
            things[place.group].add(place.thing)
            if place.parent:
                above[place.group] = place.parent
            if place.of_service:
                found.of_service[place.group] = place.thing
    found.members |= {group: hosts[group] for group, alike in things.items() if len(alike) == 1}
    found.of_service = {group: thing for group, thing in found.of_service.items() if group in found.members}
    found.parents = {group: parent for group, parent in above.items() if {group, parent} <= found.members.keys()}
    found.warnings = [
        f"Group {group} was not made, since it would mean both {' and '.join(sorted(alike))}. Make groups of your own "
        "with keyed_groups."
        for group, alike in things.items()
        if len(alike) > 1
    ]
    return found


def places_by(prefix: str, **values: object) -> Iterator[Place]:
    """A place for each of the values that there is, by its name. Of a version the number alone counts."""
    for kind, value in values.items():
        if kind == "version":
            number = NUMBER.match(str(value or ""))
            value = number and number[0]
        if value:
            yield Place(group_name(f"{prefix}_{kind}", str(value)), f"{kind} {one_line(value)}")


@cache
def group_name(prefix: str, value: str) -> str:
    """A name of a group that Ansible allows; several values may have the same."""
    name: str = to_safe_group_name(f"{prefix}_{value}", force=True, silent=True)
    return name
