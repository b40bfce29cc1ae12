# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which errors of a read may mean that this version of OCP does not have the path, or that the user may not read it.

See docs/dev/contract.md, "Restart agents".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

from .._base.errors import (
    AuthenticationFailed,
    NotFound,
    PermissionDenied,
    RequestRefused,
    ResponseUnreadable,
    ServiceError,
)
from .retries import TOO_MANY_REQUESTS

Found = TypeVar("Found")

# Statuses of a service that does not have the call, or not for this user.
NOT_THERE = (400, 403, 404, 405, 501)


def if_shown(read: Callable[[], Found], without: Callable[[RequestRefused | ResponseUnreadable], None]) -> Found | None:
    """The result of ``read``; None, after ``without`` got the error, if the service has none, or not for this user.

    Raises any other ServiceError.
    """
    try:
        try:
            return read()
        except ResponseUnreadable:
            # Of a proxy in between, or of a service that answers an unknown path with a page.
            return read()
    except (RequestRefused, ResponseUnreadable) as error:
        if not _is_not_there(error):
            raise
        without(error)
        return None


def _is_not_there(error: RequestRefused | ResponseUnreadable) -> bool:
    if isinstance(error, ResponseUnreadable):
        # What OCP answers is there, also if it cannot be read to its end.
        return not error.has_envelope
    is_refused = isinstance(error, (NotFound, PermissionDenied)) or error.status in NOT_THERE
    path = urlsplit(str(error.facts.get("url"))).path
    return is_refused or (path != "" and names_path(error, path))


def may_be_unknown_path(error: RequestRefused | ResponseUnreadable) -> bool:
    """Whether this may be the answer to a read of an unknown path: almost any status, or no envelope."""
    return not isinstance(error, AuthenticationFailed) and status_of(error) != TOO_MANY_REQUESTS


def may_be_passing(error: ServiceError) -> bool:
    """Whether the same read may succeed later."""
    return (status_of(error) or 0) >= 500


def names_path(error: ServiceError, path: str) -> bool:
    """Whether an error is about the path itself, not about what is below it."""
    return not isinstance(error, RequestRefused) or path in error.reason


def status_of(error: ServiceError) -> int | None:
    """The status of a refusal; None for any other error."""
    return error.status if isinstance(error, RequestRefused) else None
