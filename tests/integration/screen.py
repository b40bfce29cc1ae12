# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What is on the screen when a command has ended, in a terminal of 120 columns and 40 rows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence

ROWS, COLUMNS = 40, 120
COLOUR = re.compile(r"\x1b\[[\d;]*[mK]")


def last_screen(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """The last screen, with its folded lines joined again; above it everything else has scrolled away."""
    rows = _rows(_printed(command, environment))
    # The last row has the prompt.
    return "".join(row if len(row) == COLUMNS else f"{row}\n" for row in rows[-ROWS + 1 :])


def _printed(command: Sequence[str], environment: Mapping[str, str]) -> str:
    shown, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=dict(environment)) as process:
        os.close(terminal)
        printed = b"".join(iter(lambda: _read(shown), b""))
        process.wait()
    os.close(shown)
    return COLOUR.sub("", printed.decode()).replace("\r", "")


def _read(shown: int) -> bytes:
    try:
        return os.read(shown, 65536)
    except OSError:  # Linux says so when the other end is closed.
        return b""


def _rows(printed: str) -> list[str]:
    lines = printed.rstrip("\n").split("\n")
    return [row for line in lines for row in re.findall(f".{{1,{COLUMNS}}}", line) or [""]]
