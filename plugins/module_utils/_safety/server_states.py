# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which servers of a cluster are dead, in flight or unclear: by statuses, tasks, restarts of this controller."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from .._base.parsing import Record, integer
from .._ocp.task_model import FAILED, Task, is_finished, task_label
from .._targets.operating_tasks import restarted_parts
from .._targets.serving import database_may_serve, is_in_flight
from .._targets.target import PlacedServer
from .._targets.task_names import CLUSTER_RESTART, DATABASE_RESTARTS, SERVER_RESTART, kind_of
from .voters import ServerState

# The status of a zone or cluster while anything works on a part of it.
OPERATING = "OPERATING"


@dataclass(frozen=True)
class OwnRestart:
    """A restart that this controller has requested and that the service may not show yet.

    ``task_id`` is None if it is not known; then the restart counts ``until`` a time of the service, as text.
    ``servers`` are names, ``arbiters`` ids of arbitration services. ``has_ended``: its task has, without doing its
    work, and what it has left may not show yet.
    """

    task_id: int | None
    servers: frozenset[str]
    arbiters: frozenset[int]
    until: str = ""
    has_ended: bool = False

    @property
    def label(self) -> str:
        """As in ``task 1001 of this controller``."""
        if self.task_id is not None:
            return f"task {self.task_id} of this controller"
        counts = f", so it counts as down until {self.until}" if self.until else ""
        return f"the task of a request of this controller is not known{counts}"


def server_states(
    placed: Sequence[PlacedServer],
    tasks: Sequence[Record],
    own: Iterable[OwnRestart],
    taken: Collection[str],
    gone: Collection[int] = (),
) -> dict[str, ServerState]:
    """The state of each server by its name. ``tasks`` are the newest of the cluster; ``taken`` would be restarted.

    ``gone`` are the ids of tasks that the service does not have any more, though a server may still name one.
    An unfinished restart that names no server may be for any of them, unless the status of a server explains it.
    """
    own = list(own)
    at_work = _by_tasks(placed, tasks, gone)
    running = frozenset().union(at_work, *(restart.servers for restart in own if not restart.has_ended))
    left = frozenset().union(*(restart.servers for restart in own)) - running
    for restart in own:
        at_work.update({name: restart.label for name in restart.servers if name not in at_work})
    held = _holders(placed, tasks)
    found = {
        server.member.name: _state(server, at_work.get(server.member.name), taken, held.get(server.member.name))
        for server in placed
    }
    known = {restart.task_id for restart in own}
    unnamed = [task for task in tasks if _is_unfinished_restart(task) and not _names_target(task)]
    unnamed = [task for task in unnamed if task["id"] not in known]
    moving = [server.member for server in placed if is_in_flight(server.member.status)]
    if len(unnamed) > len([member for member in moving if member.name not in at_work]):
        words = f"{_label(unnamed[0])} names no server and may be restarting one"
        found = {name: state if state.dead else _in_flight(state, words) for name, state in found.items()}
    return {name: replace(state, is_left=name in left) for name, state in found.items()}


def _holders(placed: Iterable[PlacedServer], tasks: Iterable[Record]) -> dict[str, Record]:
    """The servers that name a FAILED task and do not serve, each with that task: only a person brings them back."""
    named = {server.member.name: server.member.operated_by for server in placed if server.member.serves is False}
    numbers = set(named.values())
    failed = {task["id"]: task for task in tasks if task["id"] in numbers and Task.from_api(task).status == FAILED}
    return {name: failed[number] for name, number in named.items() if number in failed}


def _by_tasks(placed: Sequence[PlacedServer], tasks: Sequence[Record], gone: Collection[int]) -> dict[str, str]:
    """The servers that a task works on, each with the name of that task."""
    listed = {task.get("id"): task for task in tasks}
    found = {}
    for server in placed:
        number = server.member.operated_by
        named = listed.get(number)
        if number is None or number in gone:
            continue
        if named is None or not is_finished(named):
            found[server.member.name] = f"task {number}" if named is None else _label(named)
    for task in tasks:
        if _is_unfinished_restart(task):
            found.update({name: _label(task) for name in _restarted(task, placed) if name not in found})
    return found


def _is_unfinished_restart(task: Record) -> bool:
    return kind_of(task.get("name")) in DATABASE_RESTARTS and not is_finished(task)


def _names_target(task: Record) -> bool:
    """Whether a restart shows its target, which may be in another cluster."""
    return kind_of(task.get("name")) == CLUSTER_RESTART or bool(restarted_parts(task)) or _host(task) is not None


def _host(task: Record) -> int | None:
    """The host of the server that a task restarts."""
    return integer(task.get("hostId")) if kind_of(task.get("name")) == SERVER_RESTART else None


def _restarted(task: Record, placed: Iterable[PlacedServer]) -> set[str]:
    """The names of the servers that a restart names by its kind, its tags or its host."""
    parts, host = restarted_parts(task), _host(task)
    is_whole = kind_of(task.get("name")) == CLUSTER_RESTART
    return {
        server.member.name
        for server in placed
        if is_whole or parts & {server.id, server.zone} or (not parts and host is not None and server.host_id == host)
    }


def _state(server: PlacedServer, task: str | None, taken: Collection[str], holder: Record | None) -> ServerState:
    member = server.member
    zone_moves = is_in_flight(server.zone_status) and str(server.zone_status).upper() != OPERATING
    in_flight = task is not None or is_in_flight(member.status) or zone_moves
    down = member.serves is False and not in_flight
    dead = down and not database_may_serve(member.status, member.inner_status)
    cause = task if holder is None else f"FAILED task {holder['id']} holds it"
    words = f"{member.state} ({cause})" if cause else member.state
    if zone_moves and not cause:
        words += f" ({server.zone} is {server.zone_status})"
    state = ServerState(server.zone, dead, in_flight, unclear=down and not dead, holder=holder)
    return replace(state, taken=member.name in taken and state.may_serve, words="" if state.is_up else words)


def _in_flight(state: ServerState, words: str) -> ServerState:
    return ServerState(state.zone, in_flight=True, taken=state.taken, words=state.words or words)


def _label(task: Record) -> str:
    undone = "rollback of " if Task.from_api(task).is_rolling_back else ""
    return f"{undone}task {task_label(task['id'], task.get('name'))}"
