# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How an instant is written in answers and logs: its time zone, and the digits of its fraction of a second."""

from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from ocp_emulator.base.clock import SECOND

# The documented responses have +08:00, and their "never", 1970-01-01T08:00:00+08:00, is the epoch in that zone.
_ZONE = timezone(timedelta(hours=8))


# One response shows the same few instants many times.
@lru_cache(maxsize=4_096)
def iso(instant: int) -> str:
    """ISO 8601 with offset, and a fraction of one to three digits unless it is zero (docs/dev/contract.md, "Times")."""
    seconds, milliseconds = divmod(instant, SECOND)
    fraction = f".{milliseconds:03d}".rstrip("0") if milliseconds else ""
    return f"{datetime.fromtimestamp(seconds, _ZONE):%Y-%m-%dT%H:%M:%S}{fraction}+08:00"


def iso_utc(instant: int) -> str:
    """As alarms and the backups of tenants have it: UTC, Z, and no fraction when it is zero."""
    seconds, milliseconds = divmod(instant, SECOND)
    fraction = f".{milliseconds:03d}" if milliseconds else ""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}{fraction}Z"


def iso_without_colon(instant: int) -> str:
    """As the backups of a cluster have it: three digits of fraction, and no colon in the offset."""
    seconds, milliseconds = divmod(instant, SECOND)
    return f"{datetime.fromtimestamp(seconds, _ZONE):%Y-%m-%dT%H:%M:%S}.{milliseconds:03d}+0800"
