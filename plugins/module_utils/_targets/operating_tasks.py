# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which task works on a record, and which targets the tags of a task name; filters that a service ignores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .._base.errors import AuthenticationFailed, RequestRefused
from .._base.parsing import Record, integer, record, records
from .._ocp.endpoints import OcpApi
from .._ocp.retries import TOO_MANY_REQUESTS
from .._ocp.task_list import RECENT_TASKS
from .._ocp.task_model import is_finished
from .task_names import DATABASE_RESTARTS, SERVER_RESTART, ZONE_RESTART, is_foreign, kind_of, may_start

# Ids begin at 1.
NO_HOST = 0
# Each takes a request.
MOST_HOSTS_ASKED = 12

# The tag with the part of its cluster that a restart is for.
_PART_TAGS = {SERVER_RESTART: "serverId", ZONE_RESTART: "zoneName"}


def operated_by(record: Record) -> int | None:
    """The id of the task that works on it now; None, too, where 0 stands for none."""
    number = integer(record.get("operatingTaskInstanceId"))
    return number if number and number > 0 else None


def names_every_operation(
    own: list[Record], *, siblings: Sequence[Record] = (), related: Sequence[Record] = ()
) -> bool:
    """Whether the tasks named by its ``own`` records are all that work on a target.

    The service may omit null names, so it names tasks at all if any record has the key, including ``siblings``. A task
    that only a ``related`` record names, such as the cluster of a server, may work on the target too.
    """
    named = {operated_by(each) for each in own} | {None}
    named_anywhere = any("operatingTaskInstanceId" in each for each in (*own, *siblings, *related))
    return named_anywhere and all(operated_by(each) in named for each in related)


def tag_values(task: Record, key: str) -> set[Any]:
    """The values of the tags of a task under ``key``, such as the ids of its servers; empty if unknown.

    Older versions send no tags, and the keys of a tag vary.
    """
    return {tag[key] for tag in records(task.get("tags")) if isinstance(tag.get(key), (int, str))}


def shown_hosts(task: Record) -> set[Any]:
    """The ids of the hosts that a task names: in its tags, in its context or, for a task on one host, itself."""
    alone = [task.get("hostId"), _in_context(task, "stringMap", "host_id")]
    return tag_values(task, "hostId").union(_in_context(task, "listMap", "host_ids") or (), _known(alone))


def shown_servers(task: Record) -> set[Any]:
    """The ids of the servers that a task names in its tags or its context."""
    alone = [_in_context(task, "stringMap", "server_id")]
    return tag_values(task, "serverId").union(_in_context(task, "listMap", "server_ids") or (), _known(alone))


def shown_zones(task: Record) -> set[Any]:
    """The names of the zones that a task names in its tags or its context."""
    return tag_values(task, "zoneName").union(_known([_in_context(task, "stringMap", "zone_name")]))


def names_only_others(shown: Collection[Any], mine: Collection[Any]) -> bool:
    """Whether a task names hosts, servers or zones, and none of ``mine``; False if mine are not known."""
    return bool(shown) and bool(mine) and not set(shown).intersection(mine)


def _in_context(task: Record, part: str, key: str) -> Any:
    """What answers to restarts of older versions have in their context; a text there is no object."""
    return record(record(task.get("context")).get(part)).get(key)


def _known(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def is_other_work(task: Record) -> bool:
    """Whether a task runs that is none of the restarts of databases, such as an upgrade; it may restart what it names.

    One that names a cluster alone may be harmless, such as a report. One that may start something has perhaps
    restarted what it names when it has ended, too.
    """
    return kind_of(task.get("name")) not in DATABASE_RESTARTS and (not is_finished(task) or may_start(task))


def may_restart_servers(task: Record) -> bool:
    """Whether a task may have restarted servers, for all that its name tells."""
    return kind_of(task.get("name")) in DATABASE_RESTARTS or may_start(task)


def may_be_of_whole(task: Record, zones: Collection[Any] = ()) -> bool:
    """Whether an ended task may have restarted a cluster, or one of these zones, for all that its name tells.

    What runs shows in the status.
    """
    named = shown_zones(task)
    names_no_part = not shown_servers(task) and (not named or not named.isdisjoint(zones))
    return may_start(task) and is_finished(task) and names_no_part


def restarted_parts(task: Record) -> set[Any]:
    """The ids of servers or the names of zones that a restart is for; empty if unknown, or for none of them."""
    tag = _PART_TAGS.get(str(kind_of(task.get("name"))))
    return tag_values(task, tag) if tag else set()


def tasks_of_cluster(api: OcpApi, cluster_id: int, **query: Any) -> list[Record]:
    """The tasks of ``query`` on a cluster, without those that show another one: a service may ignore the filter."""
    return [task for task in api.tasks(clusterId=cluster_id, **query) if shown_cluster(task) in (None, cluster_id)]


def tasks_named(api: OcpApi, word: str, **query: Any) -> list[Record]:
    """The tasks of ``query`` with a word in their names; where names are in another language, all with such a name."""
    found = api.tasks(name=word, **query)
    if not found and api.names_in_another_language is None:
        api.names_in_another_language = any(map(is_foreign, api.tasks(RECENT_TASKS)))
        # What decides is read after that.
        found = api.tasks(name=word, **query)
    if found or not api.names_in_another_language:
        return found
    return [task for task in api.tasks(**query) if is_foreign(task)]


def names_parts_of_clusters(task: Record) -> bool:
    """Whether a task names a cluster, or servers or zones of one."""
    return shown_cluster(task) is not None or bool(shown_servers(task) or shown_zones(task))


def shown_cluster(task: Record) -> int | None:
    """The id of the cluster that a task shows."""
    return integer(task.get("clusterId")) or integer(record(task.get("cluster")).get("id"))


def tasks_on_hosts(
    api: OcpApi, cluster_id: int, hosts: Iterable[int], others: Iterable[int], listed: list[Record], **query: Any
) -> tuple[list[Record], set[Any] | None]:
    """All known tasks of a cluster, and the ids of those on these hosts.

    Without tags, or with tags only for the cluster, only the service's host filter separates its parts. The ids are
    empty if the tags of the ``listed`` tasks are sufficient, and None if the filter does not tell. Tasks that only the
    filter finds come first: another application server may have answered, and ``listed`` be behind. ``others`` are more
    hosts of the cluster.
    """
    tags_missing = any(kind_of(task.get("name")) in _PART_TAGS and not restarted_parts(task) for task in listed)
    by_host = tasks_by_host(api, hosts if tags_missing else (), others, clusterId=cluster_id, **query)
    if by_host is None:
        return listed, None
    of_cluster = (task for task in unlisted(by_host, listed) if shown_cluster(task) in (None, cluster_id))
    return [*of_cluster, *listed], set().union(*by_host.values())


def unlisted(by_host: Mapping[int, Mapping[Any, Record]], listed: Iterable[Record]) -> list[Record]:
    """The tasks that the filter by host has found and a list lacks."""
    found = {number: task for tasks in by_host.values() for number, task in tasks.items()}
    known = {task["id"] for task in listed}
    return [task for number, task in found.items() if number not in known]


def tasks_by_host(
    api: OcpApi, hosts: Iterable[int], others: Iterable[int] | None = None, **query: Any
) -> dict[int, dict[Any, Record]] | None:
    """The tasks of each host, by their ids; None if the service's host filter does not tell.

    It does not tell if the service ignores it, or if it finds no task on any host, ``others`` included: then tasks may
    have no host. Without ``others`` that is not asked.
    """
    by_host = {host: {task["id"]: task for task in api.tasks(hostId=host, **query)} for host in hosts}
    if any(by_host.values()):
        api.finds_by_host = True
        return by_host if _filters_by_host(api, **query) else None
    is_told = not by_host or others is None or api.finds_by_host or _finds_by_host(api, others, **query)
    return by_host if is_told else None


def _finds_by_host(api: OcpApi, hosts: Iterable[int], **query: Any) -> bool:
    """Whether the filter finds a task on one of these hosts; what it has found once is not asked for again."""
    asked = list(hosts)[:MOST_HOSTS_ASKED]
    api.finds_by_host = any(api.tasks(hostId=host, **query) for host in asked)
    return api.finds_by_host


def _filters_by_host(api: OcpApi, **query: Any) -> bool:
    """Whether the service filters by host: no task is of a host that cannot be.

    A replica that is behind may show none later, so tasks that were shown once decide.
    """
    if api.ignores_host_filter:
        return False
    try:
        api.ignores_host_filter = bool(api.tasks(hostId=NO_HOST, **query))
        return not api.ignores_host_filter
    except AuthenticationFailed:
        raise
    except RequestRefused as refusal:
        # A refusal by the service itself is about the host; a page or a failure shows nothing.
        return refusal.has_envelope and refusal.status < 500 and refusal.status != TOO_MANY_REQUESTS
