# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which route a module takes, and when it takes none."""

from __future__ import annotations

import platform
from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleUndefinedVariable
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.bridge import Definition
from ansible_collections.oceanbase.ocp.plugins.plugin_utils import _module_route
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._ansible_core import NEEDED_IN_PROCESS
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._module_route import RouteRefused, obstacle

DATABASE_SERVER = {"ocp_server": "10.0.0.1:2882", "ocp_cluster": "orders", "inventory_hostname": "10.0.0.1_2882"}
OF_PLUGINS = [name.removeprefix("ActionBase.") for name in NEEDED_IN_PROCESS if name.startswith("ActionBase.")]


def plugin(*, transport="local", become=None, template=lambda value: value, **task):
    """An action plugin with a task on a connection."""
    keywords = dict.fromkeys(("async_val", "timeout"), 0) | dict.fromkeys(("check_mode", "diff", "no_log"), False)
    keywords |= {"args": {}, "delegate_to": None, "environment": [{}], **task}
    return SimpleNamespace(
        definition=Definition({}, lambda *_given: {}),
        _task=SimpleNamespace(action="oceanbase.ocp.echo", **keywords),
        _connection=SimpleNamespace(transport=transport, become=become),
        _templar=SimpleNamespace(template=template),
    )


@pytest.mark.parametrize(
    ("task", "found"),
    [
        ({"transport": "ssh"}, "the connection is ssh"),
        ({"transport": "network_cli"}, "the connection is network_cli"),
        ({"become": "sudo"}, "the task has become"),
        ({"async_val": 10}, "the task has async"),
        ({"environment": [{}, {"X": "y"}]}, "the task has environment"),
    ],
    ids=str,
)
def test_task_that_would_differ_in_process_is_an_obstacle(task, found):
    assert obstacle(plugin(**task), {}) == found


@pytest.mark.parametrize("environment", [[], [{}], [{}, None], {}], ids=str)
def test_local_task_has_no_obstacle(environment):
    assert obstacle(plugin(environment=environment), {}) is None


def test_missing_requests_library_is_an_obstacle(monkeypatch):
    monkeypatch.setattr(_module_route, "REQUESTS_IMPORT_ERROR", ImportError("no requests"))
    assert obstacle(plugin(), {}) == "the controller's Python has no requests"


@pytest.mark.parametrize(("system", "found"), [("Darwin", True), ("Linux", False), ("FreeBSD", False)])
def test_controller_on_macos_is_an_obstacle(system, found, monkeypatch):
    monkeypatch.setattr(platform, "system", lambda: system)
    words = "requests are not safe in Ansible's processes on macOS"
    assert obstacle(plugin(), {}) == (words if found else None)


# Names that this ansible-core may not have


@pytest.mark.parametrize("name", OF_PLUGINS)
def test_missing_name_of_ansible_core_is_an_obstacle(name):
    part, attribute = name.split(".")
    without = plugin()
    delattr(getattr(without, part), attribute)
    assert obstacle(without, {}) == f"this ansible-core has no ActionBase.{name}"


@pytest.mark.parametrize("name", ["_no_log_values", "_warnings", "_deprecations"])
def test_missing_name_of_validated_options_is_an_obstacle(name, monkeypatch):
    names = {"_no_log_values", "_warnings", "_deprecations"} - {name}
    monkeypatch.setattr(
        f"{_module_route.missing_name.__module__}.ValidationResult",
        lambda _parameters: SimpleNamespace(**dict.fromkeys(names)),
    )
    assert obstacle(plugin(), {}) == f"this ansible-core has no ValidationResult.{name}"


def test_connection_without_a_name_does_not_count_as_local():
    without = plugin()
    del without._connection.transport
    assert obstacle(without, {}) == "the connection is unknown"
    with pytest.raises(RouteRefused, match="the connection is unknown; nothing was sent"):
        obstacle(without, DATABASE_SERVER)


def test_task_of_which_nobody_knows_where_it_is_delegated_stays_off_a_database_server():
    without = plugin(transport="ssh")
    del without._task.delegate_to
    with pytest.raises(RouteRefused, match="is a database server"):
        obstacle(without, DATABASE_SERVER)


def test_variables_count_as_written_where_no_template_is_evaluated():
    without = plugin()
    del without._templar.template
    assert obstacle(without, {"ocp_in_process": False}) == "ocp_in_process is false"


# Database servers


@pytest.mark.parametrize("transport", ["ssh", "paramiko_ssh"])
def test_module_is_not_taken_to_a_database_server(transport):
    with pytest.raises(RouteRefused) as refused:
        obstacle(plugin(transport=transport), DATABASE_SERVER)
    assert str(refused.value).startswith(
        f"10.0.0.1_2882 is a database server, and the connection is {transport}; nothing was sent. "
        "Set connection: local in the play"
    )


@pytest.mark.parametrize(
    ("task", "found"),
    [({"transport": "ssh", "delegate_to": "bastion"}, "the connection is ssh"), ({}, None)],
    ids=["delegated", "local"],
)
def test_task_of_a_database_server_runs_elsewhere(task, found):
    assert obstacle(plugin(**task), DATABASE_SERVER) == found


# The switch


@pytest.mark.parametrize("value", [False, "false", "no", "0", 0, " Off "], ids=repr)
def test_switch_turns_the_route_off(value, monkeypatch):
    assert obstacle(plugin(), {"ocp_in_process": value}) == "ocp_in_process is false"
    monkeypatch.setenv("OCP_IN_PROCESS", str(value))
    assert obstacle(plugin(), {}) == "OCP_IN_PROCESS is false"


@pytest.mark.parametrize("value", [True, "true", "yes", 1], ids=repr)
def test_variable_comes_before_the_environment(value, monkeypatch):
    monkeypatch.setenv("OCP_IN_PROCESS", "false")
    assert obstacle(plugin(), {"ocp_in_process": value}) is None


def test_switch_that_is_on_removes_no_obstacle():
    assert obstacle(plugin(async_val=10), {"ocp_in_process": True}) == "the task has async"


def test_switch_may_be_a_template():
    evaluated = {"{{ quick }}": "false"}
    assert obstacle(plugin(template=evaluated.get), {"ocp_in_process": "{{ quick }}"}) == "ocp_in_process is false"


def test_error_in_the_template_of_the_switch_is_ansibles_own():
    def template(_value):
        raise AnsibleUndefinedVariable("'quick' is undefined")

    with pytest.raises(AnsibleUndefinedVariable, match="quick"):
        obstacle(plugin(template=template), {"ocp_in_process": "{{ quick }}"})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("perhaps", "perhaps"),
        (2, "2"),
        ("", "its value"),
        (None, "its value"),
        ([True], "its value"),
        ("a\nb", "a\\nb"),
    ],
    ids=repr,
)
def test_unknown_value_of_the_switch_is_refused_in_one_sentence(value, shown, monkeypatch):
    words = "is neither true nor false, so nothing was sent; give false for ordinary modules, or leave it out."
    with pytest.raises(RouteRefused) as refused:
        obstacle(plugin(), {"ocp_in_process": value})
    assert str(refused.value) == f"ocp_in_process: {shown} {words}"
    if isinstance(value, str):
        monkeypatch.setenv("OCP_IN_PROCESS", value)
        with pytest.raises(RouteRefused, match=f"^OCP_IN_PROCESS: .* {words}$"):
            obstacle(plugin(), {})
