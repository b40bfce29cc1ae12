# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Signatures that a public client, OceanBase's MCP server, makes for requests of ours: it signs by RFC 3986.

Each: method, path, query as it is sent, body, signature, and whether Java's URLEncoder encodes the query alike.
"""

KEY, SECRET, HOST, DATE = "key-of-ours", "secret-of-ours", "ocp.example.test:8080", "Sun, 22 Nov 2026 09:10:11 GMT"
HEADERS = {"Content-Type": "application/json", "x-ocp-origin": "mcp-server"}

VECTORS = {
    "no query": ("GET", "/api/v2/ob/clusters", "", b"", "9N062yexXCPWfbepVQQDuMReRBA=", True),
    "numbers": ("GET", "/api/v2/ob/clusters", "page=1&size=10", b"", "j217NkGdj+cH0h/qs2KOb0PZi8E=", True),
    "spaces": (
        "GET",
        "/api/v2/tasks/instances",
        "name=Restart%20OB%20server&status=RUNNING",
        b"",
        "05q0mZkhgziVeVBvu0K8kjbeOMM=",
        False,
    ),
    "tilde and asterisk": (
        "GET",
        "/api/v2/tasks/instances",
        "name=a~b%2Ac",
        b"",
        "qdAe4sKvBNjxBodgMvQ8kpj+8oQ=",
        False,
    ),
    "colon, comma and plus": (
        "GET",
        "/api/v2/monitor/metric",
        "labels=app%3AOB%2Cob_cluster_name%3Ashop&maxPoints=1%2B1",
        b"",
        "ioCqtUuJCeZfrwAhfQ1BBCIlGJM=",
        True,
    ),
    "body": (
        "POST",
        "/api/v2/ob/clusters/7/servers/71/restart",
        "freezeServer=true",
        b'{"freezeServer": true}',
        "d328tqIudvjN4u8Uz0ugeDZg3b4=",
        True,
    ),
}
