# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Send one request with the real client, and get its error."""

from __future__ import annotations

import io

import pytest
import requests
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import ServiceError
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from urllib3 import HTTPResponse

SECRET = "s3cret-password"


def connect(url, *, verify=True, timeout=5.0, auth=None, **more):
    return HttpClient(url, auth or basic_auth("admin", SECRET), verify=verify, timeout=timeout, **more)


def ask(client, method):
    """Send one request; the same arguments for both methods, so that tests can parametrize them."""
    return client.get("/api/v2/x") if method == "GET" else client.post("/api/v2/x")


def error_of(client, method="GET") -> ServiceError:
    with pytest.raises(ServiceError) as raised:
        ask(client, method)
    return raised.value


def response_to(request, status, headers, body) -> requests.Response:
    """The adapter's response to ``request`` when the service sends this."""
    raw = HTTPResponse(io.BytesIO(body), headers=headers, status=status, preload_content=False)
    return requests.adapters.HTTPAdapter().build_response(request, raw)
