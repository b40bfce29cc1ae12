# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""When a module runs in the controller's process and when as an ordinary module; Ansible's time-out there.

An ordinary module is copied, unpacked and run in its own Python process; running in this process is many times cheaper.
The ordinary module runs if the result would differ, or if the task asks for its own process.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, ClassVar

from ansible import constants as C  # noqa: N812 - its name all over Ansible
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator, ValidationResult
from ansible.module_utils.common.json import AnsibleJSONEncoder
from ansible.module_utils.errors import UnsupportedError
from ansible.plugins.action.normal import ActionModule as OrdinaryModule
from ansible.utils.display import Display
from ansible.utils.unsafe_proxy import wrap_var

from ..module_utils._base.cli_hints import adhoc_command
from ..module_utils._base.errors import attached_facts
from ..module_utils._module.bridge import Definition, Outcome, RunMode, call_module, failure
from ..module_utils._module.connection_options import Params
from ..module_utils._module.refusal_notes import refusal_notes
from ..module_utils._module.secret_options import censor_of, shown_options
from ..module_utils._ocp.session import REQUESTS_IMPORT_ERROR
from ..module_utils._waiting.progress import Show, show_nothing
from ._database_servers import is_database_server

try:
    from ansible.module_utils.secrets import mask_secrets
except ImportError:  # before ansible-core 2.22, which deprecates remove_values
    from ansible.module_utils.common.parameters import remove_values

    mask_secrets = None
else:
    remove_values = None

display = Display()

# What Ansible raises in the middle of a task whose ``timeout`` is over, its result, and its words before 2.19.
TIME_OUT = "TaskTimeoutError"
TIMED_OUT = "timedout"
OLD_WORDS = "The {action} action failed to execute in the expected time frame ({seconds}) and was terminated"


class InProcess(OrdinaryModule):  # type: ignore[misc]
    """The action plugin of the module in ``definition``."""

    definition: ClassVar[Definition]

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of the module."""
        host = self._play_context.remote_addr
        misdirected = self._misdirected(task_vars or {})
        if misdirected is not None:
            return {"failed": True, "changed": False, "msg": misdirected}
        obstacle = self._obstacle()
        if obstacle is not None:
            display.vvv(f"Running {self._task.action} as an ordinary module, since {obstacle}", host=host)
            ordinary: dict[str, Any] = super().run(tmp, task_vars)
            return ordinary
        # The body of a module may be one that several share.
        action = Path(inspect.getfile(type(self)))
        file = action.parent.with_name("modules") / action.name
        display.vvv(f"Running module file {file} in the controller's process", host=host)
        return self._run_here(task_vars or {})

    def _misdirected(self, task_vars: dict[str, Any]) -> str | None:
        """Why the module must not run on the host of the connection: credentials do not belong on a database server."""
        transport = self._connection.transport
        if transport == "local" or self._task.delegate_to or not is_database_server(task_vars, self._templar.template):
            return None
        host = task_vars.get("inventory_hostname")
        return (
            f"{host} is a database server, and the connection is {transport}; nothing was sent. Set connection: local "
            "in the play and no ansible_connection for the host, so that the module runs on the controller; or use "
            "delegate_to to run it on another machine."
        )

    def _obstacle(self) -> str | None:
        """Why the module cannot run in this process; None if it can."""
        if self._connection.transport != "local":
            return f"the connection is {self._connection.transport}"
        if self._task.async_val:
            return "the task has async"
        # The task, the play, a variable or the command line may set it.
        if self._connection.become is not None:
            return "the task has become"
        if any(self._task.environment):
            return "the task has environment"
        if REQUESTS_IMPORT_ERROR is not None:
            return "the controller's Python has no requests"
        return None

    def _mode(self) -> RunMode:
        announce = show_nothing if self._task.no_log else _show_line
        return RunMode(self._task.check_mode, self._show(), announce)

    def _show(self) -> Show:
        try:
            shows_ok = C.config.get_config_value("display_ok_hosts", plugin_type="callback", plugin_name="default")
        except AnsibleError:  # another callback replaces the default
            shows_ok = True
        return _show_line if shows_ok and not self._task.no_log else show_nothing

    def _run_here(self, task_vars: dict[str, Any]) -> dict[str, Any]:
        params = _plain_arguments(self._task.args)
        definition = self.definition
        validation = ArgumentSpecValidator(definition.argument_spec, **definition.rules).validate(params)
        params = validation.validated_parameters
        refusal = _refusal(validation, self._task.action)
        if refusal is not None:
            outcome = Outcome(True, {"msg": refusal}).cleaned(censor_of(params))
        else:
            outcome = self._call(params)
        result = {**outcome.shown(self._task.diff), **_warnings_and_deprecations(validation, outcome.warnings)}
        if outcome.failed:
            result["failed"] = True
        if _shows_invocation(task_vars):
            result["invocation"] = {"module_args": shown_options(params)}
        result = _without_secrets(result, validation._no_log_values)
        if TIMED_OUT in result:
            raise self._time_out(result)
        return result

    def _call(self, params: Params) -> Outcome:
        """The outcome of the call; Ansible's time-out is a failure if something is known then."""
        try:
            return call_module(self.definition, params, self._mode())
        except BaseException as error:
            facts = attached_facts(error)
            if type(error).__name__ != TIME_OUT or not facts:
                raise
            words = str(error) or OLD_WORDS.format(action=self._task.action, seconds=self._task.timeout)
            # Without ``frame``, which is deprecated.
            timed_out = {TIMED_OUT: {"period": self._task.timeout}}
            # Since 2.19 Ansible shows the words of an error even if the task has no_log.
            known = "" if self._task.no_log else f" {_what_goes_on(facts)}"
            outcome = failure(f"{words.rstrip('.')}.{known}", {**facts, **timed_out})
        return outcome.cleaned(censor_of(params))

    def _time_out(self, result: dict[str, Any]) -> AnsibleActionFail:
        """The error by which Ansible fails the task with ``result``; as after its own one, it does not try it again."""
        warnings = result.pop("warnings", [])
        if not self._task.no_log:
            for warning in warnings:
                display.warning(warning)
        message = result.pop("msg")
        # Before ansible-core 2.19 nothing else marks what an error brings along.
        error = AnsibleActionFail(message, result={**wrap_var(result), "_ansible_no_log": bool(self._task.no_log)})
        # The place in our code where it was interrupted does not help.
        error.result.pop("exception", None)
        return error


def _show_line(line: str, failed: bool) -> None:
    # Standard output is not safe: Ansible writes to it when a buffer is full, and programs parse what callbacks print.
    display.display(line, color=C.COLOR_ERROR if failed else C.COLOR_VERBOSE, stderr=True)


def _plain_arguments(args: dict[str, Any]) -> Params:
    """The arguments as a module gets them: JSON types, decrypted, not trusted as templates."""
    plain: Params = json.loads(json.dumps(dict(args), cls=AnsibleJSONEncoder, vault_to_text=True))
    return plain


def _refusal(validation: ValidationResult, name: str) -> str | None:
    """AnsibleModule's message for invalid arguments; None if they are valid."""
    if not validation.error_messages:
        return None
    message: str = validation.errors.msg
    message += refusal_notes(message, validation.validated_parameters)
    if isinstance(validation.errors[0], UnsupportedError):
        return f"Unsupported parameters for ({name}) module: {message}"
    return message


def _what_goes_on(facts: dict[str, Any]) -> str:
    """What the service may still do after an interruption, and how to check it."""
    if facts.get("task_id") is not None:
        command = adhoc_command("task_wait", task_ids=facts["task_id"])
        return f"That does not end task {facts['task_id']}. Wait for it: {command}"
    if facts.get("changed"):
        return "It is not known whether the request has started a task: look at the newest tasks in OCP."
    return "Nothing was started."


def _warnings_and_deprecations(validation: ValidationResult, warnings: list[str]) -> dict[str, Any]:
    """The warnings and deprecations for a result, those of the arguments first; empty lists are left out."""
    both = "Both option {option} and its alias {alias} are set."
    notices = {
        "warnings": [*(both.format(**warning) for warning in validation._warnings), *warnings],
        "deprecations": list(validation._deprecations),
    }
    return {key: value for key, value in notices.items() if value}


def _shows_invocation(task_vars: dict[str, Any]) -> bool:
    """Whether results include the arguments: always before ansible-core 2.21, later if configured."""
    if not hasattr(C, "INJECT_INVOCATION"):
        return True
    return bool(C.config.get_config_value("INJECT_INVOCATION", variables=task_vars))


def _without_secrets(result: dict[str, Any], secrets: set[str]) -> dict[str, Any]:
    """The result without the values of no_log options. True, false and null stay, as in AnsibleModule."""
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
