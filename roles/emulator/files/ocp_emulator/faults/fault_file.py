# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fault file: a YAML list of what `POST /emulator/faults` takes, planned when the emulator starts."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from ocp_emulator.faults import fault_plan
from ocp_emulator.faults.fault_kinds import AnyFault, FaultError, parse_fault
from ocp_emulator.store.database import Store, StoreError

_KEY = "faults"


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
    if not isinstance(entries, list):
        raise FaultFileError("the file has no list at its top, such as '- {kind: http, action: reset}'")
    return [_entry(number, entry) for number, entry in enumerate(entries, 1)]


def plan_at_start(store: Store, faults: Sequence[AnyFault] | None, now: int) -> None:
    """Plan the faults in a new database; an existing one keeps its own plan.

    Raises StoreError when it was made with other faults. None accepts any.
    """
    given = _json_of(faults or ())
    row = store.db.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
    if row is None:
        with store.transaction() as db:
            db.execute("INSERT INTO meta VALUES (?, ?)", (_KEY, given))
            for fault in faults or ():
                fault_plan.add(db, fault, now)
    elif faults is not None and row["value"] != given:
        raise StoreError("it began with other faults; give it the same file, or none, or take a new database")


def _json_of(faults: Sequence[AnyFault]) -> str:
    return f"[{','.join(fault.model_dump_json(by_alias=True) for fault in faults)}]"


def _entry(number: int, entry: object) -> AnyFault:
    try:
        return parse_fault(entry)
    except FaultError as error:
        key = f", key '{error.key}'" if error.key else ""
        raise FaultFileError(f"entry {number}{key}: {error.reason}") from None
