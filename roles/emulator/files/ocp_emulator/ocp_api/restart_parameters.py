# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which parameters the restart and the stop of a server have: `freezeServer`, `force` and the stop type.

No document says whether they are in the query or in a JSON body, and older versions do not know `freezeServer`: there
are switches for both.

See docs/dev/contract.md, "Restart a server".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from fastapi import Request

from ocp_emulator.base.compatibility import FreezeServer, ParametersIn
from ocp_emulator.ocp_api.query_or_body import PlacedValues, openapi_of, values_of

StopType = Literal["STOP_SERVICE", "STOP_PROCESS"]

_FREEZE: dict[str, Any] = {"type": "boolean", "description": "A minor compaction before the node is stopped."}
_FORCE: dict[str, Any] = {"type": "boolean", "description": "Forcibly; false if not given."}
_TYPE: dict[str, Any] = {"enum": list(get_args(StopType)), "description": "STOP_PROCESS if not given."}


@dataclass(frozen=True)
class ServerParameters:
    """Which parameters exist and where they are read: at run time and in the OpenAPI document."""

    freeze: FreezeServer
    place: ParametersIn

    def read(self, request: Request) -> PlacedValues:
        """The parameters of this request. ApiError 400 or 415 when its body is read and is not a JSON object."""
        return values_of(request, self.place)

    def freeze_for_restart(self, values: PlacedValues) -> bool | None:
        """None where the service does not know it. ApiError 400 where it is required and not set."""
        freeze = self.freeze_for_stop(values)
        if self.freeze == "required":
            values.required("freezeServer", values.flag("freezeServer"))
        return freeze

    def freeze_for_stop(self, values: PlacedValues) -> bool | None:
        """None where the service does not know it; false when it is not set."""
        return None if self.freeze == "unknown" else values.flag("freezeServer") or False

    def stop_type(self, values: PlacedValues) -> str | None:
        """None when it is not set, or where the service does not know it: it came with `freezeServer`."""
        return None if self.freeze == "unknown" else values.name("type", get_args(StopType))

    def error_statuses(self) -> tuple[int, ...]:
        """The error statuses of reading them."""
        return (400,) if self.place == "query" else (400, 415)

    def openapi_of_restart(self) -> dict[str, Any]:
        """For the OpenAPI document."""
        return self._openapi({**self._freeze_schema(), "force": _FORCE}, freeze_required=self.freeze == "required")

    def openapi_of_stop(self) -> dict[str, Any]:
        """For the OpenAPI document."""
        return self._openapi({**self._freeze_schema(), "force": _FORCE, **self._type_schema()}, freeze_required=False)

    def _freeze_schema(self) -> dict[str, Any]:
        return {} if self.freeze == "unknown" else {"freezeServer": _FREEZE}

    def _type_schema(self) -> dict[str, Any]:
        return {} if self.freeze == "unknown" else {"type": _TYPE}

    def _openapi(self, schemas: Mapping[str, dict[str, Any]], *, freeze_required: bool) -> dict[str, Any]:
        example = {"freezeServer": True} if "freezeServer" in schemas else {"force": False}
        return openapi_of(schemas, self.place, ["freezeServer"] if freeze_required else [], example)
