# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Runs a case as Ansible would, in this process, and gives all that leaves the collection by it."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from unittest import mock

import yaml
from ansible import constants as C  # noqa: N812 - its name all over Ansible
from ansible.errors import AnsibleError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.doc_fragments import constructed, inventory_cache
from ansible.plugins.loader import callback_loader
from ansible_collections.oceanbase.ocp.extensions.eda.plugins.event_source import ocp_tasks
from ansible_collections.oceanbase.ocp.plugins.doc_fragments import connection
from ansible_collections.oceanbase.ocp.plugins.filter.task_table import task_table
from ansible_collections.oceanbase.ocp.plugins.filter.task_timeline import task_timeline
from ansible_collections.oceanbase.ocp.plugins.inventory import ocp as inventory_plugin
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError
from ansible_collections.oceanbase.ocp.plugins.plugin_utils import _event_source, _in_process
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._ansible_core import FilterError
from ansible_collections.oceanbase.ocp.tests.fuzz.cases import (
    EVENTS,
    INVENTORY,
    MODULES,
    PAGES,
    RESTARTS,
    TIMEOUT,
    WAIT_SECONDS,
    Case,
    Field,
)
from ansible_collections.oceanbase.ocp.tests.fuzz.hostile_service import (
    DOCUMENTED_FORMS,
    FieldPath,
    HostileService,
    changed,
)
from ansible_collections.oceanbase.ocp.tests.fuzz.hostile_values import (
    CANARIES,
    CANARY_ENVIRONMENT,
    KEY_ID,
    KEY_SECRET,
    PASSWORD,
    USER,
    written,
)
from ansible_collections.oceanbase.ocp.tests.fuzz.virtual_time import (
    BoundedClock,
    CancelledAfter,
    LimitPassed,
    virtual_time,
)
from ansible_collections.oceanbase.ocp.tests.fuzz.whole_ocp import FAILED_TASK, RUNNING_TASKS, WholeOcp
from ansible_collections.oceanbase.ocp.tests.fuzz.wire import wired
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_controller, with_journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import COLLECTION

URL = "http://ocp.test:8080"
# A run is a wait, then a proof (180 s), and some reads before, between and after: each at most a request and a pause
# that the service asks for, or a list.
LONGEST_RUN = WAIT_SECONDS + 180 + 120 * TIMEOUT
FOLLOWED_SECONDS = 12
CONFIGURATION = {
    "plugin": inventory_plugin.InventoryModule.NAME,
    "timeout": TIMEOUT,
    "keyed_groups": [{"key": "ocp_idc", "prefix": "idc"}, {"key": "ocp_zone", "prefix": ""}],
    "groups": {"roots": "ocp_with_rootserver"},
    "compose": {"sql_address": "ansible_host ~ ':' ~ ocp_sql_port"},
}
OF_CLUSTERS = {
    "keyed_groups": [{"key": "ocp_idcs", "prefix": "idc"}, {"key": "ocp_cluster", "prefix": ""}],
    "groups": {"big": "ocp_server_count"},
    "compose": {"kind": "ocp_type ~ ':' ~ ocp_zones"},
}
OWN_TEMPLATE = ("ansible_python_interpreter", "{{ ansible_playbook_python }}")


@dataclass
class Left:
    """What a run left: the result of a module, and all else that reaches Ansible or a person.

    ``hosts`` are the variables of each host. ``error`` is an exception that Ansible shows, ``crash`` one that no plugin
    may raise.
    """

    result: dict[str, Any] | None = None
    lines: list[str] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    error: str | None = None
    crash: BaseException | None = None
    elapsed: float = 0.0


def drive(case: Case, watch: Callable[[str, Any], None] = lambda _call, _envelope: None) -> tuple[Left, HostileService]:
    """Run a case; ``watch`` as for HostileService."""
    another_controller()
    clock = BoundedClock(LONGEST_RUN if case.kind != EVENTS else 2 * FOLLOWED_SECONDS)
    ocp = WholeOcp(clock, **case.service)
    service = HostileService(ocp, case.mutations, case.auth, case.pause, watch)
    left = Left()
    with (
        surroundings(left),
        with_journal_here(),
        TemporaryDirectory() as folder,
        mock.patch.object(tempfile, "tempdir", folder),
        virtual_time(clock),
        wired(service.answer, service.refuses, clock),
    ):
        try:
            DRIVERS.get(case.kind, _module)(case, left, clock)
        except (Exception, SystemExit, LimitPassed) as error:
            left.crash = error
    left.elapsed = clock.elapsed
    return left, service


@contextmanager
def surroundings(left: Left) -> Iterator[None]:
    """What Ansible and ansible-rulebook show is collected; nothing of this machine's environment counts."""
    _prepare()
    collect = [
        (_in_process.display, "display", lambda text, **_options: left.lines.append(text)),
        (_in_process.display, "warning", lambda text, **_options: left.lines.append(text)),
        (_in_process.display, "vvv", lambda text, **_options: left.lines.append(text)),
        (_event_source.logger, "warning", lambda text, *args: left.lines.append(text % args)),
        (_in_process, "shows_invocation", lambda _task_vars: True),
    ]
    with ExitStack() as stack:
        stack.enter_context(environment())
        for owner, name, double in collect:
            stack.enter_context(mock.patch.object(owner, name, double))
        yield


@contextmanager
def environment() -> Iterator[None]:
    """What a template could read, and of this machine's variables only the way to programs and folders."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH", "TMPDIR") if name in os.environ}
    # What the plugins would remember is not of the next case.
    kept["ANSIBLE_HOME"] = os.devnull
    with mock.patch.dict(os.environ, {**kept, CANARY_ENVIRONMENT: CANARIES[-1]}, clear=True):
        yield


@cache
def _prepare() -> None:
    callback_loader.get("default", class_only=True)
    options: dict[str, dict[str, Any]] = {}
    fragments = (connection, constructed, inventory_cache)
    pages = [*(fragment.ModuleDocFragment.DOCUMENTATION for fragment in fragments), inventory_plugin.DOCUMENTATION]
    for page in pages:
        for name, option in yaml.safe_load(page)["options"].items():
            options[name] = {**options.get(name, {}), **option}
    C.config.initialize_plugin_configuration_definitions("inventory", CONFIGURATION["plugin"], options)


def credentials(auth: str) -> dict[str, Any]:
    """The connection options."""
    given = {"username": USER, "password": PASSWORD}
    if auth == "access_key":
        given = {"access_key_id": KEY_ID, "access_key_secret": KEY_SECRET}
    return {"url": URL, "timeout": TIMEOUT, **given}


def _module(case: Case, left: Left, _clock: BoundedClock, name: str | None = None) -> None:
    name = name or case.kind
    options = {key: value for key, value in case.options.items() if value is not None}
    plugin = importlib.import_module(f"{COLLECTION}.plugins.action.{name}").ActionModule
    task = SimpleNamespace(
        _uuid="task",
        action=f"oceanbase.ocp.{name}",
        args={**credentials(case.auth), **MODULES[name], **options},
        async_val=0,
        check_mode=case.check_mode,
        delegate_to=None,
        diff=True,
        environment=[{}],
        no_log=False,
        timeout=0,
    )
    around = SimpleNamespace(transport="local", become=None), SimpleNamespace(remote_addr="localhost")
    left.result = plugin(task, *around, loader=None, templar=None, shared_loader_obj=None).run()


def _pages(case: Case, left: Left, clock: BoundedClock) -> None:
    _module(case, left, clock, "task_info")
    shown: Any = left.result
    for change in case.shown:
        shown = changed(shown, tuple(change["field"]), _python(change["value"]), change["only"])
    try:
        left.pages.append(task_timeline(shown))
        left.tables += [task_table(shown), task_table(shown, title="Title", width=40, color=True)]
    except FilterError as error:
        left.error = str(error)


def _python(value: Any) -> Any:
    try:
        return json.loads(written(value, ["text"]))
    except (ValueError, RecursionError):  # no result can have it
        return None


def _inventory(case: Case, left: Left, _clock: BoundedClock) -> None:
    plugin = inventory_plugin.InventoryModule()
    plugin._load_name, plugin._redirected_names = CONFIGURATION["plugin"], []
    found = InventoryData()
    given = {**CONFIGURATION, **(OF_CLUSTERS if case.options.get("hosts") == "clusters" else {})}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fuzz.ocp.yml")
        path.write_text(yaml.safe_dump({**given, **case.options, **credentials(case.auth)}, allow_unicode=True))
        try:
            plugin.parse(found, DataLoader(), str(path), cache=False)
        except AnsibleError as error:
            left.error = str(error)
        except SystemExit:
            # The plugin ends the command; it has shown why.
            left.error = left.lines[-1]
    # The one template that is the plugin's own.
    left.hosts = {
        name: {key: value for key, value in host.get_vars().items() if (key, value) != OWN_TEMPLATE}
        for name, host in found.hosts.items()
    }
    left.groups = [*found.groups]


def _events(case: Case, left: Left, clock: BoundedClock) -> None:
    async def follow() -> None:
        queue: asyncio.Queue[Any] = asyncio.Queue()
        try:
            await ocp_tasks.main(queue, {**credentials(case.auth), "interval": 5})
        except OcpError as error:
            left.error = str(error)
        finally:
            while not queue.empty():
                left.events.append(queue.get_nowait())

    with mock.patch.object(
        _event_source, "threading", SimpleNamespace(Event=lambda: CancelledAfter(clock, FOLLOWED_SECONDS))
    ):
        asyncio.run(follow())


DRIVERS: dict[str, Callable[[Case, Left, BoundedClock], None]] = {
    INVENTORY: _inventory,
    EVENTS: _events,
    PAGES: _pages,
}


@cache
def catalogue() -> dict[str, list[Field]]:
    """For each kind, the calls and the fields in the answers to them, as undisturbed runs show."""
    return {kind: sorted(_seen(kind)) for kind in (*MODULES, *DRIVERS)}


def _seen(kind: str) -> set[Field]:
    seen: set[Field] = set()

    def watch(call: str, envelope: Any) -> None:
        for path, value in fields_in(envelope):
            forms = (form for form, is_one in DOCUMENTED_FORMS.items() if is_one(value))
            seen.update(Field(call, path, form) for form in ("", *forms))

    for options in TYPICAL.get(kind, [{}]):
        for newest in (False, True):
            for fails in (False, True):
                case = Case(kind, options, service={"newest": newest, "fails": fails})
                left, _service = drive(case, watch)
                if left.crash is not None:
                    raise left.crash
    return seen


WAITING = {"wait": True, "wait_timeout": WAIT_SECONDS}
TYPICAL: dict[str, list[dict[str, Any]]] = {
    **{
        name: [{**WAITING, "started_before": since} for since in (None, "2026-05-04T03:00:00+08:00")]
        for name in RESTARTS
    },
    "cluster_wait": [{"wait_timeout": WAIT_SECONDS}],
    "task": [
        {**WAITING, "task_id": task_id, "state": state, "subtask": subtask}
        for task_id, state, subtask in (
            (FAILED_TASK, "retried", None),
            (FAILED_TASK, "rolled_back", None),
            (FAILED_TASK, "skipped", "failed"),
            (RUNNING_TASKS[0], "canceled", "running"),
        )
    ],
    "task_wait": [
        {"wait_timeout": WAIT_SECONDS, "task_ids": task_ids}
        for task_ids in ([FAILED_TASK, RUNNING_TASKS[0]], RUNNING_TASKS)
    ],
    "task_info": [{}, {"task_id": FAILED_TASK}],
    INVENTORY: [{"filters": {"cluster": "billing"}}, {"hosts": "clusters"}],
    PAGES: [{"task_id": FAILED_TASK}],
}


def fields_in(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, Any]]:
    """The path and the value of each field; the elements of a list have one path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*path, key), inner
            yield from fields_in(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from fields_in(inner, path)
