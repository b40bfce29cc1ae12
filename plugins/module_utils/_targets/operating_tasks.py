# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which task a record names as working on it, and which targets the tags of a task name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .._base.parsing import Record, integer, records
from .._ocp.endpoints import OcpApi
from .task_names import SERVER_RESTART, ZONE_RESTART


def operated_by(record: Record) -> int | None:
    """The task that works on something now."""
    return integer(record.get("operatingTaskInstanceId"))


def names_every_operation(
    own: list[Record], *, siblings: Sequence[Record] = (), related: Sequence[Record] = ()
) -> bool:
    """Whether the tasks that its ``own`` records name are all that work on a target.

    Null ones may be left out, so a service names them at all if any record does, also one ``siblings``. What a record
    ``related`` names and no own one does, such as the cluster of a server, may work on the target all the same.
    """
    named = {operated_by(record) for record in own} | {None}
    named_anywhere = any("operatingTaskInstanceId" in record for record in (*own, *siblings, *related))
    return named_anywhere and all(operated_by(record) in named for record in related)


def tag_values(task: Record, key: str) -> set[Any]:
    """What the tags of a task say under ``key``, such as which server it works on; none where they do not tell.

    Older versions send no tags, and what a tag has of its keys differs.
    """
    return {tag[key] for tag in records(task.get("tags")) if isinstance(tag.get(key), (int, str))}


def task_ids_on_hosts(
    api: OcpApi, cluster_id: int, hosts: Iterable[int], found: list[Record], **query: Any
) -> set[Any]:
    """The ids of the tasks of a cluster that work on these hosts, asked for if the tags of those ``found`` do not tell.

    Without tags, or with some that name the cluster alone, only the service's filter by host tells its parts apart.
    """
    tag_of = {SERVER_RESTART: "serverId", ZONE_RESTART: "zoneName"}
    tags_missing = any(not tag_values(task, tag_of[task["name"]]) for task in found if task.get("name") in tag_of)
    return {
        task.get("id")
        for host in (hosts if tags_missing else ())
        for task in api.tasks(clusterId=cluster_id, hostId=host, **query)
    }
