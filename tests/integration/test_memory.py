# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Small answers that become large: none of the processes of a command takes 400 MB."""

from __future__ import annotations

import functools
import gzip
import os
import re
import subprocess
import sys
import zlib

import pytest
from credentials import BASIC
from raw_service import packed, serve

# Minutes in all.
pytestmark = pytest.mark.nightly

# Megabytes of each of the processes.
MOST_MEMORY = 400
MIB = 1024**2
GZIP = "Content-Encoding: gzip"
# The largest of the processes that a command consists of. In a small process, or that of pytest would be counted.
MEASURED = """
import resource, subprocess, sys

subprocess.run(sys.argv[1:])
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def data(value):
    return packed(b'{"successful":true,"data":%s}' % value)


def listed(*entries):
    return data(b'{"page":{"totalPages":1000000000},"contents":[%s]}' % b",".join(entries))


def gzipped(begin, piece, times):
    """An answer that begins so and has one piece many times, packed without being made whole."""
    packer = zlib.compressobj(9, wbits=-15)
    content = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    content += (packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)) * times
    # The check sum at its end is wrong, and never reached.
    return packed(b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + content + packer.flush() + bytes(8), GZIP)


@functools.cache
def flat(values):
    """An object with this many values, which costs the most memory for each."""
    return ("{" + ",".join(f'"{number:06x}":{number}.25' for number in range(values)) + "}").encode()


def objects(_path):
    """A few kilobytes, out of which come ten million objects."""
    return [packed(gzip.compress(b"[" + b"{}," * (10 * MIB) + b"{}]"), GZIP)]


def tasks(path):
    """Ten tasks, the newest first, each with as many subtasks as an answer may have."""
    if "?" in path:
        return [listed(*(b'{"id":%d}' % number for number in range(1010, 1000, -1)))]
    return [data(b'{"id":%s,"subtasks":[%s]}' % (path[-4:].encode(), b",".join([b'{"id":7}'] * 240_000)))]


def clusters(path):
    """Ten clusters, each with many servers."""
    if "/servers" in path:
        return [data(b'{"contents":[%s]}' % b",".join([b'{"ip":"a"}'] * 45_000))]
    return [data(b'{"contents":[%s]}' % b",".join(b'{"id":%d}' % number for number in range(10)))]


def log(path):
    """A failed task, whose log is as long as it may be, and wide as a text."""
    if path.endswith("/log"):
        return [data('{"log":"\U0001f600'.encode() + b"x" * (31 * MIB) + b'"}')]
    return [data(b'{"id":1001,"status":"FAILED","subtasks":[{"id":1,"status":"FAILED"}]}')]


TASK, LIST = ("task_info", "task_id=1001"), ("cluster_info", "")
# The module with its options, what is answered, and what the module says.
BOMBS = {
    "gzip of 54 MB": (*TASK, lambda _path: [gzipped(b"[", b"{}," * MIB, 18)], "is longer than 32 MiB"),
    "gzip of 1.5 GB": (*TASK, lambda _path: [gzipped(b"", b" " * MIB, 1536)], "is longer than 32 MiB"),
    "nested": (*TASK, lambda _path: [data(b"[" * 200_000)], "is nested deeper than 100 levels"),
    # 30 KB that become a gigabyte of objects.
    "objects": (
        *TASK,
        lambda _path: [packed(gzip.compress(b"[" + b"{}," * 10 * MIB + b"{}]"), GZIP)],
        "has more than 250,000 lists",
    ),
    "values": (*TASK, lambda _path: [data(flat(1_200_000))], "has more than 750,000 values"),
    "digits": (*TASK, lambda _path: [data(b"7" * (30 * MIB))], "is not an OCP response envelope"),
    "pages": (*LIST, lambda _path: [listed(flat(240_000))], "has more than 750,000 values"),
    "entries": (*LIST, lambda _path: [listed(*[b'{"id":7}'] * 2000)], "has more than 50,000 entries"),
    "one task": (*TASK, tasks, "has more than 50,000 subtasks"),
    "tasks": ("task_info", "limit=10", tasks, "has more than 50,000 subtasks"),
    "servers": ("server_info", "", clusters, "has more than 50,000 entries"),
    "log": ("task_wait", "task_ids=1001", log, "Task 1001 FAILED"),
}


@pytest.mark.parametrize(
    "bomb", [pytest.param(name, marks=[] if name == "pages" else pytest.mark.nightly) for name in BOMBS]
)
def test_whole_command_stays_below_400_mb(bomb, ansible, executables):
    module, options, pieces, said = BOMBS[bomb]
    with serve(pieces) as service:
        login = " ".join(f"{name}={value}" for name, value in BASIC.items())
        words = f"url=http://{service} timeout=60 {login} {options}"
        command = [executables / "ansible", "localhost", "-m", f"oceanbase.ocp.{module}", "-a", words]
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *command],
            env={**os.environ, **ansible.variables()},
            capture_output=True,
            text=True,
            check=True,
        )
    shown = done.stdout + done.stderr
    peak = int(re.findall(r"^peak (\d+)$", done.stdout, re.MULTILINE)[-1])
    assert 30 < peak < MOST_MEMORY
    assert said in shown
    assert "Traceback" not in shown
