# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The filters that show tasks, used in playbooks, and the page as a browser sees it."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
import yaml
from documentation_blocks import EXAMPLE_URL, SECRETS, blocks

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Root may start it, and it looks for nothing on the network.
HEADLESS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HOSTILE = "<script>document.title='broken'</script> {{ 6 * 7 }} \x1b[31m\u202e"


@pytest.fixture
def browse(tmp_path):
    """Open a page in a headless browser; returns the document as it then is."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip(f"none of {', '.join(BROWSERS)} is installed")

    def browse(page):
        command = [browser, *HEADLESS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout

    return browse


@pytest.fixture
def failed_restart(ansible, emulator, tmp_path):
    """What the playbook of the page leaves when the restart fails: its outcome, and the page it wrote."""
    emulator.fail_subtask("Start observer process")
    [playbook] = blocks("docs/timeline.md", "yaml")
    plays = yaml.safe_load(playbook.replace(EXAMPLE_URL, emulator.url))
    plays[0]["vars"] = SECRETS
    return ansible.playbook(plays), tmp_path / "restart.html"


def test_timeline_page_playbook_runs(failed_restart):
    outcome, page = failed_restart
    assert outcome.rc != 0
    assert outcome.results["Restart a node"]["task"]["status"] == "FAILED"
    assert outcome.results["Write the page"]["changed"] is True
    table = outcome.results["Show the table"]["msg"]
    assert table[0] == "✗ Restart OB server 10.0.0.1:2882: FAILED"
    assert max(map(len, table)) <= 80
    assert [line.split()[:2] for line in table if re.match(r" +\d+ ", line)][3:6] == [
        ["4", "✓"],
        ["5", "✗"],
        ["6", "○"],
    ]
    assert page.read_text().startswith("<!doctype html>")


@pytest.mark.nightly
def test_a_browser_shows_as_many_bars_as_subtasks(failed_restart, browse):
    outcome, page = failed_restart
    subtasks = outcome.results["Restart a node"]["task"]["subtasks"]
    document = browse(page)
    marks = re.findall(r'<(?:rect|circle) class="bar (?:mark )?([\w-]+)"', document)
    assert len(subtasks) == 13
    assert marks == [step["status"].lower() for step in subtasks]


def test_hostile_name_is_escaped_in_the_browser(ansible, browse, tmp_path):
    page = tmp_path / "hostile.html"
    hostile = {"id": 1, "name": HOSTILE, "status": "FAILED"}
    failed = {"id": 2, "status": "FAILED", "description": HOSTILE, "log_tail": HOSTILE * 1000}
    (tmp_path / "task.json").write_text(yaml.safe_dump({**hostile, "subtasks": [failed]}))
    read = f"lookup('ansible.builtin.file', '{tmp_path / 'task.json'}') | from_yaml"
    content = f"{{{{ {read} | oceanbase.ocp.task_timeline }}}}"
    outcome = ansible.tasks({"ansible.builtin.copy": {"content": content, "dest": str(page), "mode": "0644"}})
    assert outcome.rc == 0, outcome.output
    document = browse(page)
    assert "<script" not in document
    assert (
        "<title>&lt;script&gt;document.title='broken'&lt;/script&gt; {{ 6 * 7 }} \\x1b[31m\\u202e</title>" in document
    )
    assert document.count('class="bar ') == 1


def test_error_for_a_non_task_names_the_filter(ansible):
    outcome = ansible.tasks({"ansible.builtin.debug": {"msg": "{{ 'one' | oceanbase.ocp.task_table }}"}})
    assert outcome.rc != 0
    output = outcome.output.replace("\n", " ")
    assert "oceanbase.ocp.task_table: a value of type str is not a task; give a task" in output
