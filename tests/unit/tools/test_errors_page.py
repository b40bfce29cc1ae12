# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What `make errors` writes: the page has every message of the catalogue, as the code says it now."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.tests.unit.plugins.test_message_rules import SECRETS
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_entries import every_entry

REPOSITORY = Path(__file__).parents[3]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def tool():
    """The command, which has no suffix, as a module."""
    return SimpleNamespace(**runpy.run_path(str(REPOSITORY / "tools/errors")))


@pytest.mark.nightly
def test_errors_page_has_every_message(tool):
    page = tool.page()
    assert [
        entry.message for entry in every_entry() if entry.kind is not None and f"\n{entry.message}\n" not in page
    ] == []


@pytest.mark.parametrize("secret", SECRETS)
def test_errors_page_contains_no_secret(secret, tool):
    assert secret not in tool.page()
