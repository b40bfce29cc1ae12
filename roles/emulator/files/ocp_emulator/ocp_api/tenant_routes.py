# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The routes that read tenants and their units, and their filters."""

from collections.abc import Mapping
from typing import Annotated, get_args

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from ocp_emulator.base.compatibility import TenantPaths
from ocp_emulator.base.permissions import Permission
from ocp_emulator.fleet.fleet_file import TenantMode, TenantStatus
from ocp_emulator.ocp_api.dependencies import (
    ClusterId,
    PageParam,
    RequirePermission,
    SizeParam,
    SortParam,
    TenantId,
    error_responses,
    page_request,
)
from ocp_emulator.schemas.envelope import Envelope, Listed, Paged
from ocp_emulator.schemas.tenant_schemas import Tenant, TenantDetail, Unit
from ocp_emulator.serializers import tenant_serializers
from ocp_emulator.serializers.paging import PageRequest
from ocp_emulator.serializers.tenant_serializers import TenantFilter
from ocp_emulator.service import service_of
from ocp_emulator.web.parameters import Flag, one_or_more, split
from ocp_emulator.web.request_context import context_of

Modes = Annotated[str, one_or_more(*get_args(TenantMode))]
Statuses = Annotated[str, one_or_more(*get_args(TenantStatus))]

# Where a tenant and its units are: a page of the documents has `cluster`, its sample request `clusters`.
_BELOW: Mapping[TenantPaths, tuple[str, ...]] = {
    "both": ("clusters", "cluster"),
    "clusters": ("clusters",),
    "cluster": ("cluster",),
}


def router(paths: TenantPaths) -> APIRouter:
    """The router of a service that has a tenant below these paths."""
    reads = APIRouter(tags=["Tenants"], dependencies=[Depends(RequirePermission(Permission.CLUSTER_VIEWER))])
    reads.add_api_route(
        "/api/v2/ob/tenants",
        list_tenants,
        summary="List the tenants of all clusters",
        response_model=Envelope[Paged[Tenant]],
        responses=error_responses(400, 401, 403, 500),
    )
    reads.add_api_route(
        "/api/v2/ob/clusters/{id}/tenants",
        list_tenants_of_cluster,
        summary="List the tenants of a cluster",
        response_model=Envelope[Paged[Tenant]],
        responses=error_responses(400, 401, 403, 404, 500),
    )
    for below in _BELOW[paths]:
        tenant = f"/api/v2/ob/{below}/{{id}}/tenants/{{tenantId}}"
        reads.add_api_route(
            tenant,
            read_tenant,
            summary="Read a tenant",
            response_model=Envelope[TenantDetail],
            responses=error_responses(400, 401, 403, 404, 500),
        )
        reads.add_api_route(
            f"{tenant}/units",
            list_units,
            summary="List the units of a tenant",
            response_model=Envelope[Listed[Unit]],
            responses=error_responses(400, 401, 403, 404, 500),
        )
    return reads


def _chosen(
    name: Annotated[str | None, Query(description="Part of the name, ignoring case.")] = None,
    mode: Annotated[list[Modes] | None, Query(description="One or more, with commas.")] = None,
    locked: Annotated[Flag | None, Query()] = None,
    readonly: Annotated[Flag | None, Query()] = None,
    status: Annotated[list[Statuses] | None, Query(description="One or more, with commas.")] = None,
) -> TenantFilter:
    return TenantFilter(name, split(mode), locked, readonly, split(status))


def _page(number: PageParam = 1, size: SizeParam = 10, sort: SortParam = "id,asc") -> PageRequest:
    return page_request(number, size, sort)


_Chosen = Annotated[TenantFilter, Depends(_chosen)]
_Page = Annotated[PageRequest, Depends(_page)]


async def list_tenants(request: Request, chosen: _Chosen, page: _Page) -> Response:
    """`sys` is a tenant too."""
    tenants = tenant_serializers.tenant_page(service_of(request).store.db, page, chosen, None)
    return context_of(request).reply(Envelope[Paged[Tenant]], tenants)


async def list_tenants_of_cluster(request: Request, cluster_id: ClusterId, chosen: _Chosen, page: _Page) -> Response:
    """`sys` is a tenant too."""
    tenants = tenant_serializers.tenant_page(service_of(request).store.db, page, chosen, cluster_id)
    return context_of(request).reply(Envelope[Paged[Tenant]], tenants)


async def read_tenant(request: Request, cluster_id: ClusterId, tenant_id: TenantId) -> Response:
    """The tenant with its zones, and its units there."""
    tenant = tenant_serializers.tenant_detail(service_of(request).store.db, cluster_id, tenant_id)
    return context_of(request).reply(Envelope[TenantDetail], tenant)


async def list_units(
    request: Request,
    cluster_id: ClusterId,
    tenant_id: TenantId,
    zone_name: Annotated[str | None, Query(alias="zoneName")] = None,
) -> Response:
    """All of them, or those of one zone; this list is not paged."""
    units = tenant_serializers.units_of(service_of(request).store.db, cluster_id, tenant_id, zone_name)
    return context_of(request).reply(Envelope[Listed[Unit]], units)
