# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The collection against the strict emulator, from a restart's options down to the HTTP client, in each profile.

The emulator shows what the documents show and nothing else, so whatever relies on more than that fails here.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    NotSafe,
    OptionError,
    OutcomeUnknown,
    TargetBusy,
    TaskFailed,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._fleet import fleet_queries
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp import session, transport
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import AccessKeyAuth, basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest, Safety
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.agents import Agents
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.arbitration import ArbitrationService
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.cluster import Cluster
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.obproxies import ObProxies
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.server import Server
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.target import Selector
from ansible_collections.oceanbase.ocp.plugins.module_utils._targets.zone import Zone
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_controller
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import BEGINNING, FakeClock
from ansible_collections.oceanbase.ocp.tests.unit.support.stop_states import STATES, StopState
from ocp_emulator.base.compatibility import CHOICES, PROFILES, Switches
from urllib3 import HTTPResponse

ADDRESS = "http://127.0.0.1:8080"
# Seconds after the change, so that a task is seen to begin since.
A_MOMENT = 2
# What was really restarted, as /emulator/restarts counts it.
TARGETS: dict[str, tuple[Selector, dict[tuple[str, int], int]]] = {
    "server": (
        Selector(Server, {"cluster": "orders", "server": "10.0.0.3:2882", "freeze_server": False, "force": False}),
        {("OB_SERVER", 3): 1},
    ),
    "zone": (Selector(Zone, {"cluster": "payments", "zone": "zone2"}), {("OB_SERVER", 8): 1, ("OB_ZONE", 5): 1}),
    "cluster": (
        Selector(Cluster, {"cluster": "2"}),
        {
            **{("OB_SERVER", number): 1 for number in (7, 8, 9)},
            **{("OB_ZONE", number): 1 for number in (4, 5, 6)},
            ("OB_CLUSTER", 2): 1,
        },
    ),
    "agents": (Selector(Agents, {"hosts": ["10.0.0.1", "4"]}), {("HOST", 1): 1, ("HOST", 4): 1}),
    "arbitration service": (
        Selector(ArbitrationService, {"arbitration_service": "1"}),
        {("ARBITRATION_SERVICE", 1): 1},
    ),
    "obproxies": (
        Selector(ObProxies, {"obproxy_cluster": "entry", "obproxies": ["10.0.0.8:2883"]}),
        {("OBPROXY", 1): 1},
    ),
}
SHOWS_START = TARGETS.keys() - {"arbitration service", "obproxies"}
DATE = format_datetime(BEGINNING.astimezone(UTC), usegmt=True)
AUTHS = {
    "password": basic_auth("admin", "ocp-demo-1"),
    "access key": AccessKeyAuth("emulator", "emulator-secret", lambda: DATE),
}
SERVICES = [
    *((name, switches) for name, switches in PROFILES.items()),
    *((f"unknown URL {word}", Switches(unknown_url=word)) for word in CHOICES["unknown_url"]),
]
CASES = [
    pytest.param(switches, target, id=f"{name}-{target}")
    for name, switches in SERVICES
    for target in (TARGETS if name in PROFILES else ("server", "agents"))
    if switches.arbitration == "served" or target != "arbitration service"
]


class TiedClock:
    """The clock of the emulator's machine, which is that of the collection."""

    def __init__(self, time_passes: FakeClock) -> None:
        self._time, self._begin = time_passes, time_passes.time

    def now(self) -> int:
        return round((BEGINNING.timestamp() + self._time.time - self._begin) * 1000)


@pytest.fixture
def time_passes() -> FakeClock:
    return FakeClock()


@pytest.fixture
def clock(time_passes):
    return TiedClock(time_passes)


@pytest.fixture
def below(start, time_passes, tmp_path, monkeypatch):
    """Start an emulator below the client of the collection."""
    # What processes share of a limit of requests is of one service.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def begin(switches: Switches, respelt: Callable[[bytes], bytes] = bytes, **settings: Any) -> Any:
        emulated = start(switches=switches, **settings)

        def send(_self: Any, request: requests.PreparedRequest, **_options: Any) -> requests.Response:
            path = str(request.url).removeprefix(ADDRESS)
            answer = emulated.request(
                str(request.method), path, content=request.body or b"", headers=dict(request.headers), auth=None
            )
            raw = HTTPResponse(
                io.BytesIO(respelt(answer.content)),
                headers=answer.headers,
                status=answer.status_code,
                preload_content=False,
            )
            return requests.adapters.HTTPAdapter().build_response(request, raw)

        monkeypatch.setattr(transport.Adapter, "send", send)
        monkeypatch.setattr(
            session, "time", SimpleNamespace(time=time_passes.clock.wall, monotonic=time_passes.clock.now)
        )
        return emulated

    return begin


def api(auth: str) -> OcpApi:
    return OcpApi(HttpClient(ADDRESS, AUTHS[auth], verify=True, timeout=5.0))


def restart(time: FakeClock, selector: Selector, *, wait: bool = True, auth: str = "password") -> Any:
    request = RestartRequest(check_mode=False, wait=wait, policy=PollPolicy(7200, 10), started_before=BEGINNING)
    return restart_target(api(auth), selector, request, time.clock)


def posts(emulated: Any) -> int:
    return int(emulated.get("/emulator/requests?method=POST")["page"]["totalElements"])


@pytest.mark.parametrize(("switches", "target"), CASES)
def test_restart_is_done_once_and_proven(switches, target, below, time_passes):
    emulated = below(switches)
    selector, restarts = TARGETS[target]
    first = restart(time_passes, selector)
    proven = True if target in SHOWS_START else None
    assert (first["action"], first["verified"], first["task"]["status"]) == ("submitted", proven, "SUCCESSFUL")
    assert emulated.restarts() == restarts
    again = restart(time_passes, selector)
    assert (again["action"], again["changed"], posts(emulated)) == ("skipped", False, 1)


@pytest.mark.parametrize(("switches", "target"), CASES[: len(TARGETS) * len(PROFILES) - 1])
def test_running_restart_is_joined_with_an_access_key(switches, target, below, time_passes):
    emulated = below(switches)
    selector, restarts = TARGETS[target]
    time_passes.time += A_MOMENT
    restart(time_passes, selector, wait=False, auth="access key")
    time_passes.time += 2
    another_controller()
    if switches.task_tags == "absent" and target in ("zone", "obproxies"):
        # A task does not show its zone or OBProxy: the second run neither joins it nor sends another request.
        with pytest.raises(TargetBusy, match="is not known to restart this target"):
            restart(time_passes, selector, auth="access key")
        time_passes.time += 60
        emulated.get("/api/v2/tasks/instances")
    else:
        assert restart(time_passes, selector, auth="access key")["action"] == "attached"
    assert (emulated.restarts(), posts(emulated)) == (restarts, 1)


@pytest.mark.parametrize("profile", PROFILES)
def test_running_restart_is_joined_where_no_status_tells_of_it(profile, below, time_passes):
    """A second one would be accepted, and carried out."""
    emulated = below(PROFILES[profile])
    for fault in (
        {"kind": "answer", "action": "status", "status": "RUNNING", "match": {"record": "server"}},
        {"kind": "answer", "action": "status", "status": "RUNNING", "match": {"record": "cluster"}},
        {"kind": "answer", "action": "status", "status": "RUNNING", "match": {"record": "zone"}},
        {"kind": "busy", "action": "accept"},
    ):
        emulated.data("POST", "/emulator/faults", json={**fault, "times": None})
    selector, restarts = TARGETS["server"]
    time_passes.time += A_MOMENT
    restart(time_passes, selector, wait=False)
    another_controller()
    assert restart(time_passes, selector)["action"] == "attached"
    assert (emulated.restarts(), posts(emulated)) == (restarts, 1)


@pytest.mark.parametrize("profile", PROFILES)
def test_stopped_processes_of_an_agent_do_not_run(profile, below, time_passes):
    emulated = below(PROFILES[profile])
    emulated.data("POST", "/api/v2/compute/hosts/4/agent/stop")
    time_passes.time += 3
    service = api("password")
    selector, _restarts = TARGETS["agents"]
    running, stopped = Agents.find(service, **selector.options).observe(service).members
    agents = {"ocp_mgragent", "ocp_monagent", "ocp_agentd"}
    assert (running.serves, set(running.pids or ()), running.stopped) == (True, agents | {"pos_proxy"}, ())
    assert (stopped.serves, set(stopped.pids or ()), stopped.stopped) == (False, {"pos_proxy"}, ("ocp_agentd",))


SPELLINGS = {
    b"Restart OB server": b"Restart OB Server",
    b"Restart OB zone": b"Restart OB Zone",
    b"Restart OB cluster": b"Restart OB Cluster",
    b"Batch restart OCP agent": b"Batch Restart OCP Agent",
    b"Restart arbitration service": b"Restart Arbitration Service",
}


def capitals(content: bytes) -> bytes:
    """Names of tasks as documents spell some of them."""
    for name, respelt in SPELLINGS.items():
        content = content.replace(name, respelt)
    return content


@pytest.mark.parametrize("target", TARGETS)
def test_running_restart_is_joined_however_its_name_is_spelt(target, below, time_passes):
    emulated = below(PROFILES["4.3"], capitals)
    selector, restarts = TARGETS[target]
    time_passes.time += A_MOMENT
    restart(time_passes, selector, wait=False)
    another_controller()
    assert restart(time_passes, selector)["action"] == "attached"
    assert (emulated.restarts(), posts(emulated)) == (restarts, 1)


# What goes wrong on the way


def goes_wrong(emulated: Any, kind: str, action: str, **fault: Any) -> None:
    emulated.data("POST", "/emulator/faults", json={"kind": kind, "action": action, **fault})


POSTED = {"method": "POST", "path": "*/restart"}
SERVER_RESTART = TARGETS["server"][0]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_in_place_of_the_answer_is_not_followed_and_the_task_is_adopted(status, below, time_passes):
    emulated = below(PROFILES["4.3"])
    goes_wrong(emulated, "proxy", "redirect", status=status, location="/", when="after", match=POSTED)
    result = restart(time_passes, SERVER_RESTART)
    assert (result["action"], result["verified"]) == ("adopted", True)
    assert (emulated.restarts(), posts(emulated)) == ({("OB_SERVER", 3): 1}, 1)


@pytest.mark.parametrize("status", [302, 307])
def test_redirect_of_a_restart_that_never_arrived_has_an_unknown_outcome(status, below, time_passes):
    emulated = below(PROFILES["4.3"])
    goes_wrong(emulated, "proxy", "redirect", status=status, location="/", when="before", match=POSTED)
    with pytest.raises(OutcomeUnknown, match=r"is running\b.* is redirected to") as raised:
        restart(time_passes, SERVER_RESTART)
    assert (raised.value.facts["changed"], emulated.restarts()) == (True, {})


def test_answer_nested_too_deep_after_the_restart_began_loses_no_task(below, time_passes):
    answers = iter([b'"name":' + b"[" * 700 + b"]" * 700])

    def nested(content: bytes) -> bytes:
        name = b'"name":"Restart OB server"'
        return content.replace(name, next(answers, name), 1) if name in content else content

    emulated = below(PROFILES["4.3"], nested)
    result = restart(time_passes, SERVER_RESTART)
    assert (result["action"], result["task_id"], posts(emulated)) == ("adopted", 1001, 1)
    assert next(answers, None) is None


def test_documented_code_of_a_busy_target_leads_to_its_task(below, time_passes):
    """Reads are behind, so the refusal alone tells of it. By begin and user it may be our own, repeated by a proxy."""
    emulated = below(PROFILES["4.3"])
    goes_wrong(emulated, "answer", "lag", seconds=5, match={"method": "GET"}, times=None)
    time_passes.time += 60
    first = restart(time_passes, SERVER_RESTART, wait=False)
    another_controller()
    second = restart(time_passes, SERVER_RESTART)
    refused = emulated.get("/emulator/requests?method=POST&sort=id,desc")["contents"][0]
    assert (refused["status"] // 100, posts(emulated)) == (4, 2)
    assert (second["action"], second["task_id"], second["verified"]) == ("adopted", first["task_id"], True)
    assert emulated.restarts() == {("OB_SERVER", 3): 1}


@pytest.mark.parametrize("seconds", [-2 * 86400, -7200, 7200, -BEGINNING.timestamp() + 1], ids=repr)
def test_service_whose_clock_is_wrong_proves_nothing_and_restarts_nothing(seconds, below, time_passes):
    """By its clock the change is so long ago that every server has started since."""
    emulated = below(PROFILES["4.3"])
    goes_wrong(emulated, "answer", "clock", seconds=seconds, times=None)
    with pytest.raises(OptionError, match="started_before") as raised:
        restart(time_passes, SERVER_RESTART)
    assert (raised.value.facts.get("verified"), posts(emulated), emulated.restarts()) == (None, 0, {})


def test_one_answer_with_a_stale_clock_among_right_ones_does_not_decide(below, time_passes):
    emulated = below(PROFILES["4.3"])
    goes_wrong(emulated, "answer", "clock", seconds=-2 * 86400, times=1)
    result = restart(time_passes, SERVER_RESTART)
    assert (result["action"], result["verified"], emulated.restarts()) == ("submitted", True, {("OB_SERVER", 3): 1})


READS: dict[str, tuple[Callable[..., Any], dict[str, Any], Callable[[Any], Any], Any]] = {
    "clusters": (
        fleet_queries.read_clusters,
        {"cluster": ["orders", "2"]},
        lambda found: [(one["name"], [zone["name"] for zone in one["zones"]]) for one in found],
        [(name, ["zone1", "zone2", "zone3"]) for name in ("orders", "payments")],
    ),
    "servers": (
        fleet_queries.read_servers,
        {"zone": ["zone2"], "region": ["default_region"], "idc": ["default_idc"]},
        lambda found: [(one["id"], one["zone"], one["host_id"]) for one in found],
        [(3, "zone2", 3), (4, "zone2", 4), (8, "zone2", 8)],
    ),
    "hosts": (
        fleet_queries.read_hosts,
        {"region": ["default_region"], "host": ["10.0.0.10", "2"]},
        lambda found: [(one["id"], one["idc"]) for one in found],
        [(2, "default_idc"), (10, "default_idc")],
    ),
}


@pytest.mark.parametrize("auth", AUTHS)
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("read", "wanted", "told", "expected"), READS.values(), ids=READS)
def test_fleet_is_read_with_what_is_documented(read, wanted, told, expected, profile, auth, below):
    below(PROFILES[profile])
    assert told(read(api(auth), wanted)) == expected


REFUSES = Switches(stop_server="refuse")
SERVER_1 = Selector(Server, {"cluster": "orders", "server": "1", "freeze_server": False, "force": False})
SAFE = Safety()
# What a restart of a server by the name of its cluster reads and sends, in this order.
OF_ONE_RESTART = [
    "GET /api/v2/ob/clusters",
    "GET /api/v2/monitor/metric",
    "GET /api/v2/ob/clusters/1/tenants",
    "GET /api/v2/tasks/instances",
    "GET /api/v2/ob/clusters/1",
    "POST /api/v2/ob/clusters/1/servers/1/restart",
]
refused_states = pytest.mark.parametrize("state", [pytest.param(state, id=name) for name, state in STATES.items()])


@pytest.fixture
def entered(below, time_passes):
    """An emulator in a state in which the database refuses to stop server 1."""

    def enter(state: StopState) -> Any:
        emulated = below(REFUSES, fleet=state.fleet)
        emulated.let_pass = lambda seconds: setattr(time_passes, "time", time_passes.time + seconds)
        state.enter(emulated)
        return emulated

    return enter


@refused_states
def test_stop_that_the_database_refuses_fails_and_is_explained(state, entered, time_passes):
    emulated = entered(state)
    with pytest.raises(TaskFailed) as raised:
        restart_target(api("password"), SERVER_1, RestartRequest(False, True, PollPolicy(7200, 10)), time_passes.clock)
    [failed] = raised.value.facts["failed_subtasks"]
    assert (failed["description"], raised.value.facts["task"]["status"]) == ("Stop observer service", "FAILED")
    assert f"error {state.code}:" in failed["log_tail"]
    assert f"Error {state.code}: the database does not stop" in str(raised.value)
    assert emulated.restarts().get(("OB_SERVER", 1)) is None


@refused_states
def test_stop_that_the_database_would_refuse_is_not_requested(state, entered, time_passes):
    emulated = entered(state)
    before = posts(emulated)
    request = RestartRequest(False, True, PollPolicy(7200, 10), safety=SAFE)
    with pytest.raises(NotSafe):
        restart_target(api("password"), SERVER_1, request, time_passes.clock)
    assert posts(emulated) == before


def test_locked_tenant_is_refused_though_the_database_would_stop_the_server(entered, time_passes):
    emulated = entered(StopState(0, app={"locked": True}))
    for safety, error in ((SAFE, True), (Safety(frozenset({"app"})), False)):
        request = RestartRequest(False, True, PollPolicy(7200, 10), safety=safety)
        with pytest.raises(NotSafe, match="tenant app is locked") if error else nullcontext():
            restart_target(api("password"), SERVER_1, request, time_passes.clock)
    assert (posts(emulated), emulated.restarts()) == (1, {("OB_SERVER", 1): 1})


@pytest.mark.parametrize("switches", [Switches(), REFUSES])
def test_stop_that_the_database_allows_goes_on(switches, below, time_passes):
    emulated = below(switches, fleet=StopState(0).fleet)
    request = RestartRequest(False, True, PollPolicy(7200, 10), safety=SAFE)
    assert restart_target(api("password"), SERVER_1, request, time_passes.clock)["verified"] is True
    assert posts(emulated) == 1


def test_restart_takes_six_requests(below, time_passes):
    """With three full replicas, where the service shows servers in the record of their cluster."""
    emulated = below(Switches(cluster_servers="complete", cluster_detail="served"))
    request = RestartRequest(False, False, PollPolicy(7200, 10), safety=SAFE)
    restart_target(api("password"), SERVER_1, request, time_passes.clock)
    sent = emulated.get("/emulator/requests")["contents"]
    assert [f"{each['method']} {each['path']}" for each in sent] == OF_ONE_RESTART
