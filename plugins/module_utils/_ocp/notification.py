# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The POST of one JSON document to an address of the user: no redirects, no retries, a few seconds, never an error."""

from __future__ import annotations

from typing import Any

try:
    import requests
except ImportError:  # reported by bridge, with the name of the library
    requests = None  # type: ignore[assignment]

# Seconds for the connection, and for the answer.
TIMEOUT = 5.0


def send_notification(url: str, document: dict[str, Any]) -> str:
    """Why the document was not delivered, without the URL, which may have a secret; empty if it was."""
    try:
        with requests.Session() as session:
            answer = session.post(url, json=document, timeout=TIMEOUT, allow_redirects=False, stream=True)
            with answer:
                return "" if 200 <= answer.status_code < 300 else f"status {answer.status_code}"
    # Addresses that cannot be used raise errors of several kinds.
    except (requests.RequestException, OSError, ValueError) as error:
        return type(error).__name__
