# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A redirect is refused: following it would send the credentials elsewhere, and a POST as a GET."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin, urlsplit

from .._base.errors import ResponseUnreadable
from .may_have_run import may_have_run, outcome_sentence

try:
    import requests
    from requests import Session
except ImportError:  # reported by bridge, with the name of the library
    Session = object  # type: ignore[misc, assignment]


class UnredirectedSession(Session):
    """A session that does not evaluate redirects: ``requests`` would read the whole body for that."""

    def get_redirect_target(self, resp: Any) -> None:
        """None, as for a response without a redirect."""


def refuse_redirect(response: requests.Response, method: str, url: str) -> None:
    """Raise ResponseUnreadable for a redirect, with the host that it leads to."""
    if 300 <= response.status_code < 400:
        unknown = may_have_run(method)
        raise ResponseUnreadable(
            f"{method} {url} is redirected to {_host(url, response.headers.get('Location', ''))}; redirects are not "
            "followed. Put the address of the service itself in url."
            + (f" {outcome_sentence(unknown, method)}" if unknown else ""),
            url=url,
            may_have_run=unknown,
        ).without_envelope()


def _host(url: str, location: str) -> str:
    try:
        parts = urlsplit(urljoin(url, location))
    except ValueError:
        return "no address"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
