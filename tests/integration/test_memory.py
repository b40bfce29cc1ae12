# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Small answers that become large: a whole command stays below 400 MB."""

from __future__ import annotations

import zlib

from raw_service import packed

# Megabytes of each process.
MOST_MEMORY = 400
GZIP = "Content-Encoding: gzip"
ENVELOPE = b'{"successful":true,"data":{"id":1001,"page":{"totalPages":1000000000},"contents":[%s]}}'
# The largest of the processes that a command consists of; a small process, or that of pytest would count.
MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], timeout=100)
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


def gzipped(*parts):
    """A stream of (bytes, times), packed without being made whole."""
    packer = zlib.compressobj(9, wbits=-15)
    content = b"".join((packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)) * times for piece, times in parts)
    # The check sum at its end is wrong, and never reached.
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + content + packer.flush() + bytes(8)


def flat(values, kind="%d.25"):
    """An object with this many values."""
    return ("{" + ",".join(f'"{number:06x}":{kind % number}' for number in range(values)) + "}").encode()


def task(number, steps):
    """A task with this many steps."""
    step = b'{"id":%d,"name":"x","status":"FAILED"}'
    body = b",".join(step % place for place in range(steps))
    return packed(b'{"successful":true,"data":{"id":%d,"status":"FAILED","subtasks":[%s]}}' % (number, body))


def log(path):
    """A failed task, whose log is as long as it may be."""
    if path.endswith("/log"):
        return [b'{"successful": true, "data": {"log": "\\ud83d', b"x" * 31 * 1024**2, b'"}}']
    return None


SMALL = gzipped((ENVELOPE[:-4].replace(b"%s", b""), 1), (b"{}," * 19_000_000, 1))
BOMBS = {
    "58 KB of gzip": ("task_info", "task_id=1001", lambda _path: [packed(SMALL, GZIP)]),
    "gzip of 1.5 GB": ("task_info", "task_id=1001", None),
    "nested": ("task_info", "task_id=1001", lambda _path: [packed(b'{"data":' * 3_000_000)]),
    "values": ("task_info", "task_id=1001", lambda _path: [packed(ENVELOPE % flat(740_000))]),
    "digits": ("task_info", "task_id=1001", lambda _path: [packed(ENVELOPE % (b"7" * 30 * 1024**2))]),
    "pages": ("cluster_info", "", lambda _path: [packed(ENVELOPE % flat(240_000))]),
    "pages of entries": ("cluster_info", "", lambda _path: [packed(ENVELOPE % b",".join([b'{"id":1}'] * 2_000))]),
}
