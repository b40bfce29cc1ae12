# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which servers a task has left down after its end, as it may if a step was skipped, and what starts them."""

from __future__ import annotations

from collections.abc import Iterator

from .._base.cli_hints import start_command
from .._base.errors import OcpError
from .._ocp.endpoints import OcpApi
from .._ocp.task_model import Task
from .._targets.cluster import member_of
from .._targets.serving import is_in_flight


def left_down(api: OcpApi, task: Task) -> Iterator[str]:
    """A sentence for each server of ``task`` that is shown and does not serve, with the command that starts it.

    Nothing is told where the servers of its cluster cannot be read.
    """
    hosts = {name.rpartition(":")[0] or name for name in task.targets}
    if task.cluster_id is None or not hosts:
        return
    try:
        servers = api.servers(task.cluster_id)
    except OcpError:
        return
    for member in map(member_of, servers):
        if member.name.rpartition(":")[0] not in hosts or member.serves is not False or is_in_flight(member.status):
            continue
        yield f"{member.state}: start it by {start_command(task.cluster_id, member.name)}"
