# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Every class of error: when it is raised, which facts it carries, how its text is built and escaped.

The text is for the user: what happened, to what, and what to do next. The failed module result also has ``facts``.
"""

from __future__ import annotations

import traceback
from typing import Any

from .text import escape_lines


class OcpError(Exception):
    """Base of every error that the collection raises on purpose.

    Its parts stay apart until it is shown as text: ``context`` is what the module was doing, the outermost first, for
    readers who do not know the request; then what happened; ``advice`` is what to do next. Unprintable characters are
    escaped. ``facts`` are keys of the failed result, such as ``task_id`` or ``trace_id``. ``left_as_it_was``: a restart
    was not begun since something does not allow it now, and nothing is known to be wrong with the target.
    """

    left_as_it_was = False

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.context: list[str] = []
        self.message = message
        self.advice: list[str] = []
        self.facts: dict[str, Any] = facts

    def __str__(self) -> str:
        return escape_lines(" ".join([*self.context, self.message, *self.advice]))

    @property
    def what(self) -> str:
        """The text without advice, for callers that the error did not stop."""
        return escape_lines(" ".join([*self.context, self.message]))

    def replace_text(self, text: str) -> None:
        """Show this text instead of all parts, such as one without secrets."""
        self.args = (text,)
        self.context, self.message, self.advice = [], text, []

    def add_context(self, words: str) -> None:
        """Add what was being done when this happened."""
        self.context.insert(0, words)

    def add_advice(self, words: str) -> None:
        """Add what else to do next."""
        self.advice.append(words)


_ATTACHED = "ocp_facts"


def attach_facts(interruption: BaseException, facts: dict[str, Any]) -> None:
    """Attach the result so far to an exception that is not ours, such as Ctrl-C or Ansible's time-out."""
    vars(interruption)[_ATTACHED] = facts


def attached_facts(interruption: BaseException) -> dict[str, Any]:
    """The result so far; empty if none was attached."""
    facts: dict[str, Any] = vars(interruption).get(_ATTACHED, {})
    return facts


class OptionError(OcpError):
    """The value of an option cannot be used; nothing was sent."""


class PlanChanged(OcpError):
    """What an approved plan rests on has changed since; nothing was sent."""

    left_as_it_was = True


class NameTaken(OptionError):
    """The name of a change stands for another wish already; nothing was sent."""


class JournalError(OcpError):
    """The journal cannot be read or written; nothing is sent where at-most-once rests on it."""


class TargetError(OcpError):
    """A name or id matches nothing, or more than one thing; nothing was restarted."""


class ServiceError(OcpError):
    """A request failed.

    ``may_have_run``: the service may have carried it out. ``has_envelope`` is false if the response has no envelope, so
    it may not come from an OCP.
    """

    has_envelope = True

    def __init__(
        self, message: str, *, url: str, trace_id: str | None = None, may_have_run: bool = False, advice: str = ""
    ) -> None:
        super().__init__(message, url=url, trace_id=trace_id)
        self.advice = [advice] if advice else []
        self.may_have_run = may_have_run

    def without_envelope(self) -> ServiceError:
        """The same error, for a response that has no envelope."""
        self.has_envelope = False
        return self


class ConnectionFailed(ServiceError):
    """The request was not sent: no connection, unknown host, untrusted TLS."""


class Halted(ServiceError):
    """The request was not sent: the credentials were rejected for another request of the run, or the run is over."""

    left_as_it_was = True


class ResponseLost(ServiceError):
    """The request was sent, but no complete response arrived: time-out, reset, cut off."""


class ResponseUnreadable(ServiceError):
    """The response is not JSON, is not an envelope, or lacks the documented data."""


class WrongRecord(ResponseUnreadable):
    """The response is a record of another object than the one requested."""


class RequestRefused(ServiceError):
    """The service answered with an error; ``status`` is the HTTP status, ``reason`` the service's message.

    ``state_decides`` is false if its error code says that the state of a target is not the cause. ``is_busy`` is true
    if the code or the status says that another task works on the target.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        reason: str,
        url: str,
        trace_id: str | None = None,
        may_have_run: bool = False,
        advice: str = "",
        state_decides: bool = True,
        is_busy: bool = False,
    ) -> None:
        super().__init__(message, url=url, trace_id=trace_id, may_have_run=may_have_run, advice=advice)
        self.status = status
        self.reason = reason
        self._state_decides = state_decides
        self.is_busy = is_busy

    @property
    def may_be_due_to_state(self) -> bool:
        """Whether the state of the target may be the cause, not credentials, permissions, an id or a broken service."""
        return self._state_decides and self.status < 500 and self.status not in (401, 403, 404, 429)


class CredentialsRefused(RequestRefused):
    """The credentials were rejected; retrying only locks the account."""


class AuthenticationFailed(CredentialsRefused):
    """401."""


class PermissionDenied(CredentialsRefused):
    """403."""


class NotFound(RequestRefused):
    """404 of OCP itself: it does not have the record, or a replica of it does not yet."""


class PageNotFound(RequestRefused):
    """404 without an OCP envelope, as of a proxy or another service: it says nothing about a record."""


class RateLimited(RequestRefused):
    """429; ``retry_after`` is how many seconds it asks to wait, None if it does not say.

    A POST is not repeated after it: somebody else may have done the same meanwhile.
    """

    retry_after: float | None = None


class TargetBusy(OcpError):
    """Another task works on the target, and ``in_flight`` allows neither joining nor waiting; nothing was sent."""

    left_as_it_was = True


class TargetHeld(TargetBusy):
    """A FAILED task holds the target until a person retries it or rolls it back; nothing was sent."""

    left_as_it_was = False


class NotSafe(OcpError):
    """Tenants would lose voters that they need, or there are signs of trouble that stop it; nothing was sent."""


class ChangeStopped(OcpError):
    """Too much of a change has failed elsewhere, so nothing more of it begins."""

    left_as_it_was = True


class OutcomeUnknown(OcpError):
    """A request was sent, its response was lost, and its outcome is unknown. It is not sent again.

    ``details`` is the message without what it begins and ends with, for one that is about many requests.
    """

    details = ""


class StateError(OcpError):
    """The service would refuse the action in the current state of the task; nothing was sent."""


class TaskError(OcpError):
    """A task did not end as expected."""


class TaskFailed(TaskError):
    """A task ended FAILED or with an undocumented status, or was rolled back and ended SUCCESSFUL.

    ``at_first_step``: it FAILED before it changed anything. ``whole_tasks`` are for a report, if the facts have none.
    """

    def __init__(self, message: str, *, at_first_step: bool = False, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.at_first_step = at_first_step
        self.whole_tasks: list[dict[str, Any]] = []


class WaitTimeout(TaskError):
    """A task was still running after ``wait_timeout``. It continues in the service."""


class NotVerified(TaskError):
    """The task was successful, but something it should have restarted did not restart."""


class NotRolledBack(TaskError):
    """The task should have been rolled back, but it was retried and ended SUCCESSFUL."""


class NotHealthy(OcpError):
    """A cluster was still not healthy after ``wait_timeout``. Nothing was done to it."""


class OfflineTimeRaised(OcpError):
    """How long a server may be offline was raised for a run, and is not shown to be what it was before."""


class NotAllRestarted(OcpError):
    """Some of many servers restarted side by side were not restarted, or are not proven to be."""


class ModuleCrashed(OcpError):
    """A bug in the module. It keeps the facts of the result, such as the id of a running task."""

    def __init__(self, error: Exception, **facts: Any) -> None:
        message = f"The module crashed; this is a bug in the module: {type(error).__name__}: {error}"
        super().__init__(message, exception="".join(traceback.format_exception(error)), **facts)
