# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Parameters that no document places: they are in the query or in a JSON body, or in both with the same value.

Unknown parameters, and parameters in the place that is not read, are ignored.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request

from ocp_emulator.base import errors
from ocp_emulator.base.compatibility import ParametersIn
from ocp_emulator.ocp_api.dependencies import json_body
from ocp_emulator.web.parameters import (
    body_flag,
    body_long,
    body_longs,
    body_name,
    json_object,
    query_flag,
    query_long,
    query_longs,
    query_name,
)
from ocp_emulator.web.request_context import context_of

T = TypeVar("T")

_PLACES: Mapping[ParametersIn, str] = {
    "either": "the query or the body",
    "query": "the query",
    "body": "the body",
}


@dataclass(frozen=True)
class PlacedValues:
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

    def long(self, name: str) -> int | None:
        """A number; None when it is not set."""
        in_query = None if self.place == "body" else query_long(self.request.query_params, name)
        return _single_value(name, in_query, body_long(self.body, name))

    def longs(self, name: str) -> list[int] | None:
        """Numbers; None when it is not set."""
        in_query = None if self.place == "body" else query_longs(self.request.query_params, name)
        return _single_value(name, in_query, None if self.body.get(name) is None else body_longs(self.body, name))

    def required(self, name: str, value: T | None) -> T:
        """The value. ApiError 400 when it is not set."""
        if value is None:
            raise errors.bad_request(f"The parameter '{name}' is missing: give it in {_PLACES[self.place]}.")
        return value


def values_of(request: Request, place: ParametersIn) -> PlacedValues:
    """The parameters of this request. ApiError 400 or 415 when its body is read and is not a JSON object."""
    if place == "query":
        return PlacedValues(request, place, {})
    content_type = request.headers.get("content-type")
    return PlacedValues(request, place, json_object(context_of(request), content_type, required=False))


def openapi_of(
    schemas: Mapping[str, dict[str, Any]], place: ParametersIn, required: Collection[str], example: object
) -> dict[str, Any]:
    """The parameters in the OpenAPI document, which cannot say that one is required in one of two places."""
    required = required if place != "either" else ()
    document: dict[str, Any] = {}
    if place != "body":
        here = " Here or in the body." if place == "either" else ""
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
    if place != "query":
        fields = {name: schema if name in required else _or_null(schema) for name, schema in schemas.items()}
        schema = {"type": "object", "properties": fields, **({"required": list(required)} if required else {})}
        document |= json_body(schema, example, required=bool(required))
    return document


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """In a body, null is as if it were not given."""
    return {"anyOf": [schema, {"type": "null"}]}


def _single_value(name: str, in_query: T | None, in_body: T | None) -> T | None:
    if in_query is not None and in_body is not None and in_query != in_body:
        raise errors.bad_request(f"The parameter '{name}' has one value in the query and another in the body.")
    return in_body if in_query is None else in_query
