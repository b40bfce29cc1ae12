# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A page for people, made of the OpenAPI document: plain HTML, nothing loaded from elsewhere, no script."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2530; background: #fff; max-width: 60rem; margin: 0 auto;
  padding: 1rem 1.5rem 4rem }
h1 { margin-bottom: 0 } h2 { margin-top: 2.5rem; border-bottom: 2px solid #d5dde6 }
code { font: 0.9em ui-monospace, monospace } a { color: #0b5cad }
nav ul { list-style: none; padding: 0; margin: 0 0 1rem } nav h3 { margin: 1rem 0 0 }
section.call { border: 1px solid #d5dde6; border-radius: 6px; padding: 0 1rem 1rem; margin: 1rem 0 }
section.call h3 { font-weight: normal; margin: 0.75rem 0 }
.method { display: inline-block; min-width: 3.2rem; text-align: center; border-radius: 4px; color: #fff;
  background: #2d6b3f; padding: 0 0.4rem; margin-right: 0.5rem } .method.post { background: #9a4a00 }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0 }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid #e8edf2 }
.quiet { color: #55616e }
@media (prefers-color-scheme: dark) { body { color: #dde4ec; background: #14191f } a { color: #6fb2f5 }
  h2, section.call, th, td { border-color: #33404d } .quiet { color: #9aa8b6 } }
"""


_ABSENT = " <span class='quiet'>(may be absent)</span>"


def page(document: Mapping[str, Any]) -> str:
    """The whole page. Every text of the document is escaped."""
    info = document["info"]
    by_tag: dict[str, list[tuple[str, str, dict[str, Any]]]] = defaultdict(list)
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            by_tag[operation["tags"][0]].append((method.upper(), path, operation))
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width'>",
        f"<title>{escape(info['title'])}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{escape(info['title'])}</h1><p class='quiet'>Version {escape(info['version'])}",
        " · <a href='/openapi.json'>OpenAPI document</a></p>",
        f"<p>{escape(info['description'])}</p>",
        "<p>Log on with HTTP Basic or with an access key. Every answer but one comes in an envelope; an error has",
        " <code>error</code> in it in place of <code>data</code>.</p><nav>",
    ]
    for tag, calls in by_tag.items():
        parts.append(f"<h3>{escape(tag)}</h3><ul>")
        parts += [f"<li>{_head(method, path, link=True)}</li>" for method, path, _call in calls]
        parts.append("</ul>")
    parts.append("</nav>")
    for tag, calls in by_tag.items():
        parts.append(f"<h2>{escape(tag)}</h2>")
        for method, path, operation in calls:
            parts += _call(method, path, operation)
    parts.append("<h2>Forms</h2>")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += _form(name, schema)
    parts.append("</body></html>")
    return "".join(parts)


def _anchor(method: str, path: str) -> str:
    return escape(f"{method} {path}".replace(" ", "-"), quote=True)


def _head(method: str, path: str, *, link: bool) -> str:
    text = f"<span class='method {method.lower()}'>{method}</span><code>{escape(path)}</code>"
    return f"<a href='#{_anchor(method, path)}'>{text}</a>" if link else text


def _call(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<section class='call' id='{_anchor(method, path)}'><h3>{_head(method, path, link=False)}</h3>"
    yield f"<p><strong>{escape(operation['summary'])}.</strong> {_prose(operation.get('description', ''))}</p>"
    permission = operation.get("x-permission")
    if permission:
        yield f"<p class='quiet'>Permission: <code>{escape(permission)}</code></p>"
    elif not operation["security"]:
        yield "<p class='quiet'>Needs no credentials.</p>"
    parameters = operation.get("parameters", [])
    if parameters:
        yield "<table><tr><th>Parameter</th><th>In</th><th>Type</th><th>Meaning</th></tr>"
        for parameter in parameters:
            needed = "" if parameter["required"] else " <span class='quiet'>(optional)</span>"
            yield f"<tr><td><code>{escape(parameter['name'])}</code>{needed}</td><td>{escape(parameter['in'])}</td>"
            yield f"<td>{_type(parameter['schema'])}</td><td>{escape(parameter.get('description', ''))}</td></tr>"
        yield "</table>"
    body = operation.get("requestBody")
    if body:
        needed = "needed" if body["required"] else "optional"
        schema = body["content"]["application/json"]["schema"]
        form = f" {_type(schema)}" if "$ref" in schema or "oneOf" in schema else ""
        yield f"<p>JSON body ({needed}):{form}</p>{_fields(schema)}"
    yield "<table><tr><th>Status</th><th>Meaning</th><th>Answer</th></tr>"
    for status, response in operation["responses"].items():
        schema = response.get("content", {}).get("application/json", {}).get("schema", {})
        yield f"<tr><td>{escape(status)}</td><td>{escape(response['description'])}</td><td>{_type(schema)}</td></tr>"
    yield "</table></section>"


def _form(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"<section class='call' id='form-{escape(name, quote=True)}'><h3><code>{escape(name)}</code></h3>"
    yield f"<p>{_prose(schema.get('description', ''))}</p>{_fields(schema)}</section>"


def _fields(schema: Mapping[str, Any]) -> str:
    needed = schema.get("required", ())
    rows = [
        f"<tr><td><code>{escape(name)}</code>{'' if name in needed else _ABSENT}</td>"
        f"<td>{_type(field)}</td><td>{escape(field.get('description', ''))}</td></tr>"
        for name, field in schema.get("properties", {}).items()
    ]
    return f"<table><tr><th>Field</th><th>Type</th><th>Meaning</th></tr>{''.join(rows)}</table>" if rows else ""


def _prose(text: str) -> str:
    """What stands between backquotes is code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))


def _type(schema: Mapping[str, Any]) -> str:
    """A type as one reads it; a form is a link to where it is described."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"<a href='#form-{escape(name, quote=True)}'>{escape(name)}</a>"
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return " or ".join(map(_type, choices))
    if "const" in schema:
        return f"<code>{escape(json.dumps(schema['const']))}</code>"
    if "enum" in schema:
        return ", ".join(f"<code>{escape(str(value))}</code>" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_type(schema['items'])}"
    if isinstance(schema.get("additionalProperties"), Mapping):
        return f"object of {_type(schema['additionalProperties'])}"
    text = schema.get("format") or schema.get("type") or "any"
    return escape(text)
