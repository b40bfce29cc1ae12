# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A fleet restart by a plan, on an emulator: what is refused, the waves and their lines, when a name begins."""

from __future__ import annotations

import tempfile
import time
from contextlib import contextmanager
from datetime import datetime

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.cli_hints import Hints
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotAllRestarted,
    OptionError,
    TaskFailed,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.side_by_side import Crew
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart import many_restarts
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.fleet_outcome import FleetMember
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling import fleet_run
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.fleet_plan import FleetRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._rolling.fleet_run import FleetRun, restart_by_plan
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.served_emulator import serving
from ocp_emulator.base.compatibility import PROFILES
from ocp_emulator.fleet.generate_fleet import generated_fleet

# Two clusters of three zones with a server each; the primary zone of both is zone1.
THREE = [("cluster1", f"10.0.0.{last}:2882") for last in (1, 2, 3)]
OTHER = ("2", "5")
SERVERS = "/api/v2/ob/clusters/1/servers?size=9"
VARIABLES = {name: f"fleet_restart_{name}" for name in ("waves", "safety", "tolerate_outage_of")}


@pytest.fixture(autouse=True)
def _own_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def served():
    with serving(settings={"fleet": generated_fleet(2, 3, 1), "step_ms": 5}) as emulator:
        yield emulator


@pytest.fixture
def lines():
    """What a run has shown."""
    return []


@pytest.fixture
def notes():
    """What a run has noted for the evidence of an interruption."""
    return []


@pytest.fixture
def run(served, lines, notes):
    """Restart servers by a plan."""
    return _runs_on(served, lines, notes)


@pytest.fixture
def run_of_old(lines, notes):
    """An emulator of OCP 4.2 with one cluster of three zones, each of two servers, and what restarts on it."""
    settings = {"fleet": generated_fleet(1, 3, 2), "step_ms": 5, "switches": PROFILES["4.2"]}
    with serving(settings=settings) as emulator:
        yield emulator, _runs_on(emulator, lines, notes)


def _runs_on(served, lines, notes):
    @contextmanager
    def connect():
        client = HttpClient(
            f"http://127.0.0.1:{served.port}", basic_auth("admin", "ocp-demo-1"), verify=True, timeout=10
        )
        yield OcpApi(client)
        client.close()

    def restart(
        servers,
        in_waves=True,
        check_mode=False,
        wait=True,
        show=lambda _line: None,
        hints=None,
        finish_before=None,
        pause_file=None,
        **purpose,
    ):
        def shown(line, _failed):
            lines.append(line)
            show(line)

        if not purpose:
            purpose = {"started_before": datetime.fromisoformat(served.data("GET", "/emulator/clock")["time"])}
        policy = PollPolicy(60, 1, shown, announce=shown, steps=False, note=notes.append)
        more = {"safety": Safety(), "hints": Hints(hints or {}), "finish_before": finish_before}
        request = RestartRequest(check_mode, wait, policy, **more, **purpose)

        def member(planned, _place):
            options = {"cluster": str(planned["cluster_id"]), "server": planned["server"]}
            selector = Selector(Server, {**options, "freeze_server": False, "force": False})
            return FleetMember(planned["cluster"], planned["server"], selector, request)

        wanted = FleetRun(FleetRequest(servers, **purpose), member, request, in_waves, 10.0, pause_file)
        with connect() as api:
            return restart_by_plan(api, Crew(connect, 8), wanted)

    return restart


def restarted(served):
    """The ids of the servers that were restarted, in order."""
    tasks = served.data("GET", "/api/v2/tasks/instances?size=100&sort=id,asc")["contents"]
    return [task["name"] for task in tasks], [
        each["id"]
        for each in served.data("GET", "/emulator/restarts")["contents"]
        if each["objectType"] == "OB_SERVER" and each["restarts"]
    ]


def test_run_notes_its_plan_and_each_end_for_the_evidence(notes, run):
    run(THREE)
    [plan], began, ended = ([note[key] for note in notes if key in note] for key in ("plan", "began", "ended"))
    assert len(plan["waves"]) == 3
    assert [one["task_id"] for one in began] == [one["task_id"] for one in ended]
    assert [(one["server"], one["verified"]) for one in ended] == [(THREE[n][1], True) for n in (1, 2, 0)]


def test_waves_restart_all_in_the_order_of_the_plan_and_the_result_has_that_of_the_options(served, lines, run):
    found = run([*THREE, OTHER])
    assert [(one["cluster"], one["name"], one["action"], one["verified"]) for one in found["servers"]] == [
        *((cluster, server, "submitted", True) for cluster, server in THREE),
        ("cluster2", "10.0.0.5:2882", "submitted", True),
    ]
    assert restarted(served)[1] == [1, 2, 3, 5]
    waves = [[server["server"] for server in wave["servers"]] for wave in found["plan"]["waves"]]
    assert waves == [["10.0.0.2:2882", "10.0.0.5:2882"], ["10.0.0.3:2882"], ["10.0.0.1:2882"]]
    assert "  4 to restart in 3 waves, 0 left alone" in lines
    assert "  wave 1 of 3: cluster1 10.0.0.2:2882, cluster2 10.0.0.5:2882" in lines
    assert [line.split(" restarted in ")[0] for line in lines if " restarted in " in line] == [
        "  1 of 4, cluster1 10.0.0.2:2882",
        "  2 of 4, cluster2 10.0.0.5:2882",
        "  3 of 4, cluster1 10.0.0.3:2882",
        "  4 of 4, cluster1 10.0.0.1:2882",
    ]


def test_each_restart_may_wait_before_it_decides_and_none_waits_alone_for_its_end(run, monkeypatch):
    """A start may still show that nobody has to repeat; that takes up to three minutes."""
    asked, begin = [], many_restarts.restart_target

    def noting(api, selector, request, *more):
        asked.append(request)
        return begin(api, selector, request, *more)

    monkeypatch.setattr(many_restarts, "restart_target", noting)
    run([*THREE, OTHER])
    assert {(each.wait, each.awaited_together, each.awaits_end) for each in asked if not each.check_mode} == {
        (True, True, False)
    }


def test_service_that_shows_no_target_of_a_task_needs_no_second_run(run_of_old):
    """The journal tells of which server each of our tasks is, also of those that began during the run."""
    served, run = run_of_old
    servers = [("cluster1", f"10.0.0.{last}:2882") for last in range(1, 7)]
    for change in ("one", "two"):
        found = run(servers, change=change)
        assert {one["action"] for one in found["servers"]} == {"submitted"}
    assert len(restarted(served)[0]) == 12


@pytest.mark.parametrize(("after", "done"), [("  2 of 4, ", [2, 5]), ("  4 of 4, ", [1, 2, 3, 5])], ids=["one", "all"])
def test_server_of_an_earlier_wave_that_serves_no_more_stops_the_run(after, done, served, run):
    """It is of another cluster than the later waves, so that nothing else is against these."""
    other = "/api/v2/ob/clusters/2/servers"

    def person(line):
        if line.startswith(after):
            served.data("POST", f"{other}/5/stop")
            while "STOPPED" not in {one["status"] for one in served.data("GET", f"{other}?size=9")["contents"]}:
                time.sleep(0.01)

    with pytest.raises(NotAllRestarted) as raised:
        run([*THREE, OTHER], show=person)
    assert restarted(served)[1] == done
    assert "cluster2 10.0.0.5:2882 is not proven to have started" in str(raised.value)
    stopped = next(one for one in raised.value.facts["servers"] if one["server"] == "10.0.0.5:2882")
    assert (stopped["failed"], stopped["verified"]) == (True, None)


def test_run_pauses_after_a_wave_and_goes_on_when_the_file_is_gone(served, lines, run, tmp_path):
    pause = tmp_path / "pause"
    found = run(
        THREE,
        show=lambda line: pause.touch() if line.startswith("  1 of 3, ") else None,
        pause_file=str(pause),
        change="memory",
    )
    assert restarted(served)[1] == [2]
    assert [one["action"] for one in found["servers"]] == ["postponed", "submitted", "postponed"]
    words = f"since {pause} is there; remove it, then run the same command again: "
    assert [line.partition(words)[2] for line in lines if words in line] == [
        "cluster1 10.0.0.3:2882, cluster1 10.0.0.1:2882"
    ]
    pause.unlink()
    again = run(THREE, pause_file=str(pause), change="memory")
    assert [one["action"] for one in again["servers"]] == ["submitted", "skipped", "submitted"]
    assert restarted(served)[1] == [1, 2, 3]


def test_name_begins_for_all_waves_at_once_so_what_a_person_restarts_meanwhile_is_left_alone(served, lines, run):
    def person(line):
        if line.startswith("  1 of 3, "):
            served.data("POST", "/api/v2/ob/clusters/1/servers/1/restart", {"freezeServer": False})
            while any(one["status"] != "RUNNING" for one in served.data("GET", SERVERS)["contents"]):
                time.sleep(0.01)

    found = run(THREE, show=person, change="memory-2026-11-20")
    assert [one["action"] for one in found["servers"]] == ["skipped", "submitted", "submitted"]
    again = run(THREE, change="memory-2026-11-20")
    assert {one["action"] for one in again["servers"]} == {"skipped"}
    assert lines[-1] == "  0 to restart, 3 left alone"


def test_name_begins_for_all_of_an_only_wave_before_the_first_request(served, run, monkeypatch):
    begun, begin = [], fleet_run.note_first_use

    def noting(api, selector, names, *more):
        begun.append((sorted(names), restarted(served)[0]))
        return begin(api, selector, names, *more)

    monkeypatch.setattr(fleet_run, "note_first_use", noting)
    run([THREE[0], OTHER], change="memory-2026-11-20")
    assert sorted(begun) == [(["10.0.0.1:2882"], []), (["10.0.0.5:2882"], [])]
    assert len(restarted(served)[0]) == 2


@pytest.mark.parametrize(
    ("obstacles", "advice"),
    [
        ([], "Leave out orders a:1, or give tolerate_outage_of=sys or safety=none this time."),
        (["b:1 is STOPPED in zone2 (-4660)"], "Leave out orders a:1 until that has ended."),
    ],
    ids=["nothing else", "the database would refuse it, too"],
)
def test_outage_is_proposed_to_be_tolerated_only_where_that_helps(obstacles, advice):
    refused = [{"cluster": "orders", "server": "a:1"}]
    facts = {"refused": refused, "waves": [], "obstacles": obstacles, "remedies": []}
    plan = {"message": "Why.", "lost_tenants": ["sys"], **facts}
    lines = list(fleet_run.refusal_lines(plan, FleetRequest([("orders", "a:1")]), Hints()))
    assert lines == ["Why.", f"Nothing was sent. {advice}", "When the cause is gone, run the same command again."]


def test_wave_with_a_failure_is_the_last_one_and_the_message_names_the_others_once(served, lines, run):
    fault = {"kind": "subtask", "match": {"subtask": "Wait observer active"}, "action": "fail", "message": "no memory"}
    served.data("POST", "/emulator/faults", fault)
    with pytest.raises(TaskFailed) as raised:
        run(THREE)
    assert restarted(served)[0] == ["Restart OB server"]
    said = str(raised.value)
    assert said.startswith("3 of 3 servers not restarted as requested.\ncluster1 10.0.0.2:2882 did not restart")
    assert "\nNot reached before the run stopped: cluster1 10.0.0.1:2882, cluster1 10.0.0.3:2882.\n" in said
    assert len(raised.value.facts["plan"]["waves"]) == 3
    assert [line for line in lines if " FAILED" in line][-1] == "  1 of 3, cluster1 10.0.0.2:2882 FAILED, 2 left"


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize(
    ("hints", "ways"),
    [
        (None, "give waves=true this time."),
        (VARIABLES, "give -e fleet_restart_waves=true this time."),
    ],
    ids=["options", "variables"],
)
def test_more_than_one_wave_is_refused_where_that_is_not_asked_for(served, run, hints, ways, check_mode):
    with pytest.raises(NotAllRestarted) as raised:
        run(THREE, in_waves=False, check_mode=check_mode, hints=hints)
    said = str(raised.value)
    assert (
        "These can restart together: cluster1 10.0.0.2:2882. These cannot join them: cluster1 10.0.0.3:2882, " in said
    )
    assert said.endswith(f"To restart them in 3 waves, {ways}")
    assert restarted(served) == ([], [])


def test_check_mode_foretells_each_wave(served, lines, run):
    found = run(THREE, check_mode=True)
    assert [(one["action"], one["failed"]) for one in found["servers"]] == [("submitted", False)] * 3
    assert found["changed"] is True
    assert "  would restart 3 servers in 3 waves, 0 left alone" in lines
    assert restarted(served) == ([], [])


def test_waves_for_which_there_is_no_time_are_postponed_and_no_failure(served, run):
    found = run(THREE, finish_before=datetime.fromisoformat("2026-01-01T00:00:00+08:00"))
    assert [(one["action"], one["failed"]) for one in found["servers"]] == [("postponed", False)] * 3
    assert restarted(served) == ([], [])


def test_check_mode_has_all_gates_but_those_that_the_plan_of_a_later_wave_stands_for(run, monkeypatch):
    seen = []
    monkeypatch.setattr(fleet_run, "restart_many", lambda _api, _crew, members, *_more: seen.extend(members) or {})
    run(THREE, check_mode=True)
    assert [each.request.safety.majority for each in seen] == [False, True, False]


@pytest.mark.parametrize("check_mode", [False, True])
def test_waves_need_a_wait(run, check_mode):
    with pytest.raises(OptionError, match=r"^waves: true needs wait=true"):
        run(THREE, wait=False, check_mode=check_mode)


def test_restart_that_is_not_awaited_is_not_told_as_done(lines, run):
    found = run(THREE[:1], in_waves=False, wait=False)
    assert [one["action"] for one in found["servers"]] == ["submitted"]
    assert [line for line in lines if "restarted" in line] == []


def test_server_that_is_named_twice_restarts_once(served, run):
    found = run([("cluster1", "2"), ("1", "10.0.0.2:2882")], in_waves=False)
    assert [(one["name"], one["action"]) for one in found["servers"]] == [("10.0.0.2:2882", "submitted")]
    assert restarted(served)[0] == ["Restart OB server"]


@pytest.mark.parametrize(
    ("refused", "words"), [(True, "not begun"), (False, "FAILED")], ids=["nothing was sent", "its restart failed"]
)
def test_server_to_which_nothing_was_sent_has_not_failed(refused, words):
    server = {"failed": True, "refused": refused, "action": None, "duration": None}
    assert fleet_run._outcome_words(server) == words


def test_server_that_is_refused_is_counted_and_what_is_stopped_can_be_started(served, lines, run):
    served.data("POST", "/api/v2/ob/clusters/1/servers/2/stop")
    while {"STOPPED"} != {one["status"] for one in served.data("GET", SERVERS)["contents"] if one["id"] == 2}:
        time.sleep(0.02)
    with pytest.raises(NotAllRestarted) as raised:
        run([THREE[0], OTHER])
    assert lines == ["  1 to restart, 0 left alone, 1 refused, so nothing is sent"]
    _why, nothing, start, last = str(raised.value).splitlines()
    assert nothing == "Nothing was sent. With OCP_URL and the credentials in the environment:"
    assert start.startswith("  Start 10.0.0.2:2882 by a restart: ansible localhost -m oceanbase.ocp.server_restart -a ")
    assert last == "Then run the same command again."
    assert restarted(served) == (["Stop OB server"], [])
