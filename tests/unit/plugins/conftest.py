# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""No unit test of the plugins sees the OCP_* and proxy variables of the machine."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import environment_left_out


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in environment_left_out():
        monkeypatch.delenv(name)
