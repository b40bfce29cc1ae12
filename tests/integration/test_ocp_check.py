# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The playbook ocp_check on emulators of each profile, and on what is no OCP: the table, and GET alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import requests
import yaml
from credentials import ACCESS_KEY, BASIC
from documentation_blocks import EXAMPLE_URL, SECRETS, blocks
from in_process import called

TABLE, VERDICT = "Show what it offers", "Make sure that a restart would work"
SERVER = {"cluster": "orders", "server": "10.0.0.1:2882", "freeze_server": True, "wait": True}
WIDEST = 80
STATES = {"ok", "forbidden", "absent", "failed", "skipped", "works", "ignored", "unknown", "shown", "partly", "full"}
STATES |= {"perhaps", "less", "no", "granted", "refused"}
RESTARTS = ["server_restart", "zone_restart", "cluster_restart", "agent_restart"]
OBPROXIES = ["obproxy_restart"]
PLAYBOOKS = ["rolling_restart", "fleet_restart", "agent_rolling_restart", "arbitration_service_rolling_restart"]
CHANGING = ("task", "cluster_parameter")
ARBITRATION = ["arbitration_service_restart", "arbitration_service_rolling_restart"]


@pytest.fixture
def check(ansible):
    """Run the playbook on an address with these credentials and variables; its whole output has no secret."""

    def run(url, *arguments, credentials=None, **given):
        options = {"url": url, **(credentials or BASIC)}
        ansible.environment |= {f"OCP_{name.upper()}": value for name, value in options.items()}
        variables = {f"ocp_check_{name}": value for name, value in given.items()}
        words = " ".join([*arguments, f"-e '{json.dumps(variables)}'"])
        return ansible.playbook("oceanbase.ocp.ocp_check", arguments=words)

    return run


@pytest.fixture
def used_emulator(ansible, start_emulator):
    """Start an emulator that has restarted a server and an agent, and has forgotten the requests for it."""

    def start(*options):
        emulator = start_emulator(*options)
        for module, given in (("server_restart", SERVER), ("agent_restart", {"hosts": "10.0.0.1", "wait": True})):
            assert ansible.module(module, url=emulator.url, **given, **BASIC)["verified"] is True
        emulator.delete("/emulator/requests")
        return emulator

    return start


def table(outcome) -> dict[str, dict[str, str]]:
    """The sections of the table: the state of each name in it, and what is said of it."""
    lines = outcome.results[TABLE]["lines"]
    assert max(map(len, lines)) <= WIDEST, lines
    # As it is, and not as the list of a result in JSON.
    assert "\n".join(lines) in outcome.output.replace("\r", "")
    sections: dict[str, dict[str, str]] = {}
    section, state = "", ""
    for line in lines:
        words = line.split(maxsplit=1)
        if words and not line.startswith(" "):
            section = words[0]
            sections[section] = {}
        elif section in ("OCP", "") or not words:
            continue
        elif words[0] in STATES and line[2] != " ":
            state = words[0]
            sections[section][f"{state} {len(sections[section])}"] = words[1]
        else:
            last = list(sections[section])[-1]
            sections[section][last] += f" {line.strip()}"
    return {
        section: {
            name.strip(): key.split()[0] for key, text in rows.items() for name in text.partition(": ")[0].split(",")
        }
        for section, rows in sections.items()
    }


def head(outcome) -> dict[str, str]:
    lines = (line.strip().split("  ", 1) for line in outcome.results[TABLE]["lines"] if line.startswith("  "))
    return {words[0]: words[1].strip() for words in lines if len(words) == 2 and words[0] not in STATES}


def asked(emulator) -> list[tuple[str, str]]:
    """Method and path of all that the service was asked."""
    found = emulator.get("/emulator/requests?size=2000")["contents"]
    assert {each["method"] for each in found} == {"GET"}
    return [(each["path"], each["status"]) for each in found]


PROFILES = {
    "4.3": ([], {"perhaps": RESTARTS, "less": [*ARBITRATION, *OBPROXIES]}, "shown"),
    "4.2": (
        ["--profile", "4.2"],
        {
            "perhaps": ["cluster_restart"],
            "less": ["server_restart", "zone_restart", "agent_restart", *OBPROXIES],
            "absent": ARBITRATION,
        },
        "absent",
    ),
}


@pytest.mark.smoke
@pytest.mark.parametrize("user", [pytest.param("admin", marks=pytest.mark.nightly), "viewer"])
@pytest.mark.parametrize(
    ("options", "works", "tags"),
    [
        pytest.param(*PROFILES["4.3"], id="4.3"),
        pytest.param(*PROFILES["4.2"], id="4.2", marks=pytest.mark.nightly),
    ],
)
def test_table_shows_what_each_profile_has(check, used_emulator, options, works, tags, user):
    emulator = used_emulator(*options)
    outcome = check(emulator.url, credentials={**BASIC, "username": user})
    assert outcome.rc == 0, outcome.output
    shown = table(outcome)
    assert {state: sorted(names) for state, names in works.items()} == {
        state: sorted(name for name in (*RESTARTS, *ARBITRATION, *OBPROXIES) if shown["WORKS"][name] == state)
        for state in works
    }
    prefixes = {"/api/v2/compute/hosts/1/agent": "ok", "/compute/hosts/1/agent": "ok"}
    assert prefixes.items() <= shown["READS"].items()
    assert shown["READS"]["/api/v2/arbitration/services"] == ("ok" if not options else "absent")
    assert shown["READS"]["/api/v2/alarm/alarms"] == "ok"
    filters = dict.fromkeys(("sort", "status", "name", "clusterId", "hostId"), "works")
    assert shown["FILTERS"] == filters
    starts = {"server start": "shown", "zone start": "shown", "agent start": "shown", "task tags": tags}
    assert starts.items() <= shown["FACTS"].items()
    assert shown["RIGHTS"]["restart"] == "unknown"
    assert f"restart: perhaps {user} may not restart; only a restart shows it" in outcome.output
    assert f"Perhaps {user} may not restart:" in outcome.output
    # What a user who may only read has to be able to do for it is not called full.
    assert not {name for name, state in shown["WORKS"].items() if state == "full"} & {*RESTARTS, *PLAYBOOKS, *CHANGING}
    assert {shown["RIGHTS"][f"read {things}"] for things in ("clusters", "hosts", "tasks")} == {"granted"}
    assert head(outcome)["credentials"] == f"password of {user}: accepted"
    assert head(outcome)["clock"].startswith("agrees with this machine")
    assert len(asked(emulator)) == int(head(outcome)["asked"].split()[-1])
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}


@pytest.mark.nightly
def test_a_running_restart_shows_the_operating_task(ansible, check, start_emulator):
    for profile, state in (("4.3", "shown"), ("4.2", "absent")):
        emulator = start_emulator("--step-seconds", "60", "--profile", profile)
        ansible.module("server_restart", url=emulator.url, **{**SERVER, "wait": False}, **BASIC)
        emulator.delete("/emulator/requests")
        outcome = check(emulator.url, cluster="orders")
        assert (outcome.rc, table(outcome)["FACTS"]["operating task"]) == (0, state), outcome.output
        asked(emulator)


@pytest.mark.nightly
def test_check_mode_shows_the_same(check, emulator):
    here, there = check(emulator.url), check(emulator.url, "--check")
    assert (here.rc, there.rc) == (0, 0), there.output
    assert table(here) == table(there)
    asked(emulator)


def test_wrong_password_is_tried_once(check, emulator):
    outcome = check(emulator.url, credentials={"username": "admin", "password": "not-the-password"})
    assert outcome.rc == 2, outcome.output
    assert head(outcome)["credentials"] == "password of admin: refused"
    assert head(outcome)["ended early"] == "the credentials were refused"
    assert "Check username and password." in outcome.results[VERDICT]["msg"]
    assert asked(emulator) == [("/api/v2/time", 200), ("/api/v2/ob/clusters", 401)]
    assert "not-the-password" not in outcome.output


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_is_judged_alike_and_asked_by_get_alone(start_emulator, profile):
    """What the runs above show of one profile as a table holds for all as data."""
    emulator = start_emulator("--profile", profile, "--max-attempts", "0")
    wrong = called("ocp_info", emulator.url, username="admin", password="not-the-password")
    assert (wrong["verdict"], wrong["requests"], wrong["restarts_work"]) == ("credentials_refused", 2, False)
    assert {each["works"] for each in wrong["modules"]} == {"no"}
    for user in ("admin", "viewer"):
        good = called("ocp_info", emulator.url, **{**BASIC, "username": user})
        assert (good["verdict"], good["clock"]["state"], good["credentials"]["user"]) == ("checked", "agrees", user)
        assert set(good["rights"].values()) <= {"granted", "unknown", "unknown until tried"}
    for seconds in (7200, -7200):
        fault = {"kind": "answer", "action": "clock", "seconds": seconds, "times": None}
        emulator.post("/emulator/faults", fault)
        off = called("ocp_info", emulator.url, **BASIC)
        assert (off["clock"]["state"], round(off["clock"]["offset"], -1)) == ("refused", seconds)
        works = {each["name"]: each["works"] for each in off["modules"]}
        needed = [name for name in PLAYBOOKS if name not in ARBITRATION or profile != "4.2"]
        assert {works[name] for name in needed} == {"no"}
        assert {works[name] for name in RESTARTS} == {"less"}
        emulator.delete("/emulator/faults")
    # asked() finds any other method.
    assert len(asked(emulator)) == wrong["requests"] + 2 * good["requests"] + 2 * off["requests"]
    assert emulator.restarts("OB_SERVER") == {}


def test_locked_user_is_not_asked_again(check, emulator):
    for _attempt in range(5):
        requests.get(f"{emulator.url}/api/v2/ob/clusters", auth=("admin", "wrong"), timeout=10)
    emulator.delete("/emulator/requests")
    outcome = check(emulator.url)
    assert outcome.rc == 2, outcome.output
    assert "lock the account for 30 minutes" in outcome.results[VERDICT]["msg"]
    assert [status for _path, status in asked(emulator)] == [200, 401]


@pytest.fixture
def web_server() -> Iterator[tuple[str, list[tuple[str, str, str | None]]]]:
    """A plain web server, and method, path and Authorization of each request to it."""
    seen: list[tuple[str, str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.command, self.path.partition("?")[0], self.headers["Authorization"]))
            page = b"<html>It works!</html>"
            self.send_response(200)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, *_args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", seen
        server.shutdown()
        thread.join()


def test_plain_web_server_is_no_ocp(check, web_server):
    url, seen = web_server
    outcome = check(url)
    assert outcome.rc == 2, outcome.output
    assert f"What answers at {url} is not an OCP" in outcome.results[VERDICT]["msg"]
    assert head(outcome)["ended early"] == "what answers is not an OCP"
    assert [request[:2] for request in seen] == [("GET", "/api/v2/time"), ("GET", "/api/v2/ob/clusters")]
    assert seen[0][2] is None


@pytest.mark.parametrize(
    "credentials",
    [pytest.param(BASIC, id="password"), pytest.param(ACCESS_KEY, id="access key", marks=pytest.mark.nightly)],
)
@pytest.mark.parametrize(
    ("seconds", "words"), [(7200, "ahead of"), pytest.param(-7200, "behind", marks=pytest.mark.nightly)]
)
def test_clock_two_hours_off_stops_what_needs_started_before(check, emulator, seconds, words, credentials):
    emulator.post("/emulator/faults", {"kind": "answer", "action": "clock", "seconds": seconds, "times": None})
    outcome = check(emulator.url, credentials=credentials)
    assert outcome.rc == 2, outcome.output
    assert f"7200 s {words} this machine; refuses started_before" == head(outcome)["clock"]
    works = table(outcome)["WORKS"]
    assert {works[name] for name in PLAYBOOKS} == {"no"}
    assert {works[name] for name in RESTARTS} == {"less"}
    assert "the clocks are 7200 seconds apart" in outcome.results[VERDICT]["msg"]
    asked(emulator)
    # Without started_before a single restart works.
    assert check(emulator.url, credentials=credentials, needs=["server_restart"]).rc == 0


@pytest.mark.nightly
def test_ignored_filters_are_seen(check, used_emulator):
    emulator = used_emulator()
    ignored = ["clusterId", "hostId", "status", "name", "sort"]
    emulator.post("/emulator/faults", {"kind": "answer", "action": "ignore", "parameters": ignored, "times": None})
    outcome = check(emulator.url)
    assert outcome.rc == 0, outcome.output
    assert table(outcome)["FILTERS"] == dict.fromkeys(ignored, "ignored")
    assert table(outcome)["WORKS"]["server_restart"] == "less"
    asked(emulator)


@pytest.mark.nightly
def test_a_failing_read_is_a_row(check, emulator):
    fault = {"kind": "http", "action": "error", "status": 500, "match": {"path": "/api/v2/ob/clusters/1/parameters"}}
    emulator.post("/emulator/faults", {**fault, "times": None})
    outcome = check(emulator.url)
    shown = table(outcome)
    assert outcome.rc == 0, outcome.output
    assert (shown["READS"]["/api/v2/ob/clusters/1/parameters"], shown["READS"]["/api/v2/tasks/instances"]) == (
        "failed",
        "ok",
    )


@pytest.mark.parametrize(
    ("needs", "code", "words"),
    [
        (["arbitration_service_restart"], 2, "arbitration_service_restart would not work: this OCP has no calls for"),
        pytest.param(["agent_restart"], 0, "", marks=pytest.mark.nightly),
        (["task_wait"], 2, "ocp_check_needs: task_wait restarts nothing; choose from server_restart, "),
        ("agent_restart", 2, "ocp_check_needs: give a list of names, as in "),
    ],
    ids=["absent", "there", "no restart", "no list"],
)
def test_what_is_needed_decides(check, start_emulator, needs, code, words):
    outcome = check(start_emulator("--profile", "4.2").url, needs=needs)
    assert (outcome.rc, words in outcome.output.replace("\n", " ")) == (code, True), outcome.output


def test_misspelt_cluster_is_named(check, emulator):
    outcome = check(emulator.url, cluster="order")
    assert outcome.rc == 2
    assert "cluster: order matches nothing; to choose from: orders, payments. Did you mean orders?" in outcome.output


FLEET = """
clusters: [{name: orders, zones: [{name: zone1, servers: [{ip: 10.0.0.1}]}, {name: zone2, servers: [{ip: 10.0.0.2}]}]}]
users:
  - {name: admin, password: not-a-secret, permissions: [ADMIN]}
  - {name: dba, password: not-a-secret, permissions: [CLUSTER_VIEWER, CLUSTER_MANAGER, TASK_VIEWER, OBPROXY_VIEWER]}
"""


def test_page_shows_the_actual_table(check, start_emulator, tmp_path):
    (tmp_path / "fleet.yml").write_text(FLEET)
    emulator = start_emulator("--fleet", str(tmp_path / "fleet.yml"), "--profile", "4.2")
    outcome = check(emulator.url, credentials={"username": "dba", "password": "not-a-secret"})
    assert outcome.rc == 2, outcome.output
    lines = [line.replace(emulator.url, EXAMPLE_URL) for line in outcome.results[TABLE]["lines"]]
    shown, verdict = blocks("docs/ocp-check.md", "text")
    clock = ("  clock        agrees with this machine, give or take",)
    assert [line for line in shown.splitlines() if not line.startswith(clock)] == [
        line for line in lines if not line.startswith(clock)
    ]
    assert verdict.split() == outcome.results[VERDICT]["msg"].split()


def test_page_playbook_runs(ansible, emulator):
    [playbook] = blocks("docs/ocp-check.md", "yaml")
    plays = yaml.safe_load(playbook.replace(EXAMPLE_URL, emulator.url))
    plays[0]["vars"] = SECRETS
    outcome = ansible.playbook(plays)
    assert outcome.rc == 0, outcome.output
    assert emulator.restarts("OB_SERVER") == {"10.0.0.1:2882": 1}
