# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The action plugin: when it runs a module in the controller process, and that the result is the module's."""

from __future__ import annotations

import base64
import importlib
import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from unittest import mock

import pytest
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.executor import task_executor
from ansible.plugins.loader import callback_loader
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import TargetError, attach_facts
from ansible_collections.oceanbase.ocp.plugins.module_utils._module import bridge
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import Definition
from ansible_collections.oceanbase.ocp.plugins.modules.text_display import DEFINITION as TEXT_DISPLAY
from ansible_collections.oceanbase.ocp.plugins.plugin_utils import _ansible_core, _in_process
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._in_process import InProcess
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import (
    MASKED_WHERE_SHOWN,
    MODULES,
    patch_module_args,
)

# The replacement of a secret, and of a secret inside a text.
HIDDEN = "$REDACTED$" if MASKED_WHERE_SHOWN else "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
HIDDEN_INSIDE = HIDDEN if MASKED_WHERE_SHOWN else "********"
SECRET = "hidden-word-9"
TOKEN = "hidden-token-9"
LOGIN = base64.b64encode(f"admin:{SECRET}".encode()).decode()
CONNECTION = {"url": "https://ocp.test:8080", "username": "admin", "password": SECRET}


try:
    TaskTimeoutError = task_executor.TaskTimeoutError
    WORDS = "The oceanbase.ocp.echo action failed to execute in the expected time frame (3) and was terminated."
except AttributeError:  # since ansible-core 2.19
    TaskTimeoutError = partial(task_executor._task_timeout.TaskTimeoutError, 3)
    WORDS = "Timed out after 3 second(s)."


def interrupted(error, **facts):
    """An error that is none of ours, with the result so far."""
    said = {"said": f"<{SECRET}>", "login": LOGIN, "warnings": ["Look."], "diff": {"after": LOGIN}}
    if facts:
        attach_facts(error, {"changed": True, **said, **facts})
    return error


ENDS = {
    "fail": lambda: TargetError("No such target.", task_id=7, url=f"http://{SECRET}"),
    "crash": lambda: ZeroDivisionError(f"divided {SECRET}"),
    "time out before": lambda: interrupted(TaskTimeoutError()),
    "time out": lambda: interrupted(TaskTimeoutError(), task_id=1001),
    "time out while it is sent": lambda: interrupted(TaskTimeoutError(), task_id=None),
    "time out while it waits": lambda: interrupted(TaskTimeoutError(), task_id=None, changed=False),
    "Ctrl-C": lambda: interrupted(KeyboardInterrupt(), task_id=1001),
}


def echo(_api, params, mode):
    """A body that ends as its option ``do`` says, and returns its parameters."""
    mode.announce(f"  task 1001 of {SECRET}", False)
    mode.show("  1001 goes on", False)
    mode.show("  1001 FAILED", True)
    if params["do"] in ENDS:
        raise ENDS[params["do"]]()
    return {
        "changed": True,
        "params": {**params},
        "check_mode": mode.check_mode,
        "said": f"<{SECRET}>",
        "warnings": ["Look."],
    }


DEFINITION = Definition(
    {
        "do": {"type": "str", "default": "well", "choices": ["well", *ENDS]},
        "target": {"type": "str", "aliases": ["goal"]},
        "targets": {"type": "list", "elements": "int"},
        "old": {"type": "bool", "removed_in_version": "9.0.0", "removed_from_collection": "oceanbase.ocp"},
        "token": {"type": "str", "no_log": True},
    },
    echo,
    {"mutually_exclusive": [("target", "targets")], "required_if": [("do", "fail", ("target",))]},
)


class Echo(InProcess):
    definition = DEFINITION


@pytest.fixture(scope="session")
def _default_callback():
    """The options of ansible's default callback, which every ansible command loads."""
    callback_loader.get("default", class_only=True)


@pytest.fixture
def action(_default_callback):
    """An action plugin on a local connection, with the parts of Ansible it needs."""

    def make(args=None, *, transport="local", become=None, **task):
        return Echo(
            SimpleNamespace(
                _uuid="task",
                **{
                    "action": "oceanbase.ocp.echo",
                    "args": {**CONNECTION, **(args or {})},
                    "async_val": 0,
                    "check_mode": False,
                    "delegate_to": None,
                    "diff": False,
                    "environment": [{}],
                    "no_log": False,
                    "timeout": 3,
                    **task,
                },
            ),
            SimpleNamespace(transport=transport, become=become),
            SimpleNamespace(remote_addr="localhost"),
            loader=None,
            templar=SimpleNamespace(template=lambda value: value),
            shared_loader_obj=None,
        )

    return make


@pytest.fixture
def ordinary_runs(monkeypatch):
    """The arguments of the calls that ran as an ordinary module."""
    runs = []

    def run(_self, _tmp, task_vars):
        runs.append(task_vars)
        return {"ordinary": True}

    monkeypatch.setattr(_in_process.OrdinaryModule, "run", run)
    return runs


# In the process or not


def test_obstacle_leads_to_the_ordinary_module(action, ordinary_runs):
    assert action(async_val=10).run(None, {"some": "variable"}) == {"ordinary": True}
    assert ordinary_runs == [{"some": "variable"}]


def test_task_without_an_obstacle_runs_in_the_controller_process(action, ordinary_runs):
    assert action().run()["changed"] is True
    assert ordinary_runs == []


def test_refused_task_runs_nowhere(action, ordinary_runs):
    result = action().run(None, {"ocp_in_process": "perhaps"})
    assert (result["failed"], result["changed"]) == (True, False)
    assert result["msg"].startswith("ocp_in_process: perhaps is neither true nor false")
    assert ordinary_runs == []


# Results


@pytest.fixture
def module_result(capsys):
    """Run the same definition as a module; returns its result as Ansible shows it."""

    def run(args, *, check_mode=False):
        given = {**CONNECTION, **args, "_ansible_check_mode": check_mode, "_ansible_module_name": "oceanbase.ocp.echo"}
        # ansible-core 2.18 would also add the warnings to the results of later modules in this process.
        with patch_module_args(given), mock.patch.object(bridge.AnsibleModule, "warn"), pytest.raises(SystemExit):
            bridge.run_module(DEFINITION)
        printed = capsys.readouterr().out
        if MASKED_WHERE_SHOWN:
            for secret in SECRET, TOKEN:
                printed = printed.replace(secret, HIDDEN)
        return json.loads(printed)

    return run


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"target": "one"},
        {"goal": "one"},
        {"targets": "1,2"},
        {"targets": [1, "2"]},
        {"targets": "one"},
        {"target": "one", "targets": [1]},
        {"do": "nothing"},
        {"do": "fail"},
        {"do": "fail", "target": "one"},
        {"timeout": "soon"},
        {"timeout": "-1"},
        {"colour": "blue"},
        {"token": TOKEN},
        {"url": ""},
        {"password": None},
        {"access_key_id": "both"},
    ],
    ids=str,
)
@pytest.mark.parametrize("check_mode", [False, True])
def test_result_matches_the_module(args, check_mode, action, module_result):
    theirs = module_result(args, check_mode=check_mode)
    ours = action(args, check_mode=check_mode).run()
    for result in ours, theirs:
        # The formats differ: a module may give warnings as objects, and its own arguments in the invocation.
        result.pop("warnings", None)
        result.pop("invocation", None)
        # For ansible-core 2.22, which masks these values.
        result.pop("_ansible_new_secrets", None)
    assert ours == theirs
    assert "hidden" not in json.dumps(ours)


def test_options_come_from_the_environment(action, monkeypatch):
    monkeypatch.setenv("OCP_TIMEOUT", "7")
    monkeypatch.setenv("OCP_ACCESS_KEY_SECRET", "from-outside-9")
    monkeypatch.setenv("OCP_ACCESS_KEY_ID", "from-outside-9")
    result = action({"username": None, "password": None}).run()
    assert "from-outside-9" not in json.dumps(result)
    assert result["params"]["timeout"] == 7


def test_warnings_and_deprecations_are_returned(action):
    result = action({"target": "one", "goal": "two", "old": True}).run()
    assert result["warnings"] == ["Both option target and its alias goal are set.", "Look."]
    [deprecation] = result["deprecations"]
    assert deprecation["collection_name"] == "oceanbase.ocp"
    assert "'old'" in deprecation["msg"]


def test_arguments_are_shown_without_secrets(action, monkeypatch):
    monkeypatch.setattr(_in_process, "shows_invocation", lambda _task_vars: True)
    arguments = action({"targets": "1,2"}).run()["invocation"]["module_args"]
    assert arguments["password"] == HIDDEN
    assert arguments["targets"] == [1, 2]


def test_crash_is_a_failure_without_secrets(action):
    result = action({"do": "crash"}).run()
    assert result["failed"] is True
    assert "ZeroDivisionError: divided ********" in result["msg"]
    assert "in echo" in result["exception"]
    assert SECRET not in json.dumps(result)


# Interruptions


@pytest.fixture
def timed_out(action, monkeypatch):
    """What Ansible gets when the time-out of a task ends it: the error that fails it, and the warnings shown."""
    shown = []
    monkeypatch.setattr(_in_process.display, "warning", shown.append)

    def run(do, **task):
        with pytest.raises(AnsibleActionFail) as raised:
            action({"do": do}, **task).run()
        return raised.value, shown

    return run


@pytest.mark.parametrize(
    ("do", "known"),
    [
        (
            "time out",
            "That does not end task 1001. Wait for it: "
            "ansible localhost -m oceanbase.ocp.task_wait -a 'task_ids=1001 detail=compact'",
        ),
        (
            "time out while it is sent",
            "It is not known whether the request has started a task. See the newest tasks: "
            "ansible localhost -m oceanbase.ocp.task_info -a 'limit=5 detail=compact'",
        ),
        ("time out while it waits", "Nothing was started."),
    ],
)
def test_time_out_of_ansible_keeps_what_is_known(timed_out, do, known):
    error, warnings = timed_out(do)
    assert error.message == f"{WORDS} {known}"
    assert error.result["timedout"]["period"] == 3
    assert error.result["task_id"] == (1001 if do == "time out" else None)
    assert error.result["changed"] is (do != "time out while it waits")
    assert error.result["said"] == "<********>"
    assert warnings == ["Look."]
    assert SECRET not in json.dumps(error.result)
    assert error.result["login"] == "********"


def test_time_out_of_a_no_log_task_shows_no_task_id(timed_out):
    error, warnings = timed_out("time out", no_log=True)
    assert (error.message, warnings) == (WORDS, [])
    assert error.result["task_id"] == 1001
    assert error.result["_ansible_no_log"] is True


@pytest.mark.parametrize("do", ["time out before", "Ctrl-C"])
def test_other_interruptions_propagate(action, do):
    with pytest.raises(type(ENDS[do]())):
        action({"do": do}).run()


def test_task_arguments_are_unchanged(action):
    plugin = action({"targets": "1,2", "password": SECRET})
    given = dict(plugin._task.args)
    plugin.run()
    assert plugin._task.args == given


# Progress


@pytest.fixture
def displayed(monkeypatch):
    """The lines on the screen: text, colour, and whether on standard error."""
    lines = []
    monkeypatch.setattr(_in_process.display, "display", lambda text, color, stderr: lines.append((text, color, stderr)))
    return lines


@pytest.mark.parametrize("args", [{}, {"do": "fail", "target": "one"}, {"do": "crash"}], ids=str)
def test_progress_is_shown(args, action, displayed):
    action(args).run()
    assert displayed == [
        ("  task 1001 of ********", "blue", True),
        ("  1001 goes on", "blue", True),
        ("  1001 FAILED", "red", True),
    ]


def test_evidence_gets_what_a_restart_is_for(monkeypatch, action):
    notes = []
    monkeypatch.setattr(_in_process, "noting", lambda _key: notes.append)
    action().run()
    assert notes == []
    options = {"change": {"type": "str"}, "started_before": {"type": "str"}}
    monkeypatch.setattr(Echo, "definition", replace(DEFINITION, options={**DEFINITION.options, **options}))
    action({"change": "memory"}).run()
    asked = {"service": "https://ocp.test:8080", "user": "admin", "check_mode": False}
    assert notes == [{"for": {"change": "memory", "started_before": None, **asked}}, {"over": True}]


def test_progress_line_is_never_cut(action, displayed, monkeypatch):
    """Its reason is at its end; a terminal shows it in several rows."""
    monkeypatch.setattr(_ansible_core, "Display", lambda: SimpleNamespace(columns=79))
    line = "  server " + "x" * 200 + ": not safe"
    action()._mode().show(line, False)
    assert displayed == [(line, "blue", True)]


def test_no_log_task_shows_no_progress(action, displayed):
    action(no_log=True).run()
    assert displayed == []


@pytest.mark.parametrize(("value", "lines"), [("false", 1), ("true", 3)])
def test_progress_follows_display_ok_hosts(value, lines, action, displayed, monkeypatch):
    monkeypatch.setenv("ANSIBLE_DISPLAY_OK_HOSTS", value)
    action().run()
    assert len(displayed) == lines


def test_progress_is_shown_with_another_callback(action, displayed, monkeypatch):
    monkeypatch.setattr(
        _in_process.C.config, "get_config_value", mock.Mock(side_effect=AnsibleError("No config definition exists."))
    )
    monkeypatch.setattr(_in_process, "shows_invocation", lambda _task_vars: False)
    action().run()
    assert len(displayed) == 3


# A module that displays a text


@pytest.fixture
def written(monkeypatch):
    """What is displayed as it is, and whether on standard error."""
    texts = []
    monkeypatch.setattr(_in_process.display, "display", lambda text, stderr: texts.append((text, stderr)))
    return texts


def displaying(action, text="READS\n  ok  /api/v2/time\n", **task):
    plugin = action(**task)
    plugin.definition = TEXT_DISPLAY
    plugin._task.args = {"text": text}
    return plugin


def test_text_is_displayed_as_it_is(action, written, monkeypatch):
    monkeypatch.setattr(_in_process.C.config, "get_config_value", lambda *_name, **_plugin: "default")
    result = displaying(action).run()
    assert (result["changed"], result["lines"]) == (False, ["READS", "  ok  /api/v2/time"])
    assert written == [("READS\n  ok  /api/v2/time", False)]


def test_text_leaves_standard_output_to_a_callback_for_programs(action, written, monkeypatch):
    monkeypatch.setattr(_in_process.C.config, "get_config_value", lambda *_name, **_plugin: "ansible.posix.json")
    displaying(action).run()
    assert written == [("READS\n  ok  /api/v2/time", True)]


def test_text_is_displayed_whatever_keeps_other_modules_out_of_the_process(action, written, ordinary_runs):
    displaying(action, transport="ssh", async_val=10).run(None, {"ocp_in_process": False})
    assert (len(written), ordinary_runs) == (1, [])


def test_text_cannot_control_the_terminal(action, written):
    displaying(action, "red\x1b[31m").run()
    assert written[0][0] == "red\\x1b[31m"


def test_no_log_task_displays_no_text(action, written):
    displaying(action, no_log=True).run()
    assert written == []


# Each module


@pytest.mark.parametrize("name", MODULES)
def test_every_module_has_its_action_plugin(name):
    action, module = (
        importlib.import_module(f"ansible_collections.oceanbase.ocp.plugins.{kind}.{name}")
        for kind in ("action", "modules")
    )
    assert action.ActionModule.definition is module.DEFINITION
    assert issubclass(action.ActionModule, InProcess)
