# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A folder that only this user can write to, for data that one run of the collection leaves for the next."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def private_folder(path: Path) -> Path:
    """The folder, created if it is missing. Raises OSError if something else has its path."""
    with suppress(FileExistsError):
        path.mkdir(0o700)
    found = path.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o077:
        raise PermissionError(f"{path} is not a folder of this user alone")
    return path
