# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Build the files of a release: ``python tools/release VERSION [--apply]``, from the root of the repository.

Everything happens to a copy, in .build/release/VERSION: there galaxy.yml and the emulator get the version, and the
fragments become the changelog. Beside the copy come the tarball with its SHA-256 and its bill of materials, and the
wheel of the emulator with its SHA-256. The date is that of SOURCE_DATE_EPOCH, or today's (UTC). The same sources and
date give the same bytes. A version that the changelog has already is built from its tag alone, with the date that the
changelog has. Nothing is tagged or published. With --apply the working tree gets version and changelog too.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import yaml
from bill_of_materials import bill_of_materials
from emulator_wheel import emulator_wheel
from new_objects import new_in, playbook_fragment, without_release
from normal_tarball import normalise
from packaging.version import InvalidVersion, Version
from release_rules import leftover, wrong_novelty, wrong_section, wrong_version

# As semantic versioning has them; build metadata would only make two releases look alike.
VERSION = re.compile(r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?")
SCRIPTS = Path(sysconfig.get_path("scripts"))
EMULATOR = "roles/emulator/files/ocp_emulator/__init__.py"
# The files that have the version.
STAMPED = {"galaxy.yml": "version: {}", EMULATOR: 'VERSION = "{}"'}
CHANGED = (*STAMPED, "CHANGELOG.md", "changelogs")


def main() -> None:
    """Build, and list the files."""
    parser = argparse.ArgumentParser(prog="release", description=__doc__.splitlines()[0])
    parser.add_argument("version")
    parser.add_argument("--apply", action="store_true")
    options = parser.parse_args()
    if not valid(options.version):
        sys.exit(f"release: VERSION={options.version} is not a semantic version; use one like 1.0.0 or 1.1.0-rc.1.")
    folder = Path(".build/release", options.version)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["tools/copy-collection", folder], check=True)
    copy = folder / "ansible_collections/oceanbase/ocp"
    released = release(copy, options.version)
    for path in artefacts(copy, folder, released):
        print(path)
    if options.apply:
        apply(copy)


def valid(version: str) -> bool:
    """Whether this is a version for Galaxy and for Python packages."""
    try:
        Version(version)
    except InvalidVersion:
        return False
    return VERSION.fullmatch(version) is not None


def release(copy: Path, version: str) -> date:
    """Give the copy its version and its changelog, if it does not have them yet; returns the date of the release."""
    for name, line in STAMPED.items():
        path = copy / name
        written = re.sub(f"^{line.format('.*')}$", line.format(version), path.read_text(), count=1, flags=re.MULTILINE)
        path.write_text(written)
    if version in releases(copy):
        refuse(leftover(version, fragments(copy)))
        if not at_tag(version):
            refuse(
                f"{version} is in changelogs/changelog.yaml already; check its tag out to build it again, "
                "or give a newer version."
            )
    else:
        write_changelog(copy, version)
    known = releases(copy)
    refuse(wrong_novelty(version, [name for names in new_in(known[version]).values() for name in names]))
    if missing := without_release(copy, known):
        refuse(f"no release calls {', '.join(missing)} new; is version_added {version}?")
    return date.fromisoformat(str(known[version]["release_date"]))


def write_changelog(copy: Path, version: str) -> None:
    """Turn the fragments of the copy into the changelog of a version that may follow."""
    known, there, folder = releases(copy), fragments(copy), copy / "changelogs/fragments"
    unread = {path.name for path in folder.glob("*")} - there.keys()
    refuse(leftover(version, unread) or wrong_version(version, known) or wrong_section(version, there, known))
    if not there:
        refuse(f"{version} has no changelog fragments and is not in changelogs/changelog.yaml.")
    if playbooks := playbook_fragment(copy, known):
        (folder / f"playbooks-{version}.yml").write_text(playbooks)
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    day = (datetime.fromtimestamp(int(epoch), UTC) if epoch else datetime.now(UTC)).date()
    run(copy, "antsibull-changelog", "release", "--version", version, "--date", day.isoformat())
    refuse(leftover(version, [path.name for path in folder.iterdir()]))
    # Neither comes back when the sources are taken from a tag.
    (copy / "changelogs/.plugin-cache.yaml").unlink(missing_ok=True)
    folder.rmdir()


def releases(copy: Path) -> dict[str, dict[str, Any]]:
    """The releases of the changelog, by version."""
    return yaml.safe_load((copy / "changelogs/changelog.yaml").read_text())["releases"]


def fragments(copy: Path) -> dict[str, dict[str, Any]]:
    """The sections of each fragment, by file name."""
    files = [path for ending in ("yml", "yaml") for path in (copy / "changelogs/fragments").glob(f"[!.]*.{ending}")]
    return {path.name: yaml.safe_load(path.read_text()) or {} for path in files}


def at_tag(version: str) -> bool:
    """Whether the working tree is the commit with the tag of this version, and nothing in it is changed."""
    return version in git("tag", "--points-at", "HEAD").split() and not git("status", "--porcelain")


def git(*arguments: str) -> str:
    """What git prints, which is nothing outside a repository."""
    return subprocess.run(["git", *arguments], check=False, capture_output=True, text=True).stdout


def refuse(reason: str | None) -> None:
    """Exit if there is a reason."""
    if reason:
        sys.exit(f"release: {reason}")


def artefacts(copy: Path, folder: Path, released: date) -> list[Path]:
    """The tarball, its checksum file and its bill of materials; the wheel of the emulator and its checksum file."""
    run(copy, "ansible-galaxy", "collection", "build", "--force", "--output-path", str(folder.resolve()))
    [tarball] = folder.glob("*.tar.gz")
    midnight = datetime.combine(released, time(), UTC)
    epoch = int(midnight.timestamp())
    normalise(tarball, epoch)
    digest, checksum = sha256(tarball)
    bill = tarball.with_name(f"{tarball.name}.cdx.json")
    bill.write_text(bill_of_materials(copy, digest, midnight))
    wheel = emulator_wheel(copy, folder, str(epoch))
    return [tarball, checksum, bill, wheel, sha256(wheel)[1]]


def sha256(file: Path) -> tuple[str, Path]:
    """The SHA-256 of a file, and the file beside it that says so."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    beside = file.with_name(f"{file.name}.sha256")
    beside.write_text(f"{digest}  {file.name}\n")
    return digest, beside


def apply(copy: Path) -> None:
    """Write the changes of a release into the working tree."""
    for name in CHANGED:
        if (copy / name).is_file():
            shutil.copy(copy / name, name)
            continue
        shutil.rmtree(name)
        shutil.copytree(copy / name, name)
    Path("changelogs/fragments").mkdir(exist_ok=True)


def run(copy: Path, command: str, *arguments: str) -> None:
    """Run a command of Ansible in the copy; its output is shown only if it fails."""
    # Found by its place, whatever else of that name is installed.
    found = {"ANSIBLE_COLLECTIONS_PATH": str(copy.resolve().parents[2])}
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [SCRIPTS / command, *arguments],
        cwd=copy,
        env={**os.environ, **found, "PATH": path},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"release: {command} failed.\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
