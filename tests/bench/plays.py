# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Plays for benchmarks, and Ansible that runs them as a user does."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import yaml
from emulator import PASSWORD, USERNAME
from measured import Cost, measured

Play = dict[str, Any]
Task = dict[str, Any]


class Controller:
    """Runs plays in a folder of its own, with the connection to the service at `url`, and `defaults` of ansible.cfg."""

    def __init__(self, folder: Path, url: str, defaults: str = "") -> None:
        self.output = folder / "ansible.txt"
        self._configuration = folder / "ansible.cfg"
        self._configuration.write_text(f"[defaults]\n{defaults}\n")
        self._folder = folder
        self._url = url

    def run(self, plays: list[Play], *arguments: str) -> Cost:
        """What ansible-playbook took; `output` has what it printed. RuntimeError with that when it fails."""
        playbook = self._folder / "playbook.yml"
        playbook.write_text(yaml.safe_dump(plays, sort_keys=False))
        command = [Path(sys.executable).with_name("ansible-playbook"), playbook, *arguments]
        return measured(command, self._environment(), self.output)

    def _environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("ANSIBLE_", "OCP_"))}
        return {
            **own,
            "ANSIBLE_CONFIG": str(self._configuration),
            "ANSIBLE_HOME": str(self._folder / "home"),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "OCP_URL": self._url,
            "OCP_USERNAME": USERNAME,
            "OCP_PASSWORD": PASSWORD,
        }


def play(*tasks: Task, hosts: str = "localhost") -> Play:
    """A play that does nothing else; `uri` in it logs on as a client has to."""
    return {
        "hosts": hosts,
        "connection": "local",
        "gather_facts": False,
        "module_defaults": {
            "ansible.builtin.uri": {
                "url_username": USERNAME,
                "url_password": PASSWORD,
                "force_basic_auth": True,
                "body_format": "json",
            }
        },
        "tasks": list(tasks),
    }


EMPTY = play()


def uri_restart(url: str, cluster: object, server: object) -> Task:
    """Start the restart of a server, by ids; their templates may stand for them."""
    return {
        "ansible.builtin.uri": {
            "url": f"{url}/api/v2/ob/clusters/{cluster}/servers/{server}/restart",
            "method": "POST",
            "body": {"freezeServer": True, "force": False},
        }
    }


def uri_until(url: str, task_id: object) -> Task:
    """Ask once a second until the task has ended, and fail unless it succeeded."""
    return {
        "ansible.builtin.uri": {"url": f"{url}/api/v2/tasks/instances/{task_id}"},
        "register": "poll",
        "until": "poll.json.data.status != 'RUNNING'",
        "retries": 3_600,
        "delay": 1,
        "failed_when": "poll.json.data.status == 'FAILED'",
    }
