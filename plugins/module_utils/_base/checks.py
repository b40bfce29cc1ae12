# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""What an option has to be beyond its type; each raises OptionError with one sentence on option and value."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .errors import OptionError


def check_range(option: str, value: float, least: float, most: float = math.inf, unit: str = "") -> None:
    """That a number is at least ``least`` and at most ``most``; NaN is neither."""
    if not least <= value <= most:
        asked = f"{least:g} or more" if most == math.inf else f"{least:g} to {most:g}"
        raise OptionError(f"{option}: {value:.12g} is out of range; give {asked}{unit}.")


def check_nonempty(option: str, given: Sequence[str] | None, advice: str) -> None:
    """That a list has entries and none of them is empty, where it is given at all."""
    if given is not None and not (given and all(given)):
        raise OptionError(f"{option}: is empty or has an empty entry; {advice}.")
