# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Where the program Receptor comes from: a package of Debian, pinned by its hash; what is said where there is none."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

VERSION = "1.5.5"
PACKAGE = "1.5.5-1+b2"
SUITE = "trixie"
MIRROR = "http://deb.debian.org/debian"
# By the machine, its name in Debian and the hash of the package.
HASHES = {
    "x86_64": ("amd64", "cfa19b1bc73e31842b0cdd6811c2d1847b29b04b98f3129758d8b9711930c691"),
    "aarch64": ("arm64", "38309893bca0b62477d330701acaa50d9c9c2895171080d043f07cfceac9bc89"),
}
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# If a network does not answer, do not wait for minutes.
_OPTIONS = (
    *("Dir::Etc::sourcelist=/dev/null", "Acquire::Retries=1", "Acquire::http::Timeout=20"),
    *("Acquire::https::Timeout=20", "APT::Update::Error-Mode=any", "Acquire::Languages=none"),
)


class NotToBeHad(Exception):
    """Receptor cannot be had here; the text is one sentence for a person."""


def fetch_package(folder: Path, mirror: str) -> Path:
    """The package, from ``folder`` if it is there, else by apt-get from ``mirror``. Raises NotToBeHad.

    Nothing of the system is changed: apt-get gets lists and a cache of its own. It checks the signature of the mirror
    where the keys of Debian are installed; the hash is checked in any case.
    """
    machine = platform.machine()
    if platform.system() != "Linux" or machine not in HASHES:
        raise _not_to_be_had(f"there is none for {platform.system()} on {machine}")
    architecture, expected = HASHES[machine]
    package = folder / f"receptor_{PACKAGE}_{architecture}.deb"
    if package.is_file() and _hash(package) == expected:
        return package
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise _not_to_be_had(f"there is no {program} here")
    _download(folder, mirror, architecture)
    if not package.is_file():
        raise _not_to_be_had(f"{mirror} has no package {package.name}")
    if (found := _hash(package)) != expected:
        package.unlink()
        raise _not_to_be_had(f"{package.name} from {mirror} has the SHA-256 {found}, not {expected}")
    return package


def unpack(package: Path, folder: Path) -> Path:
    """The program in the package, unpacked below ``folder``. Raises NotToBeHad if it does not run here."""
    _run(["dpkg-deb", "--extract", str(package), str(folder)], "the package cannot be unpacked")
    program = folder / "usr/bin/receptor"
    _run([str(program), "--version"], "the program does not run here")
    return program


def _download(folder: Path, mirror: str, architecture: str) -> None:
    sources, lists, cache = (folder / name for name in ("sources", "lists", "cache"))
    for made in (sources, lists / "partial", cache / "archives/partial"):
        made.mkdir(parents=True, exist_ok=True)
    signed = f"Signed-By: {KEYRING}\n" if Path(KEYRING).exists() else ""
    (sources / "mesh.sources").write_text(f"Types: deb\nURIs: {mirror}\nSuites: {SUITE}\nComponents: main\n{signed}")
    folders = (f"Dir::Etc::sourceparts={sources}", f"Dir::State::lists={lists}", f"Dir::Cache={cache}")
    given = (*_OPTIONS, *folders, f"APT::Architecture={architecture}")
    command = ["apt-get", "--quiet", *(f"--option={option}" for option in given)]
    try:
        _run([*command, "update"], f"{mirror} cannot be read", folder)
        _run([*command, "download", f"receptor={PACKAGE}"], f"{mirror} does not offer it", folder)
    finally:
        for made in (sources, lists, cache):
            shutil.rmtree(made)


def _run(command: Sequence[str], problem: str, folder: Path | None = None) -> None:
    environment = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line[2:].strip() for line in done.stderr.splitlines() if line.startswith(("E:", "W:"))]
        words = next(iter([*lines, *reversed(done.stderr.splitlines())]), f"exit code {done.returncode}")
        raise _not_to_be_had(f"{problem} ({words.strip().rstrip('.')})")


def _hash(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


def _not_to_be_had(reason: str) -> NotToBeHad:
    # The address of a mirror may have a password in it.
    shown = re.sub(r"://[^/@\s]*@", "://", reason)
    return NotToBeHad(
        f"make mesh needs Receptor {PACKAGE} of Debian {SUITE}, and cannot get it: {shown}; nothing was started."
    )
