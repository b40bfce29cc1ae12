# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How what a person has settled is cleared from the journal: a name, a request, or everything; what that changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._base.parsing import Record
from .journal import Journal
from .open_journal import open_journal
from .shown_entries import is_named

Entries = dict[str, list[Record]]


@dataclass(frozen=True)
class Clearing:
    """What counts no more: a ``change``, in one ``cluster`` if that is given, the ``request``, or ``everything``."""

    change: str | None = None
    cluster: str | None = None
    request: int | None = None
    everything: bool = False


def clear_journal(url: str | None, wanted: Clearing, *, check_mode: bool) -> dict[str, Any]:
    """The result of the module, with its ``diff``. Nothing is written if nothing changes, and in check mode.

    A request that is not there is a warning. Raises OptionError and JournalError.
    """
    copy = open_journal(url, read_only=True, is_required=True, warnings=[])
    before = copy.entries()
    _clear(copy, wanted, before)
    after = copy.entries()
    if before != after and not check_mode:
        _clear(open_journal(url, read_only=False, is_required=True, warnings=[]), wanted, before)
    lines, left = _lines(before), _lines(after)
    is_there = wanted.request is None or wanted.request in [each["number"] for each in before["requests"]]
    missing = (
        f"The journal {copy.place} has no request {wanted.request}; "
        "oceanbase.ocp.restart_journal_info shows those it has."
    )
    return {
        "changed": before != after,
        "place": copy.place,
        "cleared": [line for line in lines if line not in left],
        "warnings": [] if is_there else [missing],
        "diff": {
            "before_header": copy.place,
            "after_header": copy.place,
            "before": "".join(f"{line}\n" for line in lines),
            "after": "".join(f"{line}\n" for line in left),
        },
    }


def _clear(journal: Journal, wanted: Clearing, entries: Entries) -> None:
    if wanted.change is None or wanted.cluster is None:
        journal.clear(change=wanted.change, number=wanted.request, everything=wanted.everything)
        return
    of_requests = {member["cluster"] for each in entries["requests"] for member in each["members"]}
    for identity in sorted(of_requests | {each["cluster"] for each in entries["changes"]}):
        if is_named(identity, wanted.cluster):
            journal.clear(change=wanted.change, cluster=identity)


def _lines(entries: Entries) -> list[str]:
    """A line for each entry that counts."""
    return [
        *(f"change {each['change']}{_of_cluster(each['cluster'])}" for each in entries["changes"]),
        *(_request_words(each) for each in entries["requests"] if not each["settled"]),
        *(f"fact {each['kind']}: {' '.join(map(str, each['key']))}" for each in entries["facts"]),
    ]


def _request_words(request: Record) -> str:
    names = ", ".join(member["address"] for member in request["members"])
    name = "" if request["change"] is None else f" for change {request['change']}"
    return f"request {request['number']}: {request['kind']} {names}{name}"


def _of_cluster(identity: str) -> str:
    return f" in cluster {identity}" if identity else ""
