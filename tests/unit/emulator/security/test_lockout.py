# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Lock-out after repeated wrong passwords (docs/dev/contract.md, "Lock-out")."""

import pytest
from httpx import ASGITransport
from ocp_emulator.base.compatibility import PROFILES
from ocp_emulator.base.errors import BAD_CREDENTIALS, LOCKED_OUT

TASKS = "/api/v2/tasks/instances"
LOCKOUTS = "/emulator/lockouts"
MINUTE = 60


def wrong(emulated, times=1, user="admin"):
    """The code that the last of so many wrong passwords is answered with."""
    return [emulated.error(401, "GET", TASKS, auth=(user, "wrong"))["code"] for _time in range(times)][-1]


def code(emulated, user="admin", password="ocp-demo-1"):
    """The code that a log-on is refused with; None when it is not."""
    answer = emulated.request("GET", TASKS, auth=(user, password))
    return answer.json()["error"]["code"] if answer.status_code == 401 else None


def test_the_fifth_wrong_password_locks_the_user_for_half_an_hour(emulated):
    assert wrong(emulated, 4) == BAD_CREDENTIALS
    assert code(emulated) is None
    assert wrong(emulated, 5) == BAD_CREDENTIALS
    assert code(emulated) == LOCKED_OUT
    assert wrong(emulated) == LOCKED_OUT
    assert code(emulated, "viewer") is None
    emulated.pass_time(30 * MINUTE - 0.001)
    assert code(emulated) == LOCKED_OUT
    emulated.pass_time(0.001)
    assert code(emulated) is None


def test_attempts_during_a_lockout_do_not_extend_it(emulated):
    wrong(emulated, 5)
    emulated.pass_time(29 * MINUTE)
    wrong(emulated, 3)
    emulated.pass_time(1 * MINUTE)
    assert code(emulated) is None


def test_wrong_passwords_expire_after_half_an_hour(emulated):
    wrong(emulated, 4)
    emulated.pass_time(30 * MINUTE)
    wrong(emulated, 4)
    assert code(emulated) is None


def test_lockout_error_names_user_and_end_time(emulated):
    wrong(emulated, 5)
    message = emulated.error(401, "GET", TASKS)["message"]
    assert "user admin is locked until 2026-11-21T12:30:00+08:00" in message


def test_ten_wrong_passwords_of_any_users_lock_the_client(emulated):
    for number in range(10):
        assert wrong(emulated, user=f"nobody{number}") == BAD_CREDENTIALS
    assert code(emulated) == code(emulated, "viewer") == LOCKED_OUT
    (lock,) = emulated.get(LOCKOUTS)["contents"]
    assert (lock["kind"], lock["name"]) == ("client", "127.0.0.1")
    emulated.pass_time(10 * MINUTE)
    assert code(emulated) is None
    assert emulated.get(LOCKOUTS)["contents"] == []


def test_another_client_is_not_locked(emulated):
    for number in range(10):
        wrong(emulated, user=f"nobody{number}")
    emulated.transport(ASGITransport(emulated.app, client=("127.0.0.2", 1)))
    assert code(emulated) is None


def test_control_api_neither_counts_attempts_nor_enforces_lockouts(emulated):
    for _time in range(20):
        emulated.error(401, "GET", LOCKOUTS, auth=("admin", "wrong"))
    assert code(emulated) is None
    wrong(emulated, 5)
    (lock,) = emulated.get(LOCKOUTS)["contents"]
    assert lock == {
        "kind": "user",
        "name": "admin",
        "since": "2026-11-21T12:00:00+08:00",
        "until": "2026-11-21T12:30:00+08:00",
    }


@pytest.mark.parametrize("path", [LOCKOUTS, f"{LOCKOUTS}/admin"])
def test_unlocking_a_user_resets_the_count(emulated, path):
    wrong(emulated, 5)
    assert emulated.request("DELETE", path).status_code == 200
    assert code(emulated) is None
    wrong(emulated, 4)
    assert code(emulated) is None


def test_unlocking_one_user_keeps_the_other_locked(emulated):
    wrong(emulated, 5, "viewer")
    emulated.pass_time(1)
    wrong(emulated, 5, "admin")
    emulated.request("DELETE", f"{LOCKOUTS}/127.0.0.1")
    assert [lock["name"] for lock in emulated.get(LOCKOUTS)["contents"]] == ["viewer", "admin"]
    emulated.request("DELETE", f"{LOCKOUTS}/viewer")
    assert (code(emulated, "viewer"), code(emulated)) == (None, LOCKED_OUT)


def test_unlocking_an_unlocked_user_is_404(emulated):
    assert "'viewer'" in emulated.error(404, "DELETE", f"{LOCKOUTS}/viewer")["message"]
    wrong(emulated, 5)
    emulated.pass_time(30 * MINUTE)
    emulated.error(404, "DELETE", f"{LOCKOUTS}/admin")


def test_only_wrong_passwords_cause_a_lockout(emulated):
    for _time in range(20):
        emulated.error(401, "GET", TASKS, auth=None)
        emulated.error(401, "GET", TASKS, auth=None, headers={"Authorization": "Basic x"})
        headers = {"Authorization": "OCP-ACCESS-KEY-HMACSHA1 emulator:x", "Date": "Sat, 21 Nov 2026 04:00:00 GMT"}
        assert "signature" in emulated.error(401, "GET", TASKS, auth=None, headers=headers)["message"]
    assert code(emulated) is None


@pytest.mark.parametrize(("most", "tries", "locked"), [(1, 1, True), (7, 6, False), (7, 7, True), (0, 50, False)])
def test_max_attempts_is_configurable(start, most, tries, locked):
    emulated = start(max_attempts=most)
    wrong(emulated, tries)
    assert (code(emulated) == LOCKED_OUT) is locked


def test_lockouts_and_counts_survive_a_process_restart(start, tmp_path):
    emulated = start(database=tmp_path / "state.db")
    wrong(emulated, 5)
    wrong(emulated, 4, "viewer")
    emulated.app.state.service.close()
    again = start(database=tmp_path / "state.db")
    assert code(again) == LOCKED_OUT
    wrong(again, 1, "viewer")
    assert code(again, "viewer") == LOCKED_OUT


def test_older_profile_locks_a_user_after_20_attempts_and_the_client_after_10(start):
    old = start(switches=PROFILES["4.2"])
    assert wrong(old, 10) == BAD_CREDENTIALS
    (lock,) = old.get(LOCKOUTS)["contents"]
    assert (lock["kind"], code(old, "viewer")) == ("client", LOCKED_OUT)
    old.pass_time(10 * MINUTE)
    assert wrong(old, 9) == BAD_CREDENTIALS
    old.pass_time(10 * MINUTE)
    assert (wrong(old, 1), code(old, "viewer")) == (BAD_CREDENTIALS, None)
    assert (code(old), old.get(LOCKOUTS)["contents"][0]["name"]) == (LOCKED_OUT, "admin")
