# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which lines of Ansible's output are progress lines."""

from __future__ import annotations

import re


def progress_lines(output: str) -> list[str]:
    """The lines of progress in the output of Ansible."""
    first_words = r"^  (\d{4}|\d+ of \d+ tasks|Service answers|No answer) ?.*$"
    return [found.group().rstrip() for found in re.finditer(first_words, output, re.MULTILINE)]
