# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which modules, plugins, roles and playbooks the collection has, and which of them its changelog calls new."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

# Folders of plugins that ansible-doc documents nothing of; an action plugin has the name of its module.
UNDOCUMENTED = ("action", "doc_fragments", "module_utils", "plugin_utils")

# Names by kind, as the changelog has them: {"module": {"task", ...}, "filter": {...}, "role": {...}}.
Names = dict[str, set[str]]


def objects(collection: Path) -> Names:
    """What the collection has."""
    names = {
        "role": {path.name for path in (collection / "roles").iterdir() if path.is_dir()},
        "playbook": {path.stem for path in (collection / "playbooks").glob("*.yml")},
    }
    for folder in (collection / "plugins").iterdir():
        if folder.is_dir() and folder.name not in (*UNDOCUMENTED, "__pycache__"):
            kind = "module" if folder.name == "modules" else folder.name
            names[kind] = {path.stem for path in folder.glob("*.py") if path.stem != "__init__"}
    return names


def new_in(release: Mapping[str, Any]) -> Names:
    """What a release of changelog.yaml calls new."""
    kinds = {"module": release.get("modules", []), **release.get("plugins", {}), **release.get("objects", {})}
    return {kind: {entry["name"] for entry in entries} for kind, entries in kinds.items()}


def without_release(collection: Path, releases: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What no release calls new, in order: ``module task``."""
    called_new = [(kind, name) for release in releases.values() for kind, name in _pairs(new_in(release))]
    return [f"{kind} {name}" for kind, name in sorted(set(_pairs(objects(collection))) - set(called_new))]


def playbook_fragment(collection: Path, releases: Mapping[str, Mapping[str, Any]]) -> str:
    """The fragment of the playbooks that no release calls new yet, since they have no version_added; else empty."""
    kinds = (entry.split(" ", 1) for entry in without_release(collection, releases))
    new = [name for kind, name in kinds if kind == "playbook"]
    entries = [{"name": name, "description": _first_sentence(collection / f"playbooks/{name}.yml")} for name in new]
    return yaml.safe_dump({"add object.playbook": entries}) if entries else ""


def _pairs(names: Names) -> list[tuple[str, str]]:
    return [(kind, name) for kind, each in names.items() for name in each]


def _first_sentence(playbook: Path) -> str:
    """The first sentence of the comment at the head of a playbook."""
    [comment] = re.findall(r"\A(?:---\n)?((?:# .*\n)+)", playbook.read_text())
    return re.split(r"\.(?= [A-Z]|$)", comment.replace("# ", "").replace("\n", " ").strip())[0]
