# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""One read after another; each failure is a row. Which failures end the check: 401, 429, silence, or no OCP."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from .._base.errors import (
    AuthenticationFailed,
    ConnectionFailed,
    PermissionDenied,
    RateLimited,
    RequestRefused,
    ResponseLost,
    ServiceError,
)
from .._ocp.service_reads import ServiceReads
from .._ocp.unknown_path import status_of
from .findings import Answer, Findings, Read, Verdict

Found = TypeVar("Found")

ASIDE = "aside"
# Each may take the whole time-out of a request.
MOST_SILENCES = 2
UNKNOWN_PATHS = (400, 404, 405)
# From a proxy whose service is down.
OF_A_PROXY = (502, 503, 504)
IN_WORDS = {
    Verdict.NO_OCP: "what answers is not an OCP",
    Verdict.UNREACHABLE: "the service does not answer",
    Verdict.CREDENTIALS_REFUSED: "the credentials were refused",
    Verdict.RATE_LIMITED: "the request limit is used up",
}


class Interview:
    """Reads from one service, and records the results in ``findings``."""

    def __init__(self, reads: ServiceReads) -> None:
        self.reads = reads
        self.findings = Findings(reads.service_clock, reads.user)
        self._silences = 0
        self._failures: dict[str, ServiceError] = {}

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be asked."""
        return self.findings.verdict is not Verdict.CHECKED

    def ask(self, name: str, read: Callable[[], Found], *, public: bool = False) -> Found | None:
        """The result of ``read``; None if it failed, or was not requested.

        ``public``: it is sent without credentials.
        """
        if self.is_over:
            self.skip(name, "")
            return None
        try:
            found = read()
        except ServiceError as error:
            self._note_failure(name, error, public=public)
            return None
        self._silences = 0
        self._note(Read(name, self.reads.last_path, Answer.OK, trace_id=self.reads.trace_id))
        return found

    def skip(self, name: str, why: str) -> None:
        """Note that something was not asked, and why, unless the check is over."""
        words = IN_WORDS.get(self.findings.verdict, why)
        self._note(Read(name, None, Answer.SKIPPED, why=words))

    def skip_all(self, names: Iterable[str], why: str) -> None:
        """Note the same of several reads."""
        for name in names:
            self.skip(name, why)

    def ask_aside(self, read: Callable[[], Found]) -> tuple[Found | None, Read]:
        """The result of ``read`` and its outcome, without a row."""
        found = self.ask(ASIDE, read)
        return found, self.findings.reads.pop(ASIDE)

    def end_unless_ocp(self, *names: str) -> None:
        """End the check if none of these reads got the answer of an OCP."""
        failures = [self._failures.get(name) for name in names]
        if self.is_over or any(error is None or error.has_envelope for error in failures):
            return
        if all(status_of(error) in OF_A_PROXY for error in failures if error is not None):
            self._end(Verdict.UNREACHABLE, str(failures[-1]))
            return
        paths = " and ".join(str(self.findings.reads[name].path) for name in names)
        self._end(
            Verdict.NO_OCP,
            f"What answers at {self.reads.url} is not an OCP: the answers to GET {paths} have no OCP envelope. "
            "Check that url is the address of the OCP itself, with its port, not of another service or of a proxy.",
        )

    def _note(self, read: Read) -> None:
        self.findings.reads[read.name] = read

    def _end(self, verdict: Verdict, message: str) -> None:
        self.findings.verdict, self.findings.message = verdict, message

    def _note_failure(self, name: str, error: ServiceError, *, public: bool) -> None:
        self._failures[name] = error
        answer = _answer_of(error)
        words = "not without credentials (401)" if public and status_of(error) == 401 else _few_words(error, answer)
        trace_id = error.facts.get("trace_id")
        self._note(Read(name, self.reads.last_path, answer, status_of(error), words, error.what, trace_id))
        is_silence = isinstance(error, (ConnectionFailed, ResponseLost))
        self._silences = self._silences + 1 if is_silence else 0
        if isinstance(error, AuthenticationFailed) and not public:
            self._end(Verdict.CREDENTIALS_REFUSED, _refusal_words(error))
        elif isinstance(error, RateLimited):
            self._end(Verdict.RATE_LIMITED, str(error))
        elif isinstance(error, ConnectionFailed) or self._silences == MOST_SILENCES:
            self._end(Verdict.UNREACHABLE, str(error))


def _refusal_words(error: AuthenticationFailed) -> str:
    if error.has_envelope:
        return str(error)
    return f"{error} The answer is not an OCP response envelope, so a proxy in front of the OCP may have refused it."


def _answer_of(error: ServiceError) -> Answer:
    status = status_of(error)
    if isinstance(error, PermissionDenied):
        return Answer.FORBIDDEN
    if status in UNKNOWN_PATHS:
        return Answer.ABSENT
    # A page, or a redirect to one.
    return Answer.ABSENT if status is None and not error.has_envelope else Answer.FAILED


def _few_words(error: ServiceError, answer: Answer) -> str:
    status = status_of(error)
    if answer is Answer.FORBIDDEN:
        return f"no permission ({status})"
    if isinstance(error, RateLimited):
        return "request limit used up (429)"
    if isinstance(error, AuthenticationFailed):
        return "credentials refused (401)"
    if answer is Answer.ABSENT:
        return "no answer of an OCP" if status is None else f"no such call ({status})"
    if isinstance(error, RequestRefused):
        return f"status {status}" + (f": {error.reason}" if error.reason else "")
    if isinstance(error, ConnectionFailed):
        return "no connection"
    return "no whole answer in time" if isinstance(error, ResponseLost) else "not of the documented form"
