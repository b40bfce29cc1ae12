# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the integration tests share: Ansible run as a user runs it, the emulator as it is seen from outside."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TextIO

import ansible_runner
import requests
import yaml

REPOSITORY = Path(__file__).parents[2]
# The OCP of the examples, in whose place an emulator stands, and what they leave to the vault.
EXAMPLE_URL = "https://ocp.example.com:8080"
SECRETS = {
    "ocp_password": "emulator",
    "ocp_access_key_id": "emulator",
    "ocp_access_key_secret": "emulator-secret",
}
BASIC = {"username": "admin", "password": "emulator"}
# A task keyword by which the modules of the collection run as ordinary modules.
ORDINARY = {"environment": {"ANY_VARIABLE": "whatever"}}
ACCESS_KEY = {"access_key_id": "emulator", "access_key_secret": "emulator-secret"}

# Options of each verb on the default fleet, the number of its steps, and whether the service lets it be verified.
RESTARTS = {
    "server_restart": ({"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True}, 13, True),
    "cluster_restart": ({"cluster": "orders"}, 19, True),
    "zone_restart": ({"cluster": "payments", "zone": "zone2"}, 15, True),
    "agent_restart": ({"hosts": "10.0.0.1"}, 9, True),
    "arbitration_service_restart": ({"arbitration_service": "10.0.0.10:2888"}, 5, None),
}
RESULT_KEYS = {
    "action",
    "after",
    "before",
    "changed",
    "elapsed",
    "reason",
    "target",
    "task",
    "task_id",
    "trace_id",
    "verified",
}


def kept_port() -> int:
    """A port of 127.0.0.1 that stays free until it is used: none of those that the system gives to who asks for any."""
    while True:
        with contextlib.suppress(OSError), socket.socket() as tried:
            tried.bind(("127.0.0.1", random.randint(20_000, 30_000)))
            return int(tried.getsockname()[1])


@dataclass
class Emulator:
    """An emulator process: its address and the log of the requests it has seen."""

    url: str
    log_file: Path
    process: BaseProcess
    output: TextIO

    @property
    def log(self) -> str:
        """What it has logged of all that it has answered."""
        # A request gets its line after its answer, and before the next one is answered.
        with contextlib.suppress(requests.RequestException):
            self.get("/emulator/requests?size=1")
        return self.log_file.read_text()

    def requests(self, method: str) -> list[str]:
        """The requests to the service seen so far, without those to the control API."""
        return [line for line in self.log.splitlines() if f" {method} /" in line and " /emulator/" not in line]

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self.process.kill()
        self.process.join(timeout=20)

    def end(self) -> None:
        """End it as an operator does."""
        self.process.terminate()
        self.process.join(timeout=20)
        self.output.close()
        assert not self.process.is_alive(), self.log

    def get(self, path: str) -> Any:
        answer = requests.get(self.url + path, auth=tuple(BASIC.values()), timeout=10)
        answer.raise_for_status()
        return answer.json()["data"]

    def restarts(self, object_type: str) -> dict[str, int]:
        """How often each target of this type was started by a restart."""
        counted = self.get("/emulator/restarts")["contents"]
        return {target["name"]: target["restarts"] for target in counted if target["objectType"] == object_type}

    def post(self, path: str, body: dict[str, Any] | None = None) -> None:
        requests.post(self.url + path, json=body, auth=tuple(BASIC.values()), timeout=10).raise_for_status()

    def put(self, path: str, body: dict[str, Any]) -> None:
        requests.put(self.url + path, json=body, auth=tuple(BASIC.values()), timeout=10).raise_for_status()

    def delete(self, path: str) -> None:
        requests.delete(self.url + path, auth=tuple(BASIC.values()), timeout=10).raise_for_status()

    def fail_subtask(self, description: str, times: int = 1) -> None:
        """Let the next subtasks with this description fail."""
        fault = {"kind": "subtask", "match": {"subtask": description}, "action": "fail", "times": times}
        self.post("/emulator/faults", fault)


@dataclass
class Outcome:
    """What a run of Ansible came to: exit code, everything it printed, and the results of its tasks by name."""

    rc: int
    output: str
    results: dict[str, dict[str, Any]]

    @property
    def result(self) -> dict[str, Any]:
        """The result of the last task."""
        return list(self.results.values())[-1]


class Ansible:
    """Runs ad-hoc commands and playbooks in a folder of their own, with no configuration but the given environment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
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

    def start(self, plays: list[dict[str, Any]], name: str) -> subprocess.Popen[str]:
        """Start ansible-playbook as a process group of its own, with its output in ``name``.txt."""
        playbook = self._folder / f"{name}.yml"
        playbook.write_text(yaml.safe_dump(plays, sort_keys=False))
        with self.output(name).open("w") as output:
            return subprocess.Popen(
                [Path(sys.executable).parent / "ansible-playbook", str(playbook)],
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
            envvars=self.variables(),
            quiet=True,
            rotate_artifacts=0,
            **what,
        )
        results = {
            event["event_data"]["task"]: event["event_data"]["res"]
            for event in runner.events
            if event["event"] in ("runner_on_ok", "runner_on_failed")
        }
        return Outcome(runner.rc, runner.stdout.read(), results)

    def variables(self) -> dict[str, str]:
        return {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ANSIBLE_HOME": str(self._folder / "home"),
            "ANSIBLE_NOCOLOR": "1",
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            **self.environment,
        }


def progress_lines(output: str) -> list[str]:
    """The lines of progress in the output of Ansible."""
    first_words = r"^  (\d{4}|\d+ of \d+ tasks|Service answers|No answer) ?.*$"
    return [found.group().rstrip() for found in re.finditer(first_words, output, re.MULTILINE)]


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a language that a page has."""
    return re.findall(rf"^```{language}\n(.*?)^```", (REPOSITORY / page).read_text(), re.MULTILINE | re.DOTALL)


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def assert_restarted(verb, result):
    _options, steps, verified = RESTARTS[verb]
    assert result["changed"] is True, result
    assert result.keys() >= RESULT_KEYS
    task = result["task"]
    assert (task["status"], task["succeeded"], task["finished"], task["rolled_back"]) == (
        "SUCCESSFUL",
        True,
        True,
        False,
    )
    assert task["progress"] == {"done": steps, "total": steps, "running": []}
    assert_in_execution_order(task["subtasks"])
    assert result["verified"] is verified
    assert task["creator"] == "admin"
    assert result["task_id"] == task["id"]
    assert result["trace_id"]


def assert_in_execution_order(subtasks):
    assert subtasks[0]["upstreams"] == []
    assert subtasks[-1]["downstreams"] == []
    for before, after in itertools.pairwise(subtasks):
        assert before["downstreams"] == [after["id"]]
        assert before["finish_time"] <= after["start_time"]


def ran_as(output: str) -> dict[str, int]:
    """How many calls of the collection's modules ran by which path, told from what Ansible prints with -vvv."""
    marks = {"in-process": "Running module file .*/oceanbase/ocp/", "ordinary": "Using module file .*/oceanbase/ocp/"}
    return +Counter({path: len(re.findall(mark, output)) for path, mark in marks.items()})
