# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A folder that only this user can write to, for what one run of the collection leaves for the next."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def private_folder(path: Path) -> Path:
    """The folder, made if it is missing. Raises OSError if there is something else in its place."""
    with suppress(FileExistsError):
        path.mkdir(0o700)
    found = path.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode) or found.st_mode & 0o077:
        raise PermissionError(f"{path} is not a folder of this user alone")
    return path
