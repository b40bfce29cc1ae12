# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A fleet on one screen: clusters with their servers, what runs and what FAILED; what a large fleet leaves out.

Of the arbitration services there are only those that do not run and serve one of the clusters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..module_utils._base.cli_hints import report_command
from ..module_utils._base.parsing import Record, integer, record, records
from ..module_utils._base.text import display_width, one_line, shorten
from ..module_utils._ocp.task_model import FAILED, ROLLBACK
from ..module_utils._targets.serving import ACTIVE, RUNNING, database_serves
from ._ansible_core import FilterError

# With more of them, those with nothing to report get no row.
MOST_ROWS = 40
_KEYS = ("clusters", "servers", "tasks", "arbitration_services")
_PLAIN, _BAD = "  ", "! "
_GAP = "  "


@dataclass(frozen=True)
class FleetStatus:
    """What info modules have returned; ``problems`` are the messages of those that failed.

    ``read`` has the lists that were read, even if nothing is in them.
    """

    clusters: list[Record] = field(default_factory=list)
    servers: list[Record] = field(default_factory=list)
    tasks: list[Record] = field(default_factory=list)
    arbitration_services: list[Record] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    read: set[str] = field(default_factory=set)


def read_status(filter_name: str, value: object) -> FleetStatus:
    """What is in ``value``: a registered result of an info module or of a loop over one, or a list of these.

    Raises FilterError for anything else.
    """
    status = FleetStatus()
    for result in _results(filter_name, value):
        found = [key for key in _KEYS if key in result]
        status.read.update(found)
        for key in found:
            getattr(status, key).extend(_objects(filter_name, key, result[key]))
        # With failed_when: false a failure does not count as one.
        if not found and "msg" in result:
            status.problems.append(str(result["msg"]).partition("\n")[0])
        elif not found and not result.get("skipped"):
            raise _refusal(filter_name, "a dict without clusters, servers, tasks or arbitration services")
    return status


def render_status(status: FleetStatus, width: int | None, most_tasks: int | None = None) -> str:
    """The lines, each of at most ``width`` columns; None for whole lines.

    At most ``most_tasks`` that run have a line, and as many that have FAILED; None for all.
    """
    lines = [_heading(status), *_fleet_lines(status), *_arbiter_lines(status)]
    lines += _task_lines(status.tasks, most_tasks)
    lines += [f"{_BAD}Not everything could be read: {one_line(problem)}" for problem in status.problems]
    failed = [task for task in status.tasks if _has_failed(task)]
    if failed:
        lines.append(f"Why: {report_command(_text(failed[0].get('id')))}")
    return "\n".join(line.rstrip() if width is None else shorten(line.rstrip(), width) for line in lines)


def _results(filter_name: str, value: object) -> Iterator[Record]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _results(filter_name, each)
    elif isinstance(value, dict) and "results" in value:
        yield from _results(filter_name, value["results"])
    elif isinstance(value, dict):
        yield value
    else:
        raise _refusal(filter_name, "a value that is no dict and no list")


def _objects(filter_name: str, key: str, value: object) -> list[Record]:
    found = records(value)
    if not isinstance(value, (list, tuple)) or len(found) != len(value):
        raise _refusal(filter_name, f"{key} that are no dicts, as with detail=compact,")
    return found


def _refusal(filter_name: str, what: str) -> FilterError:
    return FilterError(
        f"oceanbase.ocp.{filter_name}: {what} cannot be shown; give registered results of cluster_info, server_info, "
        "task_info and arbitration_service_info, or a list of these."
    )


def _heading(status: FleetStatus) -> str:
    """How many there are of what was read."""
    words = []
    if {"clusters", "servers"} & status.read:
        words.append(_counted(len([*_grouped(status)]), "cluster"))
    if "servers" in status.read:
        away = sum(not _serves(server) for server in status.servers)
        words.append(_counted(len(status.servers), "server") + (f" ({away} not serving)" if away else ""))
    if "tasks" in status.read:
        running, failed = sum(map(_runs, status.tasks)), sum(map(_has_failed, status.tasks))
        words += [f"{_counted(running, 'task')} running", f"{failed} FAILED"]
    return ", ".join(words) or "Nothing was read"


def _fleet_lines(status: FleetStatus) -> Iterator[str]:
    """The clusters with their servers, in columns; in a large fleet the rows that report something."""
    all_servers, all_clusters = len(status.servers) <= MOST_ROWS, len(status.clusters) <= MOST_ROWS
    rows: list[tuple[str, list[str]]] = []
    left_out = 0
    for cluster, servers in _grouped(status):
        own = [server for server in servers if all_servers or _reports(server)]
        if all_clusters or own or _reports(cluster):
            rows.append(_cluster_row(cluster, servers))
            rows += [_server_row(server) for server in own]
        else:
            left_out += 1
    yield from _in_columns(rows)
    if left_out:
        yield f"{_PLAIN}{_counted(left_out, 'cluster')} left out: RUNNING, with all servers serving"


def _arbiter_lines(status: FleetStatus) -> Iterator[str]:
    """Those that do not run; where clusters were read, only those that serve one of them, or may."""
    known = {_text(cluster.get("name")) for cluster in status.clusters}
    for service in status.arbitration_services:
        served = {_text(cluster.get("name")) for cluster in records(service.get("clusters"))}
        if database_serves(service.get("status")) is not True and (not served or not known or served & known):
            names = f" of {', '.join(sorted(served))}" if served else ""
            yield f"{_BAD}arbitration service {_text(service.get('name'))}{names} is {_text(service.get('status'))}"


def _grouped(status: FleetStatus) -> Iterator[tuple[Record, list[Record]]]:
    """Each cluster with its servers, also one of which only servers were read."""
    known = {integer(cluster.get("id")): cluster for cluster in status.clusters}
    by_cluster: dict[int | None, list[Record]] = {number: [] for number in known}
    for server in status.servers:
        by_cluster.setdefault(integer(server.get("cluster_id")), []).append(server)
    for number, servers in by_cluster.items():
        yield known.get(number) or {"id": number, "name": servers[0].get("cluster_name")}, servers


def _cluster_row(cluster: Record, servers: list[Record]) -> tuple[str, list[str]]:
    number = integer(cluster.get("server_count")) or len(servers)
    away = sum(not _serves(server) for server in servers)
    counted = f"{number - away} of {number} serve" if away else _counted(number, "server")
    notes = [counted, _work(cluster)]
    cells = [_text(cluster.get("name")), "", _text(cluster.get("status")), _start(cluster), _joined(notes)]
    return _PLAIN if _serves(cluster) and not away else _BAD, cells


def _server_row(server: Record) -> tuple[str, list[str]]:
    status, inner = _text(server.get("status")), _text(server.get("inner_status"))
    states = f"{status} {inner}" if status == RUNNING and inner not in (ACTIVE, "") else status
    notes = ["root server" if server.get("with_rootserver") is True else "", _work(server)]
    cells = [_GAP + _text(server.get("name")), _text(server.get("zone")), states, _start(server), _joined(notes)]
    return _PLAIN if _serves(server) else _BAD, cells


def _in_columns(rows: list[tuple[str, list[str]]]) -> Iterator[str]:
    widths = [max(map(display_width, column)) for column in zip(*(cells for _mark, cells in rows), strict=True)]
    for mark, cells in rows:
        sized = zip(cells, widths, strict=True)
        yield mark + _GAP.join(cell + " " * (width - display_width(cell)) for cell, width in sized if width)


def _task_lines(tasks: Sequence[Record], most: int | None) -> Iterator[str]:
    """Those that run first, at most so many of a kind; then how many are left out."""
    kinds = [list(filter(_runs, tasks)), [task for task in tasks if not _runs(task)]]
    for task in (task for kind in kinds for task in kind[:most]):
        targets = ", ".join(_texts(task.get("targets"))) or _text(task.get("cluster_name"))
        undone = "rollback of" if _rolls_back(task) else ""
        words = [_text(task.get("status")), undone, _text(task.get("id")), _text(task.get("name")), _text(targets)]
        mark = _BAD if _has_failed(task) else _PLAIN
        yield mark + _joined([" ".join(filter(None, words)), _place(task), _time(task.get("start_time"))])
    left_out = 0 if most is None else sum(max(0, len(kind) - most) for kind in kinds)
    if left_out:
        yield f"{_PLAIN}{_counted(left_out, 'task')} left out"


def _place(task: Record) -> str:
    """How far it is and what it does there, or where it has FAILED."""
    steps, progress = records(task.get("subtasks")), record(task.get("progress"))
    if _has_failed(task):
        failed = [(number, step) for number, step in enumerate(steps, 1) if step.get("status") == FAILED]
        return "".join(f"{number}/{len(steps)} {_text(step.get('description'))}" for number, step in failed[:1])
    done = [f"{_text(progress.get('done'))}/{_text(progress['total'])}"] if progress.get("total") else []
    return " ".join([*done, *(f"now {each}" for each in _texts(progress.get("running"))[:1])])


def _reports(thing: Record) -> bool:
    """Whether a cluster or server has to be shown in any case."""
    return not _serves(thing) or thing.get("task_id") is not None


def _serves(thing: Record) -> bool:
    """A status that is not shown is taken for a good one."""
    return database_serves(thing.get("status"), thing.get("inner_status")) is not False


def _runs(task: Record) -> bool:
    return task.get("finished") is not True


def _rolls_back(task: Record) -> bool:
    return str(task.get("operation")).upper() == ROLLBACK


def _has_failed(task: Record) -> bool:
    return task.get("status") == FAILED


def _work(thing: Record) -> str:
    return "" if thing.get("task_id") is None else f"task {_text(thing['task_id'])}"


def _start(thing: Record) -> str:
    if "start_time" not in thing:
        return ""
    return _time(thing.get("start_time")) or "start not shown"


def _time(value: object) -> str:
    """Without the fractions of a second."""
    return re.sub(r"\.\d+", "", _text(value).replace("T", " ", 1))


def _text(value: object) -> str:
    return one_line(value) or ""


def _texts(value: object) -> list[str]:
    return [_text(each) for each in value] if isinstance(value, (list, tuple)) else []


def _joined(notes: Iterable[str]) -> str:
    return ", ".join(filter(None, notes))


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"
