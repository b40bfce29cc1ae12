# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Bugs that were there once, to be put back: the proof that the oracle sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

# By name, what makes a bug for as long as it is entered.
MUTATIONS: dict[str, Callable[[], AbstractContextManager[object]]] = {}
NAMES = sorted(MUTATIONS)


@contextmanager
def put_back(name: str | None) -> Iterator[None]:
    """Run with the bug of this name, or with none."""
    with MUTATIONS[name]() if name else nullcontext():
        yield
