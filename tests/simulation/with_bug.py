# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A plugin for pytest: tests run with the bug that the environment variable ``PUT_BACK`` names."""

from __future__ import annotations

import os

from .mutations import put_back

BUG = put_back(os.environ.get("PUT_BACK"))


def pytest_configure() -> None:
    """Before any test is imported, so that none has the code without it."""
    BUG.__enter__()


def pytest_unconfigure() -> None:
    """Take it away."""
    BUG.__exit__(None, None, None)
