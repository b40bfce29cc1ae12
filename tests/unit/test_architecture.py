# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Which imports docs/dev/architecture.md allows, and how long a function may be."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
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
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path, root: Path, *, walk: Callable[[ast.AST], Iterator[ast.AST]] = ast.walk) -> set[str]:
    """What a file imports, as dotted names; those of its own tree begin with a dot and the path from ``root``."""
    package = path.relative_to(root).parent.parts
    found: set[str] = set()
    for node in walk(tree_of(path)):
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


def found_in(paths: Iterable[Path], find: Callable[[Path], Any]) -> dict[str, Any]:
    """What is found in each file in which something is found."""
    return {name_of(path): found for path in paths if (found := find(path))}


@pytest.mark.parametrize("layers", LAYERS, ids=lambda layers: layers.heading)
def test_every_package_has_one_place_in_the_layers(layers):
    assert sorted(layers.order()) == sorted({layers.layer(dotted(path, layers.root)) for path in layers.files()})


@pytest.mark.parametrize("layers", LAYERS, ids=lambda layers: layers.heading)
def test_imports_go_down(layers):
    assert found_in(layers.files(), lambda path: misplaced(path, layers)) == {}


@pytest.mark.parametrize("root", [PLUGINS, EMULATOR], ids=lambda root: root.name)
def test_no_files_import_each_other_in_a_circle(root):
    files = {dotted(path, root): inside(path, root) for path in sources(root)}
    list(TopologicalSorter(files).static_order())


def test_files_that_the_page_names_are_there():
    folders = [ROOT, PLUGINS, PLUGINS / "module_utils", PLUGINS / "module_utils/_restart", EMULATOR]
    folders.append(ROOT / "tests/unit/support")
    named = set(re.findall(r"`([\w/]+\.(?:py|yml|md))`", PAGE))
    assert {name for name in named if not any((folder / name).is_file() for folder in folders)} == set()


def long_functions(path: Path) -> list[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = (node for node in ast.walk(tree_of(path)) if isinstance(node, kinds))
    return [each.name for each in functions if each.end_lineno - each.lineno >= LONGEST_FUNCTION]


def test_functions_are_short():
    assert found_in([*sources(PLUGINS), *sources(EMULATOR)], long_functions) == {}


def shadowed(path: Path) -> set[str]:
    """Variables of comprehensions that have the name of something in their file."""
    tree = tree_of(path)
    kinds = (ast.FunctionDef, ast.ClassDef)
    imported = {
        each.asname or each.name for node in tree.body if isinstance(node, ast.ImportFrom) for each in node.names
    }
    named = imported | {node.name for node in tree.body if isinstance(node, kinds)}
    targets = (node.target for node in ast.walk(tree) if isinstance(node, ast.comprehension))
    return {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)} & named


def test_no_comprehension_shadows_a_name_of_its_file():
    """Python 3.12.0 and 3.12.1 take one for the other: UnboundLocalError."""
    assert found_in([*sources(PLUGINS), *sources(EMULATOR)], shadowed) == {}


def test_a_shadowed_name_is_found(tmp_path):
    path = tmp_path / "file.py"
    path.write_text("def shown(): ...\nkeys = {key for key, shown in []}\n")
    assert shadowed(path) == {"shown"}


def test_only_the_bridge_imports_ansible_and_only_the_client_imports_http():
    allowed = {"_module": {"ansible"}, "_ocp": HTTP_LIBRARIES}

    def forbidden(path):
        named = outside(path) & {"ansible", "ansible_collections", PACKAGE, *HTTP_LIBRARIES}
        return named - allowed.get(path.parent.name, set())

    assert found_in(sources(PLUGINS, "module_utils"), forbidden) == {}


def folders_used(path: Path) -> set[str]:
    """The folders of plugins that a file imports from."""
    return {name.split(".")[0] for name in inside(path)}


def test_a_module_imports_module_utils_alone():
    modules = sources(PLUGINS, "modules")
    assert found_in(modules, lambda path: folders_used(path) ^ {"module_utils"}) == {}
    assert found_in(modules, lambda path: outside(path) & {"ansible", PACKAGE, *HTTP_LIBRARIES}) == {}


def first_of_its_own(path: Path) -> ast.ImportFrom:
    """The first import of a file that is one of the collection."""
    return next(node for node in tree_of(path).body if isinstance(node, ast.ImportFrom) and node.level)


def test_a_module_imports_the_bridge_first():
    """And the bridge ``zip_imports``, so that all other files are compiled once."""
    assert {first_of_its_own(path).module for path in sources(PLUGINS, "modules")} == {"module_utils._module.bridge"}
    own = first_of_its_own(PLUGINS / "module_utils/_module/bridge.py")
    assert (own.module, [each.name for each in own.names]) == ("_base", ["zip_imports"])


# What an ordinary module compiles before it does anything, by the first pattern that fits: files below module_utils,
# and nodes of their syntax. Each call pays for it (docs/dev/performance.md), so it is raised for a reason only.
MOST_AT_START = {
    "fleet_restart*": (140, 158_000),
    "cluster_rolling_restart*": (146, 172_000),
    "*_restart": (120, 133_000),
    "*_info": (69, 53_500),
    "*": (80, 70_000),
}


@cache
def nodes_of(path: Path) -> int:
    return sum(1 for _node in ast.walk(tree_of(path)))


def compiled_at_start(path: Path) -> set[Path]:
    """Files below module_utils that a module imports, directly or by way of others, before it runs."""
    found: set[Path] = set()
    todo = [path]
    while todo:
        names = inside(todo.pop(), walk=at_start)
        todo += (new := {PLUGINS / f"{name.replace('.', '/')}.py" for name in names} - found)
        found |= new
    return found


def beyond_ceiling(path: Path) -> str | None:
    """What a module compiles, if that is more than it may."""
    most_files, most_nodes = next(most for name, most in MOST_AT_START.items() if fnmatch(path.stem, name))
    files = compiled_at_start(path)
    nodes = sum(map(nodes_of, files))
    is_good = len(files) <= most_files and nodes <= most_nodes
    return None if is_good else f"{len(files)} files, {nodes} nodes of {most_files}, {most_nodes}"


def test_an_ordinary_module_compiles_no_more_than_it_may():
    assert found_in(sources(PLUGINS, "modules"), beyond_ceiling) == {}


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


def test_an_action_plugin_imports_its_module_alone():
    actions = sources(PLUGINS, "action")
    assert found_in(actions, lambda path: inside(path) ^ {f"modules.{path.stem}", "plugin_utils._in_process"}) == {}
    assert found_in(actions, lambda path: outside(path) ^ {"__future__"}) == {}


def test_controller_code_imports_no_module():
    files = sources(PLUGINS, "plugin_utils", "callback", "filter", "lookup")
    assert found_in(files, lambda path: folders_used(path) - {"module_utils", "plugin_utils"}) == {}
    assert found_in(files, lambda path: outside(path) & {PACKAGE, *HTTP_LIBRARIES}) == {}


def test_the_inventory_imports_only_options_of_modules():
    [path] = sources(PLUGINS, "inventory")
    used = {name for name in imports(path, PLUGINS) if name.startswith(".modules.")}
    assert {name.rpartition(".")[2] for name in used} <= {"OPTIONS"}
    assert outside(path).isdisjoint({PACKAGE, *HTTP_LIBRARIES})


def reached(paths: Iterable[Path]) -> set[Path]:
    """The files of the collection that some files import, directly or by way of others, and themselves."""
    found: set[Path] = set()
    todo = list(paths)
    while todo:
        if (file := todo.pop()) not in found:
            found.add(file)
            todo += [ROOT / f"{name.replace('.', '/')}.py" for name in inside(file, ROOT)]
    return found


def test_unit_tests_of_module_utils_run_without_the_controller():
    """``ansible-test units`` gives these tests the part of ansible-core that modules have."""

    def of_controller(path):
        return {name for name in imports(path, ROOT) if re.match(r"ansible\.(?!module_utils\b)", name)}

    assert found_in(reached(sources(ROOT, "tests/unit/plugins/module_utils")), of_controller) == {}


def test_the_emulator_imports_nothing_of_the_plugins():
    def of_plugins(path):
        named = {name.split(".")[0] for name in imports(path, EMULATOR) if not name.startswith(".")}
        return named & {"ansible", "ansible_collections", *HTTP_LIBRARIES}

    assert found_in(sources(EMULATOR), of_plugins) == {}


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
