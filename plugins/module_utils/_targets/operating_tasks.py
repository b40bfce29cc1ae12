# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The task that works on a record, and the targets in the tags of a task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .._base.parsing import Record, integer, records
from .._ocp.endpoints import OcpApi
from .task_names import SERVER_RESTART, ZONE_RESTART, kind_of


def operated_by(record: Record) -> int | None:
    """The id of the task that works on it now."""
    return integer(record.get("operatingTaskInstanceId"))


def names_every_operation(
    own: list[Record], *, siblings: Sequence[Record] = (), related: Sequence[Record] = ()
) -> bool:
    """Whether the tasks named by its ``own`` records are all that work on a target.

    The service may omit null names, so it names tasks at all if any record has the key, including ``siblings``. A task
    that only a ``related`` record names, such as the cluster of a server, may work on the target too.
    """
    named = {operated_by(record) for record in own} | {None}
    named_anywhere = any("operatingTaskInstanceId" in record for record in (*own, *siblings, *related))
    return named_anywhere and all(operated_by(record) in named for record in related)


def tag_values(task: Record, key: str) -> set[Any]:
    """The values of the tags of a task under ``key``, such as the ids of its servers; empty if unknown.

    Older versions send no tags, and the keys of a tag vary.
    """
    return {tag[key] for tag in records(task.get("tags")) if isinstance(tag.get(key), (int, str))}


def task_ids_on_hosts(
    api: OcpApi, cluster_id: int, hosts: Iterable[int], found: list[Record], **query: Any
) -> set[Any]:
    """The ids of the tasks of a cluster on these hosts; empty if the tags of ``found`` are sufficient.

    Without tags, or with tags for the cluster alone, only the service's filter by host separates its parts.
    """
    tag_of = {SERVER_RESTART: "serverId", ZONE_RESTART: "zoneName"}
    tags = [(task, tag_of.get(str(kind_of(task.get("name"))))) for task in found]
    tags_missing = any(tag is not None and not tag_values(task, tag) for task, tag in tags)
    return {
        task.get("id")
        for host in (hosts if tags_missing else ())
        for task in api.tasks(clusterId=cluster_id, hostId=host, **query)
    }
