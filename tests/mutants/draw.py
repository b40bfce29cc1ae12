# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""All mutants of the deciding code that the operators of cosmic-ray make, without those that change nothing."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from ansible_collections.oceanbase.ocp.tests.mutants.keys import ROOT, Key
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator
from parso.tree import NodeOrLeaf

# Of the operators of cosmic-ray those that leave a program which makes sense. The others make a TypeError of a set or
# of a status: bits are shifted, names are compared by "less than", decorators of classes are taken away.
OPERATORS = (
    *("AddNot", "ReplaceUnaryOperator_Delete_Not", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "NumberReplacer"),
    *("ReplaceComparisonOperator_Is_IsNot", "ReplaceComparisonOperator_IsNot_Is"),
    *("ReplaceComparisonOperator_Eq_NotEq", "ReplaceComparisonOperator_NotEq_Eq"),
    *("ReplaceComparisonOperator_Lt_LtE", "ReplaceComparisonOperator_Lt_GtE"),
    *("ReplaceComparisonOperator_LtE_Lt", "ReplaceComparisonOperator_LtE_Gt"),
    *("ReplaceComparisonOperator_Gt_GtE", "ReplaceComparisonOperator_Gt_LtE"),
    *("ReplaceComparisonOperator_GtE_Gt", "ReplaceComparisonOperator_GtE_Lt"),
    *("ReplaceBinaryOperator_BitOr_BitAnd", "ReplaceBinaryOperator_BitOr_Sub", "ReplaceBinaryOperator_BitAnd_BitOr"),
    *("ReplaceBinaryOperator_Add_Sub", "ReplaceBinaryOperator_Sub_Add"),
    *("ReplaceBinaryOperator_Mul_Div", "ReplaceBinaryOperator_Div_Mul", "ReplaceBinaryOperator_FloorDiv_Mul"),
    *("ReplaceUnaryOperator_USub_UAdd", "ZeroIterationForLoop", "ExceptionReplacer"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak"),
)
# What makes nothing but words for people: other tests than those of the rules read these.
WORDS = frozenset(
    {
        *("Proof.awaited", "Proof.gap", "Proof.lost_processes"),
        *("ValuesSeen.words", "ValuesSeen.lines", "ValuesSeen._words_of", "_pairs"),
        *("refusal_words", "allowing_options", "_outage_words", "_others_down", "_words", "_place", "Caps._words"),
        *("obstacle_words", "ways_past", "_unaided_words", "_coded", "OwnRestart.label", "_label", "_status_words"),
        *("Trouble.words", "allowing_words", "_backup_words", "_restore_words", "alarm_words", "exceeded_words"),
        "Search.last_look",
    }
)
TOP = "-"
STARRED = ("parameters", "param", "arglist", "argument")


@dataclass(frozen=True)
class Mutant:
    """A mutant, and the code of its whole file; ``lines`` are those of the statement that differs, from 1."""

    key: Key
    source: str
    lines: range
    before: str
    after: str

    @property
    def path(self) -> Path:
        """Its file."""
        return ROOT / self.key.file

    @property
    def words(self) -> str:
        """As people read it."""
        return f"{self.key.file}:{self.lines.start} {self.key.definition}\n  - {self.before}\n  + {self.after}"


def mutants_of(file: str) -> list[Mutant]:
    """The mutants of a file below ``ROOT``: of those with the same bytecode the first, none with that of the file."""
    source = (ROOT / file).read_text()
    return [mutant for unit in _units(source) for mutant in _mutants_of(file, source, unit)]


def _mutants_of(file: str, source: str, unit: Unit) -> Iterator[Mutant]:
    there = ast.parse(unit.code)
    seen, counts = {meaning(unit.code)}, Counter[tuple[str, str]]()
    for operator, line, changed in _changed(unit.code):
        definition = ".".join(filter(None, [unit.name, *_definition(there, line)])) or TOP
        if definition in WORDS:
            continue
        counts[definition, operator] += 1
        found_meaning = meaning(changed)
        if found_meaning in seen:
            continue
        seen.add(found_meaning)
        before, after = _difference(unit.code, changed)
        digest = hashlib.sha256(f"{before}\n{after}".encode()).hexdigest()[:8]
        key = Key(file, definition, operator, counts[definition, operator], digest)
        lines = _statement(there, line)
        at = range(lines.start + unit.first - 1, lines.stop + unit.first - 1)
        yield Mutant(key, unit.replaced(source, changed), at, before, after)


@dataclass(frozen=True)
class Unit:
    """A function, or another statement of a module or of the class ``name``, from the line ``first`` on.

    Of a class, its decorators and bases are left out. ``code`` has no indentation.
    """

    name: str
    first: int
    last: int
    indent: str
    code: str

    @classmethod
    def of(cls, name: str, node: ast.stmt, lines: Sequence[str]) -> Unit:
        """The unit of a statement."""
        decorators = getattr(node, "decorator_list", ())
        first = min(each.lineno for each in (*decorators, node))
        last = node.end_lineno or node.lineno
        indent = " " * node.col_offset
        code = "".join(line.removeprefix(indent) for line in lines[first - 1 : last])
        return cls(name, first, last, indent, code)

    def replaced(self, source: str, code: str) -> str:
        """A whole file, with other code in its place."""
        lines = source.splitlines(keepends=True)
        new = (self.indent + line if line.strip() else line for line in code.splitlines(keepends=True))
        return "".join((*lines[: self.first - 1], *new, *lines[self.last :]))


def _units(source: str) -> Iterator[Unit]:
    lines = source.splitlines(keepends=True)
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            yield from (Unit.of(node.name, each, lines) for each in node.body)
        else:
            yield Unit.of("", node, lines)


def meaning(source: str) -> Hashable:
    """What Python runs of this code: without places, annotations and docstrings; None if it does not compile."""
    try:
        tree = _Bare().visit(ast.parse(source))
        return _meaning(compile(ast.fix_missing_locations(tree), "", "exec", optimize=2))
    except (SyntaxError, ValueError):
        return None


def _meaning(code: CodeType) -> Hashable:
    parts = tuple(_meaning(part) if isinstance(part, CodeType) else (type(part), repr(part)) for part in code.co_consts)
    return code.co_qualname, code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_flags, parts


class _Bare(ast.NodeTransformer):
    """Without annotations: with ``from __future__ import annotations`` nothing runs them."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant("")
        return self.generic_visit(node)


def _changed(source: str) -> Iterator[tuple[str, int, str]]:
    """Each operator with the line of each place where it applies, and the code with that change."""
    tree = get_ast(source)
    # A star in a signature or a call is no product.
    nodes = [node for node in ast_nodes(tree) if not _is_star(node)]
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        for node in nodes:
            for index, (position, _end) in enumerate(list(operator.mutation_positions(node))):
                yield name, position[0], _with_change(tree, node, operator, index)
                if tree.get_code() != source:
                    raise AssertionError(f"{name} at {position} was not taken back.")


def _is_star(node: NodeOrLeaf) -> bool:
    return node.type == "operator" and node.parent is not None and node.parent.type in STARRED


def _with_change(tree: NodeOrLeaf, node: NodeOrLeaf, operator: Operator, index: int) -> str:
    """The code with one change, which is taken back: to parse anew for each takes a hundred times as long."""
    siblings = node.parent.children if node.parent else []
    place = next((number for number, each in enumerate(siblings) if each is node), None)
    kept = [(each, dict(_fields(each))) for each in ast_nodes(node)]
    changed = operator.mutate(node, index)
    if place is not None:
        siblings[place : place + 1] = [] if changed is None else [changed]
    code = tree.get_code()
    if place is not None:
        siblings[place : place + (changed is not None)] = [node]
    for each, fields in kept:
        for name, value in fields.items():
            setattr(each, name, value)
    return code


def _fields(node: NodeOrLeaf) -> Iterator[tuple[str, object]]:
    for name in ("value", "prefix", "parent"):
        if hasattr(node, name):
            yield name, getattr(node, name)
    if hasattr(node, "children"):
        yield "children", list(node.children)


def _difference(source: str, changed: str) -> tuple[str, str]:
    """The first line that differs, before and after."""
    pairs = zip(source.splitlines(), changed.splitlines(), strict=False)
    before, after = next((old, new) for old, new in pairs if old != new)
    return before.strip(), after.strip()


def _definition(tree: ast.Module, line: int) -> list[str]:
    """The names of the functions or classes with this line."""
    names, body = [], tree.body
    while True:
        inner = next((each for each in body if _is_definition(each) and line in _span(each)), None)
        if inner is None:
            return names
        names.append(inner.name)
        body = inner.body


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.ClassDef)


def _statement(tree: ast.Module, line: int) -> range:
    """The lines of the innermost statement with this line; of one that contains others, its head."""
    found = range(line, line + 1)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and line in _span(node):
            body = getattr(node, "body", None)
            head = range(node.lineno, body[0].lineno) if body else _span(node)
            if line in head and (len(head) < len(found) or line not in found or len(found) == 1):
                found = head
    return found


def _span(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)
