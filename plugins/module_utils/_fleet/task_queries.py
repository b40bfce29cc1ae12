# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The filters of ``task_info`` and the event source: tasks by id, cluster, host, name and status."""

from __future__ import annotations

from typing import Any

from .._base.checks import check_range
from .._base.errors import NotFound, OptionError
from .._base.parsing import Record, integers
from .._ocp.endpoints import OcpApi
from .._ocp.paging import PAGE_SIZE
from .._ocp.task_model import Task
from .._targets.lookup import find_cluster, find_host
from .facts import bounded


def read_tasks(api: OcpApi, params: dict[str, Any]) -> list[dict[str, Any]]:
    """The task ``task_id``, if it exists, or the newest ``limit`` tasks that pass the other options.

    The task list has no links, so each task is read on its own to get its subtasks in execution order.
    """
    check_range("limit", params["limit"], 1, PAGE_SIZE)
    if params["status"] == []:
        raise OptionError("status: is empty; leave it out to have tasks of every status.")
    filters = task_filters(api, params)
    if params["task_id"] is not None:
        ids = [params["task_id"]]
    else:
        found = api.tasks(params["limit"], status=",".join(params["status"] or []) or None, **filters)
        ids = integers([record.get("id") for record in found])
    tasks = (task.result() for task_id in ids if (task := _read(api, task_id)) is not None and _passes(task, params))
    return bounded(tasks, "subtasks")


def task_filters(api: OcpApi, params: dict[str, Any]) -> Record:
    """The service's filters for tasks by ``cluster``, ``host`` and ``name``; raises OptionError and TargetError."""
    for option in ("cluster", "host", "name"):
        if params[option] == "":
            raise OptionError(f"{option}: is empty; leave it out to have the tasks of all.")
    return {
        "clusterId": find_cluster(api, params["cluster"])["id"] if params["cluster"] else None,
        "hostId": find_host("host", api.hosts(), params["host"])[0] if params["host"] else None,
        "name": params["name"],
    }


def _passes(task: Task, params: dict[str, Any]) -> bool:
    """Whether a task is in one of the wanted states now; it may have ended since it was listed."""
    wanted = params["status"] if params["task_id"] is None else None
    return not wanted or task.status is None or task.status in wanted


def _read(api: OcpApi, task_id: int) -> Task | None:
    try:
        return Task.from_api(api.task(task_id))
    except NotFound:
        return None
