# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A service that repeats the credentials in all that it sends: none reaches a person."""

from __future__ import annotations

import asyncio
import base64
import json
from types import SimpleNamespace
from urllib.parse import quote, quote_plus

import pytest
from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.plugins.loader import callback_loader
from ansible_collections.oceanbase.ocp.plugins.action.server_info import ActionModule as ServerInfo
from ansible_collections.oceanbase.ocp.plugins.action.task_info import ActionModule as TaskInfo
from ansible_collections.oceanbase.ocp.plugins.action.task_wait import ActionModule as TaskWait
from ansible_collections.oceanbase.ocp.plugins.inventory.ocp import KINDS, InventoryModule
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import Definition
from ansible_collections.oceanbase.ocp.plugins.plugin_utils import _event_source, _in_process
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._in_process import InProcess
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import raw_task, step
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import ScriptedServer, envelope, refusal

SECRET = 'pa/ss w"ört+9'
LOGIN = base64.b64encode(f"admin:{SECRET}".encode()).decode()
FORMS = [
    SECRET,
    LOGIN,
    LOGIN.rstrip("="),
    base64.b64encode(SECRET.encode()).decode(),
    quote(SECRET, safe=""),
    quote_plus(SECRET),
    json.dumps(SECRET)[1:-1],
    quote(LOGIN, safe=""),
]
EVERY_FORM = " ".join(FORMS)
TASKS = "/api/v2/tasks/instances"


def shown_in(*values: object) -> list[str]:
    """The forms of the secret that are in these values, in the texts themselves and as JSON."""
    text = "\n".join(f"{value} {json.dumps(value, default=str, ensure_ascii=False)}" for value in values)
    return [form for form in FORMS if form in text]


@pytest.fixture
def server():
    started = ScriptedServer()
    yield started
    started.finish()


@pytest.fixture
def act(monkeypatch):
    """Run a module in the process of the controller; gives its result and the lines on the screen."""
    callback_loader.get("default", class_only=True)
    monkeypatch.setattr(_in_process, "shows_invocation", lambda _task_vars: True)

    def run(plugin, server, **args):
        lines = []
        monkeypatch.setattr(_in_process.display, "display", lambda text, **_options: lines.append(text))
        given = {"url": server.url, "username": "admin", "password": SECRET, **args}
        task = SimpleNamespace(
            _uuid="task",
            action="oceanbase.ocp.x",
            args=given,
            async_val=0,
            check_mode=False,
            diff=True,
            environment=[{}],
            no_log=False,
            timeout=0,
        )
        connection = SimpleNamespace(transport="local", become=None)
        play = SimpleNamespace(remote_addr="localhost")
        action = plugin(task, connection, play, loader=None, templar=None, shared_loader_obj=None)
        return action.run(), lines

    return run


@pytest.mark.parametrize("status", [400, 401, 500])
def test_refusal(status, act, server):
    server.expect("GET", f"{TASKS}/5", refusal(status, EVERY_FORM))
    result, _lines = act(TaskInfo, server, task_id=5)
    assert result["failed"]
    assert shown_in(result) == []


@pytest.mark.parametrize("length", range(6, len(LOGIN)))
def test_cut_refusal(length, act, server):
    server.expect("GET", f"{TASKS}/5", refusal(400, "x" * (500 - length) + LOGIN))
    result, _lines = act(TaskInfo, server, task_id=5)
    assert LOGIN[:6] not in result["msg"]


def test_results_and_progress(act, server):
    steps = [step(number, form, "SUCCESSFUL") for number, form in enumerate(FORMS)]
    task = raw_task(5, "SUCCESSFUL", name=FORMS[4], creator={"name": LOGIN}, subtasks=steps)
    running = {**task, "status": "RUNNING", "subtasks": [{**each, "status": "RUNNING"} for each in steps]}
    server.expect("GET", f"{TASKS}/5", envelope(running, traceId=EVERY_FORM), envelope(task, traceId=EVERY_FORM))
    result, lines = act(TaskWait, server, task_ids=[5], wait_interval=0.5)
    assert not result.get("failed")
    assert len(lines) > 3
    assert shown_in(result, lines) == []


@pytest.mark.parametrize("part", ["warnings", "diff"])
def test_warnings_and_diff(part, act):
    shown = {"warnings": FORMS, "diff": {"before": EVERY_FORM, "after": LOGIN}}

    class Shows(InProcess):
        definition = Definition({}, lambda _api, _params, _mode: {"changed": True, part: shown[part]})

    result, _lines = act(Shows, SimpleNamespace(url="http://ocp.test"))
    assert "********" in json.dumps(result[part])
    assert shown_in(result) == []


def test_login_in_the_url(act):
    result, lines = act(ServerInfo, SimpleNamespace(url="https://bob:hidden-9@ocp.test:8080"))
    assert "hidden-9" not in json.dumps([result, lines])
    assert "bob" not in json.dumps([result, lines])
    assert result["invocation"]["module_args"]["url"] == "https://********@ocp.test:8080"


def test_events_and_their_log(server, monkeypatch):
    task = raw_task(5, "RUNNING", name=EVERY_FORM, creator={"name": LOGIN}, subtasks=[step(1, EVERY_FORM, "FAILED")])
    server.expect(
        "GET", TASKS, *[envelope({"contents": found, "page": {"totalPages": 1}}) for found in ([], [task], [])]
    )
    server.expect("GET", f"{TASKS}/5", envelope(task))
    server.expect("GET", TASKS, refusal(500, EVERY_FORM), refusal(401, EVERY_FORM))
    options = {"url": server.url, "username": "admin", "password": SECRET, "interval": 1}
    events = []

    async def put(event):
        events.append(event)

    logged = []
    monkeypatch.setattr(_event_source.logger, "warning", lambda text, *args: logged.append(text % args))
    with pytest.raises(OcpError) as raised:
        asyncio.run(_event_source.put_changes(put, options))
    assert events
    assert logged
    assert shown_in(events, logged, str(raised.value)) == []


def test_crash(act):
    def crash(_api, _params, _mode):
        raise RuntimeError(EVERY_FORM)

    class Crash(InProcess):
        definition = Definition({}, crash)

    result, _lines = act(Crash, SimpleNamespace(url="http://ocp.test"))
    assert "RuntimeError" in result["msg"]
    assert shown_in(result) == []


def test_inventory_error(monkeypatch):
    def fail(*_args):
        raise OcpError(EVERY_FORM)

    plugin = InventoryModule()
    monkeypatch.setattr("ansible.plugins.inventory.BaseInventoryPlugin.parse", lambda *_args: None)
    for name in ("_read_config_data", "get_cache_key"):
        monkeypatch.setattr(plugin, name, lambda _path: "")
    monkeypatch.setattr(plugin, "get_option", lambda _name: "servers")
    monkeypatch.setattr(plugin, "_params", lambda *_args: {"username": "admin", "password": SECRET})
    monkeypatch.setattr(plugin, "_found", fail)
    plugin.inventory = InventoryData()
    with pytest.raises(AnsibleParserError) as raised:
        plugin.parse(plugin.inventory, None, "ocp.yml")
    assert "********" in str(raised.value)
    variables = plugin.inventory.groups["all"].vars
    assert "********" in str(variables)
    assert shown_in(str(raised.value)) == shown_in(str(variables)) == []


@pytest.mark.parametrize("hosts", KINDS)
def test_inventory(server, monkeypatch, hosts):
    found = [{"id": 1, "ip": "10.0.0.1", "port": 2882, "zone": EVERY_FORM, "idc": LOGIN}]
    kind = KINDS[hosts]._replace(read=lambda *_args, **_keywords: found)
    plugin = InventoryModule()
    monkeypatch.setattr(plugin, "get_option", lambda _name: False)
    params = {
        "url": server.url, "username": "admin", "password": SECRET, "access_key_id": None, "access_key_secret": None,
        "validate_certs": True, "ca_path": None, "client_cert": None, "client_key": None, "use_proxy": True,
        "timeout": 5, "filters": {},
    }  # fmt: skip
    assert shown_in(plugin._found(params, kind, "key", False)) == []
