# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How many bytes of a response body are read, and in which encodings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._base.parsing import instant
from .._base.text import one_line
from .json_limits import JsonTooLarge, parse_json, value_count

if TYPE_CHECKING:
    import requests

# In decoded bytes. The log of a subtask can have ten million characters, and a character may take four bytes.
LARGEST_BODY = 32 * 1024 * 1024
# One packed byte can unpack to a thousand, so the limit is checked often.
CHUNK = 16 * 1024
LONGEST_TIME = 64
ACCEPTED_ENCODINGS = ("", "identity", "gzip")


@dataclass(frozen=True)
class Body:
    """A body of ``size`` decoded bytes, its JSON ``value`` (None for anything else), and how many values it has.

    ``time`` is the text of a body that is nothing but a time. ``unread`` says why it was not used, and completes the
    sentence "The answer …".
    """

    size: int = 0
    value: object = None
    values: int = 0
    unread: str | None = None
    time: str | None = None


def read_body(response: requests.Response) -> Body:
    """The body up to LARGEST_BODY. Raises the errors of ``requests`` while reading."""
    encoding: str = response.headers.get("Content-Encoding", "")
    # An encoding that was not requested may be nested, each layer a thousandfold.
    if encoding.strip().lower() not in ACCEPTED_ENCODINGS:
        return Body(unread=f"comes in the encoding {one_line(encoding)}, which was not requested")
    # Otherwise an older urllib3 accepts a truncated body.
    response.raw.enforce_content_length = True
    content = bytearray()
    for chunk in response.iter_content(CHUNK):
        content += chunk
        if len(content) > LARGEST_BODY:
            return Body(unread=f"is longer than {LARGEST_BODY // 1024**2} MiB, so reading stopped")
    try:
        return Body(len(content), parse_json(content), value_count(content), time=_time(content))
    except JsonTooLarge as error:
        return Body(len(content), unread=str(error))
    except ValueError:
        return Body(len(content), time=_time(content))


def _time(content: bytes | bytearray) -> str | None:
    if len(content) > LONGEST_TIME:
        return None
    text = content.decode("ascii", "replace").strip().strip('"')
    return text if instant(text) else None
