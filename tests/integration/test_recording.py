# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A recording of one emulator, loaded in another: the info modules answer the same but for what was replaced."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from credentials import BASIC
from documentation_blocks import blocks
from in_process import called

INFOS = ("server_info", "cluster_info", "host_info", "arbitration_service_info")
DBA = {"username": "dba-nakamura", "password": "kv9-zq.Pw"}
PEOPLE = [{"name": each["username"], "password": each["password"], "permissions": ["ADMIN"]} for each in (DBA, BASIC)]
NAMES = ("Lager M\u00fcnchen", "kasse.example.com", "Regal7", "halle-3", "s\u00fcd", "Bestand", "kunde42", "wirt1")
FLEET = {
    "clusters": [
        {
            "name": NAMES[0],
            "zones": [
                {
                    "name": NAMES[2],
                    "region": NAMES[4],
                    "idc": NAMES[3],
                    "servers": [{"ip": "10.77.1.1"}, {"ip": "10.77.1.2"}],
                },
                {"name": "Regal8", "region": NAMES[4], "idc": "halle-4", "servers": [{"ip": "10.77.1.10"}]},
                {"name": "Regal9", "region": "nord", "idc": NAMES[3], "servers": [{"ip": "fd77:1::a"}]},
            ],
            "tenants": [
                {"name": NAMES[5], "primary_zone": "Regal8"},
                {
                    "name": NAMES[6],
                    "locality": "FULL{1}@Regal7, FULL{1}@Regal8, FULL{1}@Regal9, READONLY{1}@Regal8",
                    "units": ["10.77.1.2", "10.77.1.10", "fd77:1::a"],
                },
            ],
            "arbitration_service": "10.77.1.99",
        },
        {"name": NAMES[1], "zones": [{"name": NAMES[2], "servers": [{"ip": "10.77.2.1", "port": 3882}]}]},
    ],
    "hosts": [{"ip": "10.77.1.1", "name": NAMES[7]}, {"ip": "10.77.3.3", "name": "leer.example.com"}],
    "arbitration_services": [{"ip": "10.77.1.99"}],
    "users": PEOPLE,
}
ADDRESSES = ("10.77.", "fd77:")
SECRETS = (DBA["password"], DBA["username"], "nakamura")


def leaves(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Each value with its place."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, f"{where}.{key}")
    elif isinstance(value, list):
        yield f"{where}#", len(value)
        for place, each in enumerate(value):
            yield from leaves(each, f"{where}.{place}")
    else:
        yield where, value


def replacements(original: Any, replayed: Any) -> dict[Any, Any]:
    """What stands in place of what; the results are the same but for that, and it goes both ways."""
    pairs = list(zip(leaves(original), leaves(replayed), strict=True))
    assert [then[0] for then, _now in pairs] == [now[0] for _then, now in pairs]
    changed = {(then[1], now[1]) for then, now in pairs if then[1] != now[1]}
    assert len({old for old, _new in changed}) == len(changed) == len({new for _old, new in changed})
    assert all(type(old) is type(new) for old, new in changed)
    return dict(changed)


def documented(file):
    """The arguments of the command on the page, for this file."""
    lines = [line for block in blocks("docs/ocp-check.md", "console") for line in block.splitlines()]
    [command] = [line for line in lines if "ocp_check_recording" in line]
    assert f"$ python -m ocp_emulator serve --recording {file.name}" in lines
    return command.removeprefix("$ ansible-playbook oceanbase.ocp.ocp_check ").replace(file.name, str(file))


@pytest.fixture
def recorded(ansible, start_emulator, tmp_path):
    """An emulator after restarts, and the file of its recording, made by the playbook."""

    def run(*options):
        (tmp_path / "fleet.yml").write_text(yaml.safe_dump(FLEET))
        emulator = start_emulator("--fleet", str(tmp_path / "fleet.yml"), *options)
        restart = {"cluster": NAMES[0], "server": "10.77.1.2:2882", "freeze_server": True, "wait": True}
        called("server_restart", emulator.url, **restart, **DBA)
        called("agent_restart", emulator.url, hosts=["10.77.1.10"], wait=True, **DBA)
        emulator.delete("/emulator/requests")
        ansible.environment |= {"OCP_URL": emulator.url} | {f"OCP_{key.upper()}": value for key, value in DBA.items()}
        file = tmp_path / "ocp-recording.json"
        outcome = ansible.playbook("oceanbase.ocp.ocp_check", arguments=documented(file))
        assert outcome.rc == 0, outcome.output
        return emulator, file, outcome

    return run


@pytest.mark.parametrize(
    "options", [pytest.param((), id="4.3"), pytest.param(("--profile", "4.2"), id="4.2", marks=pytest.mark.nightly)]
)
def test_a_replay_answers_as_the_recorded_service(recorded, start_emulator, options):
    emulator, file, outcome = recorded(*options)
    asked = emulator.get("/emulator/requests?size=2000")["contents"]
    assert {each["method"] for each in asked} == {"GET"}
    assert f"answers is in {file}." in " ".join(outcome.results["Show where the recording is"]["lines"])
    text = file.read_text()
    decoded = json.dumps(json.loads(text), ensure_ascii=False)
    assert [word for word in (*NAMES, *ADDRESSES, *SECRETS) if word in text or word in decoded] == []
    assert file.stat().st_mode & 0o777 == 0o600

    replay = start_emulator("--recording", str(file))
    infos = [info for info in INFOS if not (options and info == "arbitration_service_info")]
    replaced: dict[Any, Any] = replacements(
        [called(info, emulator.url, **DBA) for info in infos], [called(info, replay.url, **BASIC) for info in infos]
    )
    assert {NAMES[0], NAMES[1], NAMES[7], "10.77.1.1", "10.77.1.1:2882", "fd77:1::a"} <= replaced.keys()
    checks = [called("ocp_info", url, **given) for url, given in ((emulator.url, DBA), (replay.url, BASIC))]
    for part in ("verdict", "restarts_work", "rights", "filters", "facts", "modules"):
        assert checks[0][part] == checks[1][part]
    assert [(each["name"], each["answer"]) for each in checks[0]["reads"]] == [
        (each["name"], each["answer"]) for each in checks[1]["reads"]
    ]

    restart = {"cluster": replaced[NAMES[0]], "server": replaced["10.77.1.1:2882"], "freeze_server": True}
    assert called("server_restart", replay.url, **restart, wait=True, **BASIC)["verified"] is True
    assert replay.restarts("OB_SERVER") == {replaced["10.77.1.1:2882"]: 1}


@pytest.mark.nightly
def test_a_recording_of_a_replay_is_a_recording(recorded, start_emulator, tmp_path):
    """What a user sends can be sent on: a second masking loses nothing more."""
    _emulator, file, _outcome = recorded()
    first = start_emulator("--recording", str(file))
    called("ocp_info", first.url, recording=str(tmp_path / "again.json"), **BASIC)
    second = start_emulator("--recording", str(tmp_path / "again.json"))
    replacements(*([called(info, each.url, **BASIC) for info in INFOS] for each in (first, second)))


def test_an_existing_recording_stops_the_playbook(ansible, emulator, tmp_path):
    file = tmp_path / "mine.json"
    file.write_text("mine")
    ansible.environment |= {"OCP_URL": emulator.url} | {f"OCP_{key.upper()}": value for key, value in BASIC.items()}
    outcome = ansible.playbook("oceanbase.ocp.ocp_check", arguments=f"-e ocp_check_recording={file}")
    assert outcome.rc == 2
    assert f"recording: {file} exists already and is not overwritten" in " ".join(outcome.output.split())
    assert (file.read_text(), emulator.requests("GET")) == ("mine", [])
