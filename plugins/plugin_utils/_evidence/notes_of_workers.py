# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Notes for the evidence by modules that still run, in an unnamed file that the workers of Ansible inherit."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from ...module_utils._base.parsing import Record

# The options that say what a restart is for.
OF_CHANGE = ("change", "started_before")
# The host and the task that runs on it.
Key = tuple[str, str]


class NotesOfWorkers:
    """One line for each note. A worker that is interrupted gives no result, but its notes are there."""

    def __init__(self) -> None:
        # For the life of the process, as the workers need it.
        self._file = tempfile.TemporaryFile()  # noqa: SIM115
        # Workers share the position too.
        fcntl.fcntl(self._file, fcntl.F_SETFL, os.O_APPEND)
        self._read = 0

    def add(self, key: Key, note: Record) -> None:
        """Add a note; what cannot be written is lost, and the module goes on."""
        with suppress(OSError):
            os.write(self._file.fileno(), f"{json.dumps([*key, note], default=str)}\n".encode())

    def new(self) -> Iterator[tuple[Key, Record]]:
        """The notes since the last call, in order, each with its host and task."""
        descriptor = self._file.fileno()
        found = os.pread(descriptor, os.fstat(descriptor).st_size - self._read, self._read)
        # The last line may not be whole yet.
        whole = found[: found.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            # One on a full disk may have lost its end.
            with suppress(ValueError):
                host, task, note = json.loads(line)
                yield (host, task), note


_current: list[NotesOfWorkers] = []


def keep_notes() -> NotesOfWorkers:
    """Keep the notes of all tasks that begin from now on."""
    _current[:] = [NotesOfWorkers()]
    return _current[0]


def noting(key: Key) -> Callable[[Record], Any]:
    """What a module calls to note something; it does nothing where no evidence is kept."""
    if not _current:
        return lambda _note: None
    return lambda note: _current[0].add(key, note)
