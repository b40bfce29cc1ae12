# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which answers are kept for a recording, and how they are written: docs/ocp-check.md, "A recording"."""

from __future__ import annotations

import re
from typing import Any

from .._base.parsing import Record
from .._masking.mask_answers import Clean, masked
from .._ocp.session import Answered

FORMAT, FORMAT_VERSION = "recording of an OCP", 1
MOST_BYTES = 16 * 1024 * 1024
_ID = re.compile(r"(?<=/)\d+(?=/|$)")
_FORMS = ("json", "html", "text")
# Counted, kept as they are, and words, in which only documented ones stay.
_COUNTS = ("page", "size")


class Recorder:
    """Keeps the last answer to each path and query, MOST_BYTES in all."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Answered] = {}
        self._bytes = 0
        self.dropped = 0

    def take(self, answered: Answered) -> None:
        """Keep one answer, unless the recording would become too large."""
        key = (answered.path, repr(answered.query))
        before = self._kept.pop(key, None)
        self._bytes += answered.body.size - (0 if before is None else before.body.size)
        if self._bytes > MOST_BYTES:
            self._bytes -= answered.body.size
            self.dropped += 1
            return
        self._kept[key] = answered

    def __len__(self) -> int:
        return len(self._kept)

    def document(self, clean: Clean, recorded_at: str, left_out: dict[str, int]) -> Record:
        """The recording, masked. ``clean`` removes the secrets of the connection."""
        answers = list(self._kept.values())
        shown = masked([_payload(answered) for answered in answers], clean)
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "recorded_at": recorded_at,
            "left_out": left_out,
            "answers": [_written(answered, each) for answered, each in zip(answers, shown, strict=True)],
        }


def _payload(answered: Answered) -> Record:
    """What has to be masked of an answer; ids of the path and of the query are numbers."""
    counts = {name: value for name, value in answered.query.items() if name in _COUNTS}
    others = {name: value for name, value in answered.query.items() if name not in _COUNTS}
    return {
        "ids": [int(number) for number in _ID.findall(answered.path)],
        "status": answered.status,
        "page": counts,
        "values": [{"message": value} if isinstance(value, str) else {"id": value} for value in others.values()],
        _things(answered.path): {"data": answered.body.value},
    }


def _things(path: str) -> str:
    """What a path lists, for the kind of the names in its answer."""
    return next((word for word in reversed(path.split("/")) if word.isalpha()), "data")


def _written(answered: Answered, shown: Record) -> Record:
    ids = iter(shown["ids"])
    names = [name for name in answered.query if name not in _COUNTS]
    values: list[Any] = [next(iter(each.values())) for each in shown["values"]]
    return {
        "path": _ID.sub(lambda _match: str(next(ids)), answered.path),
        "query": {**dict(zip(names, values, strict=True)), **shown["page"]},
        "status": shown["status"],
        "form": _form(answered),
        "body": shown[_things(answered.path)]["data"],
    }


def _form(answered: Answered) -> str:
    if answered.body.value is not None:
        return "json"
    if not answered.body.size:
        return "empty"
    return next((form for form in _FORMS[1:] if form in answered.content_type), "other")
