# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Where `freezeServer`, `force` and the stop type are read, and when they are required or refused.

No document says whether they are in the query or in a JSON body, and older versions do not know `freezeServer`: there
are switches for both. Unknown parameters, and parameters in the place that is not read, are ignored.

See docs/dev/contract.md, "Restart a server".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from fastapi import Request

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import FreezeServer, ParametersIn
from ocp_emulator.ocp_api.dependencies import json_body
from ocp_emulator.web.parameters import body_flag, body_name, json_object, query_flag, query_name
from ocp_emulator.web.request_context import context_of

StopType = Literal["STOP_SERVICE", "STOP_PROCESS"]

T = TypeVar("T")

_FREEZE: dict[str, Any] = {"type": "boolean", "description": "A minor compaction before the node is stopped."}
_FORCE: dict[str, Any] = {"type": "boolean", "description": "Forcibly; false if not given."}
_TYPE: dict[str, Any] = {"enum": list(get_args(StopType)), "description": "STOP_PROCESS if not given."}
_PLACES: Mapping[ParametersIn, str] = {
    "either": "the query or the body",
    "query": "the query",
    "body": "the body",
}


@dataclass(frozen=True)
class ParameterValues:
    """The parameters of a request. ApiError 400 when query and body have different values of one of them."""

    request: Request
    place: ParametersIn
    body: Mapping[str, Any]

    def flag(self, name: str) -> bool | None:
        """True or false; None when it is not set."""
        in_query = None if self.place == "body" else query_flag(self.request.query_params, name)
        return _single_value(name, in_query, body_flag(self.body, name))

    def name(self, name: str, names: tuple[str, ...]) -> str | None:
        """One of these names; None when it is not set."""
        in_query = None if self.place == "body" else query_name(self.request.query_params, name, names)
        return _single_value(name, in_query, body_name(self.body, name, names))


@dataclass(frozen=True)
class ServerParameters:
    """Which parameters exist and where they are read: at run time and in the OpenAPI document."""

    freeze: FreezeServer
    place: ParametersIn

    def read(self, request: Request) -> ParameterValues:
        """The parameters of this request. ApiError 400 or 415 when its body is read and is not a JSON object."""
        if self.place == "query":
            return ParameterValues(request, self.place, {})
        content_type = request.headers.get("content-type")
        return ParameterValues(request, self.place, json_object(context_of(request), content_type, required=False))

    def freeze_for_restart(self, values: ParameterValues) -> bool | None:
        """None where the service does not know it. ApiError 400 where it is required and not set."""
        freeze = self.freeze_for_stop(values)
        if self.freeze == "required" and values.flag("freezeServer") is None:
            raise errors.bad_request(f"The parameter 'freezeServer' is missing: give it in {_PLACES[self.place]}.")
        return freeze

    def freeze_for_stop(self, values: ParameterValues) -> bool | None:
        """None where the service does not know it; false when it is not set."""
        return None if self.freeze == "unknown" else values.flag("freezeServer") or False

    def stop_type(self, values: ParameterValues) -> str | None:
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
        """OpenAPI cannot say that `freezeServer` is required in one of two places."""
        required = ["freezeServer"] if freeze_required and self.place != "either" else []
        document: dict[str, Any] = {}
        if self.place != "body":
            here = " Here or in the body." if self.place == "either" else ""
            document["parameters"] = [
                {
                    "name": name,
                    "in": "query",
                    "required": name in required,
                    "schema": {key: value for key, value in schema.items() if key != "description"},
                    "description": schema["description"] + here,
                }
                for name, schema in schemas.items()
            ]
        if self.place != "query":
            fields = {name: schema if name in required else _or_null(schema) for name, schema in schemas.items()}
            schema = {"type": "object", "properties": fields, **({"required": required} if required else {})}
            example = {"freezeServer": True} if "freezeServer" in schemas else {"force": False}
            document |= json_body(schema, example, required=bool(required))
        return document


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """In a body, null is as if it were not given."""
    return {"anyOf": [schema, {"type": "null"}]}


def _single_value(name: str, in_query: T | None, in_body: T | None) -> T | None:
    if in_query is not None and in_body is not None and in_query != in_body:
        raise errors.bad_request(f"The parameter '{name}' has one value in the query and another in the body.")
    return in_body if in_query is None else in_query
