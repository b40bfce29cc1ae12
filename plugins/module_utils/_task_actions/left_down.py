# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a task has worked on, after its end: whether it serves, what starts it, and which work was skipped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .._base.cli_hints import adhoc_command, start_arbiter_command, start_command
from .._base.errors import OcpError
from .._base.parsing import Record
from .._base.text import join_names
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import FAILED, Task
from .._restart.evidence import steps_left_undone
from .._targets.agents import Agents
from .._targets.cluster import member_of
from .._targets.lookup import address_of
from .._targets.serving import is_in_flight, is_stopped
from .._targets.target import Member, not_serving_words
from .._targets.task_names import AGENT_RESTART, ARBITRATION_RESTART, SINGLE_AGENT_RESTART, kind_of
from .._waiting.failure_report import remedy_commands


def left_down(api: OcpApi, task: Task) -> Iterator[str]:
    """A sentence for what ``task`` has left down, as far as it is shown, with the command that starts it."""
    for member in _servers_of(api, task):
        if member.serves is False and not is_in_flight(member.status):
            yield f"{member.state}: start it by {start_command(task.cluster_id, member.name)}"
    for service in _arbiters_of(api, task):
        address, status = address_of(service, "svrIp", "svrPort"), service.get("status")
        if is_stopped(status):
            yield f"{address} is {status}: start it by {start_arbiter_command(address)}"
    for agent in _agents_of(api, task):
        if agent.serves is False:
            yield f"The agent of {agent.state}: start it by {adhoc_command('agent_restart', hosts=agent.name)}"


def left_undone(task: Task) -> Iterator[str]:
    """A sentence for the skipped steps of a ``task`` that SUCCEEDED without stopping or starting what it restarts."""
    steps = steps_left_undone(task) if task.succeeded else []
    if steps:
        skipped = join_names([step.label for step in steps])
        yield (
            f"Task {task.label} is SUCCESSFUL without {skipped}: what it restarts may run on as before. "
            "To see that, run the restart again with the same change: it fails if nothing has started since."
        )


def left_held(api: OcpApi, task: Task) -> Iterator[str]:
    """What a ``task`` that is FAILED has left its servers in, and that nothing restarts them until it is cleared."""
    if task.status != FAILED:
        return
    state = state_of_servers(api, task)
    yield f"Task {task.label} is FAILED, and nothing restarts its target until that is cleared. {state}".rstrip()
    yield from (f"{what}: {command}" for what, command in remedy_commands(task))


def state_of_servers(api: OcpApi, task: Task) -> str:
    """A sentence about whether the servers of ``task`` serve now; empty if that is not shown."""
    members = [*_servers_of(api, task)]
    down = [member.state for member in members if member.serves is False]
    if down:
        return f"{not_serving_words(len(down))}: {', '.join(down)}."
    return "It serves now." if members and all(member.serves for member in members) else ""


def _servers_of(api: OcpApi, task: Task) -> Iterator[Member]:
    """Those that are shown; none where the servers of its cluster cannot be read.

    A task names hosts. Of several servers on one host it is not known which one it was for.
    """
    if task.cluster_id is None or not task.targets:
        return
    try:
        servers = api.servers(task.cluster_id)
    except OcpError:
        return
    on_host = Counter(server.get("ip") for server in servers)
    yield from (member_of(one) for one in servers if one.get("ip") in task.targets and on_host[one.get("ip")] == 1)


def _agents_of(api: OcpApi, task: Task) -> Sequence[Member]:
    """The agents of the hosts that a restart of agents names; none where they cannot be read."""
    if kind_of(task.name) not in (AGENT_RESTART, SINGLE_AGENT_RESTART) or not task.targets:
        return ()
    try:
        return Agents.find(api, task.targets).observe(api).members
    except OcpError:
        return ()


def _arbiters_of(api: OcpApi, task: Task) -> list[Record]:
    """The arbitration services that a restart of them names; none where they cannot be read."""
    if kind_of(task.name) != ARBITRATION_RESTART or not task.targets:
        return []
    try:
        services = api.arbitration_services()
    except OcpError:
        return []
    return [one for one in services if {one.get("svrIp"), address_of(one, "svrIp", "svrPort")} & {*task.targets}]
