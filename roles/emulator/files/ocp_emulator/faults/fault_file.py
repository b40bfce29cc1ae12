# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fault file, in YAML: a list of what `POST /emulator/faults` takes, and its errors."""

from pathlib import Path

import yaml

from ocp_emulator.faults.parse_fault import AnyFault, FaultError, parse_fault


class FaultFileError(ValueError):
    """A fault file that is not valid; the message is one sentence that says where and why."""


def read_faults(path: Path) -> list[AnyFault]:
    """The faults of a YAML file. Raises FaultFileError for a file that cannot be read or is not valid."""
    try:
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FaultFileError(f"the file cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FaultFileError("the file is not UTF-8 text") from error
    except yaml.YAMLError as error:
        raise FaultFileError(f"the file is not YAML: {' '.join(str(error).split())}") from error
    return parse_faults(entries)


def parse_faults(entries: object) -> list[AnyFault]:
    """The faults in the content of a fault file. Raises FaultFileError."""
    if not isinstance(entries, list):
        raise FaultFileError("the file has no list at its top, such as '- {kind: http, action: reset}'")
    return [_entry(number, entry) for number, entry in enumerate(entries, 1)]


def _entry(number: int, entry: object) -> AnyFault:
    try:
        return parse_fault(entry)
    except FaultError as error:
        key = f", key '{error.key}'" if error.key else ""
        raise FaultFileError(f"entry {number}{key}: {error.reason}") from None
