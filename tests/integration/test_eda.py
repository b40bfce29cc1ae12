# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Event-driven Ansible: the event source by itself, and the rulebook run by ansible-rulebook where it is installed."""

from __future__ import annotations

import asyncio
import html
import json
import os
import runpy
import shutil
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from credentials import ACCESS_KEY, BASIC
from repository import REPOSITORY

EXTENSION = REPOSITORY / "extensions/eda"
SOURCE = EXTENSION / "plugins/event_source/ocp_tasks.py"
EXAMPLE = REPOSITORY / "examples/eda/rulebook.yml"
RULEBOOKS = sorted((EXTENSION / "rulebooks").glob("*.yml"))
RESTART = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True, "wait": True}
with_rulebook = pytest.mark.skipif(find_spec("ansible_rulebook") is None, reason="make eda installs ansible-rulebook")

plugin = runpy.run_path(str(SOURCE))


def events(emulator, until, meanwhile=lambda: None, **options):
    """The events that the source puts, up to the one that ``until`` is true of, while something is done."""

    async def follow():
        queue = asyncio.Queue(maxsize=1)
        source = asyncio.create_task(plugin["main"](queue, {"url": emulator.url, "interval": 0.5, **BASIC, **options}))
        doing = asyncio.create_task(asyncio.to_thread(meanwhile))
        heard = []
        while not heard or not until(heard[-1]):
            put = asyncio.create_task(queue.get())
            done, _pending = await asyncio.wait({put, source}, return_when="FIRST_COMPLETED", timeout=30)
            assert done, heard
            if source in done:
                put.cancel()
                await source
            heard.append(json.loads(json.dumps(await put)))
        await doing
        source.cancel()
        with suppress(asyncio.CancelledError):
            await source
        return heard

    return asyncio.run(follow())


def restarted(emulator, times=1):
    """Restart a server so many times, as task 1001 and so on, and await each."""
    for number in range(1, times + 1):
        emulator.post("/api/v2/ob/clusters/1/servers/1/restart?freezeServer=true")
        while emulator.get(f"/api/v2/tasks/instances/{1000 + number}")["status"] == "RUNNING":
            time.sleep(0.01)


def finished(event):
    return event["change"] == "finished"


def test_failed_restart_emits_an_event_for_each_change(ansible, emulator):
    emulator.fail_subtask("Start observer process")
    [started, failed, ended] = events(
        emulator, finished, lambda: ansible.module("server_restart", url=emulator.url, **RESTART, **BASIC)
    )
    assert [event["change"] for event in (started, failed, ended)] == ["started", "subtask_failed", "finished"]
    assert {event["task"]["id"] for event in (started, failed, ended)} == {1001}
    assert started.keys() == {"change", "task", "subtask"}
    assert failed["subtask"]["description"] == "Start observer process"
    assert (started["subtask"], ended["subtask"]) == (None, None)
    assert (ended["task"]["status"], ended["task"]["succeeded"]) == ("FAILED", False)
    shown = ansible.module("task_info", url=emulator.url, task_id=1001, **BASIC)["tasks"][0]
    assert ended["task"].keys() == shown.keys()


def test_cluster_option_limits_events_to_its_tasks(ansible, emulator):
    payments = {**RESTART, "cluster": "payments", "server": "10.0.0.7:2882"}

    def restart_both():
        for options in (RESTART, payments):
            ansible.module("server_restart", url=emulator.url, **options, **BASIC)

    heard = events(emulator, finished, restart_both, cluster="payments")
    assert {event["task"]["cluster_name"] for event in heard} == {"payments"}


def test_newer_than_emits_events_of_past_tasks(emulator):
    restarted(emulator, times=2)
    heard = events(emulator, finished, newer_than=1001)
    assert [(event["change"], event["task"]["id"]) for event in heard] == [("started", 1002), ("finished", 1002)]


def test_cancelled_source_ends_without_waiting_for_the_next_poll(emulator):
    restarted(emulator)
    began = time.monotonic()
    events(emulator, finished, newer_than=0, interval=600)
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"access_key_id": "x", "access_key_secret": "y"}, "Both kinds of credentials are given"),
        ({"clusters": "orders"}, "clusters. Supported parameters include: "),
        ({"interval": 0.1}, "interval: 0.1 is out of range; give 0.5 to "),
        ({"interval": "often"}, "interval"),
        ({"name": ""}, "name: is empty"),
        ({"url": "ocp.example.com"}, "url: ocp.example.com is not the address of an OCP"),
        ({"validate_certs": "perhaps"}, "validate_certs"),
    ],
)
def test_error_names_the_bad_option_before_any_request(emulator, options, words):
    with pytest.raises(Exception, match=words) as refused:
        events(emulator, finished, **options)
    assert type(refused.value).__name__ == "OptionError"
    assert emulator.requests("GET") == []


def test_wrong_password_ends_the_source_after_one_request(emulator):
    with pytest.raises(Exception, match="401"):
        events(emulator, finished, password="wrong")
    assert len(emulator.requests("GET")) == 1


def test_source_survives_an_outage_with_one_warning(emulator, caplog):
    restarted(emulator)
    outage = {"kind": "http", "match": {"path": "/api/v2/tasks/*"}, "action": "error", "status": 503, "times": 7}
    emulator.post("/emulator/faults", outage)
    options = {"username": "", "password": "", **ACCESS_KEY, "newer_than": 1000}
    assert [event["change"] for event in events(emulator, finished, **options)] == ["started", "finished"]
    told = [record.message.split(":")[0] for record in caplog.records if record.message.startswith("Polling")]
    assert told == ["Polling the tasks failed; retrying", "Polling the tasks works again."]
    assert ACCESS_KEY["access_key_secret"] not in caplog.text


def test_unencrypted_password_causes_a_warning(emulator, caplog, monkeypatch):
    restarted(emulator)
    module = sys.modules[plugin["put_changes"].__module__]
    monkeypatch.setattr(module, "plaintext_password_warnings", lambda params: [f"Warned of {params['url']}."])
    events(emulator, finished, newer_than=1000)
    assert f"Warned of {emulator.url}." in caplog.text


def test_source_loads_where_no_collection_can_be_imported(tmp_path):
    installed = tmp_path / "collections/ansible_collections/oceanbase/ocp"
    for folder in ("plugins", "extensions"):
        shutil.copytree(REPOSITORY / folder, installed / folder, ignore=shutil.ignore_patterns("__pycache__"))
    # All that is installed here but ansible_collections.
    packages = tmp_path / "packages"
    packages.mkdir()
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if package.name != "ansible_collections":
            (packages / package.name).symlink_to(package)
    source = installed / SOURCE.relative_to(REPOSITORY)
    code = f"import runpy; print(runpy.run_path({str(source)!r})['put_changes'].__code__.co_filename)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env={"PYTHONPATH": str(packages), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip().startswith(str(installed)), done.stderr


def test_source_options_are_documented():
    documented = yaml.safe_load(plugin["DOCUMENTATION"])["options"]
    module = sys.modules[plugin["put_changes"].__module__]
    own = {name: spec for name, spec in module.OPTIONS.items() if name not in module.CONNECTION_OPTIONS}
    kinds = ("type", "default")
    assert {
        name: {kind: option[kind] for kind in kinds if kind in option} for name, option in documented.items()
    } == own


# The playbook that the rulebook runs


@pytest.mark.parametrize("folder", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_report_playbook_reports_a_task(ansible, emulator, tmp_path, folder):
    emulator.fail_subtask("Start observer process")
    restarted(emulator)
    ansible.environment = {"OCP_URL": emulator.url, "OCP_USERNAME": "admin", "OCP_PASSWORD": "ocp-demo-1"}
    given = f" -e task_report_folder={tmp_path}" if folder else ""
    outcome = ansible.playbook("oceanbase.ocp.task_report", arguments=f"-e task_report_id=1001{given}")
    assert outcome.rc == 0, outcome.output
    assert "Restart OB server 10.0.0.1: FAILED" in outcome.output
    page = tmp_path / "task-1001.html"
    assert page.is_file() is folder
    for words in ("ERROR subtask 50006: failed", "task_id=1001 state=retried"):
        assert words in outcome.output
        assert not folder or words in html.unescape(page.read_text())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "task_report_id: is not given"),
        pytest.param(
            "-e task_report_id=4711", "task_report_id: task 4711 does not exist in this OCP", marks=pytest.mark.nightly
        ),
        ("-e task_report_id=../x", "task_report_id: ../x is not the id of a task; give a whole number."),
    ],
    ids=["none", "unknown", "no number"],
)
def test_report_playbook_refuses_a_missing_or_unknown_task_id(ansible, emulator, arguments, words):
    ansible.environment = {"OCP_URL": emulator.url, "OCP_USERNAME": "admin", "OCP_PASSWORD": "ocp-demo-1"}
    outcome = ansible.playbook("oceanbase.ocp.task_report", arguments=arguments)
    assert outcome.rc == 2
    assert words in outcome.output


# The rulebook


@pytest.mark.parametrize("text", [RULEBOOKS[0].read_text(), EXAMPLE.read_text()], ids=["rulebook", "example"])
@pytest.mark.parametrize("value", ["{{ 7 }}", ["{{ 7 }}"], {"x": "{{ 7 }}"}, None], ids=repr)
def test_rulebook_hands_playbooks_numbers_only(text, value):
    from jinja2.nativetypes import NativeEnvironment

    actions = [rule["action"] for rule in yaml.safe_load(text)[0]["rules"] if "run_playbook" in rule["action"]]
    assert actions
    for given in (given for action in actions for given in action["run_playbook"]["extra_vars"].values()):
        rendered = NativeEnvironment().from_string(given).render(event={"task": {"id": value}})
        assert rendered == 0


# With ansible-rulebook


@with_rulebook
@pytest.mark.parametrize(
    "text",
    [*(path.read_text() for path in RULEBOOKS), plugin["EXAMPLES"], EXAMPLE.read_text()],
    ids=[*(path.stem for path in RULEBOOKS), "EXAMPLES", "page"],
)
def test_rulebooks_are_valid_for_ansible_rulebook(text):
    from ansible_rulebook.condition_parser import parse_condition
    from ansible_rulebook.validators import Validate

    rulebook = yaml.safe_load(text)
    Validate.rulebook(rulebook)
    [ruleset] = rulebook
    assert "oceanbase.ocp.ocp_tasks" in ruleset["sources"][0]
    for rule in ruleset["rules"]:
        parse_condition(rule["condition"])


@with_rulebook
@pytest.mark.skipif(shutil.which("java") is None, reason="ansible-rulebook needs Java 17")
def test_the_rulebook_reports_a_failed_restart(ansible, start_emulator, executables, tmp_path):
    emulator = start_emulator("--step-seconds", "0.1")
    emulator.fail_subtask("Start observer process")
    (tmp_path / "inventory.yml").write_text("all: {hosts: {localhost: {ansible_connection: local}}}")
    variables = {
        **ansible.variables(),
        "OCP_URL": emulator.url,
        "OCP_USERNAME": "admin",
        "OCP_PASSWORD": "ocp-demo-1",
        "OCP_REPORTS": str(tmp_path),
    }
    words = ["--rulebook", "oceanbase.ocp.failed_restart"]
    log = tmp_path / "rulebook.log"
    with log.open("w") as output:
        rulebook = subprocess.Popen(
            [executables / "ansible-rulebook", *words, "--inventory", str(tmp_path / "inventory.yml")],
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until(lambda: emulator.requests("GET"), log)
        good = {**RESTART, "server": "10.0.0.3:2882"}
        for options in (RESTART, good):
            ansible.module("server_restart", url=emulator.url, **options, **BASIC)
        wait_until(lambda: "PLAY RECAP" in log.read_text(), log)
    finally:
        rulebook.terminate()
        rulebook.wait(timeout=30)
    printed = log.read_text()
    assert "Restart OB server 10.0.0.1: FAILED" in printed
    assert BASIC["password"] not in printed, "the password is shown"
    # The one that succeeded has no report.
    assert [page.name for page in tmp_path.glob("task-*.html")] == ["task-1001.html"]


def wait_until(happened, log):
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.1)
