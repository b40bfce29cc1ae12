# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the modules that only read return."""

from __future__ import annotations

from typing import Any

from ._api import PAGE_SIZE, OcpApi
from ._databases import Cluster
from ._errors import NotFound, OptionError
from ._hosts import find_host
from ._shapes import integers
from ._tasks import Task


def read_tasks(api: OcpApi, params: dict[str, Any]) -> list[dict[str, Any]]:
    """The task ``task_id``, if it exists, or the newest ``limit`` tasks that pass the other options.

    The list of the service tells no links, so each task is read by itself to have its subtasks in execution order.
    """
    if not 1 <= params["limit"] <= PAGE_SIZE:
        raise OptionError(f"limit: {params['limit']} is out of range; give 1 to {PAGE_SIZE}.")
    for option in ("cluster", "host", "name"):
        if params[option] == "":
            raise OptionError(f"{option}: is empty; leave it out to have the tasks of all.")
    if params["task_id"] is not None:
        ids = [params["task_id"]]
    else:
        found = api.tasks(
            params["limit"],
            clusterId=Cluster.find(api, params["cluster"]).id if params["cluster"] else None,
            hostId=find_host("host", api.hosts(), params["host"])[0] if params["host"] else None,
            status=",".join(params["status"] or []) or None,
            name=params["name"],
        )
        ids = integers([record.get("id") for record in found])
    return [task.result() for task_id in ids if (task := _read(api, task_id)) is not None]


def _read(api: OcpApi, task_id: int) -> Task | None:
    try:
        return Task.from_api(api.task(task_id))
    except NotFound:
        return None
