# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Faults of kind `proxy`: an answer redirected or replaced, a request held back or repeated."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ocp_emulator.base.paths import is_control
from ocp_emulator.faults.fault_effects import When
from ocp_emulator.faults.fault_plan import MAX_SECONDS, Text
from ocp_emulator.faults.request_faults import ActionOptions, RequestFault, check_options

_REDIRECTS = (301, 302, 303, 307, 308)

_OPTIONS: Mapping[str, ActionOptions] = {
    "redirect": ActionOptions(needed=frozenset({"status", "location"}), possible=frozenset({"when"})),
    "replace": ActionOptions(needed=frozenset({"path"}), possible=frozenset({"when"})),
    "hold": ActionOptions(needed=frozenset({"seconds"}), possible=frozenset({"status"})),
    "repeat": ActionOptions(possible=frozenset({"seconds"})),
}


class ProxyFault(RequestFault):
    """Lets a proxy redirect or replace an answer, or deliver a request late or twice; see docs/emulator-reference.md.

    `when` is whether the request reaches the service (`after`) or not (`before`, the default). `location` is the header
    of a redirect, `path` the one whose answer comes instead. `seconds` are those of the emulator's clock.
    """

    kind: Literal["proxy"]
    action: Literal["redirect", "replace", "hold", "repeat"]
    when: When | None = None
    status: Annotated[int, Field(ge=300, le=599, strict=True)] | None = None
    location: Text | None = None
    path: Text | None = None
    seconds: Annotated[float, Field(ge=0, le=MAX_SECONDS)] | None = None

    @model_validator(mode="after")
    def _check_options_of_action(self) -> "ProxyFault":
        check_options(self, self.action, _OPTIONS)
        if self.action == "redirect" and self.status not in _REDIRECTS:
            raise ValueError(f"status {self.status} is none of {', '.join(map(str, _REDIRECTS))}")
        if self.action == "hold" and self.status is not None and self.status < 500:
            raise ValueError(f"status {self.status} is none of 500 to 599")
        if self.location is not None and not (self.location.isascii() and self.location.isprintable()):
            raise ValueError("location is a header, so it is one line of ASCII text")
        if self.path is not None and (not self.path.startswith("/") or is_control(self.path)):
            raise ValueError(f"path {self.path} is not a path of the service, such as /api/v2/ob/clusters/1")
        return self
