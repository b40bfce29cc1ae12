# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""When a server, zone, cluster, agent or arbitration service serves, and which status words mean work on it.

The words are in docs/dev/contract.md, "Status words". A word that is not shown proves nothing either way.
"""

from __future__ import annotations

from collections.abc import Iterable

RUNNING, ACTIVE, INACTIVE = "RUNNING", "ACTIVE", "INACTIVE"
STOPPED, DELETED, OFFLINE = "STOPPED", "DELETED", "OFFLINE"
# A process that OCP cannot reach, or that it has ended.
DOWN = frozenset({STOPPED, "UNAVAILABLE", DELETED})
# Of a zone that was stopped, or is being stopped.
ZONE_STOPPED = frozenset({STOPPED, "SERVICE_STOPPED", "STOPPING"})
GOOD_AGENT, BAD_AGENT = ("AVAILABLE", "ONLINE", RUNNING), (OFFLINE, DELETED, STOPPED, "UNAVAILABLE")
# The processes that a restart of the agents renews; the others are started by them or on their own.
AGENT_PROCESSES = ("ocp_agentd", "pos_proxy")

IN_FLIGHT = frozenset(
    {
        "RESTARTING",
        "STARTING",
        "STOPPING",
        "OPERATING",
        "CREATING",
        "DELETING",
        "TAKINGOVER",
        "MOVINGOUT",
        "SWITCHOVER",
        "FAILOVER",
        "REINSTALLING",
        "REINTSTALLING",  # as documents spell it
    }
)


def is_in_flight(status: str | None) -> bool:
    """Whether the status alone says that something works on the target."""
    return str(status).upper() in IN_FLIGHT


def is_stopped(status: str | None) -> bool:
    """Whether the status says that a server was stopped on purpose."""
    return str(status).upper() == STOPPED


def database_serves(status: str | None, inner_status: str | None = None) -> bool | None:
    """Whether a server, zone, cluster or arbitration service serves; None if its status is not shown."""
    if str(status or RUNNING).upper() != RUNNING or str(inner_status or ACTIVE).upper() != ACTIVE:
        return False
    return None if status is None else True


def database_may_serve(status: str | None, inner_status: str | None = None) -> bool:
    """Whether a server or arbitration service may serve all the same: unless all that is shown says that it is down."""
    return str(status).upper() not in DOWN or str(inner_status or INACTIVE).upper() != INACTIVE


def worst_agent_status(*statuses: str | None) -> str | None:
    """The first bad status of one agent, or else the first that is shown."""
    shown = [status for status in statuses if status is not None]
    return next((status for status in shown if _speaks_against(status)), next(iter(shown), None))


def agent_serves(status: str | None, running: Iterable[str], stopped: Iterable[str]) -> bool | None:
    """Whether the agent of a host serves, by its status and the names of its processes; None if nothing is shown."""
    runs = frozenset(running)
    if missing_processes(runs, stopped) or _speaks_against(status):
        return False
    good = status is None or status.upper() in GOOD_AGENT
    return True if runs and good else None


def missing_processes(running: Iterable[str], stopped: Iterable[str]) -> frozenset[str]:
    """Those of the stopped processes that an agent needs; all, where no process runs."""
    all_stopped = frozenset(stopped)
    return agent_processes(all_stopped) or (frozenset() if list(running) else all_stopped)


def _speaks_against(status: str | None) -> bool:
    return is_in_flight(status) or str(status).upper() in BAD_AGENT


def renewed_processes(names: Iterable[str]) -> frozenset[str]:
    """Those of the processes that a restart of the agents renews; all, where a service names these otherwise."""
    all_names = frozenset(names)
    return agent_processes(all_names) or all_names


def agent_processes(names: Iterable[str]) -> frozenset[str]:
    """Those of the names that are known to be of agents."""
    return frozenset(name for name in names if name.lower().replace("-", "_") in AGENT_PROCESSES)
