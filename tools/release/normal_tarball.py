# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What makes two tarballs of the same files equal: order, times, owners."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path

FILES, MANIFEST = "FILES.json", "MANIFEST.json"


def normalise(tarball: Path, mtime: int) -> None:
    """Write the tarball anew: members and list of files in order of name, all of one time (epoch seconds) and no owner.

    ansible-galaxy lists files as the file system happens to give them, so the list is ordered and its checksum renewed.
    """
    with tarfile.open(tarball) as archive:
        members = {member.name: (member, _content(archive, member)) for member in archive.getmembers()}
    files = json.loads(members[FILES][1])
    files["files"].sort(key=lambda entry: entry["name"])
    _replace(members, FILES, files)
    manifest = json.loads(members[MANIFEST][1])
    manifest["file_manifest_file"]["chksum_sha256"] = hashlib.sha256(members[FILES][1]).hexdigest()
    _replace(members, MANIFEST, manifest)
    with (
        tarball.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=mtime) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for name in sorted(members):
            member, content = members[name]
            archive.addfile(_plain(member, mtime), io.BytesIO(content))


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member) if member.isfile() else None
    return file.read() if file else b""


def _replace(members: dict[str, tuple[tarfile.TarInfo, bytes]], name: str, document: object) -> None:
    member = members[name][0]
    content = json.dumps(document, indent=True).encode()
    member.size = len(content)
    members[name] = (member, content)


def _plain(member: tarfile.TarInfo, mtime: int) -> tarfile.TarInfo:
    member.mtime = mtime
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    member.pax_headers = {}
    return member
