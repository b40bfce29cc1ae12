# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A service whose answers a case has changed: fields of them, or the whole of one on its way."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import cycle, repeat
from typing import Any

from ansible_collections.oceanbase.ocp.tests.fuzz.hostile_values import FORMS, Value, written
from ansible_collections.oceanbase.ocp.tests.fuzz.whole_ocp import WholeOcp
from ansible_collections.oceanbase.ocp.tests.fuzz.wire import Reply, Request

Mutation = dict[str, Any]
FieldPath = tuple[str, ...]

# Before these, or after them with another status, it is not known whether a request was carried out.
MAYBE_DONE = (408, 425, 499)
QUICK_PAGES, SLOW_PAGE = 100, 0.1
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
SPECIAL = ("$nest", "$repeat", "$raw")
# Values of the documents by their form, of which a flood takes one.
DOCUMENTED_FORMS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "time": lambda value: isinstance(value, str) and re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T", value) is not None,
    "address": lambda value: isinstance(value, str) and re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", value) is not None,
    "number": lambda value: isinstance(value, int) and not isinstance(value, bool),
}
# Among what replaces values: this one stays.
KEPT = {"$kept": True}


def label(method: str, path: str) -> str:
    """The call of a request, whatever ids and names are in it."""
    return f"{method} {re.sub(r'/(?:[0-9]+|east)(?=/|$)', '/{}', path.partition('?')[0])}"


def changed(value: Any, path: FieldPath, to: Value, only: int | None) -> Any:
    """``value`` with another value at ``path``; of the elements of a list, in all or in the one at ``only``."""
    if not path:
        return to
    if isinstance(value, list):
        return [changed(item, path, to, only) if only in (None, place) else item for place, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    first, *rest = path
    if to == {"$gone": True} and not rest:
        return {key: item for key, item in value.items() if key != first}
    return {**value, first: changed(value.get(first), tuple(rest), to, only)}


def flooded(value: Any, instead: Iterator[Value], form: str, spared: list[str], key: str = "") -> Any:
    """``value`` with the next of ``instead`` in place of each of a ``form`` in it, but for those of ``spared`` keys."""
    if isinstance(value, list):
        return [flooded(item, instead, form, spared, key) for item in value]
    if isinstance(value, dict):
        return {name: flooded(item, instead, form, spared, name) for name, item in value.items()}
    other = KEPT if key in spared or not DOCUMENTED_FORMS[form](value) else next(instead)
    return value if other == KEPT else other


@dataclass
class Answer:
    """An answer on its way to the client."""

    request: Request
    status: int
    body: bytes
    forms: list[str]
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    reason: str = "OK"
    length: int | None = None
    pause: float = 0.0
    lost: bool = False
    before: Iterable[bytes] = ()
    dribble: bool = False

    def reply(self) -> Reply:
        """The bytes of it."""
        if self.lost:
            return Reply((), self.pause, cut=True)
        length = len(self.body) if self.length is None else self.length
        lines = [f"HTTP/1.1 {self.status} {self.reason}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if "Transfer-Encoding" not in self.headers:
            lines.append(f"Content-Length: {length}")
        head = "\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1", "replace")
        pieces: Iterable[bytes] = [head, self.body]
        if self.dribble:
            pieces = (bytes([byte]) for byte in head + self.body)
        return Reply(_all_of(self.before, pieces), self.pause)


def _all_of(*parts: Iterable[bytes]) -> Iterable[bytes]:
    for part in parts:
        yield from part


@dataclass
class Post:
    """A request that starts something: what it did, and what the client could learn of that."""

    path: str
    done: bool
    refused: bool
    task_id: int | None = None


class HostileService:
    """``mutations`` as in a case; ``watch`` gets the call and the envelope of each answer as it was."""

    def __init__(
        self,
        ocp: WholeOcp,
        mutations: list[Mutation],
        auth: str,
        pause: float,
        watch: Callable[[str, Any], None] = lambda _call, _envelope: None,
    ) -> None:
        self.posts: list[Post] = []
        self.highest_page = 0
        self.calls: Counter[str] = Counter()
        self.shows_failure = False
        self._ocp = ocp
        self._mutations = mutations
        self._forms = FORMS[auth]
        self._pause = pause
        self._watch = watch
        self._connections = 0

    def refuses(self) -> bool:
        """Whether the next connection is refused."""
        self._connections += 1
        return any(
            mutation.get("fault") == "refused" and mutation["when"] in (None, self._connections - 1)
            for mutation in self._mutations
        )

    def answer(self, request: Request) -> Reply:
        """The answer to a request, changed as the case says."""
        call = label(request.method, request.path)
        nth = self.calls[call]
        self.highest_page = max(self.highest_page, *map(int, re.findall(r"[?&]page=([0-9]+)", request.path)), 0)
        self.calls[call] += 1
        mutations = [mutation for mutation in self._mutations if self._applies(mutation, call, nth)]
        answer = self._answered(request, call, mutations)
        for mutation in mutations:
            if "fault" in mutation:
                FAULTS[mutation["fault"]](answer, mutation)
        self._record(answer, mutations)
        return answer.reply()

    def _applies(self, mutation: Mutation, call: str, nth: int) -> bool:
        when = mutation["when"]
        return mutation["call"] in ("*", call) and (when in (None, nth) or (when == "posted" and bool(self.posts)))

    def _answered(self, request: Request, call: str, mutations: list[Mutation]) -> Answer:
        if any(mutation.get("before") for mutation in mutations):
            status, body = 503, b"{}"
        else:
            done = len(self._ocp.posts)
            status, body = self._ocp.answer(request.method, request.path, request.body or b"{}")
            if request.method == "POST":
                self.posts.append(
                    Post(request.path.partition("?")[0], len(self._ocp.posts) > done and status == 200, refused=False)
                )
        # Of many pages time makes an end, but for those of the fault: each costs milliseconds of the processor.
        pause = self._pause if self.highest_page <= QUICK_PAGES else max(self._pause, SLOW_PAGE)
        answer = Answer(request, status, body, self._forms, pause=pause)
        if body.startswith(b"{"):
            envelope = json.loads(body)
            self._watch(call, envelope)
            changes = [mutation for mutation in mutations if "fault" not in mutation]
            for change in changes:
                if "flood" in change:
                    envelope = flooded(envelope, cycle(change["flood"]), change["form"], change["spared"])
                else:
                    envelope = changed(envelope, tuple(change["field"]), change["value"], change["only"])
            if changes:
                answer.body = written(envelope, self._forms).encode("utf-8", "surrogatepass")
        if request.method == "POST" and any(mutation.get("before") for mutation in mutations):
            self.posts.append(Post(request.path.partition("?")[0], done=False, refused=False))
        return answer

    def _record(self, answer: Answer, mutations: list[Mutation]) -> None:
        self.shows_failure |= bool(self.posts) and b"FAILED" in answer.body
        if answer.request.method != "POST":
            return
        post = self.posts[-1]
        # What a client cannot be blamed for, even if the service lies.
        envelope = _parsed(answer.body)
        status = answer.status
        if status < 400 and envelope.get("successful") is False and isinstance(envelope.get("status"), int):
            status = envelope["status"]
        post.refused = status == 429 or (
            400 <= status < 500 and status not in MAYBE_DONE and bool(envelope) and not answer.lost
        )
        broken = any("fault" in one or _is_special(one) for one in mutations)
        data = envelope.get("data")
        if answer.status == 200 and envelope.get("successful") is True and isinstance(data, dict) and not broken:
            post.task_id = _number(data.get("id"))


def _is_special(change: Mutation) -> bool:
    return any(special in json.dumps(change) for special in SPECIAL)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch("-?[0-9]{1,18}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63 else None


# The faults: each changes an answer on its way


def _status(answer: Answer, mutation: Mutation) -> None:
    answer.status = mutation["status"]


def _refusal(answer: Answer, mutation: Mutation) -> None:
    answer.status = mutation["status"]
    answer.body = written(
        {
            "successful": False,
            "status": mutation["status"],
            "error": {"code": mutation["code"], "message": mutation["message"]},
            "traceId": mutation["message"],
        },
        answer.forms,
    ).encode("utf-8", "surrogatepass")
    answer.headers |= mutation["headers"]


def _html(answer: Answer, mutation: Mutation) -> None:
    answer.status = mutation["status"]
    answer.headers["Content-Type"] = "text/html"
    answer.body = f"<html><title>{' '.join(answer.forms)}</title><script>alert(1)</script></html>".encode()


def _redirect(answer: Answer, mutation: Mutation) -> None:
    answer.status = mutation["status"]
    answer.headers["Location"] = f"https://{answer.forms[0]}:{answer.forms[-1]}@evil.test/{answer.forms[1]}"


def _truncate(answer: Answer, mutation: Mutation) -> None:
    answer.length = len(answer.body)
    answer.body = answer.body[: int(len(answer.body) * mutation["share"])]


def _lost(answer: Answer, _mutation: Mutation) -> None:
    answer.lost = True


def _bytes(answer: Answer, mutation: Mutation) -> None:
    body = bytearray(answer.body)
    for place, byte in mutation["bytes"]:
        if body:
            body[place % len(body)] = byte
    answer.body = bytes(body)


def _headers(answer: Answer, mutation: Mutation) -> None:
    answer.headers |= mutation["headers"]


def _reason(answer: Answer, mutation: Mutation) -> None:
    answer.status = mutation["status"]
    answer.reason = answer.request.headers.get("Authorization", "") + " " + answer.forms[0]


def _packed(answer: Answer, mutation: Mutation) -> None:
    answer.headers["Content-Encoding"] = mutation["encoding"]
    answer.body = gzip.compress(answer.body)


def _bomb(answer: Answer, mutation: Mutation) -> None:
    answer.headers["Content-Encoding"] = "gzip"
    answer.body = bomb(mutation["of"])


def _slow(answer: Answer, mutation: Mutation) -> None:
    answer.pause, answer.dribble = mutation["pause"], True


def _endless(answer: Answer, mutation: Mutation) -> None:
    answer.pause, answer.before = mutation["pause"], repeat(CONTINUE)


def _pages(answer: Answer, mutation: Mutation) -> None:
    envelope = _parsed(answer.body)
    if isinstance(envelope.get("data"), dict):
        envelope["data"]["page"] = {"totalPages": mutation["pages"]}
        answer.body = json.dumps(envelope).encode()
        answer.pause = mutation["pause"]


def _nothing(_answer: Answer, _mutation: Mutation) -> None:
    pass


FAULTS: dict[str, Callable[[Answer, Mutation], None]] = {
    "refused": _nothing,
    "status": _status,
    "refusal": _refusal,
    "html": _html,
    "redirect": _redirect,
    "truncate": _truncate,
    "lost": _lost,
    "bytes": _bytes,
    "headers": _headers,
    "reason": _reason,
    "packed": _packed,
    "bomb": _bomb,
    "slow": _slow,
    "endless": _endless,
    "pages": _pages,
}

# The start, a piece, how often it is repeated, and the end.
BOMBS = {
    "spaces": (b'{"successful":true,"data":', b" " * 1024**2, 450, b"null}"),
    "objects": (b'{"successful":true,"data":{"contents":[', b"{}," * 1024, 9_000, b"{}]}}"),
    "numbers": (b'{"successful":true,"data":{"contents":[{"id":[', b"0," * 1024, 15_000, b"0]}]}}"),
    "strings": (b'{"successful":true,"data":{"id":1,"log":"', b"\\u0001" * 1024, 5_000, b'"}}'),
}


@cache
def bomb(of: str) -> bytes:
    """A gzip of little length that becomes a long answer."""
    start, piece, count, end = BOMBS[of]
    packer = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    parts = [packer.compress(part) for part in _all_of((start,), repeat(piece, count), (end,))]
    return b"".join((*parts, packer.flush()))
