# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The file of a recording: created before anything is requested, readable only by its owner, and never overwritten."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .._base.errors import OptionError
from .._base.parsing import Record

OWNER_ALONE = 0o600


@contextmanager
def new_recording(option: str, path: str, *, dry: bool) -> Iterator[Callable[[Record], None]]:
    """A function that writes a recording to ``path``; ``dry`` checks the path and writes nothing.

    Raises OptionError if the file exists or cannot be made. A file that nothing was written to is removed.
    """
    if dry:
        _check(option, path)
        yield lambda _document: None
        return
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, OWNER_ALONE)
    except OSError as error:
        raise _refusal(option, path, error) from None
    try:
        with os.fdopen(made, "w", encoding="ascii") as file:
            yield lambda document: _write(option, path, file.write, document)
            file.flush()
            written = file.tell() > 0
    except BaseException:
        Path(path).unlink()
        raise
    if not written:
        Path(path).unlink()


def _write(option: str, path: str, write: Callable[[str], int], document: Record) -> None:
    try:
        write(json.dumps(document, indent=1) + "\n")
    except OSError as error:
        raise _refusal(option, path, error) from None


def _check(option: str, path: str) -> None:
    """Raise the error that creating the file would raise, as far as that is known without creating it."""
    folder = Path(path).parent
    if os.path.lexists(path):
        raise _refusal(option, path, FileExistsError())
    if not folder.is_dir():
        raise _refusal(option, path, FileNotFoundError(2, os.strerror(2)))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _refusal(option, path, PermissionError(13, os.strerror(13)))


def _refusal(option: str, path: str, error: OSError) -> OptionError:
    if isinstance(error, FileExistsError):
        return OptionError(f"{option}: {path} exists already and is not overwritten; name a new file, or remove it.")
    reason = (error.strerror or str(error)).lower()
    return OptionError(f"{option}: {path} cannot be written: {reason}. Name a file in a folder that you may write to.")
