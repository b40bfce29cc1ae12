# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The results of two runs on fresh emulators, compared without what differs by nature: times, addresses, job ids."""

from __future__ import annotations

import json
import re
from typing import Any

# ``frame`` is the place in Ansible's own code that a time-out has interrupted.
VOLATILE = ("elapsed", "duration", "trace_id", "timestamp", "ansible_job_id", "results_file", "frame")
# What ansible-core 2.22 adds where a result came from a process: that it could be read.
OF_PROCESSES = ("ansible_parsed",)
TIMES = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.]*([+-]\d\d:?\d\d|Z)?|(?<=Trace id )[\w-]+")


def comparable(value: Any, url: str) -> Any:
    """``value`` without what differs by nature; ``url`` is that of the emulator."""
    if isinstance(value, dict):
        kept = {key: member for key, member in value.items() if key not in OF_PROCESSES}
        return {key: "volatile" if key in VOLATILE else comparable(member, url) for key, member in kept.items()}
    if isinstance(value, list):
        return [comparable(member, url) for member in value]
    return TIMES.sub("some time", value.replace(url, "URL")) if isinstance(value, str) else value


def assert_the_same(here: dict[str, Any], there: dict[str, Any]) -> None:
    """The results of the same tasks, by name."""
    assert here.keys() == there.keys()
    for name, result in here.items():
        assert result == there[name], f"{name}\n{json.dumps(result)}\n{json.dumps(there[name])}"
