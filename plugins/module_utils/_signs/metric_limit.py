# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""How far a metric may go, and how many samples decide that by default."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_SAMPLES = 5
LOOK_BACK = 120


@dataclass(frozen=True)
class MetricLimit:
    """How far a metric may go: its median over the last ``seconds``.

    ``most`` is the largest value, ``rise`` how many percent more than before the change. Fewer ``samples`` decide
    nothing.
    """

    name: str
    most: float | None = None
    rise: float | None = None
    samples: int = LEAST_SAMPLES
    seconds: float = LOOK_BACK
