# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The code imports in the one direction that docs/architecture.md shows."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"
EMULATOR = ROOT / "roles/emulator/files/ocp_emulator"
COLLECTION = "ansible_collections.oceanbase.ocp."
HTTP_LIBRARIES = {"requests", "urllib3"}


def rows() -> list[list[str]]:
    """The files of each row of the picture, from the top."""
    picture = re.search(r"^## One direction$.*?^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
    found = (re.findall(r"(?<!\w)_\w+", line) for line in picture.splitlines())
    return [names for names in found if names]


PAGE = (ROOT / "docs/architecture.md").read_text()
PLACE = {name: number for number, names in enumerate(rows()) for name in names}


@cache
def imports(path: Path, root: Path) -> set[str]:
    """What a file imports, as dotted names; those of its own tree begin with a dot and the path from ``root``."""
    package = path.relative_to(root).parent.parts
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            inside = package[: len(package) - node.level + 1] if node.level else ()
            base = ("." if node.level else "") + ".".join([*inside, *filter(None, [node.module])])
            # What is imported from a package may be a module of it.
            found.update(f"{base}.{alias.name}" for alias in node.names)
    own = COLLECTION + ("plugins." if root == PLUGINS else "")
    return {"." + name.removeprefix(own) if name.startswith(own) else name for name in found}


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((PLUGINS / folder).rglob("*.py"))]


def inside(path: Path) -> set[str]:
    """Files of ``plugins``, as in ``module_utils._api``, that a file of ``plugins`` imports."""
    return {".".join(name.split(".")[1:3]) for name in imports(path, PLUGINS) if name.startswith(".")}


def outside(path: Path) -> set[str]:
    """Names of the packages that a file imports."""
    return {name.split(".")[0] for name in imports(path, PLUGINS) if not name.startswith(".")}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


each = {"ids": name_of}


def test_every_file_has_one_place_in_the_picture():
    placed = [name for names in rows() for name in names]
    files = [path.stem for path in sources("module_utils")]
    assert sorted(placed) == sorted([*files, "_in_process"]), "docs/architecture.md shows another set of files"


@pytest.mark.parametrize("path", sources("module_utils"), **each)
def test_imports_go_down(path):
    used = {name.removeprefix("module_utils.") for name in inside(path)}
    assert used <= PLACE.keys(), "it imports what is not in module_utils"
    assert {name for name in used if PLACE[name] <= PLACE[path.stem]} == set(), "not in a row below its own"


@pytest.mark.parametrize("path", sources("module_utils"), **each)
def test_only_the_bridge_knows_ansible_and_only_the_client_knows_http(path):
    allowed = {"_module": {"ansible"}, "_auth": HTTP_LIBRARIES, "_http": HTTP_LIBRARIES, "_transport": HTTP_LIBRARIES}
    named = outside(path) & {"ansible", "ansible_collections", "ocp_emulator", *HTTP_LIBRARIES}
    assert named <= allowed.get(path.stem, set())


@pytest.mark.parametrize("path", sources("modules"), **each)
def test_a_module_knows_module_utils_alone(path):
    assert {name.split(".")[0] for name in inside(path)} == {"module_utils"}
    assert outside(path).isdisjoint({"ansible", "ocp_emulator", *HTTP_LIBRARIES})


@pytest.mark.parametrize("path", sources("action"), **each)
def test_an_action_plugin_knows_its_module_alone(path):
    assert inside(path) == {f"modules.{path.stem}", "plugin_utils._in_process"}
    assert outside(path) == {"__future__"}


@pytest.mark.parametrize("path", sources("plugin_utils", "filter"), **each)
def test_what_runs_on_the_controller_knows_no_module(path):
    assert {name.split(".")[0] for name in inside(path)} <= {"module_utils", "plugin_utils"}
    assert outside(path).isdisjoint({"ocp_emulator", *HTTP_LIBRARIES})


@pytest.mark.parametrize("path", sources("inventory"), **each)
def test_the_inventory_knows_of_modules_their_options_alone(path):
    used = {name for name in imports(path, PLUGINS) if name.startswith(".modules.")}
    assert {name.rpartition(".")[2] for name in used} <= {"OPTIONS"}
    assert outside(path).isdisjoint({"ocp_emulator", *HTTP_LIBRARIES})


@pytest.mark.parametrize("path", sorted(EMULATOR.rglob("*.py")), **each)
def test_the_emulator_knows_nothing_of_the_plugins(path):
    named = {name.split(".")[0] for name in imports(path, EMULATOR) if not name.startswith(".")}
    assert named.isdisjoint({"ansible", "ansible_collections", *HTTP_LIBRARIES})


def test_an_import_that_goes_up_would_be_seen(tmp_path):
    root = tmp_path / "plugins"
    (root / "module_utils").mkdir(parents=True)
    file = root / "module_utils/_tasks.py"
    file.write_text(
        "from . import _waiting\nfrom ..modules.task import run\nimport requests.auth\nfrom ._api import X\n"
    )
    assert imports(file, root) == {
        ".module_utils._waiting",
        ".modules.task.run",
        "requests.auth",
        ".module_utils._api.X",
    }
