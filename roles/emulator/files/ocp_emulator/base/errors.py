# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The errors of the service: HTTP status, error code and message of each.

Statuses and codes are those of docs/dev/contract.md, "Errors and statuses". A code is the digits of the documented one,
as a number: OBE19012 is 19012. If none is documented, it is the code of the related open-source service, or 0 if that
has none either. Digits are ambiguous below 11000, so clients must decide by the HTTP status.
"""

UNSPECIFIC = 0
# Of the related service.
ILLEGAL_ARGUMENT = 10001
NOT_FOUND = 10002
UNEXPECTED = 10010
NOT_AUTHENTICATED = 30000
UNIT_REQUIRED = 50005
# OBE.
CLUSTER_STATE = 11008
CLUSTER_BUSY = 11020
MAJORITY_LOST = 11070
CLUSTER_NOT_CONNECTED = 11102
NO_SUCH_ZONE = 18002
ZONE_STATE = 18005
ZONE_BUSY = 18008
NO_SUCH_SERVER = 19001
SERVER_STATE = 19004
SERVER_BUSY = 19012
ONLY_SERVER = 19020
# CMP.
NO_SUCH_HOST = 7013
AGENT_STATE = 7019
# TSK.
TASK_NOT_FOUND = 10001
INVALID_STATE = 10007
ROLLBACK_PROHIBITED = 10009
# COM and IAM.
NOT_AUTHORIZED = 10009
LOCKED_OUT = 10003
BAD_CREDENTIALS = 10004


class ApiError(Exception):
    """An error response: the HTTP status, and code and message of the error envelope."""

    def __init__(self, status: int, code: int, message: str) -> None:
        """All three are in the response."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


def bad_request(message: str) -> ApiError:
    """400: a parameter, the body or the URL is invalid."""
    return ApiError(400, UNSPECIFIC, message)


def illegal_argument(message: str) -> ApiError:
    """400: a valid parameter has a value that is not accepted."""
    return ApiError(400, ILLEGAL_ARGUMENT, message)


def unit_required(message: str) -> ApiError:
    """400: a capacity has no unit."""
    return ApiError(400, UNIT_REQUIRED, message)


def cluster_not_connected(cluster: str) -> ApiError:
    """400: no server of the cluster answers."""
    return ApiError(400, CLUSTER_NOT_CONNECTED, f"Cluster {cluster} cannot be connected: none of its servers answers.")


def too_large(limit: int) -> ApiError:
    """413: the body is longer than this many bytes."""
    return ApiError(413, UNSPECIFIC, f"The body is larger than {limit} bytes.")


def unsupported_media_type(message: str) -> ApiError:
    """415: the Content-Type of the body is not JSON."""
    return ApiError(415, UNSPECIFIC, message)


def unknown_url(status: int, method: str, path: str) -> ApiError:
    """A URL or method that the service does not have; a switch decides which `status` it answers."""
    return ApiError(status, UNSPECIFIC, f"There is no {method} {path}.")


def missing_credentials() -> ApiError:
    """401: there are no credentials."""
    return ApiError(401, NOT_AUTHENTICATED, "This call needs credentials, and none were sent.")


def bad_credentials(message: str) -> ApiError:
    """401: the credentials are wrong."""
    return ApiError(401, BAD_CREDENTIALS, message)


def locked_out(kind: str, name: str, until: str) -> ApiError:
    """401: this user or client sent too many wrong passwords."""
    message = f"Too many wrong passwords: {kind} {name} is locked until {until}."
    return ApiError(401, LOCKED_OUT, message)


def too_many_requests() -> ApiError:
    """429: the user sent as many requests as the window of time allows."""
    return ApiError(429, UNSPECIFIC, "Too many requests: this user has used up the calls of the current time window.")


def forbidden(user: str, permission: str) -> ApiError:
    """403: the caller lacks the permission."""
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
    """400: the task, or something that it did, prohibits its rollback."""
    return ApiError(
        400, ROLLBACK_PROHIBITED, f"Task {task_id} has gone beyond the point up to which it can be rolled back."
    )


def not_found(label: str) -> ApiError:
    """404 for objects without a code of their own; `label` begins the sentence: "Cluster 7"."""
    return ApiError(404, NOT_FOUND, f"{label} does not exist.")


def no_such_zone(label: str) -> ApiError:
    """404 for a zone."""
    return ApiError(404, NO_SUCH_ZONE, f"{label} does not exist.")


def no_such_server(label: str) -> ApiError:
    """404 for a server."""
    return ApiError(404, NO_SUCH_SERVER, f"{label} does not exist.")


def no_such_host(label: str) -> ApiError:
    """404 for a host."""
    return ApiError(404, NO_SUCH_HOST, f"{label} does not exist.")


def busy(code: int, label: str, task_id: int, task_name: str, task_status: str) -> ApiError:
    """409: another task occupies the target; `label` begins the sentence: "Server 3"."""
    return ApiError(409, code, occupied_message(label, task_id, task_name, task_status))


def wrong_state(code: int, label: str, status: str, needed: str) -> ApiError:
    """400: the target is in a state that does not allow the operation; `label` begins the sentence: "Server 3"."""
    return ApiError(400, code, f"{label} is {status}: this operation needs {needed}.")


def only_server(label: str) -> ApiError:
    """400: the only server of a cluster cannot be stopped; `label` begins the sentence."""
    return ApiError(400, ONLY_SERVER, f"{label} is the only one of its cluster: stop the cluster instead.")


def majority_lost(label: str, tenant: str, remaining: int, voters: int, needed: int) -> ApiError:
    """400: the pre-check of a restart or stop fails; `label` begins the sentence: "Server 3"."""
    message = (
        f"{label} cannot be stopped: tenant {tenant} would have {remaining} of its {voters} voting replicas left,"
        f" and needs {needed}."
    )
    return ApiError(400, MAJORITY_LOST, message)


def occupied_message(label: str, task_id: int, task_name: str, task_status: str) -> str:
    """The message that names the task that occupies the target."""
    so_far = "has failed and can be retried or rolled back" if task_status == "FAILED" else "has not finished"
    return f"{label} is occupied by task {task_id} ({task_name}), which {so_far}."


def not_implemented(parameter: str) -> ApiError:
    """501: the service has this parameter, but the emulator does not."""
    return ApiError(501, UNSPECIFIC, f"The emulator does not have the documented parameter '{parameter}'.")


def value_not_implemented(parameter: str, value: str) -> ApiError:
    """501: the service takes this value of a parameter, but the emulator does not."""
    return ApiError(
        501, UNSPECIFIC, f"The emulator does not have the documented value '{value}' of the parameter '{parameter}'."
    )


def internal_error() -> ApiError:
    """500; only the log of the emulator has the reason."""
    return ApiError(500, UNEXPECTED, "The emulator failed to handle this request; its log has the reason.")
