# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The OpenAPI document, corrected to match the service."""

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from ocp_emulator.base.paths import PUBLIC_PATHS, is_control
from ocp_emulator.ocp_api.dependencies import RATE_LIMITED, RequirePermission
from ocp_emulator.serve.response_examples import put_examples

_SCHEMES = {
    "basic": {"type": "http", "scheme": "basic"},
    "accessKey": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "OCP-ACCESS-KEY-HMACSHA1 accessKey:signature, with the header Date or x-ocp-date.",
    },
}


def install(app: FastAPI, routes: Sequence[BaseRoute]) -> None:
    """Let `app.openapi()` return the document of its `routes`, which is made once."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, routes)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI, routes: Sequence[BaseRoute]) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=routes)
    schemas = document["components"]["schemas"]
    # FastAPI's own error schema: here the response to an invalid request is 400 in the envelope.
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    document["components"]["securitySchemes"] = _SCHEMES
    for route in routes:
        if isinstance(route, APIRoute):
            for method in route.methods or ():
                operation = document["paths"][route.path][method.lower()]
                operation["responses"].pop("422", None)
                _put_errors_in_json(operation["responses"])
                for parameter in operation.get("parameters", ()):
                    parameter["schema"] = _without_null(parameter["schema"])
                if route.path not in PUBLIC_PATHS and not is_control(route.path):
                    operation["responses"]["429"] = RATE_LIMITED
                operation["security"] = [] if route.path in PUBLIC_PATHS else [{name: []} for name in _SCHEMES]
                permission = _permission(route)
                if permission:
                    operation["x-permission"] = permission
    put_examples(document)
    return document


def _put_errors_in_json(responses: dict[str, Any]) -> None:
    """A call that answers with text has its errors in the envelope too; FastAPI gives all of them one type."""
    for status, response in responses.items():
        content = response.get("content", {})
        if status != "200" and "text/plain" in content:
            content["application/json"] = content.pop("text/plain")


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The type of an optional parameter: None is its default in Python, and not a value that a client can send."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) != 1:
        return schema
    return {**{key: value for key, value in schema.items() if key != "anyOf"}, **choices[0]}


def _permission(route: APIRoute) -> str | None:
    requirements = (dependency.dependency for dependency in route.dependencies)
    return next(
        (str(requirement.permission) for requirement in requirements if isinstance(requirement, RequirePermission)),
        None,
    )
