# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Pick one record by the name or id in an option."""

from __future__ import annotations

from collections.abc import Iterable

from .._base.errors import TargetError
from .._base.parsing import Record, integer
from .._base.text import join_names


def address_of(record: Record, ip: str, port: str) -> str:
    """As in ``10.0.0.1:2882``; an IPv6 address is in brackets."""
    host = str(record.get(ip))
    return f"[{host}]:{record.get(port)}" if ":" in host else f"{host}:{record.get(port)}"


def exactly_one(option: str, value: str, matches: list[Record], known: Iterable[str], where: str = "") -> Record:
    """The one record in ``matches``; raises TargetError, which lists the ``known`` names."""
    if len(matches) > 1:
        ids = join_names(str(record.get("id")) for record in matches)
        raise TargetError(f"{option}: {value} is the name of {len(matches)}{where}; give one of the ids {ids} instead.")
    if not matches:
        there = join_names(known)
        hint = f"; to choose from: {there}" if there else ""
        raise TargetError(f"{option}: {value} matches nothing{where}{hint}. Check the name or id.")
    if integer(matches[0].get("id")) is None:
        raise TargetError(f"{option}: the service tells no id of {value}{where}. Check the version of the OCP.")
    return matches[0]
