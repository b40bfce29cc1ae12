# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which slice has which cluster, as AWX deals them out, and the folder that ansible-runner sends to a worker for it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PLAYBOOK = "oceanbase.ocp.rolling_restart"


@dataclass(frozen=True)
class Slice:
    """Some of the hosts, with a user of the service of its own, so that the service's history shows who asked."""

    hosts: Sequence[str]
    user: str
    password: str = field(repr=False)


def cut(hosts: Iterable[str], count: int) -> list[list[str]]:
    """``count`` slices: sorted by name, the first has every ``count``-th host from the first on, and so forth."""
    ordered = sorted(hosts)
    return [ordered[number::count] for number in range(count)]


def cut_problems(slices: Iterable[Iterable[str]], hosts: Iterable[str]) -> list[str]:
    """What disproves that each of these hosts is in exactly one slice, and no other host in any."""
    dealt = Counter(host for part in slices for host in part)
    expected = set(hosts)
    return [
        *(f"{host} is in {times} slices" for host, times in sorted(dealt.items()) if times > 1),
        *(f"{host} is in no slice" for host in sorted(expected - dealt.keys())),
        *(f"{host} is in a slice, and not in the inventory" for host in sorted(dealt.keys() - expected)),
    ]


def inventory_of(listed: Mapping[str, Any], hosts: Sequence[str]) -> dict[str, Any]:
    """The inventory of these hosts alone, from all that ``ansible-inventory --list`` shows: variables and groups."""
    variables = listed["_meta"]["hostvars"]
    members = {group: set(facts.get("hosts", [])) & set(hosts) for group, facts in listed.items() if group != "_meta"}
    groups = {group: {"hosts": dict.fromkeys(sorted(found))} for group, found in members.items() if found}
    return {"all": {"hosts": {host: variables[host] for host in hosts}, "children": groups}}


def write_folder(folder: Path, part: Slice, url: str, listed: Mapping[str, Any], variables: Mapping[str, Any]) -> None:
    """The private data folder of a slice. Only its owner can read it: the password is in it."""
    files = {
        "inventory/hosts.json": inventory_of(listed, part.hosts),
        "env/envvars": {"OCP_URL": url, "OCP_USERNAME": part.user, "OCP_PASSWORD": part.password},
        "env/extravars": dict(variables),
    }
    folder.mkdir(mode=0o700)
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    (folder / "project").mkdir()
