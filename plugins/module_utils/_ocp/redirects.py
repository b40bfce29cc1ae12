# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Redirects are refused: following one would send the credentials to another address, and a POST as a GET."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from .._base.errors import ResponseUnreadable

if TYPE_CHECKING:
    import requests


def refuse_redirect(response: requests.Response, method: str, url: str) -> None:
    """Raise ResponseUnreadable for a redirect, with the host that it leads to."""
    if 300 <= response.status_code < 400:
        raise ResponseUnreadable(
            f"{method} {url} is redirected to {_host(url, response.headers.get('Location', ''))}; redirects are not "
            "followed. Put the address of the service itself in url.",
            url=url,
        )


def _host(url: str, location: str) -> str:
    parts = urlsplit(urljoin(url, location))
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
