# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""All errors of the collection, as one small tree.

The text is for the user: what happened, to what, and what to do next. The failed module result also has ``facts``.
"""

from __future__ import annotations

import traceback
from typing import Any

from .text import escape_lines


class OcpError(Exception):
    """Base of every error that the collection raises on purpose. What is not printable in its text is escaped.

    ``facts`` are keys of the failed result, such as ``task_id`` or ``trace_id``.
    """

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(escape_lines(message))
        self.facts: dict[str, Any] = facts

    def prepend(self, words: str) -> None:
        """Put in front what was being done, for readers who do not know the request."""
        self.args = (escape_lines(f"{words} {self}"),)

    def append(self, words: str) -> None:
        """Put at the end what else is known."""
        self.args = (escape_lines(f"{self} {words}"),)


class OptionError(OcpError):
    """The value of an option cannot be used; nothing was sent."""


class TargetError(OcpError):
    """A name or id matches nothing, or more than one thing; nothing was restarted."""


class ServiceError(OcpError):
    """A request failed.

    ``may_have_run``: the service may have carried it out.
    """

    def __init__(self, message: str, *, url: str, trace_id: str | None = None, may_have_run: bool = False) -> None:
        super().__init__(message, url=url, trace_id=trace_id)
        self.may_have_run = may_have_run


class ConnectionFailed(ServiceError):
    """The request was not sent: no connection, unknown host, untrusted TLS."""


class ResponseLost(ServiceError):
    """The request was sent, but no complete response arrived: time-out, reset, cut off."""


class ResponseUnreadable(ServiceError):
    """The response is not JSON, is not an envelope, or lacks the documented data."""


class RequestRefused(ServiceError):
    """The service answered with an error; ``status`` is the HTTP status, ``reason`` the service's message.

    ``state_decides`` is false where its error code says that the state of a target is not the cause.
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
        state_decides: bool = True,
    ) -> None:
        super().__init__(message, url=url, trace_id=trace_id, may_have_run=may_have_run)
        self.status = status
        self.reason = reason
        self._state_decides = state_decides

    @property
    def may_be_due_to_state(self) -> bool:
        """Whether the state of a target may be the cause, not credentials, permissions, an id or a broken service."""
        return self._state_decides and self.status < 500 and self.status not in (401, 403, 404, 429)


class CredentialsRefused(RequestRefused):
    """The credentials were rejected; retrying only locks the account."""


class AuthenticationFailed(CredentialsRefused):
    """401."""


class PermissionDenied(CredentialsRefused):
    """403."""


class NotFound(RequestRefused):
    """404."""


class TargetBusy(OcpError):
    """Another task works on the target, and ``in_flight`` allows neither joining nor waiting; nothing was sent."""


class OutcomeUnknown(OcpError):
    """A request was sent, its response was lost, and its outcome is unknown. It is not sent again."""


class StateError(OcpError):
    """The service would refuse the action in the current state of the task; nothing was sent."""


class TaskError(OcpError):
    """A task did not end as expected."""


class TaskFailed(TaskError):
    """A task ended FAILED, or was rolled back and ended SUCCESSFUL.

    ``at_first_step``: it FAILED before it changed anything.
    """

    def __init__(self, message: str, *, at_first_step: bool = False, **facts: Any) -> None:
        super().__init__(message, **facts)
        self.at_first_step = at_first_step


class WaitTimeout(TaskError):
    """A task was still running after ``wait_timeout``. It continues in the service."""


class NotVerified(TaskError):
    """The task was successful, but something it should have restarted did not restart."""


class NotRolledBack(TaskError):
    """The task should have been rolled back, but it was retried and ended SUCCESSFUL."""


class NotHealthy(OcpError):
    """A cluster was still not healthy after ``wait_timeout``. Nothing was done to it."""


class ModuleCrashed(OcpError):
    """A bug in the module. The facts of its result, such as the id of a task that runs, are kept."""

    def __init__(self, error: Exception, **facts: Any) -> None:
        message = f"The module crashed, which is a fault of its own: {type(error).__name__}: {error}"
        super().__init__(message, exception="".join(traceback.format_exception(error)), **facts)
