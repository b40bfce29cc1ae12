# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which errors of a read may mean that this version of OCP does not know the path.

See docs/contract.md, "Restart agents".
"""

from __future__ import annotations

from .._base.errors import AuthenticationFailed, RequestRefused, ResponseUnreadable, ServiceError
from .retries import TOO_MANY_REQUESTS


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
