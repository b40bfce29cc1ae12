# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The body of a response, in a requested encoding and up to a limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import requests

# In decoded bytes. The log of a subtask can have ten million.
LARGEST_BODY = 64 * 1024 * 1024
# One packed byte can unpack to a thousand, so the limit is checked often.
CHUNK = 16 * 1024
ACCEPTED_ENCODINGS = ("", "identity", "gzip")


@dataclass(frozen=True)
class Body:
    """A decoded body; ``unread`` says why there is none and completes the sentence "The answer …"."""

    content: bytes
    unread: str | None = None


def read_body(response: requests.Response) -> Body:
    """The body up to LARGEST_BODY. Raises what ``requests`` raises while reading."""
    encoding: str = response.headers.get("Content-Encoding", "")
    # An encoding that was not requested may be nested, each layer a thousandfold.
    if encoding.strip().lower() not in ACCEPTED_ENCODINGS:
        return Body(b"", f"comes in the encoding {encoding}, which was not asked for")
    # Otherwise an older urllib3 accepts a truncated body.
    response.raw.enforce_content_length = True
    content = bytearray()
    for chunk in response.iter_content(CHUNK):
        content += chunk
        if len(content) > LARGEST_BODY:
            return Body(b"", f"is longer than {LARGEST_BODY // 1024**2} MiB, and was not read to its end")
    return Body(bytes(content))
