# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The ASGI application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute

from ocp_emulator import VERSION, errors, openapi
from ocp_emulator.api import (
    about,
    arbitration,
    cluster_operations,
    clusters,
    compute,
    control,
    ills,
    lockouts,
    requests,
    tasks,
)
from ocp_emulator.call import call_of
from ocp_emulator.clock import Clock, SystemClock
from ocp_emulator.docs import page
from ocp_emulator.front import Front
from ocp_emulator.parameters import sentence
from ocp_emulator.profiles import Switches
from ocp_emulator.service import Service, Settings


@cache
def _routes(switches: Switches) -> tuple[BaseRoute, ...]:
    """Built once for all applications with these switches: they know no application, and are most of its making."""
    served = switches.arbitration == "served"
    agent_restarts, agent_reads = compute.agents(switches.agent_paths)
    routers = (
        *cluster_operations.routers(switches),
        agent_restarts,
        *([arbitration.restarts] if served else []),
        tasks.reads,
        tasks.steering,
        tasks.rollback(switches.rollback_answer),
        clusters.reads,
        compute.reads,
        agent_reads,
        *([arbitration.reads] if served else []),
        about.router,
        control.router,
        ills.router,
        lockouts.router,
        requests.router,
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
    app.add_middleware(Front)
    app.add_exception_handler(errors.ApiError, _refusal)
    app.add_exception_handler(RequestValidationError, _unfit_parameter)
    app.add_exception_handler(HTTPException, _no_route)
    openapi.install(app, routes)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(page(app.openapi()))

    return app


async def _refusal(request: Request, error: Exception) -> Response:
    if not isinstance(error, errors.ApiError):
        raise error
    return call_of(request).refuse(error)


async def _unfit_parameter(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    return call_of(request).refuse(errors.bad_request(sentence(error)))


async def _no_route(request: Request, _error: Exception) -> Response:
    # Only routing raises these here, for a path or a method that nothing answers to.
    call = call_of(request)
    return call.refuse(errors.unknown_url(request.method, call.path))
