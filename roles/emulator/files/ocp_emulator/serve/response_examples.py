# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""An example of the answer to each read in the OpenAPI document, made from its schema: fields that are always there."""

from collections.abc import Mapping
from typing import Any

from ocp_emulator.base.paths import TIME

_TIME = "2026-11-21T12:00:00+08:00"
# Of answers that are one text, or have one as their data.
_TEXTS: Mapping[str, str] = {TIME: _TIME, "/api/status": "okay", "/api/v2/status": "UP"}
# By form and name of a field, or by its name; any other string is "text", any other integer 1.
_VALUES: Mapping[str, object] = {
    "BasicTaskInstance.name": "Restart OB server",
    "ClusterParameter.name": "stack_size",
    "Creator.name": "admin",
    "Host.name": "host1",
    "SubtaskInstance.name": "Stop observer process",
    "WrappedTaskInstance.name": "Restart OB server",
    "Zone.name": "zone1",
    "address": "10.0.0.1",
    "architecture": "x86_64",
    "charset": "utf8mb4",
    "clusterName": "orders",
    "creator": "admin",
    "idcName": "idc1",
    "innerIpAddress": "10.0.0.1",
    "ip": "10.0.0.1",
    "locality": "FULL{1}@zone1",
    "name": "orders",
    "obClusterId": 101,
    "obVersion": "4.2.5.0",
    "path": "/api/v2/info",
    "port": 2882,
    "primaryZone": "zone1",
    "regionName": "default-region",
    "server": "127.0.0.1:8080",
    "serverIp": "10.0.0.1",
    "size": 10,
    "sqlPort": 2881,
    "svrIp": "10.0.0.1",
    "traceId": "5f0c7a1e9b3d2468",
    "username": "admin",
    "version": "4.2.5.0",
    "zoneList": "zone1",
    "zoneName": "zone1",
}
_PLAIN: Mapping[str, object] = {"string": "text", "integer": 1, "number": 1.0, "boolean": False, "null": None}


def put_examples(document: dict[str, Any]) -> None:
    """Give the answer to each GET of this document an example."""
    schemas = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        if "get" not in operations:
            continue
        for kind, content in operations["get"]["responses"]["200"]["content"].items():
            example = _TEXTS[path] if kind == "text/plain" else _example(schemas, content["schema"])
            if isinstance(example, dict) and isinstance(example.get("data"), str):
                example["data"] = _TEXTS[path]
            content["example"] = example


def _example(schemas: Mapping[str, Any], schema: Mapping[str, Any], name: str = "", form: str = "") -> Any:
    if "$ref" in schema:
        form = schema["$ref"].rpartition("/")[2]
        return _example(schemas, schemas[form], name, form)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    choices = schema.get("anyOf", schema.get("oneOf"))
    if choices:
        return _example(schemas, choices[0], name)
    kind = schema.get("type", "object")
    if kind == "array":
        return [_example(schemas, schema["items"], name)]
    if kind == "object":
        fields = schema.get("properties", {})
        others = schema.get("additionalProperties")
        if not fields and isinstance(others, dict):
            return {"key": _example(schemas, others)}
        return {each: _example(schemas, fields[each], each, form) for each in schema.get("required", ())}
    if schema.get("format") == "date-time":
        return _TIME
    value, plain = _VALUES.get(f"{form}.{name}", _VALUES.get(name)), _PLAIN[kind]
    return value if type(value) is type(plain) else plain
