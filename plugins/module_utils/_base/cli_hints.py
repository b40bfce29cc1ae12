# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a message writes the next step, to be pasted: an ``ansible`` command, or an option as its caller gives it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Any

# What fits a terminal, and says when the task has ended.
_TO_THE_END = {"wait": "true", "detail": "compact"}
_ENDINGS = {
    "server_restart": _TO_THE_END,
    "agent_restart": _TO_THE_END,
    "arbitration_service_restart": _TO_THE_END,
    "obproxy_restart": _TO_THE_END,
    "task": _TO_THE_END,
    "task_info": {"detail": "summary"},
    "task_wait": {"detail": "compact"},
    "restart_journal_clear": {"detail": "compact"},
}
RUN_AGAIN = "Then run the same command again."
RUN_AGAIN_IF_NONE = "If none has started, run the same command again."
NEXT_STEPS_HEADING = "With OCP_URL and the credentials in the environment:"


def ways_last(messages: Sequence[str]) -> list[str]:
    """The parts of one message that is made of several: first what happened, below it all commands.

    In each of the ``messages``, commands are the indented lines below NEXT_STEPS_HEADING, and a closing line follows
    them. Equal commands and equal closing lines come once. If only the last message has any, nothing is moved.
    """
    if not any(NEXT_STEPS_HEADING in message or message.endswith(RUN_AGAIN) for message in messages[:-1]):
        return [*messages]
    causes: list[str] = []
    commands: list[str] = []
    closing: list[str] = []
    for message in messages:
        cause, _heading, steps = message.removesuffix(f"\n{RUN_AGAIN}").partition(NEXT_STEPS_HEADING)
        causes.append(cause.rstrip())
        for line in filter(None, steps.splitlines()):
            (commands if line.startswith("  ") else closing).append(line)
        if message.endswith(RUN_AGAIN):
            closing.append(RUN_AGAIN)
    heading = [NEXT_STEPS_HEADING] if commands else []
    return [*causes, *heading, *dict.fromkeys(commands), *dict.fromkeys(closing)]


def adhoc_command(module: str, **options: object) -> str:
    """The ad-hoc command that runs ``module`` of the collection with these options, and shows its end in few lines.

    An option that is None is not given.
    """
    given = {name: value for name, value in options.items() if value is not None}
    words = " ".join(f"{name}={value}" for name, value in (given | {**_ENDINGS[module], **given}).items())
    return f"ansible localhost -m oceanbase.ocp.{module} -a '{words}'"


def report_command(task_id: object) -> str:
    """The command that shows a task with the end of the logs of what failed."""
    return f"ansible-playbook oceanbase.ocp.task_report -e task_report_id={task_id}"


def tasks_command(cluster: int | None = None) -> str:
    """The command that shows the newest tasks, of a cluster or of all, in a line each."""
    if cluster is None:
        return adhoc_command("task_info", limit=5, detail="compact")
    return adhoc_command("task_info", cluster=cluster, limit=5, detail="compact")


def look_lines(cluster: int | None) -> list[str]:
    """The lines of a message that propose to look at the newest tasks, and at what serves; None for all."""
    status = "" if cluster is None else f" -e ocp_status_cluster={cluster}"
    return [
        f"  See the newest tasks: {tasks_command(cluster)}",
        f"  See what serves: ansible-playbook oceanbase.ocp.ocp_status{status}",
    ]


def server_command(cluster: object, server: str) -> str:
    """The command that restarts a server."""
    return adhoc_command("server_restart", cluster=cluster, server=server, freeze_server="true")


def start_command(cluster: object, server: str, change: str | None = None) -> str:
    """The command that starts a server that is stopped: a restart, also for this change.

    A name counts what starts after its first use. Without it, a later run with the name would restart the server again.
    """
    return adhoc_command(
        "server_restart", cluster=cluster, server=server, freeze_server="false", change=_pasted(change)
    )


# What quotes of a shell and those of Ansible leave as it is.
_PASTED = re.compile(r"[^'\"\\{}]+")


def _pasted(value: str | None) -> str | None:
    """The value of an option in a command; None without one, and if it cannot be pasted."""
    if not value or not _PASTED.fullmatch(value):
        return None
    return f'"{value}"' if re.search(r"[\s=#]", value) else value


def clear_command(change: str) -> str:
    """The command that lets the name of a change be used anew."""
    return adhoc_command("restart_journal_clear", change=_pasted(change) or "NAME")


def start_line(cluster: object, server: str, change: str | None = None) -> str:
    """The line of a message that proposes the same."""
    return f"  Start {server} by a restart: {start_command(cluster, server, change)}"


def start_arbiter_command(address: str) -> str:
    """The command that starts an arbitration service that is stopped: a restart."""
    return adhoc_command("arbitration_service_restart", arbitration_service=address)


def start_arbiter_line(address: str) -> str:
    """The line of a message that proposes the same."""
    return f"  Start arbitration service {address} by a restart: {start_arbiter_command(address)}"


@dataclass(frozen=True)
class Hints:
    """How the caller gives the options of a module.

    Without ``variables`` it is a task or an ad-hoc command, which gives the option itself. A role or playbook has a
    variable for each of the options in ``variables``, and no way to give the others.
    """

    variables: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Hints:
        """Those of a module's options, which may not be valid yet."""
        given = params.get("hint_variables")
        return cls({str(option): str(name) for option, name in given.items()}) if isinstance(given, Mapping) else cls()

    def by_caller(self, message: str) -> str:
        """A message that begins with options, as in ``zones, servers: ...``, with their variables instead."""
        options, colon, rest = message.partition(": ")
        return f"{', '.join(map(self.named, options.split(', ')))}{colon}{rest}"

    def named(self, option: str) -> str:
        """The option or its variable, also of a part of it as in ``most_down.idc``."""
        name, dot, part = option.partition(".")
        return f"{self.variables.get(name, name)}{dot}{part}"

    def given(self, option: str, value: str) -> str:
        """As in ``safety=none``, or ``-e rolling_restart_safety=none``; empty if the caller cannot give it."""
        if not self.variables:
            return f"{option}={value}"
        return f"-e {self.variables[option]}={value}" if option in self.variables else ""


BY_OPTIONS = Hints()

# Ends a sentence after the value of an option.
ONCE = " this time"
# Seconds; what a restart of another server takes fits in.
LONG_WAIT = 600


def waiting(what: str, hints: Hints, timeout: float) -> str:
    """The proposal to wait for ``what``, with the option for that: longer than the ``timeout`` that was not enough."""
    given = hints.given("safety_timeout", str(max(LONG_WAIT, ceil(2 * timeout))))
    return f"wait until {what}{f' with {given}' if given else ''}"


def ways_on(*ways: str) -> str:
    """The sentence that proposes these, without those that are empty; empty if all are."""
    possible = [way for way in ways if way]
    return sentence(f"To go on, {' or '.join(possible)}") if possible else ""


def sentence(words: str) -> str:
    """The words with a full stop that touches no value of an option: that is copied up to the blank."""
    return f"{words}{ONCE if '=' in words.rpartition(' ')[2] else ''}."
