# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The catalogue of targets and tasks: modules against a fake OCP with errors."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import SYSTEM_CLOCK, Clock
from ansible_collections.oceanbase.ocp.plugins.module_utils._module import bridge
from ansible_collections.oceanbase.ocp.tests.unit.support.cluster_payloads import raw_server
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_controller, with_journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import (
    ADDRESS,
    OPTIONS,
    TARGETS,
    TASKS,
    Entry,
    keys_of,
    outcome_of,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_service import (
    GET,
    POST,
    error_lost,
    error_status,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import AGENTS, SERVER, FakeOcp, at
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import FakeClock, chain, raw_task, step
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import CONNECTION, OWN

Happening = Callable[[FakeOcp], object]

WAITING = {"wait": True, "wait_timeout": 60}
SERVER_PATH = "/api/v2/ob/clusters/31/servers/41/restart"
TASKS_PATH = "/api/v2/tasks/instances"
ADDRESS_41 = "10.1.0.1:2882"


@contextmanager
def staged(service: Any) -> Iterator[None]:
    """Connect modules to ``service``, and to its clock."""

    @contextmanager
    def connected(_params: dict[str, Any]) -> Iterator[Any]:
        yield service

    system = vars(SYSTEM_CLOCK).copy()
    try:
        _set_clock(vars(service.time.clock))
        with mock.patch.object(bridge, "connected", connected):
            yield
    finally:
        _set_clock(system)


def _set_clock(fields: dict[str, Any]) -> None:
    for name in Clock.__dataclass_fields__:
        object.__setattr__(SYSTEM_CLOCK, name, fields[name])


def entry(
    place: tuple[str, str],
    cause: str,
    module: str,
    names: tuple[str, ...],
    happening: Happening = lambda _service: None,
    **options: Any,
) -> Entry:
    """The message of ``module`` with a service in which this happened, in a new process."""
    another_controller()
    service = FakeOcp(FakeClock())
    with (
        TemporaryDirectory() as folder,
        mock.patch.object(tempfile, "tempdir", folder),
        mock.patch.dict(os.environ, ANSIBLE_HOME=folder),
        with_journal_here(),
        staged(service),
    ):
        happening(service)
        result, kind = outcome_of(module, {**CONNECTION, **OWN[module], **options})
    return Entry(*place, cause, result["msg"], names, kind, (module,), results=keys_of(module, result))


def turned(**fields: Any) -> Happening:
    """Set these fields or methods of the service."""

    def happen(service: FakeOcp) -> None:
        for name, value in fields.items():
            setattr(service, name, value)

    return happen


def fails(call: str, status: int, path: str, *, after: int = 0) -> Happening:
    """Answer a read with an error from now on, after so many successes."""

    def happen(service: FakeOcp) -> None:
        there, calls = getattr(service, call), count()

        def answer(*args: Any, **kwargs: Any) -> Any:
            if next(calls) < after:
                return there(*args, **kwargs)
            raise error_status(GET, status, path=path)

        setattr(service, call, answer)

    return happen


def together(*happenings: Happening) -> Happening:
    """Apply all of them to one service."""

    def happen(service: FakeOcp) -> None:
        for each in happenings:
            each(service)

    return happen


def target_entries() -> Iterator[Entry]:
    """Names and ids that match nothing, or several things."""
    for module in ("cluster_restart", "server_restart", "zone_restart", "cluster_wait", "task_info"):
        yield entry((TARGETS, "cluster"), "matches nothing", module, ("cluster", "payments"), cluster="payments")
    yield entry(
        (TARGETS, "cluster"), "part of a name", "cluster_restart", ("cluster", "order", "orders"), cluster="order"
    )
    twins = turned(clusters=lambda _name=None: [{"id": number, "name": "orders"} for number in (31, 32)])
    yield entry(
        (TARGETS, "cluster"), "the name of more than one", "cluster_restart", ("cluster", "orders", "32"), twins
    )
    nameless = turned(clusters=lambda _name=None: [{"name": "orders"}])
    yield entry((TARGETS, "cluster"), "the service tells no id", "cluster_restart", ("cluster", "orders"), nameless)
    for option, module in {
        "server": "server_restart",
        "zone": "zone_restart",
        "arbitration_service": "arbitration_service_restart",
        "host": "task_info",
    }.items():
        yield entry((TARGETS, option), "matches nothing", module, (option, "10.9.9.9"), **{option: "10.9.9.9"})
    address = raw_server(1, "zone1")["ip"]
    yield entry((TARGETS, "server"), "has no port", "server_restart", ("server", address), server=address)
    future = "2099-05-04T03:00:00+08:00"
    yield entry(
        (OPTIONS, "started_before"),
        "in the future",
        "server_restart",
        ("started_before", future),
        started_before=future,
    )
    here, late, old = (at(seconds).isoformat() for seconds in (0, 3600, -172_800))
    clocks = partial(entry, (OPTIONS, "started_before"), started_before=here)
    off = turned(clock_offset=3600.0)
    yield clocks("the clock is off", "server_restart", ("started_before", here, late), off)
    apart = turned(other_offsets=(-172_800.0,))
    yield clocks("the answers disagree", "cluster_rolling_restart_info", ("started_before", here, old), apart)
    yield entry((TARGETS, "hosts"), "one matches nothing", "agent_restart", ("hosts", "10.9.9.9"), hosts=["10.9.9.9"])
    yield from _plan_entries()
    yield entry((TARGETS, "task_id"), "of `task` is none", "task", ("task_id", "81"))
    yield entry((TARGETS, "task_ids"), "one is none", "task_wait", ("81",), fails("task", 404, f"{TASKS_PATH}/81"))
    for call, status, path in (
        ("clusters", 401, "/api/v2/ob/clusters"),
        ("clusters", 403, "/api/v2/ob/clusters"),
        ("tasks", 500, TASKS_PATH),
    ):
        yield entry(
            (TARGETS, "Reading fails"),
            f"status {status}",
            "server_restart",
            (f"{ADDRESS}{path}",),
            fails(call, status, path),
        )


def _plan_entries() -> Iterator[Entry]:
    def plan(cause: str, names: tuple[str, ...], count: int = 3, **options: Any) -> Entry:
        raw = [raw_server(number, f"zone{number}") for number in range(1, count + 1)]
        happening = turned(servers=lambda _cluster_id: raw)
        return entry((TARGETS, names[0]), cause, "cluster_rolling_restart_info", names, happening, **options)

    yield plan("one matches nothing", ("clusters", "payments"), clusters=["payments"])
    yield plan("fewer zones than min_zones", ("clusters", "orders", "min_zones=3"), 2, min_zones=3)
    yield plan("one matches nothing", ("zones", "zone9"), zones=["zone9"])
    yield plan("one matches nothing", ("servers", "10.9.9.9:2882"), servers=["10.9.9.9:2882"])


def task_entries() -> Iterator[Entry]:
    """Restarts that are not sent, refused or lost, and tasks that do not succeed."""
    yield from _busy_entries()
    yield from _refused_entries()
    yield from _ill_entries()
    yield from _lost_entries()
    yield from _ended_entries()
    yield from _health_entries()


def running(name: str, things: str, **more: Any) -> Happening:
    return lambda service: service.begin(name, getattr(service, things)[:1], seconds=1e6, **more)


def _shown_as(**fields: Any) -> Happening:
    """Show the first server so."""

    def happen(service: FakeOcp) -> None:
        for name, value in fields.items():
            setattr(service.servers_there[0], name, value)

    return happen


def _ill_entries() -> Iterator[Entry]:
    """It has started since, but does not serve."""
    since = at(-100).isoformat()
    ill = partial(entry, (TASKS, "It started since, but does not serve"), started_before=since)
    inactive = _shown_as(started=0.0, inner_status="INACTIVE")

    def failed(service: FakeOcp) -> None:
        service.begin(SERVER, service.servers_there[:1], ago=60.0, end="FAILED")
        service.servers_there[0].operated_by = None
        inactive(service)

    yield ill("no task of it FAILED", "server_restart", (ADDRESS_41, "INACTIVE"), inactive)
    yield ill("its newest restart FAILED", "server_restart", (ADDRESS_41, "INACTIVE", "1001"), failed)


def _busy_entries() -> Iterator[Entry]:
    busy = partial(entry, (TASKS, "Something else works on the target"))
    own, other = running(SERVER, "servers_there"), running("Upgrade OB server", "servers_there")
    mine = ("1001", ADDRESS_41)
    later = at(30).isoformat()
    yield busy("`in_flight` is fail", "server_restart", mine, own, in_flight="fail")
    yield busy("it began before `started_before`", "server_restart", mine, own, started_before=later)
    yield busy("it is no restart", "server_restart", mine, other)
    hidden = running(SERVER, "servers_there", hidden_start=True)
    yield busy("when it began is not known", "server_restart", mine, hidden, started_before=later)
    part = running(AGENTS, "agents_there")
    both = {"hosts": ["10.1.0.1", "10.1.0.2"]}
    yield busy("it restarts a part", "agent_restart", ("1001", "10.1.0.2"), part, **both)
    yield busy("`in_flight` is queue, too long", "server_restart", mine, other, in_flight="queue", wait_timeout=60)
    at_work = _shown_as(status="RESTARTING")
    yield busy("its own status says so, and no task shows", "server_restart", (ADDRESS_41, "RESTARTING"), at_work)
    yield busy(
        "its own status says so, and `in_flight` is queue",
        "server_restart",
        (ADDRESS_41, "RESTARTING"),
        at_work,
        in_flight="queue",
        wait_timeout=60,
    )


def _refused_entries() -> Iterator[Entry]:
    refused = partial(entry, (TASKS, "The restart was refused"))
    for status in (400, 401, 403, 404, 409, 429):
        error = error_status(POST, status, path=SERVER_PATH)
        yield refused(f"status {status}", "server_restart", (ADDRESS_41, str(status)), turned(lose_before=[error]))

    def held(service: FakeOcp) -> None:
        service.begin(SERVER, service.servers_there[:1], ago=60.0, end="FAILED")
        service.lose_before = [error_status(POST, 409, path=SERVER_PATH)]

    yield refused("a FAILED task holds the target", "server_restart", (ADDRESS_41, "1001"), held)
    started_at = running("Upgrade OB server", "servers_there")

    def taken(service: FakeOcp) -> None:
        service.before_post = lambda: started_at(service)
        service.lose_before = [error_status(POST, 409, path=SERVER_PATH)]

    yield refused("something else was faster", "server_restart", (ADDRESS_41, "1001"), taken)


def _lost_entries() -> Iterator[Entry]:
    lost = partial(entry, (TASKS, "The answer was lost"))

    def gone(service: FakeOcp) -> None:
        service.lose_before = [error_lost(SERVER_PATH)]

    def doubled(service: FakeOcp) -> None:
        def by_others() -> None:
            for _task in range(2):
                service.begin(SERVER, service.servers_there[:1], seconds=1.0)

        gone(service)
        service.before_post = by_others

    def before(service: FakeOcp) -> None:
        gone(service)
        with staged(service):
            outcome_of("server_restart", {**CONNECTION, **OWN["server_restart"]})

    here = (ADDRESS_41,)
    yield lost("of an earlier request of this process", "server_restart", here, before)
    yield lost("no task shows that it was done", "server_restart", here, gone)
    yield lost("more than one task could be it", "server_restart", here, doubled)
    blind = together(gone, fails("tasks", 403, TASKS_PATH))
    yield lost("the tasks may not be read", "server_restart", here, blind)
    yield lost(
        "the tasks cannot be read any more",
        "server_restart",
        here,
        together(gone, fails("tasks", 401, TASKS_PATH, after=2)),
    )


def _ended_entries() -> Iterator[Entry]:
    ended = partial(entry, (TASKS, "The task did not succeed"), **WAITING)
    mine = (ADDRESS_41, "1001")
    yield ended("it FAILED", "server_restart", mine, turned(end="FAILED"))
    yield ended("it FAILED at its first step", "server_restart", mine, turned(end="REFUSED"))
    yield ended("it was rolled back", "server_restart", mine, turned(end="ROLLBACK"))
    no_log = together(turned(end="FAILED"), fails("subtask_log", 403, f"{TASKS_PATH}/1001/subtasks/2/log"))
    yield ended("it FAILED, and its log may not be read", "server_restart", mine, no_log)
    wait = partial(entry, (TASKS, "The task did not succeed"), wait_timeout=60)

    def two(service: FakeOcp) -> None:
        for thing in service.servers_there[:2]:
            service.begin(SERVER, [thing], end="FAILED")

    yield wait("two of them FAILED", "task_wait", ("1001", "1002"), two, task_ids=[1001, 1002])
    yield from _unfinished_entries()


def _unfinished_entries() -> Iterator[Entry]:
    slow = partial(entry, (TASKS, "The time for waiting is used up"), wait_timeout=60)
    mine = (ADDRESS_41, "1001")
    yield slow("while a restart runs", "server_restart", mine, turned(seconds=1e6), wait=True)
    yield slow("while a task runs", "task_wait", ("1001",), running(SERVER, "servers_there"), task_ids=[1001])
    unread = together(running(SERVER, "servers_there"), fails("task", 500, f"{TASKS_PATH}/1001"))
    yield slow("and the task cannot be read", "task_wait", ("1001",), unread, task_ids=[1001])
    stopped = partial(entry, (TASKS, "The wait is not possible"), **WAITING)
    for status in (401, 403, 404):
        cannot = fails("task", status, f"{TASKS_PATH}/1001")
        yield stopped(f"status {status}", "server_restart", mine, cannot)
    yield entry(
        (TASKS, "The restart is not proven"),
        "the task was SUCCESSFUL, and the process is the old one",
        "server_restart",
        mine,
        turned(restarts_really=False),
        **WAITING,
    )


def _failed_before(service: FakeOcp) -> None:
    service.begin(SERVER, service.servers_there[1:2], seconds=1, end="FAILED")
    service.passes(10)


def _health_entries() -> Iterator[Entry]:
    ill = partial(entry, (TASKS, "A cluster is not healthy"), module="cluster_wait", wait_timeout=60)
    down = [raw_server(1), raw_server(2, "zone2", status="UNAVAILABLE"), raw_server(3, "zone3")]
    yield ill(
        cause="a server is not in service",
        names=("orders", "10.1.0.2:2882"),
        happening=turned(servers=lambda _cluster_id: down),
    )
    well = [raw_server(1), raw_server(2, "zone2"), raw_server(3, "zone3")]
    held = [raw_server(1, operatingTaskInstanceId=1001), raw_server(2, "zone2"), raw_server(3, "zone3")]
    steps = chain(step(50001, "Stop observer process", "SUCCESSFUL"), step(50002, "Wait observer active", "FAILED"))
    failed = raw_task(1001, "FAILED", name="Restart OB server", subtasks=steps)
    yield ill(
        cause="a FAILED task holds a server",
        names=("orders", "10.1.0.1:2882", "1001", "state=retried"),
        happening=turned(servers=lambda _cluster_id: held, task=lambda _task_id: failed),
    )
    yield ill(
        cause="a server has moved to another zone",
        names=("orders", "10.1.0.1:2882", "zone2"),
        zone="zone2",
        servers=["10.1.0.1:2882"],
    )
    unread = together(
        turned(servers=lambda _cluster_id: down), fails("cluster", 500, "/api/v2/ob/clusters/31", after=1)
    )
    yield ill(cause="it cannot be read any more", names=("orders",), happening=unread)
    looks = iter([well, well])
    later = turned(servers=lambda _cluster_id: next(looks, down))
    yield ill(cause="it falls ill during `soak`", names=("orders", "10.1.0.2:2882"), happening=later, soak=60)
    demanding = partial(ill, module="server_restart", require_healthy=True)
    yield demanding(
        cause="a server is not in service",
        names=(ADDRESS_41, "orders", "10.1.0.2:2882"),
        happening=lambda service: setattr(service.servers_there[1], "status", "UNAVAILABLE"),
    )
    yield demanding(
        cause="a FAILED task holds another server",
        names=(ADDRESS_41, "orders", "10.1.0.2:2882", "1001", "state=retried"),
        happening=_failed_before,
        safety_timeout=60,
    )
    yield demanding(cause="the server has moved to another zone", names=(ADDRESS_41, "zone1", "zone7"), zone="zone7")
    refused = fails("cluster", 403, "/api/v2/ob/clusters/31", after=1)
    away = together(turned(servers=lambda _cluster_id: down), refused)
    yield ill(cause="it may not be read any more", names=("403",), happening=away)
