# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The installed ansible-core has the names in the list, no other file uses such a name, and what happens without."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, SimpleNamespace
from unittest import mock

import pytest
from ansible.executor import task_executor
from ansible.executor.task_result import TaskResult
from ansible.inventory.host import Host
from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator, ValidationResult
from ansible.parsing.dataloader import DataLoader
from ansible.playbook import Playbook
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task
from ansible.plugins.action.normal import ActionModule
from ansible.plugins.inventory import BaseInventoryPlugin, Constructable
from ansible.plugins.loader import connection_loader
from ansible.plugins.lookup.env import LookupModule
from ansible.template import Templar
from ansible_collections.oceanbase.ocp.plugins.module_utils._module import bridge
from ansible_collections.oceanbase.ocp.plugins.plugin_utils import _ansible_core, _in_process
from ansible_collections.oceanbase.ocp.plugins.plugin_utils._ansible_core import CORE, NAMES
from ansible_collections.oceanbase.ocp.tests.unit.support.evidence_runs import Task as RecordedTask
from ansible_collections.oceanbase.ocp.tests.unit.support.evidence_runs import task_result
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import MASKED_WHERE_SHOWN, patch_module_args

ROOT = Path(__file__).parents[4]
PLUGINS = ROOT / "plugins"
FILE = PLUGINS / "plugin_utils/_ansible_core.py"
# What ansible-core offers to collections: https://docs.ansible.com/ansible-core/devel/dev_guide/
PUBLIC = {
    "ansible.constants",
    "ansible.context",
    "ansible.errors",
    "ansible.inventory.group",
    "ansible.module_utils.basic",
    "ansible.module_utils.common.arg_spec",
    "ansible.module_utils.common.validation",
    "ansible.module_utils.common.yaml",
    "ansible.module_utils.errors",
    "ansible.module_utils.parsing.convert_bool",
    "ansible.plugins.action.normal",
    "ansible.plugins.callback",
    "ansible.plugins.inventory",
    "ansible.plugins.lookup",
    "ansible.release",
    "ansible.utils.display",
}
READERS = {"attrgetter", "delattr", "getattr", "hasattr", "setattr"}
SECRET = "hidden-word-9"
HIDDEN = "$REDACTED$" if MASKED_WHERE_SHOWN else "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
HIDDEN_INSIDE = HIDDEN if MASKED_WHERE_SHOWN else "********"


# The names and the installed ansible-core


def owners() -> dict[str, object]:
    """A real object of ansible-core for each owner of a name."""
    loader, task = DataLoader(), Task()
    connection = connection_loader.get("local", PlayContext(), os.devnull)
    action = ActionModule(task, connection, PlayContext(), loader, Templar(loader=loader), None)
    with patch_module_args({}):
        module = AnsibleModule({})
    return {
        "ActionBase": action,
        "AnsibleModule": module,
        "BaseInventoryPlugin": BaseInventoryPlugin(),
        "Constructable": Constructable(),
        "LookupBase": LookupModule(loader),
        "Playbook": Playbook(loader),
        "Task": task,
        "TaskResult": TaskResult(Host("localhost"), task, {}, {}) if CORE < (2, 19) else TaskResult,
        "ValidationResult": ValidationResult({}),
    }


def exists(name: str) -> bool:
    """Whether the installed ansible-core has this name."""
    if name == "TaskTimeoutError":
        places = (task_executor, getattr(task_executor, "_task_timeout", None))
        return any(hasattr(place, name) for place in places)
    if name == "_ansible_no_log":
        return name in inspect.getsource(importlib.import_module("ansible.plugins.callback"))
    owner, _dot, path = name.rpartition(".") if name.startswith("ansible.") else name.partition(".")
    try:
        found = importlib.import_module(owner) if name.startswith("ansible.") else owners()[owner]
        for part in path.split("."):
            found = getattr(found, part)
    except (AttributeError, ImportError):
        return False
    return True


def versions_of(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The first and the last version of "2.18", "2.18+" or "2.18-2.21"."""
    first, last = re.fullmatch(r"(2\.\d+)(?:\+|-(2\.\d+))?", text).groups()
    end = last or ("2.999" if text.endswith("+") else first)
    return tuple(map(int, first.split("."))), tuple(map(int, end.split(".")))


@pytest.mark.parametrize("name", NAMES, ids=lambda entry: entry.name)
def test_ansible_core_has_the_name_in_its_versions(name):
    first, last = versions_of(name.versions)
    if first <= CORE <= last:
        assert exists(name.name)
    elif first > CORE:
        assert not exists(name.name), f"is there before {name.versions}"


def test_names_are_told_once_with_what_happens_without_them():
    assert len({entry.name for entry in NAMES}) == len(NAMES)
    assert all(entry.without and not entry.without.endswith(".") for entry in NAMES)


# No other file uses one


def own_names(tree: ast.AST) -> Iterator[str]:
    """Names that this code defines: functions, classes, variables, attributes that it sets."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def is_private(name: object) -> bool:
    return isinstance(name, str) and re.match(r"_[a-z]", name) is not None


def foreign_names(source: str, own: frozenset[str] = frozenset()) -> set[str]:
    """The private names of others in this code, and what it imports from ansible-core that is not public."""
    tree = ast.parse(source)
    own = own | set(own_names(tree))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own:
            found.add(node.attr)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", None) in READERS:
            named = (
                part for each in node.args if isinstance(each, ast.Constant) for part in str(each.value).split(".")
            )
            found.update(part for part in named if is_private(part))
        elif isinstance(node, ast.Constant) and re.match(r"_ansible_|TaskTimeoutError$", str(node.value)):
            found.add(node.value)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update(not_public(node))
    return found


def not_public(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """What an import takes of ansible-core that is not offered, or that is in the list of names."""
    listed = {entry.name for entry in NAMES}
    for alias in node.names:
        module = alias.name if isinstance(node, ast.Import) else str(node.module)
        if not re.match(r"ansible(\.|$)", module):
            continue
        whole = module if isinstance(node, ast.Import) else f"{module}.{alias.name}"
        if whole in listed or not {module, whole} & PUBLIC or is_private(alias.name):
            yield whole


@cache
def names_of_package(folder: Path) -> frozenset[str]:
    return frozenset(name for path in folder.glob("*.py") for name in own_names(ast.parse(path.read_text())))


def files() -> list[Path]:
    return [path for path in sorted(PLUGINS.rglob("*.py")) if path != FILE]


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(PLUGINS)))
def test_no_other_file_uses_a_private_name(path):
    # Of module_utils, some classes go over several files, and only _module imports ansible-core.
    shared = path.parents[1].name == "module_utils" and path.parent.name != "_module"
    own = names_of_package(path.parent) if shared else frozenset()
    # It runs where the list of names is not, so the list has it, and it is read there.
    allowed = {"_diff"} if path == PLUGINS / "module_utils/_module/bridge.py" else set()
    assert foreign_names(path.read_text(), own) == allowed


def private_methods(owner: type) -> set[str]:
    kinds = (FunctionType, staticmethod, classmethod, property)
    return {name for name, value in vars(owner).items() if is_private(name) and isinstance(value, kinds)}


@pytest.mark.parametrize("kind", ["action", "callback", "filter", "inventory", "lookup"])
def test_no_plugin_overrides_a_private_name(kind):
    listed = {_ansible_core.SafeGroupNames}
    for path in sorted((PLUGINS / kind).glob("*.py")):
        plugin = importlib.import_module(f"ansible_collections.oceanbase.ocp.plugins.{kind}.{path.stem}")
        for owner in (each for each in vars(plugin).values() if inspect.isclass(each)):
            lineage = set(owner.__mro__) - listed
            ours = {each for each in lineage if each.__module__.startswith("ansible_collections.")}
            defined, inherited = (set().union(*map(private_methods, group)) for group in (ours, lineage - ours))
            assert defined & inherited == set(), owner


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("self._play_context.remote_addr", "_play_context"),
        ("plugin._task.async_val", "_task"),
        ("validation._no_log_values", "_no_log_values"),
        ("getattr(task, '_uuid', None)", "_uuid"),
        ("attrgetter('_connection.transport')(plugin)", "_connection"),
        ("shown.get('_ansible_no_log')", "_ansible_no_log"),
        ("type(error).__name__ == 'TaskTimeoutError'", "TaskTimeoutError"),
        ("from ansible.utils.unsafe_proxy import wrap_var", "ansible.utils.unsafe_proxy.wrap_var"),
        ("from ansible.errors import AnsibleFilterError", "ansible.errors.AnsibleFilterError"),
        ("from ansible._internal import _task", "ansible._internal._task"),
        ("import ansible.executor.task_result", "ansible.executor.task_result"),
        ("from ansible.errors import AnsibleError", None),
        ("from ansible import context", None),
        ("def _own(self): return self._own", None),
        ("self._own = 1; self._own", None),
        ("self.__dict__", None),
    ],
)
def test_private_name_is_found_in_any_form(line, found):
    assert foreign_names(line) == ({found} - {None})


# Without them


def test_missing_file_and_id_leave_the_evidence_with_what_is_known():
    assert _ansible_core.file_of(SimpleNamespace()) is None
    assert _ansible_core.id_of(SimpleNamespace(get_path=lambda: "/srv/restart.yml:7")) == "/srv/restart.yml:7"


def test_missing_name_of_the_module_has_other_words():
    assert _ansible_core.module_of(SimpleNamespace()) == "a module of oceanbase.ocp"


def test_error_by_another_name_is_no_time_out():
    assert not _ansible_core.is_time_out(TimeoutError())


def test_module_without_diff_mode_returns_no_diff():
    module = mock.Mock(spec=["check_mode", "params", "warn", "exit_json"], check_mode=False, params={})
    outcome = bridge.Outcome(False, {"changed": True}, diff={"before": "", "after": "x"})
    with mock.patch.multiple(bridge, _Module=lambda *_args, **_rules: module, call_module=lambda *_args: outcome):
        bridge.run_module(bridge.Definition({}, lambda *_args: {}))
    module.exit_json.assert_called_once_with(changed=True)


@pytest.mark.skipif(CORE >= (2, 21), reason="has the setting")
def test_results_have_the_arguments_before_there_is_a_setting():
    assert _ansible_core.shows_invocation({}) is True


# What the names are used for


def test_end_of_a_task_has_the_evaluated_keywords():
    host = SimpleNamespace(get_name=lambda: "localhost")
    task = RecordedTask("task_info", "Read it", check_mode=True)
    end = _ansible_core.task_end(task_result(host, task, {"changed": False}))
    assert (end.host, end.task, end.shown) == ("localhost", task, {"changed": False})
    assert (end.keywords["name"], end.keywords["check_mode"]) == ("Read it", True)


@pytest.mark.parametrize(
    ("shown", "hidden"),
    [({"censored": "it is hidden"}, True), ({"_ansible_no_log": True}, True), ({"_ansible_no_log": False}, False)],
    ids=str,
)
def test_hidden_result_is_recognised(shown, hidden):
    assert _ansible_core.is_hidden(shown) is hidden


def test_arguments_are_those_of_a_module():
    args = {"texts": ["a", ("b",)], "number": 1, "nothing": None, "deep": {"yes": True}}
    assert _ansible_core.plain_arguments(SimpleNamespace(_task=SimpleNamespace(args=args))) == {
        **args,
        "texts": ["a", ["b"]],
    }


@pytest.mark.parametrize(
    ("value", "left"),
    [
        (SECRET, HIDDEN),
        (f"<{SECRET}>", f"<{HIDDEN_INSIDE}>"),
        ([{"a": (SECRET, "b")}], [{"a": [HIDDEN, "b"]}]),
        (40271, HIDDEN),
        (4.0271, 4.0271),
        (True, True),
        (None, None),
        ({"id": 7, "name": "zone1"}, {"id": 7, "name": "zone1"}),
    ],
    ids=str,
)
def test_secrets_are_masked_in_results(value, left):
    argument_spec = {"words": {"type": "list", "elements": "str", "no_log": True}}
    validation = ArgumentSpecValidator(argument_spec).validate({"words": [SECRET, "40271"]})
    with mock.patch.object(_in_process.display, "deprecated", side_effect=AssertionError):
        assert _ansible_core.without_secrets({"it": value}, validation) == {"it": left}


@pytest.mark.skipif(not MASKED_WHERE_SHOWN, reason="ansible-core before 2.22 knows the secrets of a module alone")
def test_values_secret_only_to_ansible_stay_in_results():
    """Ansible takes every value of a vaulted file for a secret, here the name and id of a cluster."""
    secrets = importlib.import_module("ansible.module_utils.secrets")
    secrets.register_secrets(["vaulted-orders-9", "9077"])
    result = {"id": 9077, "name": "vaulted-orders-9", "said": SECRET}
    validation = ArgumentSpecValidator({"word": {"type": "str", "no_log": True}}).validate({"word": SECRET})
    assert _ansible_core.without_secrets(result, validation) == {**result, "said": HIDDEN}


TEMPLATE = "{{ 6 * 7 }}"


def evaluated(value: object) -> object:
    """A variable with this value, as a playbook gets it."""
    templar = Templar(loader=DataLoader(), variables={"it": value})
    return templar.template(_ansible_core.trusted("{{ it }}"))


@pytest.mark.parametrize("shape", [lambda text: text, lambda text: [text], lambda text: {"a": [text]}])
def test_untrusted_value_is_not_evaluated(shape):
    value = shape(_ansible_core.trusted(TEMPLATE))
    assert TEMPLATE not in str(evaluated(value))
    assert evaluated(_ansible_core.untrusted(value)) == shape(TEMPLATE)


def test_result_of_an_error_is_not_evaluated_and_has_no_place_in_our_code():
    error = _ansible_core.task_failure("Too late.", {"said": _ansible_core.trusted(TEMPLATE)}, True)
    assert evaluated(error.result["said"]) == TEMPLATE
    assert error.result["_ansible_no_log"] is True
    assert "exception" not in error.result
