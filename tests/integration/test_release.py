# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""`make release`: the same bytes from the same sources, the files beside the tarball, and the tree left alone."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import tarfile
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest
import yaml
from packaging.requirements import Requirement
from release_tree import SUMMARY, release, sources, tag
from repository import REPOSITORY

# Nobody but a release needs it, and `make first-steps` builds a tarball.
pytestmark = pytest.mark.nightly

DAY = "2026-05-04"
EPOCH = "1777852800"  # that day, 00:00 UTC
TARBALL = "oceanbase-ocp-1.0.0.tar.gz"
WHEEL = "ocp_emulator-1.0.0-py3-none-any.whl"
FILES = [TARBALL, f"{TARBALL}.sha256", f"{TARBALL}.cdx.json", WHEEL, f"{WHEEL}.sha256"]


def built(root: Path, *arguments: str, **environment: str) -> Path:
    done = release(root, "1.0.0", *arguments, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f".build/release/1.0.0/{name}" for name in FILES]
    return root / ".build/release/1.0.0" / TARBALL


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return sources(tmp_path_factory.mktemp("sources"), first=SUMMARY)


@pytest.fixture(scope="module")
def tarball(tree):
    before = state(tree)
    made = built(tree, SOURCE_DATE_EPOCH=EPOCH)
    assert state(tree) == before
    return made


def state(tree: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(tree)): path.read_bytes()
        for path in tree.rglob("*")
        if path.is_file() and not {".build", ".git", "__pycache__"} & set(path.relative_to(tree).parts)
    }


def test_same_sources_build_identical_files(tarball, tmp_path):
    other = sources(tmp_path, first=SUMMARY)
    for path in other.rglob("*.py"):
        os.utime(path, (1, 1))
    # Written again, which changes the order in which a folder lists them on many file systems.
    for path in sorted((other / "plugins/modules").iterdir(), reverse=True):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    before = os.umask(0o077)
    try:
        again = built(other, SOURCE_DATE_EPOCH=str(int(EPOCH) + 86_399))
    finally:
        os.umask(before)
    for name in FILES:
        assert again.with_name(name).read_bytes() == tarball.with_name(name).read_bytes(), name


def test_tarball_shows_neither_builder_nor_build_time(tarball):
    with tarfile.open(tarball) as archive:
        members = archive.getmembers()
    assert {(m.mtime, m.uid, m.gid, m.uname, m.gname) for m in members} == {(int(EPOCH), 0, 0, "", "")}
    assert [m.name for m in members] == sorted(m.name for m in members)
    assert {m.mode for m in members} <= {0o644, 0o755}
    with gzip.open(tarball) as packed:
        packed.peek(1)
        assert packed.mtime == int(EPOCH)


@pytest.mark.parametrize("file", [TARBALL, WHEEL])
def test_checksum_matches_the_file(tarball, file):
    digest, name = tarball.with_name(f"{file}.sha256").read_text().split()
    assert (digest, name) == (hashlib.sha256(tarball.with_name(file).read_bytes()).hexdigest(), file)


def test_wheel_has_all_of_the_emulator_and_nothing_else(tarball):
    package = tarball.parent / "ansible_collections/oceanbase/ocp/roles/emulator/files/ocp_emulator"
    code = {f"ocp_emulator/{path.relative_to(package)}" for path in package.rglob("*") if path.is_file()}
    info = "ocp_emulator-1.0.0.dist-info"
    with ZipFile(tarball.with_name(WHEEL)) as wheel:
        names = {name for name in wheel.namelist() if not name.startswith(f"{info}/")}
        metadata = Parser().parsestr(wheel.read(f"{info}/METADATA").decode())
        assert wheel.read(f"{info}/licenses/LICENSE") == (REPOSITORY / "LICENSE").read_bytes()
    assert names == code
    assert (metadata["Name"], metadata["Version"]) == ("ocp-emulator", "1.0.0")
    required = {Requirement(line) for line in metadata.get_all("Requires-Dist") if "extra ==" not in line}
    lines = (package.parent / "requirements.txt").read_text().splitlines()
    assert required == {Requirement(line) for line in lines if not line.startswith("#")}


def test_bill_of_materials_lists_collection_and_requirements(tarball):
    bill = json.loads(Path(f"{tarball}.cdx.json").read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    collection = bill["metadata"]["component"]
    assert (collection["name"], collection["version"]) == ("oceanbase.ocp", "1.0.0")
    assert collection["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(tarball.read_bytes()).hexdigest()}]
    needed = {part["name"]: part["scope"] for part in bill["components"]}
    assert needed.items() >= {"ansible-core": "required", "requests": "required", "fastapi": "optional"}.items()
    [whole] = [entry for entry in bill["dependencies"] if entry["ref"] == "oceanbase.ocp"]
    assert sorted(whole["dependsOn"]) == sorted(needed)


def test_tarball_installs_with_its_version_and_changelog(tarball, executables, tmp_path):
    subprocess.run(
        [executables / "ansible-galaxy", "collection", "install", "--force", tarball, "-p", tmp_path],
        env={"PATH": str(executables), "HOME": str(tmp_path)},
        check=True,
        capture_output=True,
    )
    installed = tmp_path / "ansible_collections/oceanbase/ocp"
    assert json.loads((installed / "MANIFEST.json").read_text())["collection_info"]["version"] == "1.0.0"
    assert 'VERSION = "1.0.0"' in (installed / "roles/emulator/files/ocp_emulator/__init__.py").read_text()
    assert "## v1\\.0\\.0" in (installed / "CHANGELOG.md").read_text()
    changes = yaml.safe_load((installed / "changelogs/changelog.yaml").read_text())["releases"]["1.0.0"]
    assert str(changes["release_date"]) == DAY
    assert changes["changes"]["release_summary"]
    assert (installed / "LICENSES/GPL-3.0-or-later.txt").read_text() == (REPOSITORY / "LICENSE").read_text()


def test_applied_release_rebuilds_to_the_same_bytes(tarball, tmp_path):
    tree = sources(tmp_path, first=SUMMARY)
    first = built(tree, "--apply", SOURCE_DATE_EPOCH=EPOCH).read_bytes()
    assert "\nversion: 1.0.0\n" in (tree / "galaxy.yml").read_text()
    assert '\nVERSION = "1.0.0"\n' in (tree / "roles/emulator/files/ocp_emulator/__init__.py").read_text()
    assert list((tree / "changelogs/fragments").iterdir()) == []
    # From the tag: no fragments left, and no word of the date but the changelog's.
    tag(tree, "1.0.0")
    assert built(tree).read_bytes() == first == tarball.read_bytes()
