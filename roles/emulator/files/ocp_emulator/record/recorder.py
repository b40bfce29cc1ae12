# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is kept of a request and its answer, and which differences from the contract are told, each of them once."""

import json
import re
from collections.abc import Callable
from typing import Any, TextIO
from urllib.parse import parse_qsl, unquote

from ocp_emulator.record.contract import Call, Contract
from ocp_emulator.record.differences import differences
from ocp_emulator.record.mask import Mask
from ocp_emulator.record.upstream import Answer
from ocp_emulator.recordings.exchange_file import Exchange, Form

_WAITS = ("retry-after", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset")
_NUMBER = re.compile(r"\d{1,10}")


class Recorder:
    """Writes exchanges to a file, without secrets, as they come."""

    def __init__(self, contract: Contract, file: TextIO, tell: Callable[[str], None]) -> None:
        """`tell` gets a line for each difference."""
        self._contract = contract
        self._file = file
        self._tell = tell
        self._mask = Mask(contract)
        self._told: set[str] = set()
        self.count = 0

    @property
    def differences(self) -> int:
        """How many were told."""
        return len(self._told)

    def add(self, method: str, path: str, query: str, body: bytes, answer: Answer) -> None:
        """Keep a request, its path and query still encoded, and the answer to it."""
        call = self._contract.call(method, unquote(path))
        form, content = _content(answer)
        asked = _json(body)
        masked = Exchange(
            method=method,
            path=self._mask.path(path, call),
            query=self._mask.query(parse_qsl(query, keep_blank_values=True), call),
            body=self._mask.value(asked, call.body if call else None, "body"),
            status=answer.status,
            headers={name: value for name in _WAITS if _NUMBER.fullmatch(value := answer.header(name))},
            form=form,
            answer=self._mask.value(content, self._contract.answer(call, answer.status), "answer"),
        )
        self._file.write(f"{masked.model_dump_json()}\n")
        self._file.flush()
        self.count += 1
        self._compare(method, masked.path, call, answer.status, form, content)

    def _compare(self, method: str, path: str, call: Call | None, status: int, form: Form, content: Any) -> None:
        if call is None:
            self._note(f"{method} {path}: not documented")
            return
        what = f"{method} {call.template} {status}"
        if form != "json":
            if form != "text" or "200" not in call.answers or call.answers["200"] is not None:
                self._note(f"{what}: the answer is {form}, documented as JSON")
            return
        for each in differences(content, self._contract.answer(call, status), self._contract, self._mask.word):
            self._note(f"{what}: {each}")

    def _note(self, line: str) -> None:
        if line not in self._told:
            self._told.add(line)
            self._tell(line)


def _content(answer: Answer) -> tuple[Form, Any]:
    """The form of an answer, and its JSON."""
    if not answer.body:
        return "empty", None
    kind = answer.header("content-type").partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json") or not kind:
        try:
            return "json", json.loads(answer.body)
        except (ValueError, RecursionError):
            return "other", None
    if kind.startswith("text/"):
        return ("html" if kind == "text/html" else "text"), None
    return "other", None


def _json(body: bytes) -> Any:
    """The JSON of a request; of another body, its kind."""
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return "a body that is no JSON"
