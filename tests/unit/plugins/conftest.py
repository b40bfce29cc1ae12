# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""No unit test of the plugins sees the system and variables of the machine, nor the locks and notes of another."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import environment_left_out


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in environment_left_out():
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _not_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no module runs in the controller's process."""
    monkeypatch.setattr(platform, "system", lambda: "Linux")


@pytest.fixture(scope="session")
def _folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    base = tmp_path_factory.mktemp("left")
    return (base / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_folder(_folders: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests have used up of a limit of requests is not used up here."""
    folder = next(_folders)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
