# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What an inspection looks at, in which scenarios: names of our own, since no document lists the items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

ItemIdentifier = Literal[
    "host_clock_offset",
    "data_disk_usage",
    "replica_count",
    "major_compaction",
    "expired_backups",
    "tenant_memory_usage",
]
RiskLevel = Literal["HIGH", "MEDIUM", "LOW"]

# The scenarios by the number of their tag, as documented. Here, each of them has all items.
SCENARIOS: Mapping[int, str] = {
    1: "Basic inspection",
    2: "Performance inspection",
    3: "In-depth inspection",
    4: "Installation inspection",
}


@dataclass(frozen=True)
class InspectionItem:
    """An item: what it is about, the value that is no risk, and from which value on a risk has a level."""

    id: int
    identifier: ItemIdentifier
    name: str
    description: str
    target_type: str
    good: str
    rules: Mapping[RiskLevel, str]


ITEMS: Sequence[InspectionItem] = (
    InspectionItem(
        1,
        "host_clock_offset",
        "Clock offset of hosts",
        "How many milliseconds the clocks of the hosts differ.",
        "HOST",
        "1",
        {"HIGH": "value > 100", "MEDIUM": "value > 50"},
    ),
    InspectionItem(
        2,
        "data_disk_usage",
        "Usage of data disks",
        "How much of the data disk of each server is used, in percent.",
        "OB_SERVER",
        "40",
        {"HIGH": "value > 95", "MEDIUM": "value > 85"},
    ),
    InspectionItem(
        3,
        "replica_count",
        "Replicas of log streams",
        "How many log streams lack a replica.",
        "OB_TENANT",
        "0",
        {"HIGH": "value > 0"},
    ),
    InspectionItem(
        4,
        "major_compaction",
        "Age of the last major compaction",
        "How many hours ago the last major compaction has ended.",
        "OB_CLUSTER",
        "12",
        {"HIGH": "value > 72", "MEDIUM": "value > 36"},
    ),
    InspectionItem(
        5,
        "expired_backups",
        "Expired backups",
        "How many backups have expired and are not deleted.",
        "OB_TENANT",
        "0",
        {"LOW": "value > 0"},
    ),
    InspectionItem(
        6,
        "tenant_memory_usage",
        "Memory of tenants",
        "How much of its memory each tenant uses, in percent.",
        "OB_TENANT",
        "55",
        {"HIGH": "value > 95", "MEDIUM": "value > 85"},
    ),
)
