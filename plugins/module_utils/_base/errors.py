# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What can go wrong, as one small tree.

The text of an error is what the user reads: what happened, on what, and what to do next. ``facts`` is what the failed
module result carries beside it.
"""

from __future__ import annotations

from typing import Any


class OcpError(Exception):
    """Base of every error this collection raises on purpose.

    ``facts`` are keys of the failed result, such as ``task_id`` or ``trace_id``.
    """

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts: dict[str, Any] = facts

    def prepend(self, words: str) -> None:
        """Put first what was being done, for those who do not know the call."""
        self.args = (f"{words} {self}",)

    def append(self, words: str) -> None:
        """Put last what is known besides."""
        self.args = (f"{self} {words}",)


class OptionError(OcpError):
    """An option has a value that cannot be used; nothing was sent."""


class TargetError(OcpError):
    """A name or id matches nothing, or more than one thing; nothing was restarted."""


class ServiceError(OcpError):
    """A request did not bring what was asked for.

    ``may_have_run`` tells whether the service may have carried out the request all the same.
    """

    def __init__(self, message: str, *, url: str, trace_id: str | None = None, may_have_run: bool = False) -> None:
        super().__init__(message, url=url, trace_id=trace_id)
        self.may_have_run = may_have_run


class ConnectionFailed(ServiceError):
    """The request never left: no connection, no such host, no trusted TLS."""


class ResponseLost(ServiceError):
    """The request left, its answer did not arrive: time-out, reset, cut off."""


class ResponseUnreadable(ServiceError):
    """The answer is no JSON, no envelope, or has no such data."""


class RequestRefused(ServiceError):
    """The service answered with an error status; ``status`` is the HTTP status, ``reason`` the service's own words."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        reason: str,
        url: str,
        trace_id: str | None = None,
        may_have_run: bool = False,
    ) -> None:
        super().__init__(message, url=url, trace_id=trace_id, may_have_run=may_have_run)
        self.status = status
        self.reason = reason

    @property
    def may_be_due_to_state(self) -> bool:
        """Whether it may be due to the state of a target: not to credentials, rights, an id, or an unwell service."""
        return self.status < 500 and self.status not in (401, 403, 404, 429)


class CredentialsRefused(RequestRefused):
    """These credentials do not do, however often they ask; asking over and over locks the account."""


class AuthenticationFailed(CredentialsRefused):
    """401."""


class PermissionDenied(CredentialsRefused):
    """403."""


class NotFound(RequestRefused):
    """404."""


class TargetBusy(OcpError):
    """Something else works on the target, and ``in_flight`` does not allow to join it or to wait; nothing was sent."""


class OutcomeUnknown(OcpError):
    """A request was sent, its answer was lost, and nothing shows whether it was done. It is not sent again."""


class StateError(OcpError):
    """A task is in a state in which the service would refuse what is asked for; nothing was sent."""


class TaskError(OcpError):
    """A task did not come to the end that was waited for."""


class TaskFailed(TaskError):
    """A task ended FAILED, or ended SUCCESSFUL by being rolled back.

    ``at_first_step`` tells that it FAILED before it did anything.
    """

    def __init__(self, message: str, *, at_first_step: bool = False, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.at_first_step = at_first_step


class WaitTimeout(TaskError):
    """A task was still running when ``wait_timeout`` was used up. It goes on running in the service."""


class NotVerified(TaskError):
    """The task was successful, but what it should have restarted has not restarted."""


class NotRolledBack(TaskError):
    """A rollback was waited for, and the task ended SUCCESSFUL by going forwards."""


class NotHealthy(OcpError):
    """A cluster was not healthy when ``wait_timeout`` was used up. Nothing was done to it."""
