# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Code blocks of pages, and the values that their examples leave to the reader."""

from __future__ import annotations

import re

from repository import REPOSITORY

# The OCP of the examples, in whose place an emulator stands, and what they leave to the vault.
EXAMPLE_URL = "https://ocp.example.com:8080"
SECRETS = {
    "ocp_password": "ocp-demo-1",
    "ocp_access_key_id": "emulator",
    "ocp_access_key_secret": "emulator-secret",
    # Nothing is there, which is an empty journal.
    "ocp_journal_url": "sqlite:////nowhere/journal.db",
}


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a language that a page has."""
    return re.findall(rf"^```{language}\n(.*?)^```", (REPOSITORY / page).read_text(), re.MULTILINE | re.DOTALL)
