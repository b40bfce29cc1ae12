# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The journal in Ansible's folder: kills, other processes, files that cannot be used, and what is done without it."""

from __future__ import annotations

import ctypes
import errno
import os
import pwd
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import JournalError, NameTaken, TargetBusy
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal import journal_folder, local_journal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.local_journal import LocalJournal, usable_journal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.store import VERSION
from ansible_collections.oceanbase.ocp.tests.unit.support.journal_cases import (
    CHANGE,
    FIRST,
    OTHER_WISH,
    WISH,
    request,
    sight,
)

PREAMBLE = """
import os, signal, sys
from pathlib import Path
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.clock import SYSTEM_CLOCK
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import JournalError
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.local_journal import LocalJournal, usable_journal
from ansible_collections.oceanbase.ocp.tests.unit.support.journal_cases import CHANGE, FIRST, WISH, request, sight
journal = LocalJournal(Path(sys.argv[1]))
"""
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def process(code, folder, **options):
    """Start a process that runs ``code`` with a ``journal`` in the folder."""
    command = [sys.executable, "-c", PREAMBLE + code, str(folder)]
    # ansible-test finds the collection by its own loader, which another process lacks.
    paths = [str(Path(local_journal.__file__).parents[6]), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, **options)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def file(home):
    """A journal with one name and one request."""
    journal = used()
    journal.register(CHANGE, WISH, [sight()])
    journal.begin(request())
    return home / "oceanbase.ocp/journal.sqlite"


def used(**options):
    return usable_journal(**{"read_only": False, "is_required": True, "warnings": [], **options})


def content(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def refusal(**options):
    with pytest.raises(JournalError) as raised:
        used(**options)
    return str(raised.value)


# Processes


def test_request_of_a_killed_process_is_known_and_its_lock_free(tmp_path, time_passes):
    code = """
with journal.lock(["orders 1"], SYSTEM_CLOCK, 0):
    journal.begin(request())
    print("noted", flush=True)
    sys.stdin.read()
"""
    with process(code, tmp_path) as killed:
        assert killed.stdout.readline() == "noted\n"
        journal = LocalJournal(tmp_path)
        with pytest.raises(TargetBusy), journal.lock(["orders 1"], time_passes.clock, 30):
            pass
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        with journal.lock(["orders 1"], time_passes.clock, 0):
            [row] = journal.requests([FIRST])
    assert (row.outcome, row.task_id, row.change) == (None, None, CHANGE)


def test_transaction_of_a_killed_process_leaves_nothing(tmp_path):
    code = """
with journal._session(writes=True) as run:
    journal._insert(run, request())
    os.kill(os.getpid(), signal.SIGKILL)
"""
    with process(code, tmp_path) as killed:
        assert killed.wait() == -signal.SIGKILL
    journal = LocalJournal(tmp_path)
    assert journal.requests([FIRST]) == []
    assert journal.begin(request()) == 1


def test_processes_that_begin_at_the_same_time_make_one_journal(tmp_path):
    code = "sys.stdin.readline(); [journal.begin(request()) for _ in range(5)]"
    started = [process(code, tmp_path) for _process in range(3)]
    for each in started:
        each.stdin.write("\n")
        each.stdin.flush()
    for each in started:
        with each:
            assert each.wait() == 0
    assert [row.number for row in LocalJournal(tmp_path).requests([FIRST])] == list(range(1, 16))


def test_threads_share_a_journal(tmp_path):
    journal = LocalJournal(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(lambda _: journal.begin(request()), range(20)))
    assert sorted(numbers) == list(range(1, 21))


def test_lock_file_that_is_removed_before_it_is_locked_is_made_anew(tmp_path, time_passes, monkeypatch):
    flock, calls = local_journal.fcntl.flock, []

    def removed_first(held, how):
        if not calls:
            next(tmp_path.glob("lock-*")).unlink()
        calls.append(how)
        flock(held, how)

    monkeypatch.setattr(local_journal.fcntl, "flock", removed_first)
    journal = LocalJournal(tmp_path)
    with journal.lock(["orders 1"], time_passes.clock, 0):
        assert len(calls) == 2
        with pytest.raises(TargetBusy), journal.lock(["orders 1"], time_passes.clock, 0):
            pass


# The file


def test_file_is_for_its_user_alone(file):
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_what_is_noted_is_on_the_disk(file):
    with closing(LocalJournal(file.parent)._connection()) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize(
    ("mount", "mode"),
    [("ext4 /dev/sda1 rw", "wal"), ("nfs4 filer:/home rw", "delete"), ("fuse.sshfs host: rw", "delete")],
)
def test_shared_memory_is_used_on_a_disk_of_this_machine_alone(mount, mode, home, monkeypatch, tmp_path):
    device = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"36 35 {os.major(device)}:{os.minor(device)} / /home rw shared:1 - {mount}\n")
    monkeypatch.setattr(journal_folder, "MOUNTS", mounts)
    used().begin(request())
    with sqlite3.connect(home / "oceanbase.ocp/journal.sqlite") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == (mode,)


def test_disk_that_is_not_known_counts_as_shared(tmp_path, monkeypatch):
    for mounts in (tmp_path / "none", Path(os.devnull)):
        monkeypatch.setattr(journal_folder, "MOUNTS", mounts)
        assert not journal_folder.is_local(tmp_path)


# Files that cannot be used


@pytest.mark.parametrize("read_only", [False, True], ids=["to write", "to read"])
@pytest.mark.parametrize("damage", ["not a database", "damaged pages", "damaged row"])
def test_damaged_file_is_refused_with_the_way_out(damage, read_only, file):
    if damage == "not a database":
        file.write_bytes(b"not a database" * 100)
    elif damage == "damaged pages":
        whole = file.read_bytes()
        file.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    else:
        with sqlite3.connect(file) as connection:
            connection.execute("UPDATE ocp_journal_requests SET content = '{}'")
    with pytest.raises(JournalError) as raised:
        used(read_only=read_only).requests([FIRST])
    assert "Look at the restart tasks of OCP, since a new journal knows of none, and move this one away." in str(
        raised.value
    )
    assert str(file) in str(raised.value)


@pytest.mark.parametrize("read_only", [False, True], ids=["to write", "to read"])
@pytest.mark.parametrize("version", [VERSION - 1, VERSION + 1], ids=["older", "newer"])
def test_another_version_is_neither_read_nor_written(version, read_only, file):
    with sqlite3.connect(file) as connection:
        connection.execute(f"UPDATE ocp_journal SET version = {version}")
    connection.close()
    before = content(file.parent)
    assert refusal(read_only=read_only) == (
        f"The journal {file} has version {version}, but this collection knows version {VERSION} alone. Use the version "
        "of the collection that wrote it, or a later one."
    )
    assert content(file.parent) == before


def test_full_disk_is_told_before_anything_is_sent(file, monkeypatch):
    connect = sqlite3.connect

    def full(*args, **options):
        connection = connect(*args, **options)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    journal = used()
    monkeypatch.setattr(local_journal.sqlite3, "connect", full)
    with pytest.raises(JournalError) as raised:
        for _turn in range(100):
            journal.begin(request())
    assert str(raised.value) == (
        f"The journal {file} cannot be used: database or disk is full. Give the disk more room."
    )


@pytest.mark.usefixtures("home")
def test_full_disk_is_told_when_the_folder_is_made(monkeypatch):
    def full(_path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(local_journal, "private_folder", full)
    assert refusal().endswith("No space left on device. Give the disk more room.")


@pytest.mark.usefixtures("home")
def test_kind_of_an_error_decides_its_way_out(monkeypatch):
    def busy(*_args, **_options):
        error = sqlite3.OperationalError("database is locked")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY_RECOVERY
        raise error

    monkeypatch.setattr(local_journal.sqlite3, "connect", busy)
    assert refusal().endswith("database is locked. Look which process holds it, and run this again.")


def test_file_that_vanishes_is_not_made_anew_in_the_middle(file):
    journal = used()
    for path in file.parent.iterdir():
        path.unlink()
    with pytest.raises(JournalError, match="unable to open database file"):
        journal.begin(request())


def test_transaction_of_another_process_is_waited_for_and_then_told(file, monkeypatch):
    monkeypatch.setattr(local_journal, "BUSY_TIMEOUT", 0.01)
    with sqlite3.connect(file, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match=r"locked. Look which process holds it, and run this again\.$"):
            LocalJournal(file.parent).begin(request())


def test_user_without_a_home_is_told_so(monkeypatch):
    monkeypatch.delenv("ANSIBLE_HOME")
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)
    words = "There is no place for the journal, since this user has no home. Set ANSIBLE_HOME to a folder."
    assert refusal() == words
    assert refusal(read_only=True) == words


@pytest.mark.parametrize("obstacle", ["file", "link", "open folder"])
def test_folder_that_is_not_of_this_user_alone_is_refused(obstacle, home, tmp_path):
    home.mkdir()
    folder = home / "oceanbase.ocp"
    if obstacle == "file":
        folder.touch()
    elif obstacle == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.mkdir()
        folder.chmod(0o777)
    assert f"{folder} is not a folder of this user alone. Give it to this user alone" in refusal()


def without_the_rights_of_root():
    if os.geteuid() == 0:
        for right in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, right)


@pytest.mark.skipif(sys.platform != "linux", reason="root has other rights there")
def test_folder_that_cannot_be_written_to_is_read_and_told(file):
    code = """
for read_only in (True, False):
    try:
        kept = usable_journal(read_only=read_only, is_required=True, warnings=[])
        print(len(kept.requests([FIRST])), len(kept.sights(CHANGE, [FIRST])))
    except JournalError as error:
        print(error)
"""
    file.chmod(0o400)
    file.parent.chmod(0o500)
    before = content(file.parent)
    with process(code, file.parent, preexec_fn=without_the_rights_of_root) as other:
        read, written = other.stdout.read().splitlines()
    assert read == "1 1"
    assert written.startswith(f"The journal {file} cannot be used: attempt to write a readonly database. Give it to ")
    assert content(file.parent) == before


def test_what_is_not_required_is_kept_in_memory_with_a_warning(home):
    home.write_text("no folder")
    warnings = []
    journal = used(is_required=False, warnings=warnings)
    assert isinstance(journal, MemoryJournal)
    [warning] = warnings
    assert warning.startswith(
        "This controller cannot remember what it restarts, so another run knows of it only what the service shows: The "
        f"journal {home}/oceanbase.ocp/journal.sqlite cannot be used: "
    )


@pytest.mark.skipif(sys.platform != "linux", reason="root has other rights there")
def test_what_was_noted_counts_where_nothing_can_be_noted_any_more(file):
    code = """
warnings = []
kept = usable_journal(read_only=False, is_required=False, warnings=warnings)
print(len(kept.requests([FIRST])), kept.begin(request()), len(kept.requests([FIRST])), len(warnings))
"""
    file.chmod(0o400)
    file.parent.chmod(0o500)
    before = content(file.parent)
    with process(code, file.parent, preexec_fn=without_the_rights_of_root) as other:
        assert other.stdout.read() == "1 2 2 1\n"
    assert content(file.parent) == before


@pytest.mark.parametrize("read_only", [False, True])
def test_one_that_is_there_and_cannot_be_read_is_never_done_without(file, read_only):
    file.write_bytes(b"no journal" * 100)
    assert f"The journal {file} cannot be used: " in refusal(is_required=False, read_only=read_only)


@pytest.mark.skipif(sys.platform != "linux", reason="root has other rights there")
def test_folder_of_somebody_else_has_no_journal_of_this_user(file):
    code = """
warnings = []
kept = usable_journal(read_only=False, is_required=False, warnings=warnings)
print(len(kept.requests([FIRST])), len(warnings))
"""
    file.parent.chmod(0o000)
    with process(code, file.parent, preexec_fn=without_the_rights_of_root) as other:
        assert other.stdout.read() == "0 1\n"


# Read only


def test_check_mode_creates_nothing(home):
    journal = used(read_only=True)
    journal.register(CHANGE, WISH, [sight()])
    assert journal.sights(CHANGE, [FIRST]) == {FIRST: sight()}
    assert not home.exists()


def test_check_mode_reads_what_is_there_and_changes_nothing(file):
    before = content(file.parent)
    journal = used(read_only=True)
    assert journal.sights(CHANGE, [FIRST]) == {FIRST: sight()}
    with pytest.raises(NameTaken):
        journal.register(CHANGE, OTHER_WISH, [sight()])
    journal.note(1, outcome="FAILED")
    journal.clear(everything=True)
    assert content(file.parent) == before
    assert used().requests([FIRST])[0].outcome is None


def test_check_mode_reads_a_file_that_is_still_empty(file):
    file.write_bytes(b"")
    assert used(read_only=True).requests([FIRST]) == []


def test_check_mode_reads_what_a_killed_process_has_noted(home):
    code = (
        "journal.begin(request()); held = journal._connection(); held.execute('SELECT * FROM ocp_journal').fetchall()"
    )
    code += "\njournal.begin(request()); os.kill(os.getpid(), signal.SIGKILL)"
    (home / "oceanbase.ocp").mkdir(parents=True, mode=0o700)
    with process(code, home / "oceanbase.ocp") as killed:
        assert killed.wait() == -signal.SIGKILL
    assert len(used(read_only=True).requests([FIRST])) == 2
