# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The bridge between Ansible and plain Python: options in; result, warnings, diff or failure out, without secrets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from ansible.module_utils.basic import AnsibleModule, missing_required_lib
from ansible.module_utils.common.arg_spec import ValidationResult

# The files imported after it are compiled once.
from .._base import zip_imports  # noqa: F401 # pylint: disable=unused-import
from .._base.censor import Censor
from .._base.cli_hints import Hints
from .._base.errors import ModuleCrashed, OcpError, OptionError, attached_facts
from .._ocp.endpoints import OcpApi
from .._ocp.session import REQUESTS_IMPORT_ERROR
from .._waiting.poll_pauses import Note, note_nothing
from .._waiting.progress_lines import Show, show_nothing
from .connection_options import CONNECTION_OPTIONS, JOURNAL_OPTION, Params, connected, plaintext_password_warnings
from .result_detail import COMPACT, DETAIL_OPTION, Lines, in_detail, with_wait_command
from .secret_options import censor_of, shown_options


def display_nothing(_text: str) -> None:
    """Displays nothing."""


@dataclass(frozen=True)
class RunMode:
    """How a module runs; ``show`` gets its progress lines, if the process can show them and the user wants them.

    ``announce`` gets lines that the user always has to see, if the process can show them. ``display`` gets the text
    that a module with ``on_controller`` is called for. ``note`` gets facts for the evidence of a run that is
    interrupted. ``connect`` opens one more connection to the same service. ``ad_hoc``: by the command ``ansible``,
    which shows the result as many lines of JSON below the message of a failure. ``among_hosts``: so that lines of
    several hosts may be shown in turn.
    """

    check_mode: bool
    show: Show = show_nothing
    announce: Show = show_nothing
    display: Callable[[str], None] = display_nothing
    note: Note = note_nothing
    connect: Callable[[], AbstractContextManager[OcpApi]] | None = None
    ad_hoc: bool = False
    among_hosts: bool = False

    def cleaned(self, censor: Censor) -> RunMode:
        """The same, but it shows no secrets."""

        def clean(show: Show) -> Show:
            return lambda line, failed: show(censor.clean(line), failed)

        return replace(
            self,
            show=clean(self.show),
            announce=clean(self.announce),
            display=lambda text: self.display(censor.clean(text)),
            note=lambda facts: self.note(censor.clean_all(facts)),
        )


# Every module takes it: its messages name options in the words of the role or playbook that calls it.
HINT_OPTION: dict[str, Any] = {"hint_variables": {"type": "dict"}}

Body = Callable[[Any, Params, RunMode], dict[str, Any]]


@dataclass(frozen=True)
class Definition:
    """A module: its own ``options``, its ``body``, and the ``rules`` between options.

    ``body(api, params, mode)`` returns the result or raises an OcpError. ``rules`` are AnsibleModule's own
    (``required_one_of`` and the like). Without ``needs_service`` the body gets no ``api``. With ``on_controller`` it
    runs in the controller's process whatever the connection is, since only that has the terminal. ``lines`` says how
    ``detail: compact`` writes the objects below a key of the result.
    """

    options: dict[str, Any]
    body: Body
    rules: dict[str, Any] = field(default_factory=dict)
    needs_service: bool = True
    on_controller: bool = False
    lines: Lines = field(default_factory=dict)

    @property
    def argument_spec(self) -> dict[str, Any]:
        """All options, including those that every module has."""
        return {**CONNECTION_OPTIONS, **DETAIL_OPTION, **JOURNAL_OPTION, **HINT_OPTION, **self.options}


@dataclass(frozen=True)
class Outcome:
    """The end of a call: the result or failure, the warnings, and the diff."""

    failed: bool
    result: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    diff: dict[str, str] = field(default_factory=dict)

    def shown(self, diff_mode: bool) -> dict[str, Any]:
        """The result, with the ``diff`` if there is one and it is wanted."""
        return {**self.result, "diff": self.diff} if diff_mode and self.diff else self.result

    def cleaned(self, censor: Censor) -> Outcome:
        """The same without secrets."""
        result, warnings, diff = (censor.clean_all(part) for part in (self.result, self.warnings, self.diff))
        return Outcome(self.failed, result, warnings, diff)


class _Module(AnsibleModule):  # type: ignore[misc]
    """AnsibleModule whose refusals have notes."""

    validation_result: ValidationResult | None = None

    def fail_json(self, msg: str, **facts: Any) -> NoReturn:
        from .refusal_notes import with_notes

        validation = self.validation_result
        said = msg if validation is None else with_notes(msg, validation, self.argument_spec)
        super().fail_json(msg=said, **facts)
        raise SystemExit(1)


def run_module(definition: Definition) -> None:
    """Run ``definition`` as an Ansible module."""
    module = _Module(definition.argument_spec, supports_check_mode=True, **definition.rules)
    if definition.needs_service and REQUESTS_IMPORT_ERROR is not None:
        module.fail_json(msg=missing_required_lib("requests"), exception=repr(REQUESTS_IMPORT_ERROR))
    outcome = call_module(definition, module.params, RunMode(module.check_mode))
    # Ansible shows them with -vvv.
    module.params = shown_options(module.params)
    for warning in outcome.warnings:
        module.warn(warning)
    finish = module.fail_json if outcome.failed else module.exit_json
    finish(**outcome.shown(getattr(module, "_diff", False)))


def call_module(definition: Definition, params: Params, mode: RunMode) -> Outcome:
    """Call the body with the service of the validated ``params``; any error becomes a failure with its facts.

    Neither the outcome nor a progress line has a secret in it.
    """
    censor = censor_of(params)
    outcome = _called(definition, params, mode.cleaned(censor))
    detail = params.get("detail") or (COMPACT if outcome.failed and mode.ad_hoc else None)
    result = in_detail(outcome.result, detail, definition.lines, failed=outcome.failed)
    return replace(outcome, result=result).cleaned(censor)


def _called(definition: Definition, params: Params, mode: RunMode) -> Outcome:
    noticed: list[str] = []
    try:
        _check_required_texts(definition, params)
        if not definition.needs_service:
            return _outcome(False, definition.body(None, params, mode), noticed)
        with connected(params) as api:
            noticed += plaintext_password_warnings(params)
            result = definition.body(api, params, replace(mode, connect=lambda: connected(params)))
            result = with_wait_command(result, params)
    except Exception as error:
        known = error if isinstance(error, OcpError) else ModuleCrashed(error, **attached_facts(error))
        return failure(Hints.of(params).by_caller(str(known)), known.facts, noticed)
    return _outcome(False, result, noticed)


def failure(message: str, facts: dict[str, Any], noticed: Sequence[str] = ()) -> Outcome:
    """The outcome of a call that failed; ``facts`` may have ``warnings`` and a ``diff`` too."""
    return _outcome(True, {"msg": message, **facts}, noticed)


def _outcome(failed: bool, result: dict[str, Any], noticed: Sequence[str]) -> Outcome:
    return Outcome(failed, result, [*noticed, *result.pop("warnings", [])], result.pop("diff", {}))


def _check_required_texts(definition: Definition, params: Params) -> None:
    """Raise OptionError for a required option, or one of ``required_one_of``, whose text is empty."""
    alternatives = {name for names in definition.rules.get("required_one_of", ()) for name in names}
    for option, spec in definition.options.items():
        if (spec.get("required") or option in alternatives) and params[option] == "":
            raise OptionError(f"{option}: is empty; give a value, or check the variable it comes from.")
