# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the tests of rolling restarts share: fleets, and what the emulator has seen of a run."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

PLAYBOOK = "oceanbase.ocp.rolling_restart"
# Steps so short that a restart costs the play next to nothing.
QUICK = ("--step-seconds", "0.001")
# Seconds after which the start and the values of a server that has restarted cannot show any more if they do not yet.
UNTIL_SHOWN = 200
FLEET = ("--clusters", "2", "--zones", "3", "--servers-per-zone", "2", *QUICK)
CLUSTERS = ["cluster1", "cluster2"]
# Servers are numbered cluster by cluster and zone by zone; the root server is the first of a cluster.
IN_ORDER = [6 * cluster + server for cluster in range(2) for server in (3, 4, 5, 6, 2, 1)]
RESTART = re.compile(r"/api/v2/ob/clusters/(\d+)/servers/(\d+)/restart")
# Windows that are always open.
OPEN = {"time_zone": "UTC", "weekly": [{"start": "00:00", "end": "24:00"}]}


def closed_windows():
    """Windows of which none is open today or tomorrow."""
    later = (datetime.now(UTC) + timedelta(days=2)).strftime("%a").lower()
    return {"time_zone": "UTC", "weekly": [{"days": [later], "start": "01:00", "end": "04:10"}]}


def posts(emulator):
    """The restarts of servers that were asked for, in order, by the ids of the servers."""
    seen = emulator.get("/emulator/requests?method=POST&size=2000")["contents"]
    return [int(found[2]) for request in seen if (found := RESTART.fullmatch(request["path"]))]


def tasks(emulator):
    """The tasks in their order, each with its time: (id, name, status, start, finish)."""
    found = emulator.get("/api/v2/tasks/instances?size=2000&sort=id,asc")["contents"]
    return [
        (
            task["id"],
            task["name"],
            task["status"],
            *(datetime.fromisoformat(task[name]) for name in ("startTime", "finishTime")),
        )
        for task in found
    ]


RUN = "Restart zone by zone"


def plan(outcome):
    """The plan of a run; with task files it is a task of its own."""
    return outcome.results[RUN]["plan"] if RUN in outcome.results else outcome.results["Plan the restart"]


def plan_lines(outcome):
    """What is shown of the plan in check mode."""
    return [line.removeprefix("  ") for line in outcome.output.splitlines() if line.startswith("  ")]


def planned(outcome):
    """The names of the servers in the order of the plan."""
    return [server["name"] for batch in plan(outcome)["batches"] for server in batch["servers"]]


def message(outcome):
    return outcome.results["Make sure that nothing failed"]["msg"]


def names(emulator):
    """The names of all servers by id."""
    servers = [
        server
        for cluster in emulator.get("/api/v2/ob/clusters?size=100")["contents"]
        for server in emulator.get(f"/api/v2/ob/clusters/{cluster['id']}/servers")["contents"]
    ]
    return {server["id"]: f"{server['ip']}:{server['port']}" for server in servers}


def once(emulator):
    return dict.fromkeys(names(emulator).values(), 1)
