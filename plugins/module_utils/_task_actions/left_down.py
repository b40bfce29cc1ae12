# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The servers of a task after its end: whether they serve, and what starts those that it has left down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .._base.cli_hints import start_command
from .._base.errors import OcpError
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.cluster import member_of
from .._targets.serving import is_in_flight
from .._targets.target import Member, not_serving_words


def left_down(api: OcpApi, task: Task) -> Iterator[str]:
    """A sentence for each server of ``task`` that is shown and does not serve, with the command that starts it."""
    for member in _servers_of(api, task):
        if member.serves is False and not is_in_flight(member.status):
            yield f"{member.state}: start it by {start_command(task.cluster_id, member.name)}"


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
