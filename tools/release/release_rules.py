# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What a release may contain: which version may follow, and which sections of the changelog it may have."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from packaging.version import Version

# What nothing but a newer release of each kind may have, by semantic versioning. Every release may have the others.
NEEDS_MINOR = ("major_changes", "minor_changes", "deprecated_features")
NEEDS_MAJOR = ("breaking_changes", "removed_features")
# Nobody has used what the first release could break, deprecate, remove or fix.
NEEDS_EARLIER_RELEASE = ("breaking_changes", "deprecated_features", "removed_features", "security_fixes", "bugfixes")

# The sections of each fragment, by its file name: {"quorum.yml": {"minor_changes": [...]}}.
Fragments = Mapping[str, Mapping[str, Any]]


def kind(version: str) -> str:
    """``major``, ``minor`` or ``patch``; a pre-release is of the kind of its release."""
    _major, minor, patch = Version(version).release
    if patch:
        return "patch"
    return "minor" if minor else "major"


def leftover(version: str, names: Collection[str]) -> str | None:
    """Why fragments that stay behind refuse the version, or None if there are none."""
    if not names:
        return None
    return (
        f"changelogs/fragments would still have {', '.join(sorted(names))} after {version}; a newer version needs them."
    )


def wrong_version(version: str, released: Collection[str]) -> str | None:
    """Why the version cannot follow those that are released, or None."""
    newest = max(map(Version, released), default=None)
    if newest is not None and Version(version) <= newest:
        return f"{version} is not newer than {newest}, the newest release in changelogs/changelog.yaml."
    return None


def wrong_section(version: str, fragments: Fragments, released: Collection[str]) -> str | None:
    """Why a release of this version cannot have one of the fragments, or None."""
    for name, sections in sorted(fragments.items()):
        for section in sections:
            if not released and section in NEEDS_EARLIER_RELEASE:
                return (
                    f"changelogs/fragments/{name} has {section}, but nothing was released before {version}; "
                    "the first release tells what there is, in major_changes and minor_changes."
                )
            needed = _needed(section)
            if kind(version) in _lower(needed):
                return (
                    f"changelogs/fragments/{name} has {section}, which needs a {needed} version; "
                    f"{version} is a {kind(version)} version."
                )
    return None


def wrong_novelty(version: str, novelties: Collection[str]) -> str | None:
    """Why a release of this version cannot have something new, such as ``module fleet_restart``, or None."""
    if novelties and kind(version) == "patch":
        return f"{', '.join(sorted(novelties))}: new, which needs a minor version; {version} is a patch version."
    return None


def _needed(section: str) -> str:
    if section in NEEDS_MAJOR:
        return "major"
    return "minor" if section in NEEDS_MINOR else "patch"


def _lower(needed: str) -> tuple[str, ...]:
    order = ("patch", "minor", "major")
    return order[: order.index(needed)]
