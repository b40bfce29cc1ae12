# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The OpenAPI document: what FastAPI derives from the routes, made to say what this service really does."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from ocp_emulator.api.common import Needs
from ocp_emulator.front import PUBLIC_PATHS

_SCHEMES = {
    "basic": {"type": "http", "scheme": "basic"},
    "accessKey": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "OCP-ACCESS-KEY-HMACSHA1 accessKey:signature, with the header Date or x-ocp-date.",
    },
}


def install(app: FastAPI) -> None:
    """Let `app.openapi()` give this document; it is made once."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
    schemas = document["components"]["schemas"]
    # FastAPI's own error form: requests that do not fit are answered with 400 in the envelope.
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    document["components"]["securitySchemes"] = _SCHEMES
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                operation = document["paths"][route.path][method.lower()]
                operation["responses"].pop("422", None)
                operation["security"] = [] if route.path in PUBLIC_PATHS else [{name: []} for name in _SCHEMES]
                permission = _permission(route)
                if permission:
                    operation["x-permission"] = permission
    return document


def _permission(route: APIRoute) -> str | None:
    needed = (dependency.dependency for dependency in route.dependencies)
    return next((str(needs.permission) for needs in needed if isinstance(needs, Needs)), None)
