# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The page /docs: every call of the OpenAPI document with an example for curl. It loads nothing from elsewhere."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

_HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>OCP emulator</title>
<style>body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em}
pre{background:#f4f4f4;padding:.5em;overflow-x:auto}summary{cursor:pointer}</style></head><body>
<h1>OCP emulator</h1>
<p>The calls below <code>/emulator</code> need the user <code>admin</code>; no OCP has them. All fields of requests and
answers are in <a href="openapi.json">openapi.json</a>.</p>
"""
_METHODS = ("get", "post", "put", "delete")


def docs_page(document: Mapping[str, Any], url: str) -> str:
    """The page of an OpenAPI document; `url` is where the service answers."""
    groups: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method in (method for method in _METHODS if method in operations):
            operation = operations[method]
            tag = operation.get("tags", ["Other"])[0]
            groups.setdefault(tag, []).append(_call(url, method.upper(), path, operation))
    parts = (f"<h2>{escape(tag)}</h2>\n{''.join(calls)}" for tag, calls in sorted(groups.items()))
    return f"{_HEAD}{''.join(parts)}</body></html>\n"


def _call(url: str, method: str, path: str, operation: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<li><code>{escape(each['name'])}</code>{' (required)' if each.get('required') else ''}:"
        f" {escape(each.get('description', ''))}</li>"
        for each in operation.get("parameters", ())
        if each["in"] == "query"
    )
    return (
        f"<details><summary><code>{method} {escape(path)}</code> {escape(operation.get('summary', ''))}</summary>\n"
        f"<p>{escape(operation.get('description', ''))}</p>\n"
        + (f"<ul>{rows}</ul>\n" if rows else "")
        + f"<pre>{escape(' '.join(_curl(url, method, path, operation)))}</pre></details>\n"
    )


def _curl(url: str, method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield "curl"
    if operation["security"]:
        yield "-u admin:ocp-demo-1"
    if method != "GET":
        yield f"-X {method}"
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content:
        yield "-H 'Content-Type: application/json'"
        yield f"-d {shlex.quote(json.dumps(content['example']))}"
    places = {each["name"]: each for each in operation.get("parameters", ()) if each["in"] == "path"}
    query = [each for each in operation.get("parameters", ()) if each["in"] == "query" and _examples(each)]
    for name, parameter in places.items():
        path = path.replace(f"{{{name}}}", quote(str(_example(parameter))))
    pairs = "&".join(f"{each['name']}={quote(str(_example(each)))}" for each in query)
    yield shlex.quote(f"{url}{path}{f'?{pairs}' if pairs else ''}")


def _example(parameter: Mapping[str, Any]) -> object:
    return _examples(parameter)[0]


def _examples(parameter: Mapping[str, Any]) -> Sequence[object]:
    found: Sequence[object] = parameter["schema"].get("examples", ())
    return found
