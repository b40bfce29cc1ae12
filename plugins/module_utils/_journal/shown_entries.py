# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the journal keeps, as people and playbooks read it, and which cluster a text names in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from .._base.parsing import Record, instant
from .open_journal import open_journal

Result = dict[str, Any]


def read_journal(url: str | None, change: str | None, cluster: str | None) -> Result:
    """The result of the module: ``place``, ``changes``, ``requests`` and ``facts``, of one change or cluster if given.

    Nothing is written. Raises OptionError and JournalError.
    """
    journal = open_journal(url, read_only=True, is_required=True, warnings=[])
    entries = journal.entries()
    is_all = change is None and cluster is None
    return {
        "changed": False,
        "place": journal.place,
        "changes": [
            _change(each)
            for each in entries["changes"]
            if change in (None, each["change"]) and is_named(each["cluster"], cluster)
        ],
        "requests": [
            _request(each)
            for each in entries["requests"]
            if change in (None, each["change"]) and any(is_named(name, cluster) for name in _clusters(each))
        ],
        "facts": [{**each, "key": list(map(str, each["key"]))} for each in entries["facts"] if is_all],
    }


def is_named(identity: str, given: str | None) -> bool:
    """Whether this is the cluster that was given, by its name, its id, or both with a space; None is any."""
    name, _space, number = identity.rpartition(" ")
    return given is None or given in (identity, name, number)


def _clusters(request: Record) -> Sequence[str]:
    return [member["cluster"] for member in request["members"]] or [""]


def _change(entry: Record) -> Result:
    return {
        "change": entry["change"],
        "cluster": entry["cluster"],
        "asks_for": entry["words"],
        "at": _text_of(entry["at"]),
        "sights": [
            {
                **_member(sight),
                "at": _text_of(sight["at"]),
                "task_ids": list(sight["tasks"] or ()),
                "late": bool(sight["late"]),
            }
            for sight in entry["sights"]
        ],
    }


def _request(entry: Record) -> Result:
    same = ("number", "kind", "change", "url", "task_id", "outcome", "settled", "witnessed")
    return {
        **{key: entry[key] for key in same},
        "began": _in_utc(entry["began"]),
        "at": _text_of(entry["at"]),
        "down": [place["address"] for place in entry["places"]] if entry["takes_down"] else [],
        "until_effective": None if entry["values"] is None else json.loads(entry["values"]),
        "members": [_member(member) for member in entry["members"]],
    }


def _member(entry: Record) -> Result:
    same = {key: entry[key] for key in ("cluster", "kind", "id", "address")}
    return {**same, "start": _in_utc(entry["start"]), "pids": dict(entry["pids"]) or None}


def _in_utc(shown: str | None) -> str | None:
    """A time of the service in UTC, as precise as it was shown: a journal may be that of services in several zones."""
    found = instant(shown)
    return shown if found is None else found.astimezone(UTC).isoformat()


def _text_of(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
