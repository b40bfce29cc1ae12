# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind `http`: which options and HTTP statuses one may have."""

from typing import Annotated, Literal

from pydantic import Field, JsonValue, model_validator

from ocp_emulator.faults import fault_effects
from ocp_emulator.faults.fault_effects import HttpAction, When
from ocp_emulator.faults.fault_plan import MAX_SECONDS, Count, Text
from ocp_emulator.faults.request_faults import RequestFault, check_options

HeaderName = Annotated[str, Field(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$")]
HeaderValue = Annotated[str, Field(pattern=r"^[ -~]{0,4000}$")]

_ERROR_STATUSES = frozenset({401, 403, 409, 429, *range(500, 600)})
_HTML_STATUSES = frozenset({200, *range(400, 600)})


class HttpFault(RequestFault):
    """Stands in for the service (`respond`), or breaks requests; see docs/emulator-reference.md.

    `when` is whether the request has no effect on the service (`before`, the default) or its full effect (`after`).
    `seconds` are those of the machine, not of the emulator's clock; `size` is in bytes. `reset` and `retryAfter` are
    the seconds that an error tells the client to wait.

    `respond` answers with `status` (200) and `headers`, and with one of: `body`, text as it is or else JSON; `data`, in
    the envelope of a success; `code`, with `message` in the envelope of an error.
    """

    kind: Literal["http"]
    action: HttpAction
    when: When | None = None
    seconds: Annotated[float, Field(ge=0, le=MAX_SECONDS)] | None = None
    size: Count | None = None
    status: Annotated[int, Field(ge=200, le=599, strict=True)] | None = None
    message: Text | None = None
    reset: Count | None = None
    retry_after: Count | None = None
    headers: dict[HeaderName, HeaderValue] | None = None
    body: JsonValue = None
    data: JsonValue = None
    code: Annotated[int, Field(strict=True, ge=0)] | None = None

    @model_validator(mode="after")
    def _check_options_of_action(self) -> "HttpFault":
        check_options(self, self.action, fault_effects.OPTIONS)
        if self.action == "error" and self.status not in _ERROR_STATUSES:
            raise ValueError(f"status {self.status} is none of 401, 403, 409, 429 and 500 to 599")
        if self.action == "html" and self.response_status() not in _HTML_STATUSES:
            raise ValueError(f"status {self.status} is neither 200 nor one of 400 to 599")
        if self.action == "respond":
            self._check_response()
        if self.reset is not None and self.status != 429:
            raise ValueError("reset goes with status 429")
        if self.retry_after is not None and self.status not in (429, 503):
            raise ValueError("retryAfter goes with status 429 or 503")
        return self

    def _check_response(self) -> None:
        given = [name for name in ("body", "data", "code") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"{given[0]} and {given[1]} cannot both be given")
        if self.message is not None and self.code is None:
            raise ValueError("message goes with code")
        if self.code is not None and self.response_status() < 400:
            raise ValueError(f"status {self.status or 200} does not go with code: an error has 400 to 599")
        if self.response_status() in (204, 304) and given:
            raise ValueError(f"status {self.status} has no {given[0]}")

    def takes_effect(self) -> bool:
        """Whether the service handles a request that is hit."""
        return fault_effects.takes_effect(self.action, self.when)

    def response_status(self) -> int:
        """The status of the response."""
        defaults = {"respond": 200 if self.code is None else 400}
        return defaults.get(self.action, 502) if self.status is None else self.status
