# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The bill of materials of a release, in the form of CycloneDX."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import yaml
from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement

RANGE = "oceanbase.ocp:version-range"


def bill_of_materials(collection: Path, sha256: str, made: datetime) -> str:
    """CycloneDX 1.6 as JSON: the collection with the SHA-256 of its tarball, and what it needs, with version ranges.

    The tarball holds no library, so there are no versions to name. What the emulator alone needs is optional.
    """
    galaxy = yaml.safe_load((collection / "galaxy.yml").read_text())
    runtime = yaml.safe_load((collection / "meta/runtime.yml").read_text())
    name = f"{galaxy['namespace']}.{galaxy['name']}"
    root = Component(
        name=name,
        version=galaxy["version"],
        description=galaxy["description"],
        type=ComponentType.LIBRARY,
        bom_ref=name,
        purl=PackageURL("generic", galaxy["namespace"], galaxy["name"], galaxy["version"]),
        licenses=[LicenseFactory().make_with_expression(" AND ".join(sorted(galaxy["license"])))],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)],
        external_references=[ExternalReference(type=ExternalReferenceType.VCS, url=XsUri(galaxy["repository"]))],
    )
    needed = [
        _library(f"ansible-core{runtime['requires_ansible']}", ComponentScope.REQUIRED),
        *(_library(line, ComponentScope.REQUIRED) for line in _lines(collection / "requirements.txt")),
        *(
            _library(line, ComponentScope.OPTIONAL)
            for line in _lines(collection / "roles/emulator/files/requirements.txt")
        ),
    ]
    bom = Bom(
        # The same tarball has the same bill.
        serial_number=uuid5(NAMESPACE_URL, sha256),
        metadata=BomMetaData(component=root, timestamp=made),
        components=needed,
    )
    bom.register_dependency(root, needed)
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _lines(requirements: Path) -> list[str]:
    lines = (line.partition("#")[0].strip() for line in requirements.read_text().splitlines())
    return [line for line in lines if line]


def _library(line: str, scope: ComponentScope) -> Component:
    requirement = Requirement(line)
    return Component(
        name=requirement.name,
        type=ComponentType.LIBRARY,
        scope=scope,
        bom_ref=requirement.name,
        purl=PackageURL("pypi", None, requirement.name),
        properties=[Property(name=RANGE, value=str(requirement.specifier))],
    )
