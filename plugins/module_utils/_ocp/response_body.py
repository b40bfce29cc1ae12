# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The body of an answer, in an encoding that was asked for and up to a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import requests

# Of decoded bytes. The log of a subtask may well have ten million.
LARGEST_BODY = 64 * 1024 * 1024
# A packed byte may stand for a thousand, so the limit is looked at often.
CHUNK = 16 * 1024
ACCEPTED_ENCODINGS = ("", "identity", "gzip")


@dataclass(frozen=True)
class Body:
    """A decoded body; ``unread`` says why there is none, in words that follow "The answer"."""

    content: bytes
    unread: str | None = None


def read_body(response: requests.Response) -> Body:
    """The body up to LARGEST_BODY. Raises what ``requests`` raises while reading."""
    encoding: str = response.headers.get("Content-Encoding", "")
    # An encoding that was not asked for could be packed in another, a thousandfold each.
    if encoding.strip().lower() not in ACCEPTED_ENCODINGS:
        return Body(b"", f"comes in the encoding {encoding}, which was not asked for")
    # Without this an older urllib3 accepts a body that breaks off.
    response.raw.enforce_content_length = True
    content = bytearray()
    for chunk in response.iter_content(CHUNK):
        content += chunk
        if len(content) > LARGEST_BODY:
            return Body(b"", f"is longer than {LARGEST_BODY // 1024**2} MiB, and was not read to its end")
    return Body(bytes(content))
