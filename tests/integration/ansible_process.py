# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Commands of Ansible and emulators, forked from a process that has loaded them and the collection.

Most of a short run is its start. Not for a run with settings that Ansible reads when it is imported.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

EMULATOR = "ocp-emulator"
COMMANDS = {
    "ansible": "ansible.cli.adhoc",
    "ansible-inventory": "ansible.cli.inventory",
    "ansible-playbook": "ansible.cli.playbook",
}
# Without those of variables: Ansible uses them only if it is the first to look for them.
KINDS = ("action", "become", "cache", "connection", "filter", "inventory", "shell", "strategy", "test")
CALLBACKS = ("default", "junit", "oneline", "tree")
COLLECTION = "ansible_collections.oceanbase.ocp.plugins"
PROFILES = ("4.2", "4.3")
# Of a message, in bytes, and of the commands that wait to be begun.
LONGEST = 1_000_000
WAITING = 100


@contextlib.contextmanager
def forked_commands(environment: dict[str, str]) -> Iterator[Path]:
    """A folder of the commands, for the settings of Ansible in this environment."""
    with tempfile.TemporaryDirectory(prefix="ocp-") as name:
        folder = Path(name)
        source = Path(__file__).with_name("forked_command.py").read_text()
        for command in COMMANDS:
            # Without what the environment and site-packages would add to its start.
            (folder / command).write_text(f"#!{sys.executable} -IS\n{source}")
            (folder / command).chmod(0o700)
        # Commands may be asked for before all is loaded.
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            listener.bind(str(folder / "socket"))
            listener.listen(WAITING)
            process = subprocess.Popen(
                [sys.executable, __file__, str(listener.fileno())],
                env=environment,
                stdin=subprocess.PIPE,
                pass_fds=[listener.fileno()],
            )
        with process:
            yield folder


def ask(folder: Path, arguments: list[str], descriptors: list[int]) -> socket.socket:
    """Have a command run with these standard streams; what comes back is its process id, then its exit code."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(str(folder / "socket"))
    command = {"arguments": arguments, "environment": dict(os.environ), "folder": str(Path.cwd())}
    socket.send_fds(connection, [json.dumps(command).encode()], descriptors)
    return connection


def main(descriptor: str) -> None:
    load_ansible()
    load_emulator()
    gc.freeze()
    with socket.socket(fileno=int(descriptor)) as listener:
        command, descriptors = asked(listener)
    run(command, descriptors)


def load_emulator() -> None:
    """Import it, and build the routes of each version once, which takes as long."""
    cli, settings, app = (
        importlib.import_module(f"ocp_emulator.{name}") for name in ("cli", "cli_settings", "serve.app")
    )
    for profile in PROFILES:
        options = cli.make_parser().parse_args(["serve", "--profile", profile])
        app.create_app(settings.settings_of(options)).state.service.close()


def load_ansible() -> None:
    """Import what the commands import, and the plugins that each run looks through."""
    for module in COMMANDS.values():
        importlib.import_module(module)
    loader = importlib.import_module("ansible.plugins.loader")
    loader.init_plugin_loader()
    warnings.filterwarnings("ignore", message="AnsibleCollectionFinder has already been configured")
    for kind in KINDS:
        list(getattr(loader, f"{kind}_loader").all(class_only=True))
    # Not all: ansible-runner has its own for those that it looks at.
    for name in CALLBACKS:
        loader.callback_loader.get(name, class_only=True)
    for package in ("module_utils", "plugin_utils", "action"):
        found = importlib.import_module(f"{COLLECTION}.{package}")
        for module in pkgutil.walk_packages(found.__path__, f"{found.__name__}."):
            importlib.import_module(module.name)


def asked(listener: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Wait for commands; returns each in a process of its own, and ends this one with the process that started it.

    With a command come the descriptors of its standard input, output and error.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        if sys.stdin in select.select([listener, sys.stdin], [], [])[0]:
            os._exit(0)
        connection = listener.accept()[0]
        with connection:
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                message, descriptors = socket.recv_fds(connection, LONGEST, 3)[:2]
                if command := os.fork():
                    listener.close()
                    os.closerange(0, 3)
                    for descriptor in descriptors:
                        os.close(descriptor)
                    attend(command, connection)
                return json.loads(message), descriptors


def attend(command: int, connection: socket.socket) -> NoReturn:
    """Send the exit code of a command to its client when it ends; end it if the client ends first."""
    ended = os.pidfd_open(command)
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(str(command).encode())
    if ended not in select.select([ended, connection], [], [])[0]:
        os.killpg(command, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(command, 0)[1])
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(str(code).encode())
    os._exit(0)


def run(command: dict[str, Any], descriptors: list[int]) -> None:
    """Become this command."""
    os.setsid()
    for standard, descriptor in enumerate(descriptors):
        os.dup2(descriptor, standard)
        os.close(descriptor)
    sys.stdout.reconfigure(line_buffering=True)
    sys.argv = command["arguments"]
    os.chdir(command["folder"])
    os.environ.clear()
    os.environ.update(command["environment"])
    tempfile.tempdir = None
    try:
        if sys.argv[0] == EMULATOR:
            sys.exit(importlib.import_module("ocp_emulator.cli").main(sys.argv[1:]))
        read_settings()
        importlib.import_module(COMMANDS[Path(sys.argv[0]).name]).main(sys.argv)
    except SystemExit as end:
        # To free all that was loaded takes longer than the rest of a short command.
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code)


def read_settings() -> None:
    """Read the settings of Ansible again, and forget what was found without them."""
    constants = importlib.import_module("ansible.constants")
    for setting in constants.config.get_configuration_definitions():
        setattr(constants, setting, constants.config.get_config_value(setting, variables=vars(constants)))
    vars(importlib.import_module("ansible.utils.vars").load_options_vars).clear()
    for folder in constants.DEFAULT_CALLBACK_PLUGIN_PATH:
        importlib.import_module("ansible.plugins.loader").callback_loader.add_directory(folder)


if __name__ == "__main__":
    main(sys.argv[1])
