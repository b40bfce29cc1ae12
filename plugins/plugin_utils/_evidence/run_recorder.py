# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Which events of a run become evidence, when it is written, and that its failures do not affect the run."""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
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
from .evidence_document import FAILED, INTERRUPTED, SUCCEEDED, EvidenceDocument
from .evidence_file import EvidenceFile
from .evidence_page import render_evidence
from .notes_of_workers import OF_CHANGE, keep_notes
from .place import Place
from .restart_entries import has_failed
from .run_origin import awx_job, command, process_id, requested_by, requested_from, service_address

NAME = "oceanbase.ocp.evidence"
COLLECTION = "oceanbase.ocp."
ROOT = Path(__file__).parents[3]
# Modules that only read leave nothing open when they are interrupted.
READS = ("_info", "_wait")
# Seconds between two looks at the notes of running modules.
PAUSE = 0.2
# Seconds that workers have to end.
LONGEST_END = 5.0
# What the modules take from the environment where an option is not set.
FROM_ENVIRONMENT = ("url", "username", "password", "access_key_secret")


# Held while the evidence is written: a process that is forked meanwhile would keep what that has locked.
_LOCK = threading.RLock()
os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)


def _harmless(method: Callable[..., str | None]) -> Callable[..., None]:
    """Keep errors of the evidence away from the run: the first one is a warning, and ends the evidence.

    What the method returns is shown.
    """

    @wraps(method)
    def guarded(self: RunRecorder, *arguments: Any, **options: Any) -> None:
        if process_id() != self.process:
            return
        line, warning = None, ""
        with _LOCK:
            if self.is_broken:
                return
            try:
                line = method(self, *arguments, **options)
            except Exception as error:
                self.is_broken = True
                warning = one_line(error) or type(error).__name__
        # Without the lock: Ansible forks while it keeps others from showing anything. The terminal may be gone.
        with suppress(OSError):
            if line:
                self.display.display(line, stderr=True)
            if warning:
                self.display.warning(f"{NAME}: no more evidence is written: {warning}")

    return guarded


class RunRecorder:
    """The evidence of this run of Ansible, kept in ``file`` from the first task of a module of the collection on."""

    def __init__(self, file: str, ticket: str | None, options: Mapping[str, object], display: Display) -> None:
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
        # The end of the thread that writes while modules run.
        self._end = threading.Event()
        self._end.set()

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
        host, task, shown, keywords = task_end(result)
        key = (host, id_of(task))
        self._items.add(key)
        self._take_notes()
        self._document.returned(key, shown)
        self._note(result, failed, bool(keywords.get("ignore_errors")), False)

    @_harmless
    def retry(self, result: Any) -> None:
        """A task with ``until`` has a result and is tried again."""
        host, task, shown, _keywords = task_end(result)
        self._take_notes()
        self._document.returned((host, id_of(task)), shown)
        self._note(result, has_failed(shown), True, False)

    @_harmless
    def ended(self, result: Any, *, failed: bool = False, ignored: bool = False, unreachable: bool = False) -> None:
        """A task has its result on a host. That of a loop holds those of its items, which are here already."""
        host, task, shown, _keywords = task_end(result)
        key = (host, id_of(task))
        if _is_under_way(shown):
            return
        self._take_notes()
        self._document.ended(key, shown)
        if key in self._items:
            self._items.discard(key)
            self._write_soon()
            return
        self._note(result, failed, ignored, unreachable)

    @_harmless
    def skipped(self, result: Any) -> None:
        """A task has nothing to do on a host."""
        host, task, shown, _keywords = task_end(result)
        self._document.ended((host, id_of(task)), shown)
        self._items.discard((host, id_of(task)))

    @_harmless
    def stats(self, stats: Any) -> str | None:
        """A playbook is at its end."""
        self._end.set()
        self._take_notes()
        self._document.close(FAILED if stats.failures or stats.dark else SUCCEEDED)
        return self._write_and_tell() if self._is_open else None

    @_harmless
    def _exit(self) -> str | None:
        """The process ends. Without the end of a playbook it was interrupted."""
        self._end.set()
        if self._document.is_running:
            _end_workers()
            self._take_notes()
            self._document.close(INTERRUPTED)
            return self._write_and_tell()
        if not self._is_written:
            self._write()
        return None

    def _watch(self, end: threading.Event) -> None:
        """Bring what running modules note into the evidence: one of them may restart many servers for an hour."""
        while not (end.wait(PAUSE) or self.is_broken):
            self.refresh()

    @_harmless
    def refresh(self) -> None:
        """Write what is new, if it may be written again."""
        self._take_notes()
        if not self._is_written and self._file.is_due:
            self._write()

    def _take_notes(self) -> None:
        for key, note in self._notes.new():
            self._document.noted(key, note)
            if "for" in note:
                self._document.used(note["for"]["service"], note["for"]["user"])
            self._is_written = False

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
            for number in (signal.SIGTERM, signal.SIGHUP):
                self._exit_at(number)
        if self._end.is_set():
            self._end = threading.Event()
            threading.Thread(target=self._watch, args=(self._end,), name=NAME, daemon=True).start()
        self._is_written = False
        if self._file.is_due:
            self._write()

    def _exit_at(self, ending: signal.Signals) -> None:
        """Write the evidence also at a signal that ends a process without atexit, and pass it on."""
        before = signal.getsignal(ending)
        if before == signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
            return

        def end(number: int, frame: FrameType | None) -> None:
            self._exit()
            if callable(before):
                before(number, frame)
                return
            signal.signal(number, before or signal.SIG_DFL)
            os.kill(os.getpid(), number)

        signal.signal(ending, end)

    def _write_and_tell(self) -> str:
        self._write()
        return f"Evidence: {self._file.document} and {self._file.page}"

    def _write(self) -> None:
        found = self._document.as_record()
        self._file.write(json.dumps(found, indent=2) + "\n", render_evidence(found))
        self._is_written = True


def _end_workers() -> None:
    """End the workers of a run that is interrupted: none may begin another restart after the evidence is written."""
    workers = multiprocessing.active_children()
    for worker in workers:
        worker.terminate()
    until = time.monotonic() + LONGEST_END
    for worker in workers:
        worker.join(max(0.0, until - time.monotonic()))


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
