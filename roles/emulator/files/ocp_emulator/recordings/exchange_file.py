# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The file of `ocp-emulator record`: a line of JSON for each request and its answer, and its errors.

docs/emulator-reference.md, "Exchanges", has its format.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

FORMAT, VERSION = "exchanges with an OCP", 1

Form = Literal["json", "html", "text", "empty", "other"]


class ExchangeError(ValueError):
    """A file that is not valid; the message is one sentence that says where and why."""


class Exchange(BaseModel):
    """A request and its answer, which is null unless `form` is json; `headers` are those about limits of requests."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: str
    path: Annotated[str, Field(pattern=r"^/")]
    query: list[tuple[str, str]]
    body: Any
    status: Annotated[int, Field(ge=100, le=599)]
    headers: dict[str, str]
    form: Form
    answer: Any


class Head(BaseModel):
    """The first line."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["exchanges with an OCP"]
    version: Literal[1]
    recorded_at: str


def read_exchanges(path: Path) -> tuple[Exchange, ...]:
    """The exchanges of a file, in their order. Raises ExchangeError for one that cannot be read or is not valid."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ExchangeError(f"the file cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ExchangeError("the file is not UTF-8 text") from error
    return tuple(_exchanges(lines))


def _exchanges(lines: list[str]) -> Iterator[Exchange]:
    try:
        Head.model_validate_json(lines[0] if lines else "")
    except ValidationError as error:
        raise ExchangeError(f"the file is not one of ocp-emulator record of version {VERSION}") from error
    for number, line in enumerate(lines[1:], 2):
        try:
            yield Exchange.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            where = "".join(f", {part}" for part in first["loc"])
            raise ExchangeError(f"line {number}{where}: {first['msg']}") from error


def head_line(recorded_at: str) -> str:
    """The first line of a file."""
    return json.dumps({"format": FORMAT, "version": VERSION, "recorded_at": recorded_at}) + "\n"
