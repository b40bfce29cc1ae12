# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The nodes of the mesh: which keys and variables each has, when it is ready, and how work gets to it."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from traces import NODE, RUN

CONTROL = "control"
WORK = "ansible-runner"
PROGRAMS = Path(sys.executable).parent
# Seconds for what takes a moment.
PATIENCE = 60
Program = subprocess.Popen[bytes]
_HERE = Path(__file__).parent


class MeshFailed(Exception):
    """A program of the mesh did not do what it should; the text says which and what it printed."""


@dataclass
class Mesh:
    """A control node and workers below ``folder``; ``run`` marks their processes."""

    folder: Path
    receptor: Path
    run: str
    workers: Sequence[str]
    _logs: dict[str, Path] = field(default_factory=dict)

    def start(self) -> None:
        """Make the keys, start all nodes, and wait until the control node reaches each worker. Raises MeshFailed."""
        port = _free_port()
        for node in (CONTROL, *self.workers):
            for name in ("tls", "data", "jobs", "home", "tmp"):
                (self.folder / node / name).mkdir(parents=True, mode=0o700)
        self._make_keys()
        for node in (CONTROL, *self.workers):
            (self.folder / node / "receptor.yml").write_text(configuration(node, port))
            self._start_node(node)
        for worker in self.workers:
            self._await(worker)

    def environment(self, node: str) -> dict[str, str]:
        """The variables of a node's processes: nothing of who runs this, and folders of its own."""
        own = self.folder / node
        return {
            "PATH": f"{PROGRAMS}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": str(own / "home"),
            "PWD": str(own),
            "TMPDIR": str(own / "tmp"),
            "ANSIBLE_HOME": str(own / "home/.ansible"),
            # None: the collection is taken from beside ansible-core, as in an execution environment.
            "ANSIBLE_COLLECTIONS_PATH": str(own / "home/collections"),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            RUN: self.run,
            NODE: node,
        }

    def spawn(self, words: Sequence[str | Path], stdin: IO[bytes] | None, output: IO[bytes] | None) -> Program:
        """Start a program of Python on the control node; without ``output`` its output can be read."""
        with (self.folder / CONTROL / "errors.txt").open("ab") as errors:
            return subprocess.Popen(
                [PROGRAMS / words[0], *words[1:]],
                stdin=stdin or subprocess.DEVNULL,
                stdout=output or subprocess.PIPE,
                stderr=errors,
                env=self.environment(CONTROL),
                cwd=self.folder / CONTROL,
                start_new_session=True,
            )

    def receptorctl(self, *words: str, stdin: IO[bytes] | int = subprocess.DEVNULL, may_fail: bool = False) -> str:
        """What receptorctl prints. Raises MeshFailed if it fails."""
        command = [PROGRAMS / "receptorctl", "--socket", str(self.folder / CONTROL / "control.sock"), *words]
        done = subprocess.run(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.environment(CONTROL),
            timeout=PATIENCE,
            text=True,
            check=False,
        )
        if done.returncode and not may_fail:
            raise MeshFailed(f"receptorctl {' '.join(words[:2])} failed: {done.stdout.strip()[-2000:]}")
        return done.stdout

    def submit(self, worker: str, params: str, payload: IO[bytes] | None = None, *, sign: bool = True) -> str:
        """Send work for ansible-runner to a worker; the id of the unit. The parameters are those of its ``worker``."""
        given = ["--payload", "-"] if payload else ["--no-payload"]
        words = ["work", "submit", "--node", worker, "--tls-client", "client", *given, "--param", f"params={params}"]
        signed = ["--signwork"] if sign else []
        printed = self.receptorctl(*words, *signed, WORK, stdin=payload or subprocess.DEVNULL)
        found = re.search(r"^Unit ID: (\w+)$", printed, re.MULTILINE)
        if not found:
            raise MeshFailed(f"receptorctl work submit shows no unit: {printed.strip()[-2000:]}")
        return found[1]

    def unit(self, number: str) -> dict[str, str]:
        """What the control node knows of a unit of work: StateName, Detail and more."""
        return json.loads(self.receptorctl("work", "list", "--unit_id", number))[number]

    def await_unit(self, number: str) -> dict[str, str]:
        """The same when the unit has ended. Raises MeshFailed if it does not."""
        until = time.monotonic() + PATIENCE
        while (found := self.unit(number))["StateName"] not in ("Succeeded", "Failed", "Canceled"):
            if time.monotonic() > until:
                raise MeshFailed(f"unit {number} does not end: {found}")
            time.sleep(0.2)
        return found

    def release(self, number: str) -> None:
        """Remove a unit from both of its nodes, with all that was sent."""
        self.receptorctl("work", "release", number)

    def units(self, node: str) -> list[str]:
        """The units whose folder is on a node."""
        return sorted(path.name for path in (self.folder / node / "data" / node).glob("*") if path.is_dir())

    def log(self, node: str) -> str:
        """The end of what Receptor has printed on a node."""
        return self._logs[node].read_text()[-2000:] if node in self._logs else ""

    def _make_keys(self) -> None:
        tls = self.folder / CONTROL / "tls"
        self._certify(tls, "--cert-init", "commonname=mesh", "bits=2048", "outcert=ca.crt", "outkey=ca.key")
        for node in (CONTROL, *self.workers):
            names = [f"commonname={node}", f"nodeid={node}", "dnsname=localhost"]
            self._certify(tls, "--cert-makereq", "bits=2048", *names, f"outreq={node}.req", f"outkey={node}.key")
            given = [f"req={node}.req", "cacert=ca.crt", "cakey=ca.key", f"outcert={node}.crt"]
            self._certify(tls, "--cert-signreq", *given, "verify=yes")
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        form = serialization.PrivateFormat.TraditionalOpenSSL
        (tls / "sign.key").touch(mode=0o600)
        (tls / "sign.key").write_bytes(
            key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
        )
        public = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        # A worker has its own key alone, and what it needs to know the others.
        for worker in self.workers:
            there = self.folder / worker / "tls"
            for name in (f"{worker}.crt", f"{worker}.key"):
                (tls / name).rename(there / name)
            (there / "ca.crt").write_bytes((tls / "ca.crt").read_bytes())
            (there / "sign.pub").write_bytes(public)

    def _certify(self, folder: Path, *words: str) -> None:
        done = subprocess.run([self.receptor, *words], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise MeshFailed(f"receptor {words[0]} failed: {(done.stdout + done.stderr).strip()[-2000:]}")

    def _start_node(self, node: str) -> None:
        own = self.folder / node
        self._logs[node] = own / "receptor.log"
        with self._logs[node].open("wb") as log:
            subprocess.Popen(
                [self.receptor, "--config", "receptor.yml"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=own,
                env=self.environment(node),
                start_new_session=True,
            )

    def _await(self, worker: str) -> None:
        until = time.monotonic() + PATIENCE
        while "Reply from" not in self.receptorctl("ping", worker, "--count", "1", may_fail=True):
            if time.monotonic() > until:
                raise MeshFailed(f"{worker} does not join the mesh: {self.log(CONTROL)}{self.log(worker)}")
            time.sleep(0.2)


def configuration(node: str, port: int) -> str:
    """What Receptor reads at its start on a node, in YAML; workers connect to this port of the control node."""
    templates = Environment(loader=FileSystemLoader(_HERE), undefined=StrictUndefined, autoescape=False)
    kind = "control" if node == CONTROL else "worker"
    return templates.get_template(f"{kind}.yml.j2").render(node=node, port=port)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]
