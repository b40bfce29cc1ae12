# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""docs/dev/contract.md lists every call, parameter, field, status word, error code and task that the code relies on.

What the code relies on is read from its sources: those of the plugins as text, those of the emulator as it runs.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/dev/contract.md"
PLUGINS = ROOT / "plugins/module_utils"
OCP = PLUGINS / "_ocp"
EMULATOR = ROOT / "roles/emulator/files/ocp_emulator"
CAMEL_CASE = re.compile(r"[a-z]+[A-Z]\w*")
CODE = re.compile(r"`([^`]+)`")


def emulator() -> SimpleNamespace:
    """What this test needs of the emulator. Imported late: no run of the fast tests is to pay for it."""
    from ocp_emulator.base.compatibility import CHOICES, PROFILES, Switches
    from ocp_emulator.serve.app import create_app
    from ocp_emulator.service import Settings

    return SimpleNamespace(
        choices=CHOICES, profiles=PROFILES, switches=Switches, create_app=create_app, settings=Settings
    )


# The page


@dataclass(frozen=True)
class Row:
    """A row of a table: ``kind`` is what its first column is called, ``names`` what stands there as code."""

    section: str
    kind: str
    line: str
    names: tuple[str, ...]
    cells: dict[str, str]

    def concerns(self, side: str) -> bool:
        return self.cells.get("used by") in (side, "both")


@dataclass(frozen=True)
class Page:
    rows: list[Row]
    forms: dict[str, str]  # of the emulator, each with the section that tells its fields

    def of(self, *kinds: str, side: str | None = None, section: str | None = None) -> Iterator[Row]:
        for row in self.rows:
            if row.kind in kinds and (not side or row.concerns(side)) and section in (None, row.section):
                yield row

    def names(self, *kinds: str, side: str | None = None, section: str | None = None) -> set[str]:
        return {name for row in self.of(*kinds, side=side, section=section) for name in row.names}


def read(text: str) -> Page:
    rows: list[Row] = []
    forms: dict[str, str] = {}
    section, head = "", []
    for line in text.splitlines():
        if line.startswith("## "):
            section = line[3:]
        if line.startswith("Forms: "):
            forms.update(dict.fromkeys(CODE.findall(line), section))
        if not line.startswith("|"):
            head = []
            continue
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if not head:
            head = cells
        elif not line.startswith("|-"):
            told = dict(zip(head, cells, strict=True))
            rows.append(Row(section, head[0], line, tuple(CODE.findall(cells[0])), told))
    return Page(rows, forms)


# The plugins


@cache
def parsed(folder: Path) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in sorted(folder.rglob("*.py"))}


def trees(folder: Path) -> list[ast.Module]:
    return list(parsed(folder).values())


@cache
def nodes(folder: Path) -> dict[type[ast.AST], list[ast.AST]]:
    by_type: dict[type[ast.AST], list[ast.AST]] = {}
    for tree in trees(folder):
        for node in ast.walk(tree):
            by_type.setdefault(type(node), []).append(node)
    return by_type


def found(folder: Path, kind: type[ast.AST]) -> Iterator[Any]:
    return (node for each, there in nodes(folder).items() if issubclass(each, kind) for node in there)


def defined(folder: Path, name: str) -> ast.ClassDef:
    [only] = [node for node in found(folder, ast.ClassDef) if node.name == name]
    return only


def with_class(folder: Path, name: str) -> ast.Module:
    [only] = [tree for tree in trees(folder) if any(getattr(node, "name", None) == name for node in tree.body)]
    return only


def constants(tree: ast.AST, kind: type) -> dict[str, Any]:
    """Of a file, what it gives a name in capitals to, if it is of this kind."""
    return {
        node.targets[0].id: node.value.value
        for node in ast.iter_child_nodes(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        if node.targets[0].id.isupper() and isinstance(node.value.value, kind)
    }


def is_called(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name


def anonymous(path: str) -> str:
    return re.sub(r"\{\w*\}", "{}", path)


@cache
def calls_sent() -> frozenset[str]:
    """Method and path of every request of OcpApi and its kin, with {} for what is filled in."""
    names = ("OcpApi", "TaskList", "SignReads", "ParameterCalls", "ObProxyCalls", "InspectionCalls", "ServiceReads")
    classes = [defined(PLUGINS, name) for name in names]
    methods = [node for each in classes for node in each.body if isinstance(node, ast.FunctionDef)]
    return frozenset(call for method in methods for call in calls_of(method))


def calls_of(method: ast.FunctionDef) -> Iterator[str]:
    local: dict[str, str] = {}
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            local[node.targets[0].id] = text_of(node.value, local)
    verbs = {"post": "POST", "_start": "POST", "put": "PUT"}
    sent = [verb for name, verb in verbs.items() if any(is_called(node, name) for node in ast.walk(method))]
    # A part of another string has been read with the whole of it.
    parts = {id(part) for node in ast.walk(method) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(method):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in parts:
            path = text_of(node, local)
            if re.match(r"/\w", path):
                yield f"{sent[0] if sent else 'GET'} {path}"


def text_of(node: ast.AST, local: dict[str, str]) -> str:
    """A string with the ``local`` variables in it, and {} for what else is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, local) for part in node.values)
    inner = node.value if isinstance(node, ast.FormattedValue) else node
    return local.get(getattr(inner, "id", ""), "{}")


def reads_answers(path: Path, tree: ast.Module) -> bool:
    """The journal reads its own records, and files that import Ansible read options."""
    imported = (str(node.module) for node in tree.body if isinstance(node, ast.ImportFrom))
    return path.parent.name != "_journal" and not any(name.startswith("ansible.") for name in imported)


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def keys_read(tree: ast.Module) -> Iterator[str]:
    """Names of fields and parameters as the texts of a file have them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and CAMEL_CASE.fullmatch(str(node.value)):
            yield node.value
        if is_called(node, "tasks"):
            yield from (word.arg for word in node.keywords if word.arg)
    yield from (key.value for key in keys_asked(tree, ast.Constant) if re.fullmatch(r"[a-z]+", str(key.value)))


def keys_asked(tree: ast.Module, kind: type[ast.expr]) -> list[Any]:
    """The first arguments of ``get``, of one kind, but for those of parts of results."""
    calls = (node for node in ast.walk(tree) if is_called(node, "get"))
    read = [(call, call.func.value) for call in calls]
    keys = (
        call.args[0]
        for call, asked in read
        if getattr(asked, "attr", "") != "facts" and getattr(asked, "id", "") not in RETURNED
    )
    return [key for key in keys if isinstance(key, kind)]


def pattern_of(key: ast.JoinedStr) -> str:
    return "".join(part.value if isinstance(part, ast.Constant) else r"\w+" for part in key.values)


# Variables that hold a part of what a module is given or returns.
RETURNED = {"batch", "facts", "given", "params", "progress", "result", "safety"}


@cache
def keys_of_plugins() -> tuple[frozenset[str], list[str]]:
    """Names of parameters sent and of fields read, and patterns of names that are put together."""
    readers = [tree for path, tree in parsed(PLUGINS).items() if reads_answers(path, tree)]
    names = {name for tree in readers for name in keys_read(tree)}
    patterns = [pattern_of(key) for tree in readers for key in keys_asked(tree, ast.JoinedStr)]
    [own_rule] = [
        ast.literal_eval(node.value)
        for node in with_class(OCP, "Subtask").body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Set)
    ]
    for name in ("Task", "Subtask"):
        fields = {node.target.id for node in defined(OCP, name).body if isinstance(node, ast.AnnAssign)}
        names.update(camel(each) for each in fields - own_rule)
    for node in ast.walk(defined(PLUGINS, "OcpApi")):
        if isinstance(node, ast.Dict):
            names.update(key.value for key in node.keys if isinstance(key, ast.Constant))
    # The first of these is the number of tasks asked for, the second the id they begin above.
    [tasks] = [node for node in defined(PLUGINS, "TaskList").body if getattr(node, "name", "") == "tasks"]
    own = {argument.arg for argument in tasks.args.args}
    return frozenset(names - own), patterns


@cache
def texts_of_plugins() -> frozenset[str]:
    return frozenset(node.value for node in found(ROOT / "plugins", ast.Constant) if isinstance(node.value, str))


# The emulator


@dataclass
class Served:
    """What the emulator serves, whatever its switches."""

    rights: dict[str, str] = field(default_factory=dict)  # by call
    parameters: dict[str, set[str]] = field(default_factory=dict)  # by call, in the query or in the body
    fields: dict[str, set[str]] = field(default_factory=dict)  # by form
    words: set[str] = field(default_factory=set)
    headers: set[str] = field(default_factory=set)
    tasks: dict[str, set[str]] = field(default_factory=dict)  # steps by name, for each way of doing it


def settings(known: SimpleNamespace) -> Iterator[Any]:
    """The profiles, and as many other sets of switches as it takes to have each value of each."""
    yield from known.profiles.values()
    for number in range(max(map(len, known.choices.values()))):
        yield known.switches(**{name: values[min(number, len(values) - 1)] for name, values in known.choices.items()})


@cache
def served() -> Served:
    known, told = emulator(), Served()
    for switches in settings(known):
        app = known.create_app(known.settings(switches=switches))
        document = app.openapi()
        app.state.service.close()
        schemas = document["components"]["schemas"]
        for path, operations in document["paths"].items():
            if not path.startswith("/emulator"):
                for method, operation in operations.items():
                    note(told, f"{method.upper()} {path}", operation, schemas)
    for name, module in sys.modules.items():
        for value in vars(module).values() if name.startswith("ocp_emulator.") else ():
            if type(value).__name__ == "Blueprint":
                told.tasks.setdefault(value.task_name, set()).add(steps_of(value))
    return told


def steps_of(blueprint: Any) -> str:
    each = (f"{step.description} {step.timeout}{' each' if step.split else ''}" for step in blueprint.steps)
    return "; ".join(each)


def note(told: Served, call: str, operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    told.rights[call] = operation.get("x-permission", "none")
    names = told.parameters.setdefault(call, set())
    names.update(each["name"] for each in operation.get("parameters", ()) if each["in"] == "query")
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = content["schema"]
        names.update(schema.get("items", schema)["properties"])
    for answer in operation["responses"].values():
        told.headers.update(answer.get("headers", ()))
        note_forms(told, answer, schemas)


def note_forms(told: Served, node: Any, schemas: dict[str, Any]) -> None:
    """Go through a schema and all that it refers to."""
    if isinstance(node, list):
        for each in node:
            note_forms(told, each, schemas)
    elif isinstance(node, dict):
        told.words.update(word for word in [*node.get("enum", ()), node.get("const")] if isinstance(word, str))
        name = str(node.get("$ref", "")).rpartition("/")[2]
        # A generic form has what it holds behind its name.
        form = name.partition("_")[0]
        fields = told.fields.setdefault(form, set()) if form else set()
        new = set(schemas[name].get("properties", ())) - fields if name else set()
        if name and (new or name not in told.fields):
            fields |= new
            told.fields.setdefault(name, fields)
            note_forms(told, schemas[name], schemas)
        note_forms(told, [value for key, value in node.items() if key != "$ref"], schemas)


# What the page lacks, or tells too much


def calls(page: Page) -> list[str]:
    """Every call served or sent is there, for whom it is, and nothing else."""
    rows = {name: row for row in page.of("call") for name in row.names}
    serving = {name for name, row in rows.items() if row.concerns("emulator")}
    sending = {anonymous(name) for name, row in rows.items() if row.concerns("plugins")}
    rights = {name: rows[name].cells["right"].strip("`") for name in serving & served().rights.keys()}
    return [
        *(f"{call} is served" for call in served().rights.keys() - serving),
        *(f"{call} is not served" for call in serving - served().rights.keys()),
        *(f"{call} is sent" for call in calls_sent() - sending),
        *(f"{call} is not sent" for call in sending - calls_sent()),
        *(f"{call} needs {served().rights[call]}" for call in rights if rights[call] != served().rights[call]),
    ]


def keys(page: Page) -> list[str]:
    """Every field read and every parameter sent by the plugins is there, and nothing is said to be that is not."""
    known, patterns = keys_of_plugins()
    told = page.names("field", "parameter", side="plugins")
    read_so = {name for name in told for pattern in patterns if re.fullmatch(pattern, name)}
    unread = told - known - read_so
    return [*(f"{name} is read" for name in known - told), *(f"{name} is not read" for name in unread)]


def forms(page: Page) -> list[str]:
    """Every field and every parameter of the emulator is in its section, and nothing is said to be that is not."""
    names = {form for form in served().fields if "_" not in form}
    wrong = [f"no section has the form {form}" for form in names - page.forms.keys()]
    wrong += [f"the form {form} is not served" for form in page.forms.keys() - names]
    for section in {row.section for row in page.rows}:
        fields = set().union(*(served().fields[form] for form in names if page.forms.get(form) == section))
        here = page.names("call", side="emulator", section=section)
        parameters = set().union(*(served().parameters.get(call, ()) for call in here))
        for kind, there in (("field", fields), ("parameter", parameters)):
            told = page.names(kind, side="emulator", section=section)
            wrong += [f"{section}: {kind} {name} is served" for name in there - told]
            wrong += [f"{section}: {kind} {name} is not served" for name in told - there]
    return wrong


def words(page: Page) -> list[str]:
    """Every status and right of the emulator is there, and those of the plugins are theirs."""
    told = page.names("word")
    unknown = page.names("word", side="plugins") - texts_of_plugins()
    there = served().words | set(served().rights.values()) - {"none"}
    return [*(f"{word} is served" for word in there - told), *(f"{word} is not read" for word in unknown)]


def headers(page: Page) -> list[str]:
    """Every header of the rate limit is there, and those of the plugins are theirs."""
    read_here = {text for text in texts_of_plugins() if text.startswith("RateLimit-")}
    told = page.names("header")
    unknown = page.names("header", side="plugins") - texts_of_plugins()
    return [*(f"{name} is used" for name in (served().headers | read_here) - told), *(f"no {name}" for name in unknown)]


def codes(page: Page) -> list[str]:
    """Every error code of the emulator is there, by its number."""
    there = {str(code) for code in constants(with_class(EMULATOR, "ApiError"), int).values()}
    told = page.names("code", side="emulator")
    return [f"code {code}" for code in there ^ told]


def tasks(page: Page) -> list[str]:
    """Every task is there with its steps in order and their time-outs, and those that the plugins know by name."""
    told: dict[str, set[str]] = {}
    for row in page.of("task", side="emulator"):
        told.setdefault(row.names[0], set()).add(row.cells["steps"])
    known = {
        value for tree in trees(PLUGINS) for name, value in constants(tree, str).items() if name.endswith("_RESTART")
    }
    return [
        *(
            f"{name}: other steps"
            for name in served().tasks.keys() | told
            if served().tasks.get(name) != told.get(name)
        ),
        *(f"{name} is known by name" for name in known ^ page.names("task", side="plugins")),
    ]


def switches(page: Page) -> list[str]:
    """Every switch of the emulator is there."""
    return [f"switch {name}" for name in emulator().choices.keys() ^ page.names("switch")]


CHECKS: tuple[Callable[[Page], list[str]], ...] = (calls, keys, forms, words, headers, codes, tasks, switches)
NEEDS_EMULATOR = pytest.mark.slow


@NEEDS_EMULATOR
@pytest.mark.parametrize(
    "check",
    [pytest.param(check, id=check.__name__, marks=pytest.mark.nightly if check is calls else ()) for check in CHECKS],
)
def test_the_page_tells_what_the_code_relies_on(check):
    assert sorted(check(read(PAGE.read_text()))) == []


def test_the_page_tells_what_the_plugins_rely_on():
    assert sorted(keys(read(PAGE.read_text()))) == []


def test_every_row_tells_where_it_is_known_from_how_sure_and_who_uses_it():
    page = read(PAGE.read_text())
    legend = {kind: page.names(kind) for kind in ("source", "sure", "used by")}
    counted = 0
    for row in page.rows:
        if row.kind in legend:
            continue
        counted += 1
        assert all(cell.strip() for cell in row.cells.values()), row.line
        assert row.cells["sure"] in legend["sure"], row.line
        assert row.cells["used by"] in legend["used by"], row.line
        sources = {source.strip() for source in row.cells["source"].split(",")}
        assert sources <= legend["source"], row.line
    assert counted > 100


def test_the_headings_that_code_cites_are_there():
    headings = set(re.findall(r"^## (.+)$", PAGE.read_text(), re.MULTILINE))
    cited = {
        (path.name, heading)
        for folder in ("plugins", "roles", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for heading in re.findall(r'docs/dev/contract\.md, "([\w -]+)"', path.read_text())
    }
    assert [citation for citation in cited if citation[1] not in headings] == []


@NEEDS_EMULATOR
@pytest.mark.nightly
def test_a_row_that_is_taken_away_is_missed():
    text = PAGE.read_text()
    page = read(text)
    unmissed = []
    # What the plugins alone use may stand anywhere.
    for row in page.of("call", "field", "parameter", "code", "task", "switch", side="emulator"):
        without = read(text.replace(f"{row.line}\n", "", 1))
        if not any(check(without) for check in CHECKS):
            unmissed.append(row.line)
    assert unmissed == []


@NEEDS_EMULATOR
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        pytest.param("word", "CANCELING", id="a status"),
        pytest.param("header", "RateLimit-Reset", id="a header"),
        pytest.param("code", "10003", id="an error code"),
        pytest.param("call", "GET /api/v2/time", id="a call"),
        pytest.param("field", "degradedLsIdList", id="a field"),
        pytest.param("parameter", "cluterName", id="a parameter"),
    ],
)
def test_a_name_that_is_changed_is_missed(kind, name):
    text = PAGE.read_text()
    assert name in read(text).names(kind)
    assert any(check(read(text.replace(f"`{name}`", f"`{name}x`"))) for check in CHECKS)
