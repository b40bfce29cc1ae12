# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The file of a recording, which is JSON, and its errors. docs/ocp-check.md, "A recording", has its format."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

FORMAT, VERSION = "recording of an OCP", 1
_LARGEST_FILE = 128 * 1024 * 1024

Record = dict[str, Any]


class RecordingError(ValueError):
    """A recording that is not valid; the message is one sentence that says where and why."""


class RecordedAnswer(BaseModel):
    """The answer to one GET. `body` is null unless `form` is json."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Annotated[str, Field(pattern=r"^/")]
    query: dict[str, str | int]
    status: Annotated[int, Field(ge=100, le=599)]
    form: Literal["json", "html", "text", "empty", "other"]
    body: Any

    @property
    def is_data(self) -> bool:
        """Whether the service answered with data; a page with status 200 is none."""
        return self.status == 200 and self.form == "json"

    @property
    def data(self) -> Any:
        """What the envelope holds; the body itself where it has no envelope."""
        return self.body.get("data") if isinstance(self.body, dict) and "successful" in self.body else self.body


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    format: str
    version: int
    recorded_at: str
    left_out: dict[str, int]
    answers: list[RecordedAnswer]


@dataclass(frozen=True)
class Recording:
    """All answers, in the order in which they came."""

    answers: tuple[RecordedAnswer, ...]

    @cached_property
    def by_path(self) -> Mapping[str, list[RecordedAnswer]]:
        """The answers to each path, with whatever query."""
        found: dict[str, list[RecordedAnswer]] = {}
        for answer in self.answers:
            found.setdefault(answer.path, []).append(answer)
        return found

    def of(self, path: str) -> RecordedAnswer | None:
        """The last answer to a path; a successful one if there is any."""
        answers = sorted(self.by_path.get(path, []), key=lambda answer: answer.is_data)
        return answers[-1] if answers else None

    def record(self, path: str) -> Record:
        """The object that a path was answered with, or an empty one."""
        answer = self.of(path)
        return answer.data if answer and answer.is_data and isinstance(answer.data, dict) else {}

    def records(self, path: str) -> list[Record]:
        """The objects of all pages of a list, each id once."""
        found: dict[Any, Record] = {}
        for answer in self.by_path.get(path, []):
            for record in records_in(answer.data if answer.is_data else None):
                found.setdefault(record.get("id", id(record)), record)
        return list(found.values())


def records_in(data: object) -> Iterator[Record]:
    """The objects of a page."""
    contents = data.get("contents") if isinstance(data, dict) else None
    yield from (each for each in contents or () if isinstance(each, dict)) if isinstance(contents, list) else ()


def read_recording(path: Path) -> Recording:
    """The answers of a file. Raises RecordingError for one that cannot be read or is not valid."""
    document = _document(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise RecordingError("the file is not a recording of ocp_info")
    if document.get("version") != VERSION:
        shown = json.dumps(document.get("version"))[:50]
        raise RecordingError(f"the recording has version {shown}; this emulator reads version {VERSION}")
    try:
        return Recording(tuple(_File.model_validate(document).answers))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise RecordingError(f"{where}: {first['msg']}") from error


def _document(path: Path) -> object:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise RecordingError(f"the file is larger than {_LARGEST_FILE // 1024**2} MiB")
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordingError(f"the file cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise RecordingError("the file is not UTF-8 text") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise RecordingError(f"the file is not JSON: {' '.join(str(error).split())}") from error
