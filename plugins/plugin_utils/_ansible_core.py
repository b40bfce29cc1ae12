# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Every name of ansible-core that is private or missing in some version: which versions have it, what happens without.

Nothing else in ``plugins`` uses such a name, but for ``AnsibleModule._diff`` in ``module_utils/_module/bridge.py``,
which also runs where this file is not.
"""

from __future__ import annotations

import json
import os
import select
from collections.abc import Callable, Mapping
from contextlib import suppress
from operator import attrgetter
from typing import Any, NamedTuple

from ansible import constants as C  # noqa: N812 - its name all over Ansible
from ansible.errors import AnsibleActionFail
from ansible.inventory.group import to_safe_group_name
from ansible.module_utils.common.arg_spec import ValidationResult
from ansible.release import __version__
from ansible.utils.color import ANSIBLE_COLOR
from ansible.utils.display import Display
from ansible.utils.vars import load_extra_vars

try:
    from ansible.errors import AnsibleTemplatePluginError
    from ansible.module_utils.common.json import Direction, get_module_encoder
    from ansible.template import trust_as_template
except ImportError:  # before ansible-core 2.19, which evaluates what is not marked unsafe
    from ansible.errors import AnsibleFilterError, AnsibleLookupError
    from ansible.module_utils.common.json import AnsibleJSONEncoder
    from ansible.utils.unsafe_proxy import wrap_var

    FilterError, LookupFailed = AnsibleFilterError, AnsibleLookupError

    def trusted(template: str) -> str:
        """The template, which is evaluated anyway."""
        return template

    def untrusted(value: Any) -> Any:
        """The value, JSON, without a text that Ansible would evaluate as a template."""
        return wrap_var(value)

    _FOR_A_MODULE = {"cls": AnsibleJSONEncoder, "vault_to_text": True}
else:
    FilterError = LookupFailed = AnsibleTemplatePluginError

    def trusted(template: str) -> str:
        """The template, which Ansible evaluates."""
        marked: str = trust_as_template(template)
        return marked

    def untrusted(value: Any) -> Any:
        """The value, JSON, without a text that Ansible would evaluate as a template: a cache keeps trust."""
        return json.loads(json.dumps(value))

    _FOR_A_MODULE = {"cls": get_module_encoder("legacy", Direction.CONTROLLER_TO_MODULE)}

try:
    from ansible.module_utils.secrets import mask_secrets
except ImportError:  # before ansible-core 2.22, which deprecates remove_values
    from ansible.module_utils.common.parameters import remove_values

    mask_secrets = None
else:
    remove_values = None


class CoreName(NamedTuple):
    """A name, the versions of ansible-core on which it is used, and what happens where it is missing."""

    name: str
    versions: str
    without: str


# Without one of them a module does not run in the controller's process.
NEEDED_IN_PROCESS = (
    "ActionBase._task.args",
    "ActionBase._task.async_val",
    "ActionBase._task.check_mode",
    "ActionBase._task.diff",
    "ActionBase._task.environment",
    "ActionBase._task.no_log",
    "ActionBase._task.timeout",
    "ActionBase._connection.become",
    "ValidationResult._no_log_values",
    "ValidationResult._warnings",
    "ValidationResult._deprecations",
)
_TIME_OUT, _NO_LOG = "TaskTimeoutError", "_ansible_no_log"
NAMES = (
    *(CoreName(name, "2.18+", "the ordinary module runs, and -vvv shows the name") for name in NEEDED_IN_PROCESS),
    CoreName("ActionBase._connection.transport", "2.18+", "the connection is unknown, so it does not count as local"),
    CoreName("ActionBase._task.action", "2.18+", "messages call the module a module of oceanbase.ocp"),
    CoreName("ActionBase._task.delegate_to", "2.18+", "the task counts as not delegated"),
    CoreName("ActionBase._templar.template", "2.18+", "a variable counts as it is written"),
    CoreName(_TIME_OUT, "2.18+", "a task that times out fails with Ansible's result, which has no task of OCP"),
    CoreName(_NO_LOG, "2.18+", "the result that an error brings is hidden by Ansible alone, since 2.19"),
    CoreName("AnsibleModule._diff", "2.18+", "an ordinary module returns no diff"),
    CoreName("BaseInventoryPlugin._read_config_data", "2.18+", "the inventory fails with the name"),
    CoreName("BaseInventoryPlugin._sanitize_group_name", "2.18+", "groups are named as Ansible is set"),
    CoreName("Constructable._add_host_to_composed_groups", "2.18+", "the inventory fails with the name"),
    CoreName("Constructable._add_host_to_keyed_groups", "2.18+", "the inventory fails with the name"),
    CoreName("Constructable._set_composite_vars", "2.18+", "the inventory fails with the name"),
    CoreName("LookupBase._loader", "2.18+", "variables of the command line get no warning"),
    CoreName("Playbook._file_name", "2.18+", "the evidence has no playbook"),
    CoreName("Task._uuid", "2.18+", "the evidence knows a task by its place in the playbook"),
    # Older names, by whose absence the newer ones are chosen. ansible-core 2.23 deprecates them, but for remove_values.
    CoreName("TaskResult._host", "2.18", "host"),
    CoreName("TaskResult._result", "2.18", "result"),
    CoreName("TaskResult._task", "2.18", "task"),
    CoreName("TaskResult._task_fields", "2.18", "task_fields"),
    CoreName("TaskResult.task_fields", "2.19-2.20", "the keywords of the task itself, which 2.21 evaluates there"),
    CoreName("ansible.utils.vars.load_extra_vars", "2.18+", "lookups of the collection fail with the name"),
    CoreName("ansible.errors.AnsibleFilterError", "2.18", "AnsibleTemplatePluginError"),
    CoreName("ansible.errors.AnsibleLookupError", "2.18", "AnsibleTemplatePluginError"),
    CoreName("ansible.module_utils.common.json.AnsibleJSONEncoder", "2.18", "get_module_encoder"),
    CoreName("ansible.module_utils.common.parameters.remove_values", "2.18-2.21", "mask_secrets"),
    CoreName("ansible.utils.unsafe_proxy.wrap_var", "2.18", "nothing is a template unless it is trusted"),
    # Newer names, which older versions do not have.
    CoreName("ansible.constants.INJECT_INVOCATION", "2.21+", "results always have the arguments"),
    CoreName("ansible.errors.AnsibleTemplatePluginError", "2.19+", "AnsibleFilterError and AnsibleLookupError"),
    CoreName("ansible.module_utils.common.json.get_module_encoder", "2.19+", "AnsibleJSONEncoder"),
    CoreName("ansible.module_utils.secrets.mask_secrets", "2.22+", "remove_values"),
    CoreName("ansible.template.trust_as_template", "2.19+", "everything is a template unless wrap_var marks it"),
)
CORE = tuple(map(int, __version__.split(".")[:2]))
TIMED_OUT = "timedout"
DEFAULT_COLUMNS = 80
_OLD_WORDS = "The {action} action failed to execute in the expected time frame ({seconds}) and was terminated"
_MISSING = object()


# Standard output and standard error of Ansible's main process, which loads this before it starts a worker: there it
# writes what a worker shows.
_STREAMS_OF_MAIN = {}
for _stream in (1, 2):
    with suppress(OSError):  # closed
        _STREAMS_OF_MAIN[_stream] = os.dup(_stream)


def _found(owner: Any, path: str, otherwise: Any = None) -> Any:
    try:
        return attrgetter(path)(owner)
    except AttributeError:
        return otherwise


def terminal_columns() -> int | None:
    """How wide the terminal is that Ansible writes to; None if it writes elsewhere.

    A worker has no terminal of its own since 2.19. What Ansible found at its start does not tell 80 columns from none,
    but for the colours.
    """
    columns = int(Display().columns) + 1
    return columns if columns > DEFAULT_COLUMNS or ANSIBLE_COLOR else None


def is_read(stream: int) -> bool:
    """Whether a reader is left for what Ansible writes to the stream: 1 is standard output, 2 is standard error.

    Ansible has one thread for the lines and the results of workers. It ends at a line that nobody reads, as when
    ``head`` has ended, and then the command waits for ever.
    """
    poll = select.poll()
    if stream in _STREAMS_OF_MAIN:
        poll.register(_STREAMS_OF_MAIN[stream], 0)
    return not poll.poll(0)


# Action plugins


def missing_name(plugin: Any) -> str | None:
    """The first name missing here that a module needs in the controller's process; None if there are all."""
    owners = {"ActionBase": plugin, "ValidationResult": ValidationResult({})}
    named = (name.partition(".") for name in NEEDED_IN_PROCESS)
    return next((f"{it}.{path}" for it, _dot, path in named if _found(owners[it], path, _MISSING) is _MISSING), None)


def task_of(plugin: Any) -> Any:
    """The task; its attributes are called like its keywords, but ``async_val``."""
    return plugin._task


def module_of(plugin: Any) -> str:
    """The name of the module, as the playbook has it."""
    return str(_found(plugin, "_task.action", "a module of oceanbase.ocp"))


def transport_of(plugin: Any) -> str:
    """The name of the connection plugin."""
    return str(_found(plugin, "_connection.transport", "unknown"))


def has_become(plugin: Any) -> bool:
    """Whether the task, the play, a variable or the command line lets the module run as another user."""
    return plugin._connection.become is not None


def is_delegated(plugin: Any) -> bool:
    """Whether the task has ``delegate_to``."""
    return bool(_found(plugin, "_task.delegate_to"))


def template_of(plugin: Any) -> Callable[[Any], Any]:
    """What evaluates the value of a variable; it raises AnsibleError."""
    template: Callable[[Any], Any] = _found(plugin, "_templar.template", lambda value: value)
    return template


def plain_arguments(plugin: Any) -> dict[str, Any]:
    """The arguments as a module gets them: JSON types, decrypted, not trusted as templates."""
    plain: dict[str, Any] = json.loads(json.dumps(dict(plugin._task.args), **_FOR_A_MODULE))
    return plain


def shows_invocation(variables: dict[str, Any]) -> bool:
    """Whether results include the arguments."""
    if not hasattr(C, "INJECT_INVOCATION"):
        return True
    return bool(C.config.get_config_value("INJECT_INVOCATION", variables=variables))


def is_time_out(error: BaseException) -> bool:
    """Whether Ansible ends the module with this error, since the ``timeout`` of the task is over."""
    return type(error).__name__ == _TIME_OUT


def words_of_time_out(error: BaseException, plugin: Any) -> str:
    """What Ansible says of a time-out, without a full stop."""
    words = str(error) or _OLD_WORDS.format(action=module_of(plugin), seconds=plugin._task.timeout)
    return words.rstrip(".")


def task_failure(message: str, result: dict[str, Any], no_log: bool) -> AnsibleActionFail:
    """The error by which Ansible fails a task with ``result``, and does not try it again."""
    error = AnsibleActionFail(message, result={**untrusted(result), _NO_LOG: no_log})
    # Before 2.19 it has the place in our code where it was raised, which does not help.
    error.result.pop("exception", None)
    return error


# Validated options


def option_notices(validation: ValidationResult) -> dict[str, list[Any]]:
    """The ``warnings`` and ``deprecations`` of options, as results have them."""
    both = "Both option {option} and its alias {alias} are set."
    return {
        "warnings": [both.format(**warning) for warning in validation._warnings],
        "deprecations": list(validation._deprecations),
    }


def without_secrets(result: dict[str, Any], validation: ValidationResult) -> dict[str, Any]:
    """The result without the values of no_log options. True, false and null stay, as in AnsibleModule."""
    secrets: set[str] = validation._no_log_values
    if mask_secrets is not None:
        masked: dict[str, Any] = _masked(result, {secret.strip() for secret in secrets})
        return masked
    preserved = {key: value for key, value in result.items() if value is None or isinstance(value, bool)}
    censored: dict[str, Any] = remove_values(result, secrets)
    return {**censored, **preserved}


def _masked(value: Any, secrets: set[str]) -> Any:
    """``value`` without ``secrets``, which are registered with Ansible at validation.

    Ansible also treats every value of a vaulted file as a secret, names and numbers too. A value with only those
    stays, or a registered result would lose the names and ids that a playbook needs.
    """
    if isinstance(value, dict):
        return {key: _masked(item, secrets) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_masked(item, secrets) for item in value]
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return value
    text = str(value)
    return mask_secrets(text) if any(secret in text for secret in secrets) else value


# Callbacks


class TaskEnd(NamedTuple):
    """The end of a task or of an item: the name of its host, the task, the result, and evaluated keywords."""

    host: str
    task: Any
    shown: dict[str, Any]
    keywords: Mapping[str, Any]


def task_end(result: Any) -> TaskEnd:
    """What a callback gets as a ``TaskResult``."""
    if CORE < (2, 19):
        return TaskEnd(result._host.get_name(), result._task, result._result, result._task_fields)
    if CORE < (2, 21):
        keywords = result.task_fields
    else:
        keywords = {name: getattr(result.task, name) for name in ("args", "check_mode", "ignore_errors", "name")}
    return TaskEnd(result.host.get_name(), result.task, result.result, keywords)


def is_hidden(shown: Mapping[str, Any]) -> bool:
    """Whether a result is hidden by ``no_log``."""
    return bool(shown.get(_NO_LOG)) or "censored" in shown


def file_of(playbook: Any) -> str | None:
    """The file of a playbook; None if it has none."""
    name = getattr(playbook, "_file_name", None)
    return str(name) if name else None


def id_of(task: Any) -> str:
    """What tells a task from all others of the run."""
    return str(getattr(task, "_uuid", None) or task.get_path())


# Lookups


def extra_variables(plugin: Any) -> list[str]:
    """The names of the variables of the command line."""
    loader = _found(plugin, "_loader")
    return [] if loader is None else [str(name) for name in load_extra_vars(loader)]


# Inventories


class SafeGroupNames:
    """For an inventory plugin: safe names of groups, however Ansible is set, since it looks for files by them."""

    @staticmethod
    def _sanitize_group_name(name: str) -> str:
        safe: str = to_safe_group_name(name, force=True, silent=True)
        return safe


def read_config(plugin: Any, path: str) -> dict[str, Any]:
    """The content of an inventory file, whose keys become the options of ``plugin``. Raises AnsibleParserError."""
    config: dict[str, Any] = plugin._read_config_data(path)
    return config


def add_constructed(plugin: Any, host: str, variables: dict[str, Any]) -> None:
    """Add variables and groups to a host by the options compose, groups and keyed_groups. Raises AnsibleError."""
    strict = plugin.get_option("strict")
    plugin._set_composite_vars(plugin.get_option("compose"), variables, host, strict=strict)
    plugin._add_host_to_composed_groups(plugin.get_option("groups"), variables, host, strict=strict)
    plugin._add_host_to_keyed_groups(plugin.get_option("keyed_groups"), variables, host, strict=strict)
