# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""One slice on one worker: sent, followed until it ends, killed, and how it ended by its artifacts alone."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from nodes import CONTROL, Mesh, MeshFailed, Program
from slices import PLAYBOOK
from traces import processes, words


@dataclass
class Job:
    """The slice of a private data folder, as a job of this name on a worker."""

    mesh: Mesh
    worker: str
    folder: Path
    name: str
    forks: int
    unit: str = ""
    _programs: list[Program] = field(default_factory=list)

    def start(self) -> None:
        """Send the slice, and follow what comes back. Raises MeshFailed."""
        given = ["-p", PLAYBOOK, "--forks", str(self.forks), "--ident", self.name]
        sender = self.mesh.spawn(["ansible-runner", "transmit", self.folder, *given], None, None)
        # It removes its folder itself when it has ended.
        self.unit = self.mesh.submit(self.worker, f"--private-data-dir={self.place} --delete", sender.stdout)
        sender.stdout.close()
        if sender.wait():
            raise MeshFailed(f"ansible-runner transmit failed for {self.folder.name}: {self._errors()}")
        socket = str(self.mesh.folder / CONTROL / "control.sock")
        results = self.mesh.spawn(["receptorctl", "--socket", socket, "work", "results", self.unit], None, None)
        with (self.folder / f"{self.name}.txt").open("wb") as output:
            command = ["ansible-runner", "process", self.folder, "--ident", self.name]
            self._programs = [results, self.mesh.spawn(command, results.stdout, output)]
        results.stdout.close()

    @property
    def place(self) -> Path:
        """Where the worker unpacks the slice."""
        return self.mesh.folder / self.worker / "jobs" / self.folder.name

    @property
    def artifacts(self) -> Path:
        """What has come back."""
        return self.folder / "artifacts" / self.name

    @property
    def is_followed(self) -> bool:
        """Whether results may still come."""
        return any(program.poll() is None for program in self._programs)

    def end(self) -> None:
        """Remove the unit from both nodes, when it has ended. Raises MeshFailed if it does not end."""
        for program in self._programs:
            program.wait()
        # ansible-runner notes the environment of the job there, with the password.
        (self.artifacts / "command").unlink(missing_ok=True)
        self.mesh.await_unit(self.unit)
        self.mesh.release(self.unit)

    def kill(self) -> int:
        """End the processes of the job at once, by kill -9, as those of Receptor see it happen; how many there were."""
        killed: set[int] = set()
        while found := [pid for pid in processes(self.mesh.run, self.worker) if not _is_receptor(pid)]:
            for pid in found:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            killed |= set(found)
            time.sleep(0.02)
        return len(killed)

    def clean_up(self) -> None:
        """Remove what a killed job has left on its worker: ansible-runner does it there, as it does for AWX."""
        # Without a grace period of none it leaves folders younger than an hour.
        unit = self.mesh.submit(self.worker, f"cleanup --file-pattern={self.place} --grace-period=0")
        self.mesh.await_unit(unit)
        self.mesh.release(unit)

    @property
    def status(self) -> str:
        """How ansible-playbook ended; empty where that is not known, as of a job that was killed."""
        file = self.artifacts / "status"
        return file.read_text() if file.is_file() else ""

    @property
    def outcomes(self) -> dict[str, int]:
        """How many clusters of the slice ended how, by the file that the playbook has written and that came back.

        Empty where it did not come so far.
        """
        files = sorted(self.artifacts.glob("rolling-restart-*.json"))
        found = json.loads(files[-1].read_text()) if files else {"clusters": [], "not_begun": []}
        counted = Counter(cluster["outcome"] for cluster in found["clusters"])
        return {**counted, **({"not begun": len(found["not_begun"])} if found["not_begun"] else {})}

    def _errors(self) -> str:
        return (self.mesh.folder / CONTROL / "errors.txt").read_text()[-2000:]


def _is_receptor(pid: int) -> bool:
    return Path(words(pid)[0]).name == "receptor"
