# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What `make recordings` writes, and the page that it writes into."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

REPOSITORY = Path(__file__).parents[3]
PAGE = (REPOSITORY / "docs" / "progress.md").read_text()
BLOCKS = dict(
    re.findall(r"<!-- recording: (\w+) -->\n```text\n(.*?)^```\n<!-- end -->", PAGE, re.MULTILINE | re.DOTALL)
)


@pytest.fixture(scope="module")
def record():
    """The command, which has no suffix, as a module."""
    return SimpleNamespace(**runpy.run_path(str(REPOSITORY / "tools" / "record")))


def test_the_page_has_every_recording(record):
    assert BLOCKS.keys() == record.RECORDINGS.keys()
    assert PAGE.count("<!-- recording:") == len(BLOCKS)


@pytest.mark.parametrize("name", BLOCKS)
def test_block_shows_no_absolute_path(name):
    assert re.findall(r"(?:^|\s)/\w.*", BLOCKS[name], re.MULTILINE) == []


def test_collection_path_is_shown_as_installed(record):
    shown = record.as_installed("included: /srv/x y\nincluded: /srv/x/ansible_collections/oceanbase/ocp/a.yml for z\n")
    assert (
        shown == "included: /srv/x y\nincluded: ~/.ansible/collections/ansible_collections/oceanbase/ocp/a.yml for z\n"
    )


def test_recorded_playbooks_are_on_the_page(record):
    for recording in record.RECORDINGS.values():
        [play] = yaml.safe_load(record.playbook(PAGE, recording.playbook))
        assert play["tasks"]
    with pytest.raises(SystemExit, match="no playbook nothing"):
        record.playbook(PAGE, "nothing.yml")


def test_one_block_is_replaced_and_the_rest_stays(record):
    page = record.replaced(PAGE, "failure", "a \\1 new text\n")
    assert page.replace("a \\1 new text\n", BLOCKS["failure"]) == PAGE
    assert record.replaced(PAGE, "failure", BLOCKS["failure"]) == PAGE
    with pytest.raises(SystemExit, match="no block nothing"):
        record.replaced(PAGE, "nothing", "")


def test_shown_output_is_shortened_and_wrapped(record):
    items = "".join(f"changed: [localhost] => (item={item})\n" for item in range(5))
    output = f'TASK\n{items}ok\n{"x" * 170}\n\nfatal: [localhost]: FAILED! => {{"msg": "long"}}\n\n'
    assert record.shown(output).splitlines() == [
        "TASK",
        "changed: [localhost] => (item=0)",
        "changed: [localhost] => (item=1)",
        "...",
        "ok",
        "x" * 80,
        "x" * 80,
        "x" * 10,
        "",
        "fatal: [localhost]: FAILED! => {...}",
    ]
