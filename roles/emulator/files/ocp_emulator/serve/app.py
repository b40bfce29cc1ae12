# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The ASGI application: its routes by switches, and which error answers which exception."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute

from ocp_emulator import VERSION
from ocp_emulator.base import errors
from ocp_emulator.base.clock import Clock, SystemClock
from ocp_emulator.base.compatibility import Switches
from ocp_emulator.base.paths import DOCS, is_control
from ocp_emulator.control_api import (
    clock_routes,
    duration_routes,
    fault_routes,
    incident_routes,
    index_routes,
    inspection_risk_routes,
    lockout_routes,
    outage_routes,
    parameter_control_routes,
    planting_routes,
    request_log_routes,
    restart_count_routes,
    service_restart_routes,
    snapshot_routes,
)
from ocp_emulator.ocp_api import (
    alarm_routes,
    arbitration_routes,
    audit_routes,
    backup_routes,
    cluster_operation_routes,
    cluster_routes,
    host_routes,
    inspection_routes,
    monitor_routes,
    obproxy_routes,
    parameter_routes,
    service_routes,
    task_routes,
    tenant_routes,
)
from ocp_emulator.serve import openapi
from ocp_emulator.serve.docs_page import docs_page
from ocp_emulator.serve.middleware import EmulatorMiddleware
from ocp_emulator.service import Service, Settings, service_of
from ocp_emulator.web.parameters import invalid_parameter_message
from ocp_emulator.web.request_context import context_of

_CONTROL = (
    fault_routes.router,
    clock_routes.router,
    duration_routes.router,
    service_restart_routes.router,
    restart_count_routes.router,
    incident_routes.router,
    outage_routes.router,
    planting_routes.router,
    inspection_risk_routes.router,
    parameter_control_routes.router,
    lockout_routes.router,
    request_log_routes.router,
    snapshot_routes.router,
    index_routes.router,
)


@cache
def _routes(switches: Switches) -> tuple[BaseRoute, ...]:
    """Built once for all applications with these switches: routes do not depend on the application, and take long."""
    served = switches.arbitration == "served"
    agent_restarts, agent_reads = host_routes.agents(switches.agent_paths)
    routers = (
        *cluster_operation_routes.routers(switches),
        agent_restarts,
        *([arbitration_routes.restarts] if served else []),
        obproxy_routes.restarts,
        task_routes.reads,
        task_routes.actions,
        task_routes.rollback(switches.rollback_answer),
        cluster_routes.reads,
        cluster_routes.details(switches.cluster_detail),
        parameter_routes.reads,
        parameter_routes.writes,
        tenant_routes.router(switches.tenant_paths),
        alarm_routes.reads,
        monitor_routes.reads,
        backup_routes.reads,
        inspection_routes.router,
        audit_routes.reads,
        host_routes.reads,
        agent_reads,
        *([arbitration_routes.reads] if served else []),
        obproxy_routes.reads,
        parameter_routes.obproxy_reads,
        service_routes.times(switches.time_answer),
        service_routes.router,
        *_CONTROL,
    )
    return tuple(route for router in routers for route in router.routes)


def create_app(settings: Settings, clock: Clock | None = None) -> FastAPI:
    """The emulator with its database open; it is closed when the application shuts down.

    Raises StoreError when the database cannot be used.
    """
    service = Service(settings, clock or SystemClock())

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        service.close()

    routes = _routes(settings.switches)
    app = FastAPI(
        routes=list(routes),
        title="OCP emulator",
        version=VERSION,
        description="A stand-in for the restart operations of OceanBase Cloud Platform and the reads around them.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.service = service
    app.add_middleware(EmulatorMiddleware)
    app.add_exception_handler(errors.ApiError, _api_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _unknown_url)
    openapi.install(app, routes)
    app.add_route(DOCS, _docs, include_in_schema=False)
    return app


async def _docs(request: Request) -> Response:
    return HTMLResponse(docs_page(request.app.openapi(), str(request.base_url).rstrip("/")))


async def _api_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, errors.ApiError):
        raise error
    return context_of(request).reply_error(error)


async def _invalid_request(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    return context_of(request).reply_error(errors.bad_request(invalid_parameter_message(error)))


async def _unknown_url(request: Request, _error: Exception) -> Response:
    # Only routing raises these, for an unknown path or method.
    context, answer = context_of(request), service_of(request).switches.unknown_url
    if answer == "html" and not is_control(context.path):
        return _page_of_framework(request.method)
    status = 400 if answer == "html" or is_control(context.path) else int(answer)
    return context.reply_error(errors.unknown_url(status, request.method, context.path))


def _page_of_framework(method: str) -> Response:
    """The answer of a service without its own handler: its first page for a read, and a refusal for the rest."""
    reads = method in ("GET", "HEAD")
    text = "OCP" if reads else "Method Not Allowed"
    return HTMLResponse(f"<!DOCTYPE html><html><body>{text}</body></html>", 200 if reads else 405)
