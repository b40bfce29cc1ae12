# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Bad input on the command line: one sentence that names option and value, exit code 2, no traceback."""

import socket

import pytest
import trustme
from ocp_emulator.base.clock import SystemClock
from ocp_emulator.cli import main
from ocp_emulator.service import Service, Settings
from ocp_emulator.store.database import Store


@pytest.fixture
def refused(capsys):
    """The sentence that these arguments end with."""

    def run(*arguments):
        code = main(["serve", *map(str, arguments)])
        out, err = capsys.readouterr()
        assert code == 2
        assert out == ""
        assert err.count("\n") == 1
        assert err.startswith("ocp-emulator serve: error: ")
        return err

    return run


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--port", "web"], ["--port", "'web'"]),
        (["--port", "65536"], ["--port", "'65536'"]),
        (["--port", "-1"], ["--port"]),
        (["--step-seconds", "fast"], ["--step-seconds", "'fast'"]),
        (["--step-seconds", "-0.1"], ["--step-seconds"]),
        (["--step-seconds", "nan"], ["--step-seconds", "'nan'"]),
        (["--step-seconds", "inf"], ["--step-seconds", "'inf'"]),
        (["--task-seconds", "Restart OB server"], ["--task-seconds", "'Restart OB server'", "=1200"]),
        (["--task-seconds", "Restart=1"], ["--task-seconds", "'Restart'", "Restart OB server"]),
        (["--subtask-seconds", "Wait node=31"], ["--subtask-seconds", "Wait node", "30 s"]),
        (["--jitter", "2"], ["--jitter"]),
        (["--seed", "-1"], ["--seed"]),
        (["--speed", "0"], ["--speed", "'0'"]),
        (["--busy", "wait"], ["--busy", "'wait'"]),
        (["--faults", "/no/such.yml"], ["--faults /no/such.yml", "No such file"]),
        (["--rate-limit", "100"], ["--rate-limit", "'100'", "100/10"]),
        (["--rate-limit", "0/10"], ["--rate-limit", "'0'"]),
        (["--rate-limit", "10/1.5"], ["--rate-limit", "'1.5'"]),
        (["--max-attempts", "-1"], ["--max-attempts"]),
        (["--max-attempts", "few"], ["--max-attempts", "'few'"]),
        (["--clusters", "0"], ["--clusters", "'0'"]),
        (["--zones", "many"], ["--zones", "'many'"]),
        (["--servers-per-zone", "1.5"], ["--servers-per-zone", "'1.5'"]),
        (["--clusters", "1000", "--zones", "1000"], ["--clusters 1000", "--zones 1000"]),
        (["--fleet", "/no/such.yml"], ["--fleet /no/such.yml", "No such file"]),
        (["--fleet", "f.yml", "--clusters", "2"], ["--fleet f.yml", "--clusters 2"]),
        (["--fleet", "f.yml", "--servers-per-zone", "2"], ["--fleet f.yml", "--servers-per-zone 2"]),
        (["--recording", "/no/such.json"], ["--recording /no/such.json", "No such file"]),
        (["--recording", "r.json", "--fleet", "f.yml"], ["--recording r.json", "--fleet f.yml"]),
        (["--recording", "r.json", "--clusters", "2"], ["--recording r.json", "--clusters 2"]),
        (["--recording", "r.json", "--profile", "4.2"], ["--recording r.json", "--profile 4.2"]),
        (["--recording", __file__], [f"--recording {__file__}", "the file is not JSON"]),
        (["--replay", "/no/such.jsonl"], ["--replay /no/such.jsonl", "No such file"]),
        (["--replay", __file__], [f"--replay {__file__}", "not one of ocp-emulator record"]),
        (["--replay", "r.jsonl", "--clusters", "2"], ["--replay r.jsonl", "--clusters 2"]),
        (["--tls-cert", "c.pem"], ["--tls-cert c.pem", "--tls-key"]),
        (["--tls-key", "k.pem"], ["--tls-key k.pem", "--tls-cert"]),
        (["--tls-cert", "/no/c.pem", "--tls-key", "/no/k.pem"], ["--tls-cert /no/c.pem", "No such file"]),
        (["--host", "203.0.113.1", "--port", "0"], ["--host 203.0.113.1", "cannot listen"]),
        (["--port", "0", "--database", "/no/such/folder/state.db"], ["--database /no/such/folder/state.db"]),
    ],
)
def test_error_names_the_bad_option(refused, arguments, named):
    sentence = refused(*arguments)
    assert all(part in sentence for part in named)


def test_error_names_the_bad_fleet_file_entry(refused, tmp_path):
    path = tmp_path / "fleet.yml"
    path.write_text("clusters: [{name: a, zones: []}]")
    sentence = refused("--fleet", path)
    assert f"--fleet {path}" in sentence
    assert "clusters.0.zones" in sentence


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("kind: http", ["list"]),
        ("[", ["YAML"]),
        ("\xff", ["UTF-8"]),
        ("- reset", ["entry 1", "not a mapping"]),
        ("- {kind: disk}", ["entry 1", "key 'kind'", "subtask, http"]),
        ("- {kind: http, action: reset}\n- {kind: http, action: fly}", ["entry 2", "key 'action'"]),
        ("- {kind: http, action: reset, match: {verb: GET}}", ["entry 1", "key 'match.verb'"]),
        ("- {kind: http, action: refuse}", ["entry 1", "refuse needs seconds"]),
        ("- {kind: subtask, action: fail, times: often}", ["entry 1", "key 'times'"]),
    ],
)
def test_error_names_the_bad_fault_file_entry(refused, tmp_path, text, named):
    path = tmp_path / "faults.yml"
    path.write_bytes(text.encode("latin-1"))
    sentence = refused("--port", 0, "--faults", path)
    assert all(part in sentence for part in [f"--faults {path}", *named]), sentence


def test_database_with_other_faults_is_refused(refused, tmp_path):
    path = tmp_path / "faults.yml"
    path.write_text("[{kind: http, action: reset}]")
    Service(Settings(database=tmp_path / "state.db"), SystemClock()).close()
    sentence = refused("--port", 0, "--database", tmp_path / "state.db", "--faults", path)
    assert "other faults" in sentence


def test_port_in_use_is_refused(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port {port}" in refused("--port", port)


def test_certificate_with_another_key_is_refused(refused, tmp_path):
    authority = trustme.CA()
    one, other = authority.issue_cert("127.0.0.1"), authority.issue_cert("127.0.0.1")
    one.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    other.private_key_pem.write_to_path(tmp_path / "key.pem")
    assert "--tls-key" in refused("--tls-cert", tmp_path / "cert.pem", "--tls-key", tmp_path / "key.pem")


def test_database_of_another_fleet_is_refused(refused, tmp_path):
    Store(tmp_path / "state.db", None, 0).close()
    sentence = refused("--port", 0, "--database", tmp_path / "state.db", "--zones", 2)
    assert f"--database {tmp_path / 'state.db'}" in sentence
    assert "another fleet" in sentence


@pytest.mark.parametrize("arguments", [[], ["server"], ["serve", "--colour", "red"], ["serve", "--prof", "4.2"]])
def test_argparse_errors_are_one_line(capsys, arguments):
    assert main(arguments) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_fleet_file_without_an_administrator_is_refused(refused, tmp_path):
    path = tmp_path / "fleet.yml"
    path.write_text("users: [{name: dba, password: x, permissions: [TASK_VIEWER]}]")
    assert "no user has ADMIN" in refused("--fleet", path)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], ["--upstream"]),
        (["--upstream", "ocp.example.com"], ["--upstream", "https://ocp.example.com:8080"]),
        (["--upstream", "http://a:secret@b"], ["--upstream", "credentials"]),
        (["--upstream", "http://b", "--upstream-ca", "/no/ca.pem"], ["--upstream-ca /no/ca.pem", "No such file"]),
        (["--upstream", "http://b", "--output", __file__], [f"--output {__file__}", "File exists"]),
        (["--upstream", "http://b", "--output", "/no/such/file"], ["--output /no/such/file", "No such file"]),
    ],
)
def test_recorder_names_the_bad_option(capsys, arguments, named):
    assert main(["record", "--port", "0", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("ocp-emulator record: error: ")
    assert all(part in err for part in named), err
    assert "secret" not in err
