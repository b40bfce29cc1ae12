# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which of its matching requests a fault hits: from a number on, or by chance."""

import random


def hits(match: int, call: int | None, probability: float | None, seed: int | None) -> bool:
    """Whether a fault hits the `match`th request that matches it, counted from 1.

    With `probability`, chance decides by seed and number alone, so it decides the same in every process. Otherwise all
    from the `call`th on are hit.
    """
    if probability is not None:
        return random.Random(f"{seed or 0}/{match}").random() < probability
    return match >= (call or 1)
