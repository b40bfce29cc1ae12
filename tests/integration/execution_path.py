# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How modules run, in the controller's process or as ordinary modules: choosing it, and telling it from the output."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

# A task keyword by which the modules of the collection run as ordinary modules.
ORDINARY = {"environment": {"ANY_VARIABLE": "whatever"}}

# Does without the program that becomes another user, which a test machine need not have.
SUDO = """#!/bin/sh
while [ "$1" != /bin/sh ]; do shift; done
exec "$@"
"""


def ran_as(output: str) -> dict[str, int]:
    """How many calls of the collection's modules ran by which path, told from what Ansible prints with -vvv."""
    marks = {"in-process": "Running .* in the controller's process", "ordinary": "Using module file .*/oceanbase/ocp/"}
    return +Counter({path: len(re.findall(mark, output)) for path, mark in marks.items()})


def executable(path: Path, text: str) -> str:
    """Write a program; returns its path."""
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def sudo(folder: Path) -> str:
    """A program to become the user that one is already."""
    return executable(folder / "sudo", SUDO)
