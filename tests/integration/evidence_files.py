# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The evidence that runs of Ansible leave in a folder, and its check: by its schema, and for secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from credentials import BASIC
from jsonschema import Draft202012Validator
from repository import REPOSITORY

SCHEMA = Draft202012Validator(json.loads((REPOSITORY / "docs/evidence.schema.json").read_text()))


class Evidence:
    """What runs leave in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str = "change-4711.json") -> dict[str, Any]:
        """A document, which is as its schema says, and has no secret; nor has its page."""
        document = self.folder / name
        found: dict[str, Any] = json.loads(document.read_text())
        SCHEMA.validate(found)
        page = self.page(name)
        assert page.startswith("<!doctype html>")
        assert not [text for text in (document.read_text(), page) if f"{BASIC['username']}:{BASIC['password']}" in text]
        return found

    def page(self, name: str = "change-4711.json") -> str:
        """The page beside a document."""
        return (self.folder / name).with_suffix(".html").read_text()
