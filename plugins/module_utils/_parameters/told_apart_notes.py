# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Where this controller remembers that a service tells the old value of a parameter from the new one.

After a restart of all servers they show the same, and nothing shows any more that they ever differed. One file for each
service, cluster and parameter, below the folder of Ansible in the user's home.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

from .._base.private_folder import private_folder
from .effect import Effect

LARGEST_FILE = 64 * 1024


class ToldApartNotes:
    """The notes of one cluster at the service with this ``url``.

    What cannot be read counts as not known. ``warnings`` gets a sentence if a note cannot be written.
    """

    def __init__(self, url: str, cluster_id: int, warnings: list[str]) -> None:
        self._url = url
        self._cluster_id = cluster_id
        self._warnings = warnings

    def known(self, effect: Effect, *, after_set: bool = False) -> frozenset[str]:
        """The names whose old and new values are told apart: by ``effect``, which is noted, or by an earlier one.

        A set takes some seconds to reach all servers. So ``effect`` has to be of a time when they had them.
        """
        shown = {name for name in effect.wanted if effect.told_apart(name, after_set=after_set)}
        noted = self.noted(effect.wanted)
        self._note(shown - noted)
        return noted | shown

    def noted(self, names: Iterable[str]) -> frozenset[str]:
        """Those of the names that are known from earlier."""
        return frozenset(name for name in names if self._is_noted(name))

    def forget(self, names: Iterable[str]) -> None:
        """The service has shown that it does not tell old from new."""
        for name in names:
            with suppress(OSError, RuntimeError):
                (_folder() / self._file_of(name)).unlink()

    def _is_noted(self, name: str) -> bool:
        try:
            held = os.open(_folder() / self._file_of(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
            with os.fdopen(held, "rb") as file:
                return bool(json.loads(file.read(LARGEST_FILE)) == self._key(name))
        except (OSError, RuntimeError, ValueError, RecursionError):
            return False

    def _note(self, names: Iterable[str]) -> None:
        try:
            for name in sorted(names):
                self._write(_folder(), name)
        except (OSError, RuntimeError) as error:
            self._warnings.append(
                "It cannot be noted that this service tells the old value of a parameter from the new one, so a later "
                f"run may ask for started_before: {error}"
            )

    def _write(self, folder: Path, name: str) -> None:
        """Replace the note at once, so that another process never reads half of one."""
        with NamedTemporaryFile("w", dir=folder, prefix=".new-", delete=False) as file:
            try:
                json.dump(self._key(name), file)
                file.close()
                Path(file.name).replace(folder / self._file_of(name))
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise

    def _key(self, name: str) -> dict[str, str | int]:
        return {"url": self._url, "cluster_id": self._cluster_id, "parameter": name, "told_apart": True}

    def _file_of(self, name: str) -> str:
        key = json.dumps([self._url, self._cluster_id, name])
        return f"told-apart-{sha256(key.encode(errors='backslashreplace')).hexdigest()[:32]}.json"


def _folder() -> Path:
    """Raises OSError if it cannot be used, RuntimeError if this user has no home."""
    home = Path(os.environ.get("ANSIBLE_HOME") or "~/.ansible").expanduser()
    home.mkdir(parents=True, exist_ok=True)
    return private_folder(home / "oceanbase.ocp")
