# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The faults that the emulator starts with; a database that began with other faults is refused."""

from collections.abc import Sequence

from ocp_emulator.faults import fault_plan
from ocp_emulator.faults.parse_fault import AnyFault
from ocp_emulator.store.database import Store, StoreError

_KEY = "faults"


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
