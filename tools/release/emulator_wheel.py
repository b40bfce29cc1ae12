# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Build the wheel of the emulator: ``python tools/release/emulator_wheel.py COLLECTION FOLDER``.

COLLECTION is a copy of the collection. The same sources and SOURCE_DATE_EPOCH give the same bytes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

FILES = "roles/emulator/files"
BEGINNING_OF_ZIP = "315532800"  # 1980, before which a file in a ZIP cannot be


def emulator_wheel(collection: Path, folder: Path, epoch: str | None = None) -> Path:
    """Build the wheel in the folder, where it replaces any other; returns its path. Exits if the build fails."""
    for old in folder.glob("ocp_emulator-*.whl"):
        old.unlink()
    with TemporaryDirectory() as temporary:
        # What the build writes beside its sources is no part of the collection.
        sources = Path(temporary, "sources")
        shutil.copytree(collection / FILES, sources)
        shutil.copy(collection / "LICENSE", sources)
        _build(sources, folder, epoch or os.environ.get("SOURCE_DATE_EPOCH", BEGINNING_OF_ZIP))
    [wheel] = folder.glob("ocp_emulator-*.whl")
    return wheel


def _build(sources: Path, folder: Path, epoch: str) -> None:
    build = [sys.executable, "-m", "uv", "build", "--wheel", "--no-build-isolation", "--offline", "--no-config"]
    done = subprocess.run(
        [*build, "--python", sys.executable, "--out-dir", folder.resolve(), "--no-create-gitignore", sources],
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
        # The modes of the files in the wheel follow from it.
        umask=0o022,
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"emulator_wheel: the build failed.\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    print(os.path.relpath(emulator_wheel(Path(sys.argv[1]), Path(sys.argv[2]))))
