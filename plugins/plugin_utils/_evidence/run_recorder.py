# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which events of a run become evidence, when it is written, and that its failures do not affect the run."""

from __future__ import annotations

import atexit
import json
import os
import signal
import threading
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

import yaml
from ansible.release import __version__ as ansible_core
from ansible.utils.display import Display

from ...module_utils._base.parsing import Record, record
from ...module_utils._base.text import one_line
from ...module_utils._module.secret_options import censor_of
from .._ansible_core import file_of, id_of, is_hidden, task_end
from .evidence_document import FAILED, INTERRUPTED, SUCCEEDED, EvidenceDocument, Place
from .evidence_file import EvidenceFile
from .evidence_page import render_evidence
from .notes_of_workers import OF_CHANGE, keep_notes
from .restart_entries import has_failed
from .run_origin import awx_job, command, process_id, requested_by, requested_from, service_address

COLLECTION = "oceanbase.ocp."
ROOT = Path(__file__).parents[3]
# Modules that only read leave nothing open when they are interrupted.
READS = ("_info", "_wait")
# What the modules take from the environment where an option is not set.
FROM_ENVIRONMENT = ("url", "username", "password", "access_key_secret")


def _harmless(method: Callable[..., None]) -> Callable[..., None]:
    """Keep errors of the evidence away from the run: the first one is a warning, and ends the evidence."""

    @wraps(method)
    def guarded(self: RunRecorder, *arguments: Any, **options: Any) -> None:
        with self.lock:
            if self.is_broken or process_id() != self.process:
                return
            try:
                method(self, *arguments, **options)
            except Exception as error:
                self.is_broken = True
                words = one_line(error) or type(error).__name__
                self.display.warning(f"oceanbase.ocp.evidence: no more evidence is written: {words}")

    return guarded


class RunRecorder:
    """The evidence of this run of Ansible, kept in ``file`` from the first task of a module of the collection on."""

    def __init__(self, file: str, ticket: str | None, options: Mapping[str, object], display: Display) -> None:
        self.lock = threading.RLock()
        self.is_broken = False
        self.process = process_id()
        self.display = display
        self._file = EvidenceFile(file)
        self._run = {**command(options), "playbooks": [], "plays": []}
        self._run |= {"ansible_core": ansible_core, "collection": _version()}
        origin = {"requested_by": requested_by(os.environ), "requested_from": requested_from(os.environ)}
        self._facts: Record = {"run": self._run, **origin}
        self._document = EvidenceDocument(self._facts, one_line(ticket))
        self._secrets: dict[str, str] = {}
        self._notes = keep_notes()
        self._items: set[tuple[str, str]] = set()
        self._is_written = False
        self._is_open = False

    @_harmless
    def playbook(self, playbook: Any) -> None:
        """A playbook begins, or an ad-hoc command."""
        name = file_of(playbook)
        if name and not name.startswith("__"):
            self._run["playbooks"].append(one_line(name))
        self._document.resume()

    @_harmless
    def play(self, play: Any) -> None:
        """A play begins."""
        self._run["plays"].append(one_line(play.get_name()))
        manager = play.get_variable_manager()
        job = awx_job(getattr(manager, "extra_vars", None) or {})
        if job is not None:
            self._facts["requested_from"]["awx"] = job

    @_harmless
    def started(self, host: Any, task: Any) -> None:
        """A task begins on a host."""
        module = _module_of(task)
        if module is None:
            return
        if not module.endswith(READS):
            self._document.started(Place(host.get_name(), task.get_name(), module), (host.get_name(), id_of(task)))
        self._write_soon()

    @_harmless
    def item(self, result: Any, *, failed: bool = False) -> None:
        """An item of a loop has its result."""
        host, task, _shown, keywords = task_end(result)
        self._items.add((host, id_of(task)))
        self._note(result, failed, bool(keywords.get("ignore_errors")), False)

    @_harmless
    def retry(self, result: Any) -> None:
        """A task with ``until`` has a result and is tried again."""
        shown = task_end(result).shown
        self._note(result, has_failed(shown), True, False)

    @_harmless
    def ended(self, result: Any, *, failed: bool = False, ignored: bool = False, unreachable: bool = False) -> None:
        """A task has its result on a host. That of a loop holds those of its items, which are here already."""
        host, task, shown, _keywords = task_end(result)
        key = (host, id_of(task))
        if _is_under_way(shown):
            return
        self._document.ended(key)
        if key in self._items:
            self._items.discard(key)
            self._write_soon()
            return
        self._note(result, failed, ignored, unreachable)

    @_harmless
    def skipped(self, result: Any) -> None:
        """A task has nothing to do on a host."""
        host, task, *_rest = task_end(result)
        self._document.ended((host, id_of(task)))
        self._items.discard((host, id_of(task)))

    @_harmless
    def stats(self, stats: Any) -> None:
        """A playbook is at its end."""
        self._document.close(FAILED if stats.failures or stats.dark else SUCCEEDED)
        if self._is_open:
            self._write_and_tell()

    @_harmless
    def _exit(self) -> None:
        """The process ends. Without the end of a playbook it was interrupted."""
        if self._document.is_running:
            self._document.interrupted(self._notes.of)
            self._document.close(INTERRUPTED)
            self._write_and_tell()
        elif not self._is_written:
            self._write()

    def _note(self, result: Any, failed: bool, ignored: bool, unreachable: bool) -> None:
        host, task, shown, keywords = task_end(result)
        module = _module_of(task)
        if module is None and not failed:
            return
        checks = bool(keywords.get("check_mode", False))
        given = keywords.get("args") or {}
        step = keywords.get("name") or task.get_name()
        change = {option: one_line(given.get(option)) for option in OF_CHANGE}
        place = Place(host, step, module or str(task.action), checks, **change)
        known: Record = {}
        if module is not None:
            self._connection(given, shown)
            if given.get("planned"):
                for note in self._notes.of((host, id_of(task))):
                    if "part" in note:
                        self._document.note_part(place, note["part"])
            if is_hidden(shown):
                self._document.hidden()
            else:
                known = censor_of(self._secrets).clean_all(shown)
                self._document.note(place, known)
        if failed or has_failed(known):
            self._document.failed(place, known, ignored=ignored or not failed, unreachable=unreachable)
        if module is not None or self._is_open:
            self._write_soon()

    def _connection(self, given: Mapping[str, object], shown: Record) -> None:
        """Note which service was asked as whom, and which texts must not be in the evidence."""
        found = {name: given.get(name) or os.environ.get(f"OCP_{name.upper()}") for name in FROM_ENVIRONMENT}
        self._secrets = {name: str(value) for name, value in found.items() if value}
        # A task with an environment of its own runs as an ordinary module, whose result has its options.
        used = {**found, **record(record(shown.get("invocation")).get("module_args"))}
        self._document.used(service_address(used["url"]), one_line(used["username"]))

    def _write_soon(self) -> None:
        if not self._is_open:
            self._is_open = True
            # Whatever ends this process, short of kill -9.
            atexit.register(self._exit)
            self._exit_when_terminated()
        self._is_written = False
        if self._file.is_due:
            self._write()

    def _exit_when_terminated(self) -> None:
        """Write the evidence also at SIGTERM, which ends a process without atexit, and pass it on."""
        if threading.current_thread() is not threading.main_thread():
            return
        before = signal.getsignal(signal.SIGTERM)

        def end(number: int, frame: FrameType | None) -> None:
            self._exit()
            if callable(before):
                before(number, frame)
                return
            signal.signal(number, before or signal.SIG_DFL)
            os.kill(os.getpid(), number)

        signal.signal(signal.SIGTERM, end)

    def _write_and_tell(self) -> None:
        self._write()
        self.display.display(f"Evidence: {self._file.document} and {self._file.page}", stderr=True)

    def _write(self) -> None:
        found = self._document.as_record()
        self._file.write(json.dumps(found, indent=2) + "\n", render_evidence(found))
        self._is_written = True


def _module_of(task: Any) -> str | None:
    """The name of the module of this collection that a task runs; None for any other."""
    names = (getattr(task, "resolved_action", None), task.action)
    found = next((name for name in names if isinstance(name, str) and name.startswith(COLLECTION)), None)
    return found and found.removeprefix(COLLECTION)


def _is_under_way(shown: Record) -> bool:
    """Whether a task was started in the background, so that its result comes later or never."""
    return bool(shown.get("ansible_job_id")) and not shown.get("finished")


def _version() -> str | None:
    """The version of the installed collection, or of the one in a repository."""
    manifest, galaxy = ROOT / "MANIFEST.json", ROOT / "galaxy.yml"
    if manifest.is_file():
        return one_line(json.loads(manifest.read_text(encoding="utf-8"))["collection_info"].get("version"))
    return one_line(yaml.safe_load(galaxy.read_text(encoding="utf-8")).get("version")) if galaxy.is_file() else None
