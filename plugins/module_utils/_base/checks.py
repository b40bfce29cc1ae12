# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""Checks of an option beyond its type: a number in its range, a list without empty entries, names without brackets."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from .errors import OptionError


def check_range(option: str, value: float, least: float, most: float = math.inf, unit: str = "") -> None:
    """Check that ``least <= value <= most``; NaN fails."""
    if not least <= value <= most:
        asked = f"{least:g} or more" if most == math.inf else f"{least:g} to {most:g}"
        raise OptionError(f"{option}: {value:.12g} is out of range; give {asked}{unit}.")


def check_nonempty(option: str, given: Sequence[str] | None, advice: str) -> None:
    """Check that a list, where it is given, has entries and no empty one."""
    if given is not None and not (given and all(given)):
        raise OptionError(f"{option}: is empty or has an empty entry; {advice}.")


def check_tenants(option: str, given: Sequence[str] | None) -> None:
    """Check a list of names of tenants. One in brackets is read as text, where an option is given as ``name=value``."""
    check_nonempty(option, given, "leave it out to tolerate none")
    if any(re.search(r"""[][{}"']""", name) for name in given or ()):
        names = ",".join(re.sub(r"""[][{}"'\s]""", "", name) for name in given or ())
        raise OptionError(f"{option}: {','.join(given or ())} has brackets or quotes; give {option}={names}.")
