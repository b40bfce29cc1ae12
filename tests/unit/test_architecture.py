# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which imports docs/dev/architecture.md allows, and how long a function may be."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PLUGINS = ROOT / "plugins"
PACKAGE = "ocp_emulator"
EMULATOR = ROOT / "roles/emulator/files" / PACKAGE
COLLECTION = "ansible_collections.oceanbase.ocp."
HTTP_LIBRARIES = {"requests", "urllib3"}
PAGE = (ROOT / "docs/dev/architecture.md").read_text()
LONGEST_FUNCTION = 40


def sources(root: Path, *folders: str) -> list[Path]:
    """Python files with code below ``folders`` of ``root``; without any, below ``root`` itself."""
    found = (path for folder in folders or (".",) for path in sorted((root / folder).rglob("*.py")))
    return [path for path in found if path.name != "__init__.py"]


@dataclass(frozen=True)
class Layers:
    """A table of the page: packages, and files beside them, by dotted names from the lowest to the highest."""

    heading: str
    root: Path
    folder: str = ""

    def order(self) -> list[str]:
        text = PAGE.split(f"\n### {self.heading}\n")[1].split("\n#")[0]
        rows = re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE)
        names = [name for row in reversed(rows) for name in reversed(re.findall(r"`(\w+)`", row))]
        return [name if (self.root / name).exists() or not self.folder else f"{self.folder}.{name}" for name in names]

    def files(self) -> list[Path]:
        return sources(self.root, *(("module_utils", "plugin_utils") if self.root == PLUGINS else ()))

    def layer(self, file: str) -> str:
        """The layer of a file, both as dotted names."""
        package, *rest = file.split(".")
        return f"{package}.{rest[0]}" if package == self.folder else package


LAYERS = [Layers("Layers of the plugins", PLUGINS, "module_utils"), Layers("Layers of the emulator", EMULATOR)]


def dotted(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root).with_suffix("").parts)


def at_start(tree: ast.AST) -> Iterator[ast.AST]:
    """What runs when a file is imported: not what is in its functions, nor what is for a type checker."""
    for node in ast.iter_child_nodes(tree):
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if not is_for_types and not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
            yield from at_start(node)


@cache
def imports(path: Path, root: Path, *, walk: Callable[[ast.AST], Iterator[ast.AST]] = ast.walk) -> set[str]:
    """What a file imports, as dotted names; those of its own tree begin with a dot and the path from ``root``."""
    package = path.relative_to(root).parent.parts
    found: set[str] = set()
    for node in walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            inside = package[: len(package) - node.level + 1] if node.level else ()
            base = ("." if node.level else "") + ".".join([*inside, *filter(None, [node.module])])
            # What is imported from a package may be a module of it.
            found.update(f"{base}.{alias.name}" for alias in node.names)
    own = f"{PACKAGE}." if root.name == PACKAGE else COLLECTION + ("plugins." if root == PLUGINS else "")
    return {"." + name.removeprefix(own) if name.startswith(own) else name for name in found}


def inside(path: Path, root: Path = PLUGINS, **how: Any) -> set[str]:
    """Files of the same tree that a file imports, as in ``module_utils._ocp.session``."""
    parts = [name[1:].split(".") for name in imports(path, root, **how) if name.startswith(".")]
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


def misplaced(path: Path, layers: Layers, root: Path | None = None) -> set[str]:
    """The layers that a file imports although the table does not have them below its own."""
    root = root or layers.root
    order, own = layers.order(), layers.layer(dotted(path, root))
    used = {layers.layer(name) for name in inside(path, root)}
    return used - set(order[: order.index(own) + 1])


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


each = {"ids": name_of}
EVERY_FILE = [pytest.param(path, layers, id=name_of(path)) for layers in LAYERS for path in layers.files()]


@pytest.mark.parametrize("layers", LAYERS, ids=lambda layers: layers.heading)
def test_every_package_has_one_place_in_the_layers(layers):
    assert sorted(layers.order()) == sorted({layers.layer(dotted(path, layers.root)) for path in layers.files()})


@pytest.mark.parametrize(("path", "layers"), EVERY_FILE)
def test_imports_go_down(path, layers):
    assert misplaced(path, layers) == set()


@pytest.mark.parametrize("root", [PLUGINS, EMULATOR], ids=lambda root: root.name)
def test_no_files_import_each_other_in_a_circle(root):
    files = {dotted(path, root): inside(path, root) for path in sources(root)}
    list(TopologicalSorter(files).static_order())


def test_files_that_the_page_names_are_there():
    folders = [ROOT, PLUGINS, PLUGINS / "module_utils", PLUGINS / "module_utils/_restart", EMULATOR]
    folders.append(ROOT / "tests/unit/support")
    named = set(re.findall(r"`([\w/]+\.(?:py|yml|md))`", PAGE))
    assert {name for name in named if not any((folder / name).is_file() for folder in folders)} == set()


@pytest.mark.parametrize("path", [*sources(PLUGINS), *sources(EMULATOR)], **each)
def test_functions_are_short(path):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds))
    assert [each.name for each in functions if each.end_lineno - each.lineno >= LONGEST_FUNCTION] == []


def shadowed(path: Path) -> set[str]:
    """Variables of comprehensions that have the name of something in their file."""
    tree = ast.parse(path.read_text())
    kinds = (ast.FunctionDef, ast.ClassDef)
    imported = {
        each.asname or each.name for node in tree.body if isinstance(node, ast.ImportFrom) for each in node.names
    }
    named = imported | {node.name for node in tree.body if isinstance(node, kinds)}
    targets = (node.target for node in ast.walk(tree) if isinstance(node, ast.comprehension))
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)} & named


@pytest.mark.parametrize("path", [*sources(PLUGINS), *sources(EMULATOR)], **each)
def test_no_comprehension_shadows_a_name_of_its_file(path):
    """Python 3.12.0 and 3.12.1 take one for the other: UnboundLocalError."""
    assert shadowed(path) == set()


def test_a_shadowed_name_is_found(tmp_path):
    path = tmp_path / "file.py"
    path.write_text("def shown(): ...\nkeys = {key for key, shown in []}\n")
    assert shadowed(path) == {"shown"}


@pytest.mark.parametrize("path", sources(PLUGINS, "module_utils"), **each)
def test_only_the_bridge_imports_ansible_and_only_the_client_imports_http(path):
    allowed = {"_module": {"ansible"}, "_ocp": HTTP_LIBRARIES}
    named = outside(path) & {"ansible", "ansible_collections", PACKAGE, *HTTP_LIBRARIES}
    assert named <= allowed.get(path.parent.name, set())


@pytest.mark.parametrize("path", sources(PLUGINS, "modules"), **each)
def test_a_module_imports_module_utils_alone(path):
    assert {name.split(".")[0] for name in inside(path)} == {"module_utils"}
    assert outside(path).isdisjoint({"ansible", PACKAGE, *HTTP_LIBRARIES})


def first_of_its_own(path: Path) -> ast.ImportFrom:
    """The first import of a file that is one of the collection."""
    return next(node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom) and node.level)


@pytest.mark.parametrize("path", sources(PLUGINS, "modules"), **each)
def test_a_module_imports_the_bridge_first(path):
    """And the bridge ``zip_imports``, so that all other files are compiled once."""
    assert first_of_its_own(path).module == "module_utils._module.bridge"
    own = first_of_its_own(PLUGINS / "module_utils/_module/bridge.py")
    assert (own.module, [each.name for each in own.names]) == ("_base", ["zip_imports"])


# What an ordinary module compiles before it does anything, by the first pattern that fits: files below module_utils,
# and nodes of their syntax. Each call pays for it (docs/dev/performance.md), so it is raised for a reason only.
MOST_AT_START = {
    "fleet_restart*": (139, 155_000),
    "cluster_rolling_restart*": (143, 166_000),
    "*_restart": (119, 129_500),
    "*_info": (69, 53_000),
    "*": (80, 68_500),
}


@cache
def nodes_of(path: Path) -> int:
    return sum(1 for _node in ast.walk(ast.parse(path.read_text())))


def compiled_at_start(path: Path) -> set[Path]:
    """Files below module_utils that a module imports, directly or by way of others, before it runs."""
    found: set[Path] = set()
    todo = [path]
    while todo:
        names = inside(todo.pop(), walk=at_start)
        todo += (new := {PLUGINS / f"{name.replace('.', '/')}.py" for name in names} - found)
        found |= new
    return found


@pytest.mark.parametrize("path", sources(PLUGINS, "modules"), **each)
def test_an_ordinary_module_compiles_no_more_than_it_may(path):
    most_files, most_nodes = next(most for name, most in MOST_AT_START.items() if fnmatch(path.stem, name))
    files = compiled_at_start(path)
    assert len(files) <= most_files
    assert sum(map(nodes_of, files)) <= most_nodes


# What only a wait, a refusal, a failure or an option needs.
AT_USE = {
    *("_waiting.await_tasks", "_waiting.failure_report", "_waiting.progress", "_restart.aftermath"),
    *("_restart.start_proof", "_health.health_gate", "_targets.arbitration", "_parameters.wanted_parameters"),
    *("_journal.shared_journal", "_journal.journal_url", "_ocp.connection_errors", "_module.refusal_notes"),
    *("_rolling.fleet_plan", "_restart.many_restarts"),
}


def test_a_restart_that_goes_well_compiles_nothing_for_waits_and_failures():
    files = compiled_at_start(PLUGINS / "modules/server_restart.py")
    assert {dotted(file, PLUGINS / "module_utils") for file in files} & AT_USE == set()


def test_an_import_at_use_is_no_import_at_start(tmp_path):
    (tmp_path / "file.py").write_text(
        "from .here import x\nif TYPE_CHECKING:\n    from .types import X\n"
        "class C:\n    from .inner import y\n    def f():\n        from .there import z\n"
    )
    assert imports(tmp_path / "file.py", tmp_path, walk=at_start) == {".here.x", ".inner.y"}


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
        ("module_utils/_base/text.py", "from .._waiting import poll_pauses", {"module_utils._waiting"}),
        ("module_utils/_base/text.py", "from ...plugin_utils import _in_process", {"plugin_utils"}),
        ("module_utils/_base/text.py", "from .clock import Clock", set()),
        ("module_utils/_base/clock.py", "from .text import label", set()),
        ("module_utils/_waiting/poll_pauses.py", "from .._base.text import label", set()),
        ("plugin_utils/_in_process.py", "from ..module_utils._base.text import label", set()),
    ],
    ids=["upwards", "to the top", "beside", "beside, the other way", "down", "down from the top"],
)
def test_an_import_upwards_is_found(file, line, found, tmp_path):
    for path in LAYERS[0].files():
        copy = tmp_path / path.relative_to(PLUGINS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(f"{line}\n" if path == PLUGINS / file else "")
    assert misplaced(tmp_path / file, LAYERS[0], tmp_path) == found


def test_a_circle_is_found(tmp_path):
    for one, other in (("here", "there"), ("there", "here")):
        (tmp_path / f"{one}.py").write_text(f"from .{other} import x\n")
    files = {path.stem: inside(path, tmp_path) for path in sources(tmp_path)}
    with pytest.raises(CycleError):
        list(TopologicalSorter(files).static_order())
