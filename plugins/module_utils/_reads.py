# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the modules that only read return."""

from __future__ import annotations

from typing import Any

from ._api import OcpApi
from ._errors import NotFound, OptionError
from ._targets import Cluster, find_host
from ._tasks import Task


def read_tasks(api: OcpApi, params: dict[str, Any]) -> list[dict[str, Any]]:
    """The task ``task_id``, if it exists, or the newest ``limit`` tasks that pass the other options.

    The list of the service tells no links, so each task is read by itself to have its subtasks in execution order.
    """
    if params["limit"] < 1:
        raise OptionError(f"limit: {params['limit']} is too small; give 1 or more.")
    if params["task_id"] is not None:
        ids = [params["task_id"]]
    else:
        found = api.tasks(
            params["limit"],
            clusterId=Cluster.find(api, params["cluster"]).id if params["cluster"] else None,
            hostId=find_host(api.hosts(), params["host"])[0] if params["host"] else None,
            status=",".join(params["status"] or []) or None,
            name=params["name"],
        )
        ids = [record["id"] for record in found]
    return [task.result() for task_id in ids if (task := _read(api, task_id)) is not None]


def _read(api: OcpApi, task_id: int) -> Task | None:
    try:
        return Task.from_api(api.task(task_id))
    except NotFound:
        return None
