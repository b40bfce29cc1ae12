# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Small files in which a controller remembers something from run to run, below Ansible's folder in the user's home."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from .private_folder import private_folder

LARGEST_FILE = 64 * 1024


class NoteFiles:
    """The notes of one ``kind``, each with a key and a value of JSON.

    A note that cannot be read counts as missing. If a note cannot be written, ``warnings`` gets a sentence; ``lost`` is
    its text.
    """

    def __init__(self, kind: str, warnings: list[str], lost: str) -> None:
        self._kind = kind
        self._warnings = warnings
        self._lost = lost

    def read(self, *key: str | int) -> Any:
        """The value of a key, of whatever shape; None if there is none."""
        try:
            path = _folder() / self._file_of(key)
            held = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
            with os.fdopen(held, "rb") as file:
                found = json.loads(file.read(LARGEST_FILE))
        except (OSError, RuntimeError, ValueError, RecursionError):
            return None
        is_note = isinstance(found, list) and len(found) == 2 and found[0] == list(key)
        return found[1] if is_note else None

    def write(self, *key: str | int, value: Any) -> None:
        """Replace a note atomically, so that another process never reads half of one."""
        try:
            folder = _folder()
            with NamedTemporaryFile("w", dir=folder, prefix=".new-", delete=False) as file:
                try:
                    json.dump([list(key), value], file)
                    file.close()
                    Path(file.name).replace(folder / self._file_of(key))
                except BaseException:
                    Path(file.name).unlink(missing_ok=True)
                    raise
        except (OSError, RuntimeError) as error:
            self._warnings.append(f"{self._lost}: {error}")

    def remove(self, *key: str | int) -> None:
        """Remove a note, if it is there and can be."""
        with suppress(OSError, RuntimeError):
            (_folder() / self._file_of(key)).unlink()

    def _file_of(self, key: tuple[str | int, ...]) -> str:
        text = json.dumps(key)
        return f"{self._kind}-{sha256(text.encode()).hexdigest()[:32]}.json"


def _folder() -> Path:
    """Raises OSError if it cannot be used, RuntimeError if this user has no home."""
    home = Path(os.environ.get("ANSIBLE_HOME") or "~/.ansible").expanduser()
    home.mkdir(parents=True, exist_ok=True)
    return private_folder(home / "oceanbase.ocp")
