# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""An ordinary module compiles each file of its zip once; Python alone compiles it to find it, and again to run it.

Importing this file is enough. It changes nothing where the collection is not in a zip, as in the controller's process.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pkgutil import get_importer
from zipimport import ZipImportError, zipimporter


class ZipFinder:
    """Finds the modules of packages that are in a zip; the zip's own importer then loads them."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, _target: object = None) -> ModuleSpec | None:
        """Where the module ``name`` of the package with the folders ``path`` is; None unless that is in a zip."""
        for folder in path or ():
            importer = get_importer(folder)
            if not isinstance(importer, zipimporter):
                return None
            try:
                is_package = importer.is_package(name)
            except ZipImportError:
                continue
            file = f"{folder}/{name.rpartition('.')[2]}{'/__init__' if is_package else ''}.py"
            # With the file given, the importer is not asked for it, for which it would compile the file.
            return spec_from_file_location(
                name, file, loader=importer, submodule_search_locations=[] if is_package else None
            )
        return None


if __spec__ is not None and isinstance(__spec__.loader, zipimporter):
    sys.meta_path.insert(0, ZipFinder)
