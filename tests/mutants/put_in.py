# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Puts a mutant into a process: into its functions where they are, or else into its module when that is imported."""

from __future__ import annotations

import gc
import importlib.abc
import importlib.util
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from ansible_collections.oceanbase.ocp.tests.mutants.draw import Mutant
from ansible_collections.oceanbase.ocp.tests.mutants.keys import ROOT

COLLECTION = "ansible_collections.oceanbase.ocp"
Functions = dict[tuple[str, str, int], list[FunctionType]]


def functions_there() -> Functions:
    """The functions of this process by file below ``ROOT``, name, and which of that name in the order of lines."""
    found: Functions = defaultdict(list)
    numbers: dict[tuple[str, CodeType], tuple[str, str, int]] = {}
    functions = [each for each in gc.get_objects() if isinstance(each, FunctionType)]
    for path in {each.__code__.co_filename for each in functions}:
        file = _below_root(path)
        if file is not None:
            codes = _codes(compile(Path(path).read_text(), path, "exec"))
            numbers.update(((path, code), (file, *name)) for name, code in codes.items())
    for each in functions:
        place = numbers.get((each.__code__.co_filename, each.__code__))
        if place is not None:
            found[place].append(each)
    return found


def put_in_place(mutant: Mutant, functions: Functions) -> bool:
    """Whether the functions of a mutant could be changed where they are: it differs in nothing but functions."""
    old, new = (compile(text, str(mutant.path), "exec") for text in (mutant.path.read_text(), mutant.source))
    before, after = _codes(old), _codes(new)
    if _outside(old) != _outside(new) or before.keys() != after.keys():
        return False
    changed = [name for name, code in before.items() if code != after[name]]
    found = [(each, after[name]) for name in changed for each in functions.get((mutant.key.file, *name), ())]
    if not found or any(len(each.__code__.co_freevars) != len(code.co_freevars) for each, code in found):
        return False
    for each, code in found:
        each.__code__ = code
    return True


def put_into_import(mutant: Mutant) -> None:
    """Forget all modules of the collection, so that they are imported anew, and one of them as the mutant."""
    for name in [*sys.modules]:
        if name.startswith((COLLECTION, "tests.")):
            del sys.modules[name]
    name = ".".join((COLLECTION, "plugins.module_utils", *mutant.key.file.removesuffix(".py").split("/")))
    sys.meta_path.insert(0, _Finder(name, mutant))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, name: str, mutant: Mutant) -> None:
        self._name, self._mutant = name, mutant

    def find_spec(self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, self._mutant.path, loader=self)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self._mutant.source, str(self._mutant.path), "exec"), module.__dict__)


def _below_root(path: str) -> str | None:
    head, found, tail = path.rpartition("/plugins/module_utils/")
    return tail if found and (ROOT / tail).exists() and Path(head).resolve() == ROOT.parents[1] else None


def _codes(module: CodeType) -> dict[tuple[str, int], CodeType]:
    """The code of each function of a module, by its name and which of that name it is."""
    found: dict[tuple[str, int], CodeType] = {}
    for code in _inner(module):
        number = sum(name == code.co_qualname for name, _number in found)
        found[code.co_qualname, number] = code
    return found


def _inner(code: CodeType) -> Iterator[CodeType]:
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _inner(part)


def _outside(module: CodeType) -> list[object]:
    """What runs of a module when it is imported."""
    bodies = [module, *(code for code in _inner(module) if not code.co_flags & 0x2)]
    return [(body.co_qualname, body.co_code, body.co_names, _constants(body.co_consts)) for body in bodies]


def _constants(values: Iterable[object]) -> list[object]:
    return [(type(value), repr(value)) for value in values if not isinstance(value, CodeType)]
