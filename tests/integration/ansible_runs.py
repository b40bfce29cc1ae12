# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How tests run Ansible as a user does, and what they read of its output."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ansible_runner
import yaml

SETTINGS = {
    "ANSIBLE_CONFIG": str(Path(__file__).with_name("ansible.cfg")),
    "ANSIBLE_NOCOLOR": "1",
    "ANSIBLE_LOCALHOST_WARNING": "false",
    "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
}
# What Ansible reads when it is imported; PYTHON is for what Python does.
READ_ONCE = ("ANSIBLE_COLLECTIONS_PATH", "ANSIBLE_CONFIG", "ANSIBLE_FORCE_COLOR", "ANSIBLE_NOCOLOR", "PYTHON")
# No run needs what a coming ansible-core takes away.
DEPRECATED = "[DEPRECATION WARNING]"


@dataclass
class Outcome:
    """What a run of Ansible came to: exit code, output, the results of its tasks and the names of those that failed."""

    rc: int
    output: str
    results: dict[str, dict[str, Any]]
    failed: set[str]

    @property
    def result(self) -> dict[str, Any]:
        """The result of the last task."""
        return list(self.results.values())[-1]

    def of_each_task(self) -> list[str]:
        """What was printed for each task."""
        return self.output.split("\nTASK [")[1:]


class Ansible:
    """Runs ad-hoc commands and playbooks in a folder of their own, with ansible.cfg beside this and what is given.

    ``temporary`` has a short path: Ansible makes sockets there.
    """

    def __init__(self, folder: Path, temporary: str, commands: Path) -> None:
        self._folder = folder
        self._commands = commands
        self._temporary = temporary
        self._runs = 0
        self.environment: dict[str, str] = {}

    def module(self, module: str, *arguments: str, **options: Any) -> dict[str, Any]:
        """Run a module of the collection by an ad-hoc command; returns its result."""
        words = [f"{name}={_word(value)}" for name, value in options.items()]
        outcome = self._run(
            module=f"oceanbase.ocp.{module}",
            module_args=" ".join(words),
            host_pattern="localhost",
            cmdline=" ".join(arguments) or None,
        )
        return {**outcome.result, "rc": outcome.rc, "output": outcome.output}

    def tasks(self, *tasks: dict[str, Any], arguments: str = "", **keywords: Any) -> Outcome:
        """Run a play on localhost with these tasks and play keywords."""
        play = {"hosts": "localhost", "gather_facts": False, **keywords, "tasks": list(tasks)}
        return self.playbook([play], arguments=arguments)

    def each(self, cases: dict[str, dict[str, Any]], **keywords: Any) -> Outcome:
        """Run tasks by name in one play, where a failure does not end it; the keywords are those of the play."""
        return self.tasks(*({"name": name, "ignore_errors": True, **task} for name, task in cases.items()), **keywords)

    def start(self, plays: list[dict[str, Any]], name: str, *, quick: bool = False) -> subprocess.Popen[str]:
        """Start ansible-playbook as a process group of its own, with its output in ``name``.txt.

        A ``quick`` one is forked elsewhere, so no signal reaches it.
        """
        program = (self._commands if quick else Path(sys.executable).parent) / "ansible-playbook"
        playbook = self._folder / f"{name}.yml"
        playbook.write_text(yaml.safe_dump(plays, sort_keys=False))
        with self.output(name).open("w") as output:
            return subprocess.Popen(
                [program, str(playbook)],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                text=True,
                env={**os.environ, **self.variables()},
                start_new_session=True,
            )

    def end(self) -> None:
        """End what was started and is still there: workers of a playbook that was killed outlive it."""
        own = str(self._folder).encode()
        for command in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if b"ansible-playbook" in (words := command.read_bytes()) and own in words:
                    os.kill(int(command.parent.name), signal.SIGKILL)

    def output(self, name: str) -> Path:
        """Where the process started by this name prints."""
        return self._folder / f"{name}.txt"

    def playbook(self, plays: list[dict[str, Any]] | str, arguments: str = "") -> Outcome:
        """Run plays, or a playbook by name."""
        if not isinstance(plays, str):
            path = self._folder / f"playbook-{self._runs}.yml"
            path.write_text(yaml.safe_dump(plays, sort_keys=False))
            plays = str(path)
        return self._run(playbook=plays, cmdline=arguments or None)

    def _run(self, **what: Any) -> Outcome:
        self._runs += 1
        data = self._folder / f"run-{self._runs}"
        data.mkdir()
        runner = ansible_runner.run(
            private_data_dir=str(data),
            envvars=self._quick(self.variables()),
            quiet=True,
            rotate_artifacts=0,
            **what,
        )
        ended = [event for event in runner.events if event["event"] in ("runner_on_ok", "runner_on_failed")]
        results = {event["event_data"]["task"]: event["event_data"]["res"] for event in ended}
        failed = {event["event_data"]["task"] for event in ended if event["event"] == "runner_on_failed"}
        output = runner.stdout.read()
        assert DEPRECATED not in output, output
        return Outcome(runner.rc, output, results, failed)

    def _quick(self, variables: dict[str, str]) -> dict[str, str]:
        """With commands that start quickly, unless this run has settings that are read only once."""
        if any(name.startswith(READ_ONCE) for name in self.environment):
            return variables
        return {**variables, "PATH": f"{self._commands}:{variables['PATH']}"}

    def variables(self) -> dict[str, str]:
        return {
            **SETTINGS,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ANSIBLE_HOME": str(self._folder / "home"),
            # Tests may run in a container.
            "OCP_JOURNAL_PERSISTS": "yes",
            # The notes of the lock of a cluster are for a URL, and a free port is used again by another emulator.
            "TMPDIR": self._temporary,
            **self.environment,
        }


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
