# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""Where an entry of the evidence comes from, and the instants in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ...module_utils._base.parsing import Record
from ...module_utils._base.text import one_line


@dataclass(frozen=True)
class Place:
    """Where a result comes from: host of the inventory, task of the playbook, module, and for what change."""

    host: str
    step: str
    module: str
    check_mode: bool = False
    change: str | None = None
    started_before: str | None = None

    def entry(self) -> Record:
        """As it stands in each entry, which is made now."""
        names = {"host": one_line(self.host), "step": one_line(self.step), "module": one_line(self.module)}
        return {"at": now_text(), **names, "check_mode": self.check_mode}

    def head(self) -> Record:
        """The same with the change, as it stands in each target."""
        return {**self.entry(), "change": self.change, "started_before": self.started_before}


def now_text() -> str:
    """The time now, as the document has it."""
    return instant_text(datetime.now(UTC))


def instant_text(time: datetime) -> str:
    """An instant of the controller, as the document has it."""
    return time.isoformat(timespec="milliseconds")
