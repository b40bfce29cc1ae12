# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The file of a plan: read it, write it at once or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._base.errors import OptionError
from .approved_plan import parsed_plan, plan_text

# A plan of a thousand clusters has some megabytes.
MOST_BYTES = 256 * 1024 * 1024


def read_plan(path: str, kind: str, option: str) -> dict[str, Any]:
    """The plan of a file. Raises OptionError that names ``option``."""
    named = f"{option}: {path}"
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES)
    except OSError as error:
        raise OptionError(
            f"{named} cannot be read ({error.strerror}); give the file of a plan that was approved."
        ) from error
    return parsed_plan(content.decode(errors="replace"), kind, named)


def write_plan(path: str, plan: Mapping[str, Any], option: str) -> None:
    """Write a plan with mode 0600: a reader finds the old file or the new one, never a part. Raises OptionError."""
    part = ""
    try:
        number, part = tempfile.mkstemp(dir=Path(path).absolute().parent, prefix=f".{Path(path).name}.")
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(plan_text(plan))
            file.flush()
            os.fsync(file.fileno())
        Path(part).replace(path)
    except OSError as error:
        with suppress(OSError):
            Path(part).unlink()
        raise OptionError(
            f"{option}: {path} cannot be written ({error.strerror}); give a file in a folder that is there."
        ) from error
