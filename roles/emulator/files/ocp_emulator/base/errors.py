# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The errors the service answers with.

Statuses follow ocp-api.md, section 5. No public document tells the codes for an unknown, busy or otherwise unfit target
(section 0, item 6): the codes below are those of the related open-source service where it has one for the case, and our
choice where it has none (BUSY). Clients must decide by the HTTP status.
"""

from ocp_emulator.base.permissions import Permission

UNSPECIFIC = 0
ILLEGAL_ARGUMENT = 10001
NOT_FOUND = 10002
UNEXPECTED = 10010
BUSY = 10003
TASK_NOT_FOUND = 20000
INVALID_STATE = 20003
ROLLBACK_PROHIBITED = 20004
NOT_AUTHENTICATED = 30000
BAD_CREDENTIALS = 30004
LOCKED_OUT = 30007
NOT_AUTHORIZED = 30014


class ApiError(Exception):
    """A refusal: the HTTP status, and code and message of the error envelope."""

    def __init__(self, status: int, code: int, message: str) -> None:
        """All three go into the answer."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def bad_request(message: str) -> ApiError:
    """400: a parameter, the body or the URL cannot be understood."""
    return ApiError(400, UNSPECIFIC, message)


def illegal_argument(message: str) -> ApiError:
    """400: understood, and not acceptable."""
    return ApiError(400, ILLEGAL_ARGUMENT, message)


def unsupported_media_type(message: str) -> ApiError:
    """415: the body is said to be something else than JSON."""
    return ApiError(415, UNSPECIFIC, message)


def unknown_url(method: str, path: str) -> ApiError:
    """400, as the service answers for URLs and methods that it does not have."""
    return bad_request(f"There is no {method} {path}.")


def missing_credentials() -> ApiError:
    """401: nobody has logged on."""
    return ApiError(401, NOT_AUTHENTICATED, "This call needs credentials, and none were sent.")


def bad_credentials(message: str) -> ApiError:
    """401: somebody tried to log on in vain."""
    return ApiError(401, BAD_CREDENTIALS, message)


def locked_out(kind: str, name: str, until: str) -> ApiError:
    """401: too many wrong passwords came from this user or client."""
    message = f"Too many wrong passwords: {kind} {name} is locked until {until}."
    return ApiError(401, LOCKED_OUT, message)


def too_many_requests() -> ApiError:
    """429: the user has used up what a window of time allows."""
    return ApiError(429, UNSPECIFIC, "Too many requests: no call is left to this user in the present window of time.")


def forbidden(user: str, permission: Permission) -> ApiError:
    """403: the caller is known and may not do this."""
    return ApiError(403, NOT_AUTHORIZED, f"User {user} lacks the permission {permission} that this call needs.")


def task_not_found(task_id: int) -> ApiError:
    """404 for a task."""
    return ApiError(404, TASK_NOT_FOUND, f"There is no task {task_id}.")


def subtask_not_found(task_id: int, subtask_id: int) -> ApiError:
    """404 for a subtask."""
    return ApiError(404, TASK_NOT_FOUND, f"Task {task_id} has no subtask {subtask_id}.")


def invalid_state(state: str, operation: str) -> ApiError:
    """400: a task or subtask is in a state that does not allow this; `state` begins the sentence."""
    return ApiError(400, INVALID_STATE, f"{state}, which does not allow to {operation} it.")


def rollback_prohibited(task_id: int) -> ApiError:
    """400: the task, or something that it has done, forbids its rollback."""
    return ApiError(
        400, ROLLBACK_PROHIBITED, f"Task {task_id} has gone beyond the point up to which it can be rolled back."
    )


def not_found(what: str) -> ApiError:
    """404 for anything else; `what` begins the sentence: "Cluster 7"."""
    return ApiError(404, NOT_FOUND, f"{what} does not exist.")


def busy(what: str, task_id: int, task_name: str, task_status: str) -> ApiError:
    """409: something else is being done to the target; `what` begins the sentence: "Server 3"."""
    return ApiError(409, BUSY, occupied_message(what, task_id, task_name, task_status))


def occupied_message(what: str, task_id: int, task_name: str, task_status: str) -> str:
    """The sentence that tells who has the target in hand."""
    so_far = "has failed and can be retried or rolled back" if task_status == "FAILED" else "has not finished"
    return f"{what} is occupied by task {task_id} ({task_name}), which {so_far}."


def internal_error() -> ApiError:
    """500; what went wrong is in the emulator's own log only."""
    return ApiError(500, UNEXPECTED, "The emulator failed to handle this request; its log tells why.")
