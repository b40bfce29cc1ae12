# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where the evidence is written: a new name for each run, whole files, and how often while the run goes on."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

# Writing may take one part in this many of the time of a run.
SHARE = 20


class EvidenceFile:
    """A file ``<name>.json`` and a page ``<name>.html`` that belong to this run alone.

    An earlier run's evidence is never replaced: the next free name has a number, as in ``change-2``.
    """

    def __init__(self, wanted: str) -> None:
        path = Path(wanted).expanduser().absolute()
        self._wanted = path.with_suffix("") if path.suffix in (".json", ".html") else path
        self.document: Path | None = None
        self._free_at = 0.0

    @property
    def page(self) -> Path | None:
        """The page next to the document; None before it is reserved."""
        return self.document and self.document.with_name(self.document.name.removesuffix(".json") + ".html")

    def reserve(self) -> None:
        """Take a free name; no other run can take the same. Raises OSError."""
        self._wanted.parent.mkdir(parents=True, exist_ok=True)
        for number in count(1):
            name = self._wanted.name if number == 1 else f"{self._wanted.name}-{number}"
            document = self._wanted.with_name(f"{name}.json")
            with suppress(FileExistsError):
                os.close(os.open(document, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666))
                self.document = document
                return

    @property
    def is_due(self) -> bool:
        """Whether it may be written again; always soon, however long that takes."""
        return time.monotonic() >= self._free_at

    def write(self, document: str, page: str) -> None:
        """Replace both atomically, so that nobody reads half of one. Raises OSError."""
        began = time.monotonic()
        if self.document is None or self.page is None:
            self.reserve()
        for path, text in ((self.document, document), (self.page, page)):
            if path is not None:
                _replace(path, text)
        ended = time.monotonic()
        self._free_at = ended + (ended - began) * SHARE


def _replace(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with os.fdopen(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666), "w") as file:
            file.write(text)
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
