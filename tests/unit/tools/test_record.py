# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What `make recordings` writes, and the page that it writes into."""

from __future__ import annotations

import re
import runpy
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

REPOSITORY = Path(__file__).parents[3]
PAGE = (REPOSITORY / "docs" / "progress.md").read_text()
README = (REPOSITORY / "README.md").read_text()
STATUS = (REPOSITORY / "docs" / "ocp-status.md").read_text()


def recorded(page):
    block = r"<!-- recording: (\w+) -->\n```text\n(.*?)^```\n<!-- end -->"
    return dict(re.findall(block, page, re.MULTILINE | re.DOTALL))


BLOCKS, README_BLOCKS, STATUS_BLOCKS = recorded(PAGE), recorded(README), recorded(STATUS)
NIGHT_BLOCKS = recorded((REPOSITORY / "docs" / "approved-plan.md").read_text())


@pytest.fixture(scope="module")
def record():
    """The command, which has no suffix, as a module."""
    return SimpleNamespace(**runpy.run_path(str(REPOSITORY / "tools" / "record")))


def test_the_page_has_every_recording(record):
    assert BLOCKS.keys() == record.RECORDINGS.keys()
    assert PAGE.count("<!-- recording:") == len(BLOCKS)


def test_readme_has_every_command_with_its_recording(record):
    assert README_BLOCKS.keys() == record.README_RECORDINGS.keys()
    for name, recording in record.README_RECORDINGS.items():
        assert README_BLOCKS[name].startswith(f"$ {recording.command}\n")
    assert len(README_BLOCKS["restart"].splitlines()) == 1 + 10
    # What a failure returns is shown as it is printed.
    assert "{...}" not in README_BLOCKS["failed"]
    assert len(README_BLOCKS["failed"].splitlines()) <= 46


def test_status_page_has_the_output_of_the_playbook(record):
    assert STATUS_BLOCKS.keys() == record.STATUS_RECORDINGS.keys()
    for name, recording in record.STATUS_RECORDINGS.items():
        assert STATUS_BLOCKS[name].startswith(f"$ {recording.command}\n")


def test_page_on_approved_plans_has_each_command_of_the_night_shift(record):
    said = re.findall(r"^(\w{3} \d\d:\d\d \$ .*)$", NIGHT_BLOCKS[record.NIGHTS], re.MULTILINE)
    assert said == [f"{('Mon', 'Tue', 'Wed')[days]} {at} $ {command}" for days, at, command, _pause in record.SHIFTS]
    assert len(record.NIGHT_SHIFT.read_text().splitlines()) <= 25


@pytest.mark.parametrize(
    ("now", "monday"),
    [
        ("2026-11-29T13:00:00+01:00", "2026-11-30"),
        ("2026-11-30T00:00:01+01:00", "2026-12-07"),
        # Not in the blackout of the example.
        ("2026-12-07T13:00:00+01:00", "2027-01-11"),
    ],
)
def test_night_shift_begins_on_a_monday_to_come(record, now, monday):
    assert record.next_monday(datetime.fromisoformat(now)).isoformat()[:16] == f"{monday}T00:00"


EVERY_BLOCK = {**BLOCKS, **README_BLOCKS, **STATUS_BLOCKS, **NIGHT_BLOCKS}


@pytest.mark.parametrize("text", EVERY_BLOCK.values(), ids=EVERY_BLOCK)
def test_block_shows_no_absolute_path(text):
    assert re.findall(r"(?:^|\s)/\w.*", text, re.MULTILINE) == []


def test_brief_output_has_the_ends_of_steps_and_result(record):
    steps = "".join(f"  1001  {number}/5 ok x\n" for number in range(1, 6))
    output = (
        f'$ ansible\n  1001 (x) RUNNING 0/5\n{steps}  1001 (x) SUCCESSFUL\nlocalhost | CHANGED => {{\n    "a": 1,\n'
    )
    shown = ["  1001 (x) SUCCESSFUL", "localhost | CHANGED => {", "    ...", '    "b": 2', "}"]
    brief = record.brief(f'{output}    "b": 2\n}}\n').splitlines()
    assert brief == ["$ ansible", "  1001 (x) RUNNING 0/5", "  1001  1/5 ok x", "  ...", "  1001  5/5 ok x", *shown]
    failed = "$ ansible\n  1001 1/5 ok x\n[ERROR]: why\nOrigin: here\n\nmore\nlocalhost | FAILED! => {\n    1\n}\n"
    assert record.brief(failed) == "$ ansible\n  1001 1/5 ok x\n[ERROR]: why\n...\nlocalhost | FAILED! => {\n    1\n}\n"


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
        'fatal: [localhost]: FAILED! => {"msg": "long"}',
    ]
