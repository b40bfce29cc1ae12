# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How many requests a server takes that restarts in no time, by the role and by the playbook for fleets.

The plan, the last reads of the role and the polls of tasks are left out. What the plan and the last reads take is that
of a run of the role that finds nothing to do, and of the module that plans a fleet.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from emulator import Emulator, serving
from plays import Controller, play
from table import table

_NEVER = "2000-01-01T00:00:00Z"
_TASKS = "/api/v2/tasks/instances"
_HEAD = ("servers that restart in no time", "servers", "requests/server", "of which reads")


def run() -> Iterator[str]:
    """Restart fleets, and print what they have asked for."""
    rows = []
    for per_zone, batch in ((10, "1"), (10, "auto"), (24, "auto")):
        rows.append((f"rolling_restart, batch {batch}", *_of_role(per_zone, batch)))
    for clusters, per_zone in ((60, 1), (1, 24)):
        rows.append((f"fleet_restart, of {clusters} clusters", *_of_fleet(clusters, per_zone)))
    yield from table(_HEAD, rows)


def _of_role(per_zone: int, batch: str) -> tuple[int, str, str]:
    with tempfile.TemporaryDirectory() as name, serving(Path(name), *_fleet(1, per_zone)) as emulator:
        found = []
        for since in (_NEVER, _now(emulator)):
            given = {
                "rolling_restart_clusters": ["cluster1"],
                "rolling_restart_batch": batch,
                "rolling_restart_started_before": since,
            }
            command = [{"import_playbook": "oceanbase.ocp.rolling_restart"}]
            found.append(_asked(emulator, Controller(Path(name), emulator.url), command, given))
        return _row(3 * per_zone, *found)


def _of_fleet(clusters: int, per_zone: int) -> tuple[int, str, str]:
    """One server of each of many clusters, or all servers of one in waves."""
    with tempfile.TemporaryDirectory() as name, serving(Path(name), *_fleet(clusters, per_zone)) as emulator:
        many = [("cluster1", server) for server in range(1, 3 * per_zone + 1)]
        servers = many if clusters == 1 else [(f"cluster{number}", 3 * number) for number in range(1, clusters + 1)]
        named = [{"cluster": cluster, "server": str(server)} for cluster, server in servers]
        since, controller = _now(emulator), Controller(Path(name), emulator.url)
        plan = play({"oceanbase.ocp.fleet_restart_info": {"servers": named, "started_before": since}})
        planned = _asked(emulator, controller, [plan], {})
        given = {
            "fleet_restart_started_before": since,
            "fleet_restart_servers": named,
            "fleet_restart_waves": clusters == 1,
        }
        done = _asked(emulator, controller, [{"import_playbook": "oceanbase.ocp.fleet_restart"}], given)
        return _row(len(servers), planned, done)


def _fleet(clusters: int, per_zone: int) -> tuple[str, ...]:
    sizes = ("--clusters", str(clusters), "--zones", "3", "--servers-per-zone", str(per_zone))
    return (*sizes, "--step-seconds", "0")


def _now(emulator: Emulator) -> str:
    found: str = emulator.get("/emulator/clock").json()["data"]["time"]
    return found


def _asked(
    emulator: Emulator, controller: Controller, plays: list[dict[str, Any]], given: dict[str, Any]
) -> Counter[str]:
    """The requests of a run by their method, without its polls."""
    before = emulator.requests_so_far()
    controller.run(plays, "-e", json.dumps(given))
    sent = [seen for seen in emulator.requests() if seen["id"] > before]
    return Counter(seen["method"] for seen in sent if not _is_poll(seen))


def _is_poll(seen: dict[str, Any]) -> bool:
    is_one = seen["path"].startswith(f"{_TASKS}/")
    return is_one or (seen["path"] == _TASKS and "RUNNING" in str(seen["query"]))


def _row(servers: int, before: Counter[str], done: Counter[str]) -> tuple[int, str, str]:
    reads = (done["GET"] - before["GET"]) / servers
    return servers, f"{reads + done['POST'] / servers:.1f}", f"{reads:.1f}"
