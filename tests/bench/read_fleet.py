# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A plain client, `URL USER PASSWORD`: read all clusters by pages, and print as JSON what an inventory holds."""

from __future__ import annotations

import json
import sys
from typing import Any

import requests


def main(url: str, username: str, password: str) -> None:
    """Hosts by group, and the variables of hosts."""
    groups: dict[str, list[str]] = {}
    variables: dict[str, dict[str, Any]] = {}
    with requests.Session() as session:
        session.auth = (username, password)
        page = pages = 1
        while page <= pages:
            answer = session.get(f"{url}/api/v2/ob/clusters", params={"page": page, "size": 2000}, timeout=60)
            answer.raise_for_status()
            data = answer.json()["data"]
            pages, page = data["page"]["totalPages"], page + 1
            for cluster in data["contents"]:
                for zone in cluster["zones"]:
                    for server in zone["servers"]:
                        host = f"{server['ip']}:{server['port']}"
                        variables[host] = server
                        groups.setdefault(cluster["name"], []).append(host)
                        groups.setdefault(f"{cluster['name']}_{zone['name']}", []).append(host)
    print(json.dumps({"groups": groups, "hostvars": variables}))


if __name__ == "__main__":
    main(*sys.argv[1:])
