# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The option journal_url: which journal is used, what a name alone needs, and that no output has its password."""

from __future__ import annotations

import ctypes
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.open_journal import open_journal
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.shared_journal import shared_journal
from ansible_collections.oceanbase.ocp.plugins.module_utils._module import bridge
from ansible_collections.oceanbase.ocp.plugins.module_utils._module.secret_options import censor_of
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters import told_apart_notes
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import outlook
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import run as restart_run
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import (
    CONNECTION,
    OWN,
    RESTARTS,
    definition_of,
)
from ansible_collections.oceanbase.ocp.tests.unit.support.scripted_server import closed_port

SECRET = "s3cret/w?rd"
CHANGE = "memory-2026-11-20"
NAMED = {"change": CHANGE}
PLANS = ["cluster_rolling_restart_info", "fleet_restart_info"]
OF_SEVERAL = ["fleet_restart", "cluster_rolling_restart"]
CAPABILITY_VERSION, DAC_OVERRIDE = 0x20080522, 1 << 1


@pytest.fixture
def small(monkeypatch, service):
    """The fake OCP below the modules, and the real journal."""
    monkeypatch.setattr(bridge, "connected", lambda _params: nullcontext(service))
    monkeypatch.setattr(restart_run.restart_target, "__defaults__", (service.time.clock, None, None))
    for user in (outlook, restart_run, told_apart_notes):
        monkeypatch.setattr(user, "open_journal", open_journal)
    return service


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/shared.db"


def asked(name, **given):
    own = {option: value for option, value in OWN[name].items() if option != "started_before"}
    return {**CONNECTION, **own, **given}


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", RESTARTS)
def test_restart_is_noted_in_the_database(name, run, url):
    first = run(name, asked(name, **NAMED, journal_url=url))
    assert first["action"] == "submitted", first
    noted = shared_journal(url, read_only=True).entries()
    assert {each["change"] for each in (*noted["changes"], *noted["requests"])} == {CHANGE}
    assert open_journal(None, read_only=True, is_required=True, warnings=[]).entries()["changes"] == []


@pytest.mark.usefixtures("small")
def test_environment_names_it(run, url, monkeypatch):
    monkeypatch.setenv("OCP_JOURNAL_URL", url)
    run("cluster_restart", asked("cluster_restart", **NAMED))
    assert len(shared_journal(url, read_only=True).entries()["requests"]) == 1


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("given", ["", None])
def test_without_a_url_the_file_of_this_controller_is_used(given, run):
    run("cluster_restart", asked("cluster_restart", **NAMED, journal_url=given))
    journal = open_journal(None, read_only=True, is_required=True, warnings=[])
    assert len(journal.entries()["requests"]) == 1


@pytest.mark.parametrize("name", RESTARTS)
@pytest.mark.parametrize("given", [{}, NAMED], ids=["unnamed", "named"])
def test_database_that_does_not_answer_lets_nothing_be_sent(given, name, run, small):
    place = f"127.0.0.1:{closed_port()}"
    result = run(name, asked(name, **given, journal_url=f"mysql://ops:{SECRET.replace('/', '%2F')}@{place}/ocp"))
    assert result["msg"].startswith(f"The journal ocp on {place} (mysql) cannot be used: ")
    assert SECRET not in str(result)
    assert small.posts == []


def test_database_that_stops_before_the_request_lets_nothing_be_sent(run, small, url, monkeypatch):
    file = Path(url.removeprefix("sqlite:///"))
    look = small.tasks

    def stops(*args, **options):
        if file.is_file():
            file.unlink()
            file.mkdir()
        return look(*args, **options)

    monkeypatch.setattr(small, "tasks", stops)
    result = run("cluster_restart", asked("cluster_restart", **NAMED, journal_url=url))
    assert result["msg"].startswith(
        f"Did not restart cluster orders (id 31). The journal {file} (sqlite) cannot be used"
    )
    assert small.posts == []


@pytest.fixture
def file():
    """The file of this controller, as an earlier run has left it."""
    journal = open_journal(None, read_only=False, is_required=True, warnings=[])
    assert journal.entries()["changes"] == []
    return Path(journal.place)


@pytest.fixture
def unsent(small):
    """The fake OCP, where a request for a restart crashes the module."""

    def sent():
        raise AssertionError("A request was sent.")

    small.before_post = sent
    return small


@pytest.mark.parametrize("name", [*RESTARTS, *OF_SEVERAL])
@pytest.mark.parametrize("damage", ["not a database", "damaged pages"])
def test_damaged_file_of_this_controller_lets_nothing_be_sent(damage, name, run, unsent, file):
    whole = file.read_bytes()
    if damage == "not a database":
        file.write_bytes(damage.encode() * 100)
    else:
        file.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    result = run(name, asked(name, **NAMED))
    assert result["msg"].count(f"The journal {file} cannot be used: ") == 1
    assert "since a new journal knows of none, and move this one away." in result["msg"]
    assert (result.keys() & {"exception", "task_id"}, unsent.posts) == (set(), [])


@contextmanager
def without_the_rights_of_root():
    """They are still permitted, so that this thread can take them again."""
    header, sets = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0), (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None)
    assert libc.capget(header, sets) == 0
    effective = sets[0]
    try:
        sets[0] = effective & ~DAC_OVERRIDE
        assert libc.capset(header, sets) == 0
        yield
    finally:
        sets[0] = effective
        assert libc.capset(header, sets) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="root has other rights there")
@pytest.mark.parametrize("name", [*RESTARTS, *OF_SEVERAL])
def test_file_of_this_controller_that_cannot_be_written_to_lets_nothing_be_sent(name, run, unsent, file):
    file.chmod(0o400)
    file.parent.chmod(0o500)
    with without_the_rights_of_root():
        result = run(name, asked(name, **NAMED))
    assert f"The journal {file} cannot be used: attempt to write a readonly database. Give it to " in result["msg"]
    assert (result.keys() & {"exception", "task_id"}, unsent.posts) == (set(), [])


@pytest.mark.parametrize("name", [*RESTARTS, *OF_SEVERAL, *PLANS, "cluster_parameter"])
def test_url_that_is_none_is_refused(name, run, small):
    given = {} if name == "cluster_parameter" else NAMED
    result = run(name, asked(name, **given, journal_url=f"nonsense:{SECRET}"))
    assert "journal_url: this is not the URL of a database. Give one like" in str(result)
    assert SECRET not in str(result)
    assert small.posts == []


@pytest.mark.parametrize("name", [*RESTARTS, *OF_SEVERAL, *PLANS])
@pytest.mark.parametrize("check_mode", [False, True])
def test_name_alone_in_a_container_is_refused_before_anything_is_sent(check_mode, name, run, small, monkeypatch):
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setattr(small, "tasks", None)
    result = run(name, asked(name, **NAMED, _ansible_check_mode=check_mode))
    assert result["msg"].startswith("change: alone it rests on the journal, and that goes away with this container (")


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("more", ["journal_url", "started_before", "until_effective", "persists"])
def test_name_is_not_alone(more, run, url, monkeypatch):
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    options = {
        "journal_url": {"journal_url": url},
        "started_before": {"started_before": "2026-05-04T03:00:00+08:00"},
        "until_effective": {"until_effective": {"stack_size": "5M"}},
        "persists": {},
    }
    if more == "persists":
        monkeypatch.setenv("OCP_JOURNAL_PERSISTS", "yes")
    result = run("server_restart", asked("server_restart", **NAMED, **options[more], _ansible_check_mode=True))
    assert "goes away with this container" not in str(result)


def test_every_module_accepts_it():
    assert all(definition_of(name).argument_spec["journal_url"]["no_log"] for name in OWN)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ops:pa%2Fss%3Fw0rd@db.example.com/ocp",
        "postgresql://ops:pa/ss?w0rd@db.example.com/ocp",
        "mysql://db.example.com/ocp?ssl_ca=x&password=pa/ss?w0rd",
        "mysql://db.example.com/ocp?sslPassword=pa%2Fss%3Fw0rd",
    ],
)
def test_password_is_masked_in_all_its_forms(url):
    censor = censor_of({"journal_url": url})
    shown = censor.clean(f"{url} pa/ss?w0rd pa%2Fss%3Fw0rd pa%2fss%3fw0rd db.example.com")
    assert "w0rd" not in shown
    assert shown.endswith("db.example.com")
