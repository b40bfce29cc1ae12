# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A recording of the documented 4.2.2 service: what it asks, its limits, its file, and that it holds no original."""

from __future__ import annotations

import json
import os
import re
from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.censor import Censor
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OptionError, TargetError
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session, transport
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.service_reads import ServiceReads
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._service import recorder, sweep
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.ask_service import Samples
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.record_service import recorded_report
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.service_report import service_report
from ansible_collections.oceanbase.ocp.tests.unit.support.documented_ocp import (
    ADDRESS,
    CLUSTER,
    OTHER_CLUSTER,
    UNKNOWN,
    DocumentedOcp,
)

PASSWORD = "pass-word-9"
ORIGINALS = (
    "billing",
    "172.20.1",
    "hall3",
    "north",
    "node51",
    "70000",
    "pass-word",
    "admin",
    "east",
    "west",
    "ocp.test",
)


@pytest.fixture
def clock(time_passes):
    return time_passes.clock


@pytest.fixture(autouse=True)
def ocp(time_passes, monkeypatch):
    """A service below the client, with a restart that has ended."""
    service = DocumentedOcp(time_passes)
    monkeypatch.setattr(transport.Adapter, "send", lambda _self, request, **options: service.send(request, **options))
    monkeypatch.setattr(session, "time", SimpleNamespace(time=time_passes.clock.wall, monotonic=time_passes.clock.now))
    service.answer("POST", f"/api/v2/ob/clusters/{CLUSTER}/servers/7000043/restart", "{}")
    time_passes.time += 10
    service.posts.clear()
    service.requests = 0
    return service


@pytest.fixture
def file(tmp_path):
    return tmp_path / "recording.json"


@pytest.fixture
def record(file, clock):
    def run(samples=Samples(), *, dry=False, path=file):  # noqa: B008 - it is frozen
        client = HttpClient(ADDRESS, basic_auth("admin", PASSWORD), verify=True, timeout=5.0)
        reads = ServiceReads(client)
        clean = Censor([PASSWORD], [f"admin:{PASSWORD}"]).clean
        return recorded_report(reads, samples, str(path), clean, dry=dry, clock=clock)

    return run


def answers_of(file):
    return json.loads(file.read_text())["answers"]


def templates_of(file):
    return {re.sub(r"(?<=/)\d+(?=/|$)", "*", each["path"]) for each in answers_of(file)}


@pytest.mark.parametrize("unknown", UNKNOWN)
def test_everything_is_asked_by_get_alone(ocp, record, file, unknown):
    ocp.unknown = unknown
    report = record()
    assert ocp.posts == []
    assert report["recording"]["path"] == str(file)
    assert report["requests"] + report["recording"]["requests"] == ocp.requests
    assert report["recording"]["answers"] == len(answers_of(file))
    assert report["recording"]["left_out"] == {}
    agents = {each["path"] for each in answers_of(file) if each["path"].endswith("/agent") and each["status"] == 200}
    assert len(agents) >= 2
    servers = [each for each in answers_of(file) if re.fullmatch(r"/api/v2/ob/clusters/\d+/servers", each["path"])]
    assert len(servers) == 2
    [refused] = [each for each in answers_of(file) if each["path"] == "/api/v2/no/such/call"]
    status, enveloped = UNKNOWN[unknown]
    assert (refused["status"], refused["form"]) == (status, "json" if enveloped else "other")


def test_the_check_itself_is_the_same_as_without_a_recording(record):
    client = HttpClient(ADDRESS, basic_auth("admin", PASSWORD), verify=True, timeout=5.0)
    plain = service_report(ServiceReads(client), Samples())
    assert {key: value for key, value in record().items() if key not in ("recording", "clock")} == {
        key: value for key, value in plain.items() if key != "clock"
    }


def test_no_original_is_in_the_file(record, file):
    record()
    text = file.read_text()
    assert [word for word in ORIGINALS if word in text] == []
    assert {each["status"] for each in answers_of(file)} >= {200, 404}
    assert '"3.2.4.1"' in text
    assert "RUNNING" in text


def test_the_file_is_for_its_owner_alone(record, file):
    umask = os.umask(0)
    try:
        record()
    finally:
        os.umask(umask)
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_existing_file_is_not_overwritten(ocp, record, file):
    file.write_text("mine")
    with pytest.raises(OptionError, match="exists already and is not overwritten"):
        record()
    with pytest.raises(OptionError, match="exists already and is not overwritten"):
        record(dry=True)
    assert (file.read_text(), ocp.requests) == ("mine", 0)


def test_a_link_to_nowhere_is_not_followed(ocp, record, file, tmp_path):
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OptionError, match="exists already"):
        record()
    assert not (tmp_path / "elsewhere").exists()
    assert ocp.requests == 0


@pytest.mark.parametrize("dry", [False, True])
def test_a_path_that_cannot_be_written_is_refused_before_anything_is_asked(ocp, record, tmp_path, dry):
    for path, words in (("no/such/file", "no such file or directory"), ("", "is empty")):
        with pytest.raises(OptionError, match=words) as caught:
            record(dry=dry, path=path and tmp_path / path)
        assert str(caught.value).startswith("recording: ")
    assert ocp.requests == 0


def test_check_mode_writes_nothing_and_asks_no_more(ocp, record, file):
    report = record(dry=True)
    assert report["recording"] is None
    assert ocp.requests == report["requests"]
    assert not file.exists()


def test_a_misspelt_sample_leaves_no_file(record, file):
    with pytest.raises(TargetError):
        record(Samples("biling"))
    assert not file.exists()


def test_refused_credentials_are_tried_once_and_recorded(ocp, record, file, monkeypatch):
    monkeypatch.setattr(ocp, "answer", lambda *_args: (401, b'{"successful": false, "status": 401}'))
    report = record()
    assert (report["verdict"], report["recording"]["requests"]) == ("credentials_refused", 0)
    assert {each["status"] for each in answers_of(file)} == {401}


def test_requests_are_limited_and_what_is_left_out_is_counted(ocp, record, file, monkeypatch):
    monkeypatch.setattr(sweep, "MOST_REQUESTS", 3)
    report = record()
    assert report["recording"]["requests"] == 3
    left_out = report["recording"]["left_out"]
    assert left_out["zones of clusters"] == 2
    assert json.loads(file.read_text())["left_out"] == left_out
    assert ocp.requests == report["requests"] + 3


def test_time_is_limited(ocp, record, time_passes):
    answer = ocp.answer

    def slow(*given):
        if ocp.requests > 25:
            time_passes.time += sweep.MOST_SECONDS
        return answer(*given)

    ocp.answer = slow
    report = record()
    assert sum(report["recording"]["left_out"].values()) > 0


def test_bytes_are_limited(record, file, monkeypatch):
    monkeypatch.setattr(recorder, "MOST_BYTES", 4_000)
    report = record()
    assert report["recording"]["left_out"]["too large"] > 0
    assert len(answers_of(file)) == report["recording"]["answers"] > 0


@pytest.mark.parametrize("status", [401, 429])
def test_a_refusal_on_the_way_ends_the_recording_not_the_check(ocp, record, file, status):
    answer, asked = ocp.answer, []

    def refusing(method, url, body):
        if f"/clusters/{OTHER_CLUSTER}/servers" in url:
            asked.append(url)
            return status, json.dumps({"successful": False, "status": status}).encode()
        return (200, b"late") if asked else answer(method, url, body)

    ocp.answer = refusing
    report = record()
    assert (report["verdict"], len(asked) >= 1) == ("checked", True)
    assert report["recording"]["left_out"]["zones of clusters"] == 2
    assert len(answers_of(file)) == report["recording"]["answers"]


def test_the_format_is_the_documented_one(record, file):
    record()
    document = json.loads(file.read_text())
    assert list(document) == ["format", "version", "recorded_at", "left_out", "answers"]
    assert (document["format"], document["version"]) == ("recording of an OCP", 1)
    assert {frozenset(each) for each in document["answers"]} == {frozenset(("path", "query", "status", "form", "body"))}
    [tasks] = [each for each in document["answers"] if each["query"].get("name") == "Restart"]
    assert tasks["query"] == {"name": "Restart", "sort": "id,desc", "page": 1, "size": 30}
    assert templates_of(file) >= {
        "/api/v2/ob/clusters",
        "/api/v2/ob/clusters/*/servers",
        "/api/v2/ob/clusters/*/zones",
        "/api/v2/compute/hosts",
        "/api/v2/compute/hosts/*/agent",
        "/api/v2/tasks/instances/*",
        "/api/v2/arbitration/services",
    }
