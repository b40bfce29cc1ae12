# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which imports docs/dev/architecture.md allows, and how long files and functions may be."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"
PACKAGE = "ocp_emulator"
EMULATOR = ROOT / "roles/emulator/files" / PACKAGE
COLLECTION = "ansible_collections.oceanbase.ocp."
HTTP_LIBRARIES = {"requests", "urllib3"}
PAGE = (ROOT / "docs/dev/architecture.md").read_text()
LONGEST_FILE = 350
LONGEST_FUNCTION = 40


def sources(root: Path, *folders: str) -> list[Path]:
    """Python files with code below ``folders`` of ``root``; without any, below ``root`` itself."""
    found = (path for folder in folders or (".",) for path in sorted((root / folder).rglob("*.py")))
    return [path for path in found if path.name != "__init__.py"]


@dataclass(frozen=True)
class Picture:
    """A picture of the page: its files as dotted names, from the lowest to the highest."""

    heading: str
    root: Path
    folders: dict[str, str]

    def order(self) -> list[str]:
        text = re.search(rf"^## {self.heading}$.*?^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1]
        return [f"{self.folders.get(folder, folder)}.{name}".lstrip(".") for folder, name in _places(text)]


def _places(text: str) -> Iterator[tuple[str, str]]:
    """The pairs of folder and file in the rows of a picture, the lowest row first, each row from the left."""
    rows: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if re.fullmatch(r" \w+ {2,}\w+( \w+)*", line):
            folder, *names = line.split()
            rows.append((folder, names))
        elif re.fullmatch(r" {10,}\w+( \w+)*", line) and rows:
            rows[-1][1].extend(line.split())
    yield from ((folder, name) for folder, names in reversed(rows) for name in names)


UTILS = sorted(path.name for path in (PLUGINS / "module_utils").iterdir() if path.name[:2] not in ("__", "._"))
PICTURES = [
    Picture(
        "The plugins",
        PLUGINS,
        {
            **{name: f"module_utils.{name}" for name in UTILS},
            "_timeline": "plugin_utils._timeline",
            "_evidence": "plugin_utils._evidence",
        },
    ),
    Picture("The emulator", EMULATOR, {PACKAGE: ""}),
]


def drawn(picture: Picture) -> list[Path]:
    return sources(picture.root, *(("module_utils", "plugin_utils") if picture.root == PLUGINS else ()))


def dotted(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts)


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
    own = f"{PACKAGE}." if root.name == PACKAGE else COLLECTION + ("plugins." if root == PLUGINS else "")
    return {"." + name.removeprefix(own) if name.startswith(own) else name for name in found}


def inside(path: Path, root: Path = PLUGINS) -> set[str]:
    """Files of the same tree that a file imports, as in ``module_utils._ocp.session``."""
    parts = [name[1:].split(".") for name in imports(path, root) if name.startswith(".")]
    return {file for names in parts if (file := _file(names, root))}


def _file(names: list[str], root: Path) -> str | None:
    """The longest beginning of a dotted name that is a file; None for what is in a package itself."""
    for length in range(len(names), 0, -1):
        if root.joinpath(*names[:length]).with_suffix(".py").is_file():
            return ".".join(names[:length])
    return None


def outside(path: Path) -> set[str]:
    """Names of the packages that a file imports."""
    return {name.split(".")[0] for name in imports(path, PLUGINS) if not name.startswith(".")}


def misplaced(path: Path, picture: Picture) -> set[str]:
    """What a file imports that the picture does not show below it or left of it."""
    order = picture.order()
    below = order[: order.index(dotted(path, picture.root))]
    return inside(path, picture.root) - set(below)


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


each = {"ids": name_of}
EVERY_FILE = [pytest.param(path, picture, id=name_of(path)) for picture in PICTURES for path in drawn(picture)]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.heading)
def test_every_file_has_one_place_in_the_picture(picture):
    assert sorted(picture.order()) == sorted(dotted(path, picture.root) for path in drawn(picture))


@pytest.mark.parametrize(("path", "picture"), EVERY_FILE)
def test_imports_go_down_or_left(path, picture):
    assert misplaced(path, picture) == set()


@pytest.mark.parametrize("root", [PLUGINS, EMULATOR], ids=lambda root: root.name)
def test_no_name_is_used_twice(root):
    # An action plugin has to have the name of its module; no code imports a documentation fragment.
    files = [path for path in sources(root) if path.parent.name not in ("action", "doc_fragments")]
    names = Counter(path.stem for path in files)
    assert {name for name, count in names.items() if count > 1} == set()


@pytest.mark.parametrize("path", [*sources(PLUGINS), *sources(EMULATOR)], **each)
def test_files_are_short(path):
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", [*sources(PLUGINS), *sources(EMULATOR)], **each)
def test_functions_are_short(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds))
    assert [each.name for each in functions if each.end_lineno - each.lineno >= LONGEST_FUNCTION] == []


@pytest.mark.parametrize("path", sources(PLUGINS, "module_utils"), **each)
def test_only_the_bridge_imports_ansible_and_only_the_client_imports_http(path):
    allowed = {"_module": {"ansible"}, "_ocp": HTTP_LIBRARIES}
    named = outside(path) & {"ansible", "ansible_collections", PACKAGE, *HTTP_LIBRARIES}
    assert named <= allowed.get(path.parent.name, set())


@pytest.mark.parametrize("path", sources(PLUGINS, "modules"), **each)
def test_a_module_imports_module_utils_alone(path):
    assert {name.split(".")[0] for name in inside(path)} == {"module_utils"}
    assert outside(path).isdisjoint({"ansible", PACKAGE, *HTTP_LIBRARIES})


@pytest.mark.parametrize("path", sources(PLUGINS, "action"), **each)
def test_an_action_plugin_imports_its_module_alone(path):
    assert inside(path) == {f"modules.{path.stem}", "plugin_utils._in_process"}
    assert outside(path) == {"__future__"}


@pytest.mark.parametrize("path", sources(PLUGINS, "plugin_utils", "callback", "filter", "lookup"), **each)
def test_controller_code_imports_no_module(path):
    assert {name.split(".")[0] for name in inside(path)} <= {"module_utils", "plugin_utils"}
    assert outside(path).isdisjoint({PACKAGE, *HTTP_LIBRARIES})


@pytest.mark.parametrize("path", sources(PLUGINS, "inventory"), **each)
def test_the_inventory_imports_only_options_of_modules(path):
    used = {name for name in imports(path, PLUGINS) if name.startswith(".modules.")}
    assert {name.rpartition(".")[2] for name in used} <= {"OPTIONS"}
    assert outside(path).isdisjoint({PACKAGE, *HTTP_LIBRARIES})


def reached(path: Path) -> set[Path]:
    """The files of the collection that a file imports, directly or by way of others, and itself."""
    found, todo = set(), [path]
    while todo:
        found.add(file := todo.pop())
        names = {name.replace(".", "/") for name in inside(file, ROOT)}
        todo += [other for name in names if (other := ROOT / f"{name}.py") not in found]
    return found


@pytest.mark.parametrize("path", sources(ROOT, "tests/unit/plugins/module_utils"), **each)
def test_a_unit_test_of_module_utils_runs_without_the_controller(path):
    """``ansible-test units`` gives these tests the part of ansible-core that modules have."""
    used = {(name_of(file), name) for file in reached(path) for name in imports(file, ROOT)}
    wrong = {(file, name) for file, name in used if re.match(r"ansible\.(?!module_utils\b)", name)}
    assert wrong == set()


@pytest.mark.parametrize("path", sources(EMULATOR), **each)
def test_the_emulator_imports_nothing_of_the_plugins(path):
    named = {name.split(".")[0] for name in imports(path, EMULATOR) if not name.startswith(".")}
    assert named.isdisjoint({"ansible", "ansible_collections", *HTTP_LIBRARIES})


def test_an_import_in_any_form_is_seen(tmp_path):
    root = tmp_path / "plugins"
    (root / "module_utils/_restart").mkdir(parents=True)
    file = root / "module_utils/_restart/decision.py"
    file.write_text(
        "from .._waiting import poll_pauses\n"
        "from ...modules.task import run\nimport requests.auth\nfrom .restart import X\n"
    )
    assert imports(file, root) == {
        ".module_utils._waiting.poll_pauses",
        ".modules.task.run",
        "requests.auth",
        ".module_utils._restart.restart.X",
    }


@pytest.mark.parametrize(
    ("file", "line", "found"),
    [
        ("module_utils/_base/text.py", "from .._waiting import poll_pauses", {"module_utils._waiting.poll_pauses"}),
        ("module_utils/_base/text.py", "from .clock import Clock", {"module_utils._base.clock"}),
        ("module_utils/_base/clock.py", "from .text import label", set()),
        ("module_utils/_waiting/poll_pauses.py", "from .._base.text import label", set()),
    ],
    ids=["upwards", "to the right", "to the left", "down"],
)
def test_an_import_that_the_picture_does_not_show_is_found(file, line, found, tmp_path):
    for path in drawn(PICTURES[0]):
        copy = tmp_path / path.relative_to(PLUGINS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(f"{line}\n" if path == PLUGINS / file else "")
    picture = Picture("The plugins", tmp_path, PICTURES[0].folders)
    assert misplaced(tmp_path / file, picture) == found
