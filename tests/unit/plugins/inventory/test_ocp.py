# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The inventory plugin accepts what it documents, and connects like the modules."""

from __future__ import annotations

import pytest
import yaml
from ansible_collections.oceanbase.ocp.plugins.inventory import ocp
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.connection_options import CONNECTION_OPTIONS

DOCUMENTED = yaml.safe_load(ocp.DOCUMENTATION)["options"]


def test_connection_options_match_the_modules():
    assert DOCUMENTED.keys() == {"plugin", "hosts", "host_names", "filters", *CONNECTION_OPTIONS}


@pytest.mark.parametrize("option", CONNECTION_OPTIONS)
def test_environment_variables_match_the_modules(option):
    assert [variable["name"] for variable in DOCUMENTED[option]["env"]] == CONNECTION_OPTIONS[option]["fallback"][1]


def test_every_filter_is_documented():
    described = " ".join(DOCUMENTED["filters"]["description"])
    assert DOCUMENTED["hosts"]["choices"] == [*ocp.KINDS]
    assert [name for kind in ocp.KINDS.values() for name in kind.filters if f"C({name})" not in described] == []


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("fleet.ocp.yml", True),
        ("ocp.yaml", True),
        ("fleet.yml", False),
        ("ocp.json", False),
        ("fleet.ocp.yml.bak", False),
    ],
)
def test_only_ocp_yaml_files_are_accepted(name, own, tmp_path):
    path = tmp_path / name
    path.write_text("")
    assert ocp.InventoryModule().verify_file(str(path)) is own


def test_missing_file_is_not_accepted(tmp_path):
    assert ocp.InventoryModule().verify_file(str(tmp_path / "ocp.yml")) is False
