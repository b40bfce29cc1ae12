# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How many servers may be down at the same time: what counts, who waits for whom and how long, what a wait reads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import NotSafe, OcpError, OutcomeUnknown
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.rows import MemberKey, Place, RequestRow, Shown
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.cap_gate import TOTAL_FOR
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.down_servers import LOOK_AFTER, DownServers
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.knowledge import InFlight
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._safety.caps import Caps
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import UNSEEN_FOR, PollPolicy
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import journal_here
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import Thing, lost, refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL
from ansible_collections.oceanbase.ocp.tests.unit.support.restart_cases import RESTART_CASES

SERVER, ZONE = RESTART_CASES["server"], RESTART_CASES["zone"]
START, LATER = "2026-05-04T02:00:00+08:00", "2026-05-04T03:10:00+08:00"
ME = "10.1.0.1:2882"


@pytest.fixture(autouse=True)
def placed(service):
    """All three servers of the cluster are in one IDC."""
    service.idcs = dict.fromkeys((41, 42, 43), "idc1")


@pytest.fixture(autouse=True)
def stock(service):
    """Another cluster of the service, with 40 servers that are down; a test says what is shown of each."""
    shown = {number: {"status": "RESTARTING", "startTime": START} for number in range(1, 41)}
    orders = service.cluster

    def cluster(number):
        if number != 2:
            return orders(number)
        service.calls.append("cluster 2")
        servers = [{"id": one, "ip": f"10.2.0.{one}", "port": 2882, **facts} for one, facts in shown.items()]
        return {"id": 2, "name": "stock", "zones": [{"name": "z", "servers": servers}], "serverCount": len(servers)}

    service.cluster = cluster
    return shown


def down(number=1, *, task_id=1001, at=0.0, url=URL, idc="idc1", cluster="stock 2", clocks=None):
    """Note that a server of another cluster was taken down, ``at`` seconds after the beginning."""
    address = f"10.2.0.{number}:2882"
    row = RequestRow(
        None,
        journal_here()._clock.wall() + at,
        "server",
        "Restart OB server",
        ((MemberKey(cluster, "server", number, address), Shown(START)),),
        None,
        None,
        url,
        task_id=task_id,
        outcome="RUNNING",
        places=(Place(address, idc, shown=Shown(START)),),
        ahead=clocks,
    )
    return journal_here().begin(row)


@pytest.fixture(autouse=True)
def clock(service, monkeypatch):
    """The journal goes by the time of the test."""
    monkeypatch.setattr(journal_here(), "_clock", service.time.clock)


def restart(service, case=SERVER, *, wait=False, timeout=7200, check_mode=False, caps=None, **more):
    shown = []
    policy = PollPolicy(timeout, 10, lambda line, _failed: shown.append(line.strip()))
    request = RestartRequest(check_mode, wait, policy, caps=Caps(caps or {"idc": 1}), **more)
    return {**restart_target(service, case, request, service.time.clock), "shown": shown}


def test_restart_waits_for_its_turn_and_shows_for_whom(service):
    number = down()
    service.time.after_sleep = lambda: journal_here().note(number, back=True)
    result = restart(service)
    assert result["action"] == "submitted"
    assert result["shown"] == [f"{SERVER.target.label}: waits", "1 of 1 server of IDC idc1 is down (10.2.0.1:2882)"]
    # Everything is read again before the request.
    assert service.calls.count("tasks") == 2


@pytest.mark.parametrize("elsewhere", [{"idc": "idc2"}, {"url": "https://other.test:8080"}])
def test_what_is_down_elsewhere_does_not_count(elsewhere, service):
    down(**elsewhere)
    restart(service)
    assert service.time.pauses == []


@pytest.mark.parametrize(
    ("cluster", "fails", "waits"), [("stock 2", False, 1), ("stock 7", False, 0), ("stock 7", True, 1)]
)
def test_what_is_down_by_another_address_of_the_service_counts_in_a_shared_journal(
    cluster, fails, waits, service, monkeypatch
):
    """By its cluster; without an answer each may be of this service."""

    def clusters(_name=None):
        if fails:
            raise refused(500)
        return [{"id": 31, "name": "orders"}, {"id": 2, "name": "stock"}]

    monkeypatch.setattr(journal_here(), "is_shared", True)
    monkeypatch.setattr(service, "clusters", clusters)
    number = down(url="https://node-2.test:8080", cluster=cluster)
    service.time.after_sleep = lambda: journal_here().note(number, back=True)
    result = restart(service)
    assert (result["action"], len(service.time.pauses)) == ("submitted", waits)


def test_request_to_what_may_be_another_service_is_not_looked_after(service, monkeypatch):
    """Its cluster is not here, which would mean that it is back."""
    monkeypatch.setattr(journal_here(), "is_shared", True)
    number = down(url="https://other.test:8080", cluster="stock 7", at=-3600.0)
    rows = journal_here().down()
    assert not DownServers(service, journal_here(), service.time.clock).look_after(rows)
    assert [row.number for row in journal_here().down()] == [number]


@pytest.mark.parametrize("facts", [{"back": True}, {"outcome": "REFUSED"}])
def test_what_is_not_down_any_more_does_not_count(facts, service):
    journal_here().note(down(task_id=None), **facts)
    restart(service)
    assert service.time.pauses == []


def test_what_a_person_has_cleared_does_not_count(service):
    journal_here().clear(number=down())
    restart(service)
    assert service.time.pauses == []


def test_server_of_an_idc_that_is_not_shown_counts_in_each(service):
    number = down(idc=None)
    service.time.after_sleep = lambda: journal_here().note(number, back=True)
    assert len(restart(service)["shown"]) == 2


def test_own_place_that_is_not_shown_is_said_and_any(service):
    service.idcs = {}
    number = down()
    service.time.after_sleep = lambda: journal_here().note(number, back=True)
    result = restart(service)
    assert len(result["shown"]) == 2
    assert result["warnings"] == ["OCP does not show the IDC of 10.1.0.1:2882, so for most_down.idc it may be any."]


def test_its_own_restart_counts_until_it_is_proven(service):
    restart(service, wait=True)
    [row] = journal_here().requests([MemberKey("orders 31", "server", 41, ME)])
    assert (row.back, row.takes_down, row.places) == (True, False, (Place(ME, "idc1"),))
    assert journal_here().down() == []


def test_restart_that_nobody_waits_for_counts_until_a_look_shows_that_its_server_is_back(service):
    restart(service)
    [row] = journal_here().down()
    assert row.task_id == 1001
    service.passes(60)
    restart(service, RESTART_CASES["zone"], check_mode=True)
    assert [each.number for each in journal_here().down()] == [row.number]
    restart(service)
    assert [each.number for each in journal_here().down()] == [row.number + 1]


def test_restart_without_the_option_counts_too(service):
    restart_target(service, SERVER, RestartRequest(False, False, PollPolicy(10, 10)), service.time.clock)
    assert len(journal_here().down()) == 1


@pytest.mark.parametrize(
    "facts",
    [
        {"status": "RUNNING", "startTime": LATER},
        {"status": "RUNNING", "startTime": START},
        None,
    ],
    ids=["has started since", "its task has ended", "is gone and its task has ended"],
)
def test_wait_looks_after_restarts_that_nobody_notes_and_goes_on(facts, service, stock):
    """A run that was killed, or did not wait."""
    service.begin("Restart OB server", [], ago=60)
    number = down(1, task_id=1001, at=-60)
    stock[1] = facts
    if facts is None:
        del stock[1]
    assert restart(service)["action"] == "submitted"
    assert service.time.pauses == []
    assert service.calls.count("cluster 2") == 1
    assert number not in [row.number for row in journal_here().down()]


@pytest.mark.parametrize(
    ("facts", "end"),
    [
        ({"status": "RESTARTING", "startTime": START}, "SUCCESSFUL"),
        ({"status": "RUNNING", "innerStatus": "INACTIVE", "startTime": LATER}, "SUCCESSFUL"),
        ({"status": "RUNNING", "startTime": START}, "RUNNING"),
    ],
    ids=["does not serve", "is not active", "its task runs"],
)
def test_restart_counts_until_its_server_serves_and_has_started_or_its_task_has_ended(facts, end, service, stock):
    service.begin("Restart OCP agent", [], ago=600, seconds=1e6 if end == "RUNNING" else 10)
    down(1, at=-600)
    stock[1] = facts
    with pytest.raises(NotSafe):
        restart(service, timeout=300)


def test_server_counts_though_its_cluster_was_renamed_since(service, stock):
    service.begin("Restart OB server", [], ago=60)
    down(1, at=-60, cluster="shop 2")
    stock[1] = {"status": "UNAVAILABLE", "startTime": START}
    with pytest.raises(NotSafe):
        restart(service, timeout=300)


def test_request_without_a_task_counts_until_that_would_be_shown(service, stock):
    stock[1]["status"] = "RUNNING"
    down(1, task_id=None, at=-1)
    result = restart(service)
    assert UNSEEN_FOR <= result["elapsed"] < UNSEEN_FOR + service.timeout + 20


def test_request_of_a_clock_that_was_set_back_since_counts_as_long(service, stock):
    stock[1]["status"] = "RUNNING"
    down(1, task_id=None, at=4)
    assert restart(service)["elapsed"] >= UNSEEN_FOR


def test_restart_that_has_just_failed_counts_until_answers_show_what_it_did(service, stock):
    """Another application server still shows its server as before."""
    service.begin("Restart OB server", [], ago=15, seconds=10, end="FAILED")
    number = down(1, at=-15)
    journal_here().note(number, outcome="FAILED")
    stock[1]["status"] = "RUNNING"
    assert 55 <= restart(service)["elapsed"] <= 80


def test_restart_that_has_just_failed_by_a_clock_that_may_be_behind_counts_as_long(service, stock):
    """One of two application servers is ten minutes behind, and the time of the task may be its own."""
    service.other_offsets = (-600.0,)
    service.begin("Restart OB server", [], ago=615, seconds=10, end="FAILED")
    number = down(1, at=-615)
    journal_here().note(number, outcome="FAILED")
    stock[1]["status"] = "RUNNING"
    assert 55 <= restart(service)["elapsed"] <= 80


@pytest.mark.parametrize("ahead", [7200.0, -7200.0])
def test_all_who_wait_take_turns_to_look_whatever_their_clocks_show(ahead, service):
    """The request is of another controller, which looked right before."""
    number = down(1, at=ahead, clocks=(-ahead, -ahead))
    journal_here().note(number, looked_at=journal_here().now())
    looks = []
    service.time.after_sleep = lambda: looks.append((service.now, service.calls.count("cluster 2")))
    with pytest.raises(NotSafe):
        restart(service, timeout=100)
    assert {count for now, count in looks if now < 8} == {0}
    assert looks[-1][1] <= 11


@pytest.mark.parametrize("ahead", [0.0, 7200.0])
def test_all_who_wait_take_turns_to_look(ahead, service, monkeypatch):
    """By the clock of the journal, which is ``ahead`` of this controller's."""
    go_ahead(service, ahead, monkeypatch)
    down(1, at=-ahead - 60)
    with pytest.raises(NotSafe):
        restart(service, timeout=100)
    assert 9 <= service.calls.count("cluster 2") <= 11


def test_what_was_just_requested_is_not_looked_after_yet(service):
    down(1)
    with pytest.raises(NotSafe):
        restart(service, timeout=LOOK_AFTER - 5)
    assert service.calls.count("cluster 2") == 0


def go_ahead(service, seconds, monkeypatch):
    """The clock of the journal is so far ahead of the controller's."""
    clock = service.time.clock
    monkeypatch.setattr(journal_here(), "_clock", replace(clock, wall=lambda: clock.wall() + seconds))


def test_what_cannot_be_read_goes_on_to_count(service):
    down(1, at=-60)
    orders = service.cluster

    def cluster(number):
        if number == 2:
            raise refused(500)
        return orders(number)

    service.cluster = cluster
    with pytest.raises(NotSafe):
        restart(service, timeout=100)


def test_wait_does_not_count_for_wait_timeout_as_long_as_something_moves(service):
    numbers = [down(number) for number in range(1, 40)]
    began = service.time.time

    def one_is_back():
        if numbers and service.time.time > began + 50.0 * (40 - len(numbers)):
            journal_here().note(numbers.pop(), back=True)

    service.time.after_sleep = one_is_back
    result = restart(service, timeout=100)
    assert result["action"] == "submitted"
    assert result["elapsed"] > 39 * 50


def test_wait_is_shown_once_a_minute_however_many_come_back(service):
    numbers = [down(number) for number in range(1, 16)]
    service.time.after_sleep = lambda: journal_here().note(numbers.pop(), back=True) if numbers else None
    shown = restart(service, timeout=100)["shown"]
    assert shown[1].startswith("15 of 1 server of IDC idc1 are down (10.2.0.10:2882, ")
    assert len(shown) == 2


def test_wait_ends_once_nothing_has_moved_for_the_timeout_and_says_for_what_it_waited(service):
    number = down()
    with pytest.raises(NotSafe) as raised:
        restart(service, timeout=100)
    assert service.posts == []
    assert str(raised.value) == (
        f"Did not restart {SERVER.target.label}: most_down allows no more: 1 of 1 server of IDC idc1 is down "
        f"(10.2.0.1:2882), and that has not changed for 100 seconds. It waits for request {number} (task 1001) of the "
        "journal in memory. Look at these servers in OCP; what does not count any more is cleared with "
        "oceanbase.ocp.restart_journal_clear. To go on regardless, give most_down=idc=2 this time."
    )


def test_what_never_fits_is_refused_at_once(service):
    service.servers_there.append(Thing(44, 54, "zone1"))
    service.idcs[44] = "idc1"
    with pytest.raises(NotSafe) as raised:
        restart(service, ZONE, safety_timeout=100)
    assert service.time.pauses == []
    assert "it takes down 2 servers of IDC idc1 at once, more than the 1 that may be down. To go " in str(raised.value)
    assert restart(service, ZONE, caps={"idc": 2})["action"] == "submitted"


def test_server_that_is_down_anyway_counts_and_is_waited_for_as_for_safety(service):
    service.servers_there[1].status = "STOPPED"
    with pytest.raises(NotSafe) as raised:
        restart(service, safety_timeout=30)
    assert "allows no more after 30 seconds: 1 of 1 server of IDC idc1 is down (10.1.0.2:2882)." in str(raised.value)
    service.servers_there[0].status = "STOPPED"
    assert restart(service)["action"] == "submitted"


def test_check_mode_says_that_it_would_wait(service):
    down()
    result = restart(service, check_mode=True)
    assert (result["action"], result["changed"], service.time.pauses) == ("submitted", True, [])
    assert result["reason"].endswith(
        "; it would wait for its turn first, since 1 of 1 server of IDC idc1 is down (10.2.0.1:2882)"
    )


@pytest.mark.parametrize("ahead", [0.0, 7200.0])
def test_share_is_of_all_servers_and_they_are_counted_once_an_hour(ahead, service, monkeypatch):
    go_ahead(service, ahead, monkeypatch)
    seven_tenths = {"percent": 70}
    down(1)
    assert f"{SERVER.target.label}: waits" not in restart(service, caps=seven_tenths, wait=True)["shown"]
    down(2)
    with pytest.raises(NotSafe) as raised:
        restart(service, caps=seven_tenths, timeout=5)
    assert "2 of 2 servers (70 % of 3) are down (10.2.0.1:2882, 10.2.0.2:2882)" in str(raised.value)
    assert service.calls.count("clusters") == 1
    service.passes(TOTAL_FOR)
    with pytest.raises(NotSafe):
        restart(service, caps=seven_tenths, timeout=5)
    assert service.calls.count("clusters") == 2


def test_share_is_not_of_what_other_credentials_see(service):
    seven_tenths = {"percent": 70}
    service.user = "admin"
    restart(service, caps=seven_tenths, check_mode=True)
    service.user = "team"
    restart(service, caps=seven_tenths, check_mode=True)
    assert service.calls.count("clusters") == 2


def test_what_cannot_be_counted_stops_it(service):
    service.failing["clusters"] = [refused(403)]
    with pytest.raises(OcpError, match="Without most_down") as raised:
        restart(service, caps={"percent": 10})
    assert service.posts == []
    assert "Did not restart" in str(raised.value)


def test_lost_answer_counts(service):
    service.lose_before = [lost()]
    with pytest.raises(OutcomeUnknown):
        restart(service)
    assert [row.task_id for row in journal_here().down()] == [None]


def test_refusal_frees_its_place(service):
    service.busy = 400
    service.before_post = lambda: service.begin("Restart OB server", service.servers_there[:1], seconds=1e6)
    with pytest.raises(OcpError, match="Did not restart"):
        restart(service, in_flight=InFlight.FAIL)
    assert journal_here().down() == []


def test_limit_of_the_wait_goes_on_over_looks(service):
    """The same restarts for ``wait_timeout``, however often everything is read again meanwhile."""
    down()
    began = service.time.time
    with pytest.raises(NotSafe, match="not changed for 150 seconds"):
        restart(service, timeout=150)
    assert 150 <= service.time.time - began < 160
    assert service.calls.count("tasks") > 2


def test_refusal_after_a_turn_that_was_awaited_is_searched_behind(service):
    """Something on the way repeats the request, and the list does not show yet what the first one has started."""
    number = down()
    service.time.after_sleep = lambda: journal_here().note(number, back=True)
    service.busy, service.names_operations, service.list_lacks, service.user = 409, False, 3.0, "admin"
    refusal = refused(409)
    refusal.is_busy = True
    service.lose_before = [refusal]
    service.before_post = lambda: service.begin("Restart OB server", service.servers_there[:1], creator="admin")
    result = restart(service)
    assert (result["action"], result["task_id"], len(service.posts)) == ("adopted", 1001, 1)
