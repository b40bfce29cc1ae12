# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""How a module runs in the controller's process: its result is that of the ordinary module; Ansible's time-out there.

An ordinary module is copied, unpacked and run in its own Python process; running in this process is many times cheaper.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from ansible import constants as C  # noqa: N812 - its name all over Ansible
from ansible import context
from ansible.errors import AnsibleActionFail, AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator, ValidationResult
from ansible.module_utils.errors import UnsupportedError
from ansible.plugins.action.normal import ActionModule as OrdinaryModule
from ansible.utils.display import Display

from ..module_utils._module.bridge import Definition, Outcome, RunMode, call_module, failure
from ..module_utils._base.cli_hints import adhoc_command, tasks_command
from ..module_utils._base.errors import attached_facts
from ..module_utils._base.text import one_line
from ..module_utils._module.connection_options import Params
from ..module_utils._module.refusal_notes import with_notes
from ..module_utils._module.secret_options import censor_of, shown_options
from ..module_utils._waiting.progress_lines import Show, show_nothing
from ._ansible_core import (
    TIMED_OUT,
    id_of,
    is_read,
    is_time_out,
    module_of,
    option_notices,
    plain_arguments,
    shows_invocation,
    task_failure,
    task_of,
    without_secrets,
    words_of_time_out,
)
from ._evidence.notes_of_workers import OF_CHANGE, noting
from ._evidence.run_origin import service_address
from ._module_route import RouteRefused, obstacle

display = Display()


class InProcess(OrdinaryModule):  # type: ignore[misc]
    """The action plugin of the module in ``definition``."""

    definition: ClassVar[Definition]
    # The host of the inventory that the task is for, and whether it is for others too.
    _host = ""
    _among_hosts = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of the module."""
        variables = task_vars or {}
        try:
            found = obstacle(self, variables)
        except RouteRefused as refused:
            return {"failed": True, "changed": False, "msg": str(refused)}
        host, name = variables.get("inventory_hostname"), module_of(self)
        self._host = str(host)
        self._among_hosts = len(variables.get("ansible_play_batch") or ()) > 1
        if found is not None:
            display.vvv(f"Running {name} as an ordinary module, since {found}", host=host)
            ordinary: dict[str, Any] = super().run(tmp, task_vars)
            return ordinary
        display.vvv(f"Running {name} in the controller's process", host=host)
        return self._run_here(variables)

    def _mode(self) -> RunMode:
        task = task_of(self)
        ad_hoc = bool(context.CLIARGS.get("module_name"))
        if task.no_log:
            return RunMode(task.check_mode, ad_hoc=ad_hoc)
        note = noting((self._host, id_of(task)))
        return RunMode(
            task.check_mode,
            self._show(),
            _show_line,
            _display_text,
            note,
            ad_hoc=ad_hoc,
            among_hosts=self._among_hosts,
        )

    def _show(self) -> Show:
        try:
            shows_ok = C.config.get_config_value("display_ok_hosts", plugin_type="callback", plugin_name="default")
        except AnsibleError:  # another callback replaces the default
            shows_ok = True
        return _show_line if shows_ok else show_nothing

    def _run_here(self, task_vars: dict[str, Any]) -> dict[str, Any]:
        task, params = task_of(self), plain_arguments(self)
        definition = self.definition
        validation = ArgumentSpecValidator(definition.argument_spec, **definition.rules).validate(params)
        params = validation.validated_parameters
        refusal = _refusal(validation, module_of(self), definition.argument_spec)
        if refusal is not None:
            outcome = Outcome(True, {"msg": refusal}).cleaned(censor_of(params))
        else:
            outcome = self._call(params)
        result = {**outcome.shown(task.diff), **_notices(validation, outcome.warnings)}
        if outcome.failed:
            result["failed"] = True
        if shows_invocation(task_vars):
            result["invocation"] = {"module_args": shown_options(params)}
        result = without_secrets(result, validation)
        if TIMED_OUT in result:
            raise self._time_out(result)
        return result

    def _call(self, params: Params) -> Outcome:
        """The outcome of the call; Ansible's time-out is a failure if something is known then."""
        mode = self._mode()
        restarts = self.definition.options.keys() >= set(OF_CHANGE)
        if restarts:
            mode.cleaned(censor_of(params)).note({"for": _purpose(params, mode)})
        try:
            return call_module(self.definition, params, mode)
        except BaseException as error:
            facts = attached_facts(error)
            if not is_time_out(error) or not facts:
                raise
            task = task_of(self)
            # Without ``frame``, which is deprecated.
            timed_out = {TIMED_OUT: {"period": task.timeout}}
            # Since 2.19 Ansible shows the words of an error even if the task has no_log.
            known = "" if task.no_log else f" {_what_goes_on(facts)}"
            outcome = failure(f"{words_of_time_out(error, self)}.{known}", {**facts, **timed_out})
        finally:
            if restarts:
                mode.note({"over": True})
        return outcome.cleaned(censor_of(params))

    def _time_out(self, result: dict[str, Any]) -> AnsibleActionFail:
        """The error by which Ansible fails the task with ``result``; as after its own one, it does not try it again."""
        no_log, warnings = bool(task_of(self).no_log), result.pop("warnings", [])
        if not no_log:
            for warning in warnings:
                display.warning(warning)
        return task_failure(result.pop("msg"), result, no_log)


def _purpose(params: Params, mode: RunMode) -> dict[str, Any]:
    """For what a restart is, for the evidence: the change, whether it is in check mode, which service, as whom."""
    change = {option: params[option] for option in OF_CHANGE}
    asked = {"service": service_address(params["url"]), "user": one_line(params["username"])}
    return {**change, **asked, "check_mode": mode.check_mode}


def _show_line(line: str, failed: bool) -> None:
    # Standard output is not safe: Ansible writes to it when a buffer is full, and programs parse what callbacks print.
    if is_read(2):
        display.display(line, color=C.COLOR_ERROR if failed else C.COLOR_VERBOSE, stderr=True)


def _display_text(text: str) -> None:
    """Write the text as it is: to standard output, unless the callback that writes there is one for programs."""
    own = C.config.get_config_value("DEFAULT_STDOUT_CALLBACK") in ("default", "ansible.builtin.default")
    if is_read(1 if own else 2):
        display.display(text, stderr=not own)


def _refusal(validation: ValidationResult, name: str, options: Collection[str]) -> str | None:
    """AnsibleModule's message for invalid arguments; None if they are valid."""
    if not validation.error_messages:
        return None
    message = with_notes(validation.errors.msg, validation, options)
    if isinstance(validation.errors[0], UnsupportedError):
        return f"Unsupported parameters for ({name}) module: {message}"
    return message


def _what_goes_on(facts: dict[str, Any]) -> str:
    """What the service may still do after an interruption, and how to check it."""
    if facts.get("task_id") is not None:
        command = adhoc_command("task_wait", task_ids=facts["task_id"])
        return f"That does not end task {facts['task_id']}. Wait for it: {command}"
    if facts.get("changed"):
        return f"It is not known whether the request has started a task. See the newest tasks: {tasks_command()}"
    return "Nothing was started."


def _notices(validation: ValidationResult, warnings: list[str]) -> dict[str, Any]:
    """The warnings and deprecations for a result, those of the arguments first; empty lists are left out."""
    notices = option_notices(validation)
    notices["warnings"] += warnings
    return {key: value for key, value in notices.items() if value}
