# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The contract of the service, as the OpenAPI document of the emulator has it: calls, schemas, and all of its words."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ocp_emulator.base.paths import is_control

Json = Mapping[str, Any]

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HOLE = re.compile(r"\{\w+\}")
# Words of documents that the emulator has no field for.
_MORE = """
    gmt created creator modified modify modifier remark comment enabled label labels tag extra extend info params result
    results items total count list asc desc
"""


@dataclass(frozen=True)
class Call:
    """A documented call: its template, and the schemas of its parameters, body and answers."""

    method: str
    template: str
    parameters: Mapping[str, Json]
    body: Json | None
    answers: Mapping[str, Json | None]

    @property
    def segments(self) -> list[str]:
        """The parts of the template."""
        return self.template.strip("/").split("/")

    def fits(self, segments: list[str]) -> bool:
        """Whether a path has this template."""
        own = self.segments
        return len(own) == len(segments) and all(
            _HOLE.fullmatch(mine) or mine == other for mine, other in zip(own, segments, strict=True)
        )


class Contract:
    """The documented calls."""

    def __init__(self, document: Json) -> None:
        """Those of an OpenAPI document, without the control API."""
        self._schemas: Json = document["components"]["schemas"]
        self._calls = [
            _call(method.upper(), path, operation)
            for path, operations in document["paths"].items()
            if not is_control(path)
            for method, operation in operations.items()
        ]
        # Before templates that fit the same path.
        self._calls.sort(key=lambda call: call.template.count("{"))

    def call(self, method: str, path: str) -> Call | None:
        """The call of a request with this decoded path."""
        segments = path.strip("/").split("/")
        return next((call for call in self._calls if call.method == method and call.fits(segments)), None)

    def answer(self, call: Call | None, status: int) -> Json:
        """The schema of an answer; an empty one says nothing."""
        if call is None:
            return {}
        if status == 200:
            return call.answers.get("200") or {}
        return {"$ref": "#/components/schemas/ErrorEnvelope"}

    def view(self, schema: Json | None) -> dict[str, Any]:
        """A schema without references, with the properties and words of all of its alternatives."""
        found = dict(schema or {})
        while "$ref" in found:
            found = dict(self._schemas[found["$ref"].rpartition("/")[2]])
        for each in map(self.view, [*found.pop("anyOf", ()), *found.pop("oneOf", ())]):
            kinds = [*_list(found.get("type")), *_list(each.get("type"))]
            known = {**found.get("properties", {}), **each.get("properties", {})}
            words = [*found.get("enum", ()), *each.get("enum", ())]
            found = {**each, **found, "type": list(dict.fromkeys(kinds))}
            found |= {"properties": known} if known else {}
            found |= {"enum": words} if words else {}
        if "const" in found:
            found["enum"] = [found.pop("const")]
        return found

    def knows(self, name: str) -> bool:
        """Whether the contract has this name of a field or a path, or all of its parts."""
        parts = _PART.findall(name)
        is_whole = bool(parts) and "".join(parts) == name.replace("_", "").replace("-", "")
        return name in self._texts or (is_whole and all(part.lower() in self._words for part in parts))

    @cached_property
    def _texts(self) -> frozenset[str]:
        texts = [*_MORE.split(), *(segment for call in self._calls for segment in call.segments)]
        texts += [name for call in self._calls for name in call.parameters]
        for schema in self._schemas.values():
            texts += _texts(schema)
        return frozenset(texts)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(part.lower() for text in self._texts for part in _PART.findall(text))


def _call(method: str, path: str, operation: Json) -> Call:
    return Call(
        method,
        path,
        {each["name"]: each["schema"] for each in operation.get("parameters", ())},
        _content(operation.get("requestBody", {})),
        {status: _content(answer) for status, answer in operation["responses"].items()},
    )


def _content(part: Json) -> Json | None:
    found: Json | None = part.get("content", {}).get("application/json", {}).get("schema")
    return found


def _texts(schema: Any) -> Iterator[str]:
    """The names of fields and the words of a schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        yield from (word for word in schema.get("enum", ()) if isinstance(word, str))
        for inner in schema.values():
            yield from _texts(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _texts(inner)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
