# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which answers to a read may mean that this version of the service does not know the path."""

from __future__ import annotations

from .._base.errors import AuthenticationFailed, RequestRefused, ResponseUnreadable, ServiceError
from .retries import TOO_MANY_REQUESTS


def may_be_unknown_path(error: RequestRefused | ResponseUnreadable) -> bool:
    """Whether this may be the answer to a read of an unknown path: almost any status, or no envelope."""
    return not isinstance(error, AuthenticationFailed) and getattr(error, "status", None) != TOO_MANY_REQUESTS


def may_be_passing(error: ServiceError) -> bool:
    """Whether the service may have failed for the moment only."""
    return (getattr(error, "status", None) or 0) >= 500


def names_path(error: ServiceError, path: str) -> bool:
    """Whether a refusal names the path that it does not know; what is no envelope does in its way."""
    return not isinstance(error, RequestRefused) or path in error.reason
