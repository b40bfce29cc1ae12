# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How files of a zip are found and compiled."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base import zip_imports

FILES = {
    "bundle/__init__.py": "",
    "bundle/zip_imports.py": Path(zip_imports.__file__).read_text(),
    "bundle/deep/__init__.py": "from .leaf import NAME\n",
    "bundle/deep/leaf.py": "NAME = __name__, __file__\n",
}
COUNTED = """
import builtins, collections, sys
compiled, compile_it = collections.Counter(), builtins.compile
def counting(source, name, *args, **options):
    compiled[str(name).replace(chr(92), "/").partition(".zip/")[2]] += 1
    return compile_it(source, name, *args, **options)
builtins.compile = counting
sys.path.insert(0, sys.argv[1])
"""


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as bundle:
        for name, text in FILES.items():
            bundle.writestr(name, text)
    return path


def run(archive, code):
    """What a Python of its own prints, with the zip on its path, ``compiled`` counting."""
    command = [sys.executable, "-c", COUNTED + code, str(archive)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.split()


def test_a_file_of_the_zip_is_compiled_once(archive):
    code = "import bundle.zip_imports, bundle.deep\n"
    code += "print(*(compiled[f'bundle/deep/{name}.py'] for name in ('__init__', 'leaf')))"
    assert run(archive, code) == ["1", "1"]


def test_names_and_files_are_those_of_plain_imports(archive):
    code = "import bundle.deep as it\nprint(*it.NAME, it.__file__, *it.__path__, it.__package__, it.__spec__.origin)"
    assert run(archive, f"import bundle.zip_imports\n{code}") == run(archive, code)


def test_what_is_not_in_the_zip_is_not_found_there(archive):
    code = "try:\n    import bundle.deep.absent\nexcept ModuleNotFoundError as error:\n    print(error.name)"
    code = f"import bundle.zip_imports\n{code}"
    assert run(archive, code) == ["bundle.deep.absent"]


def test_without_a_zip_nothing_is_changed():
    assert zip_imports.ZipFinder not in sys.meta_path
    assert zip_imports.ZipFinder.find_spec("json.decoder", __import__("json").__path__) is None
