# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How long a server may be offline, raised and put back: by whom, over whose value, and after a kill at any point."""

from __future__ import annotations

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    OcpError,
    OfflineTimeRaised,
    OptionError,
    TaskFailed,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.local_journal import LocalJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._parameters.offline_time import (
    FACT,
    OfflineTime,
    noted_clusters,
    offline_time_journal,
    raised_while,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._signs.offline_budget import raised_seconds
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_parameters import OFFLINE_TIME as NAME
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_parameters import SERVERS, ParametersOcp


@pytest.fixture
def service():
    found = ParametersOcp()
    found.values = {NAME: dict.fromkeys(SERVERS, "3600s")}
    return found


@pytest.fixture
def journal(tmp_path):
    return LocalJournal(tmp_path)


@pytest.fixture
def said():
    return []


@pytest.fixture
def held(service, journal, said):
    """The offline time of the cluster as one run handles it."""

    def begin(value="4h"):
        return OfflineTime(service, journal, 31, value, said.append, service.time.clock)

    return begin


def shown(service):
    service.cluster_parameters(31)
    return set(service.values[NAME].values())


def test_it_is_raised_for_a_run_and_put_back(service, journal, held, said):
    with raised_while(held()):
        assert (shown(service), noted_clusters(journal, service.url)) == ({"4h"}, [31])
    assert (shown(service), noted_clusters(journal, service.url)) == ({"3600s"}, [])
    assert said == [
        f"{NAME} of orders is raised from 3600s to 4h for this run",
        f"{NAME} of orders is 3600s again",
    ]


def test_it_is_noted_before_it_is_set(service, journal, held):
    def refuse(_cluster, _wanted):
        assert noted_clusters(journal, service.url) == [31]
        raise OcpError("no")

    service.set_cluster_parameters = refuse
    with pytest.raises(OcpError, match="no"):
        held().keep()


def test_it_is_put_back_after_a_failure_which_is_told(service, held):
    with pytest.raises(TaskFailed, match=r"^it failed$"), raised_while(held()):
        raise TaskFailed("it failed")
    assert shown(service) == {"3600s"}


def test_failure_to_put_it_back_is_told_after_that_of_the_run(service, journal, held):
    run = held()
    with pytest.raises(TaskFailed) as raised, raised_while(run):
        service.set_cluster_parameters = lambda _cluster, wanted: service.sent.append(wanted)
        raise TaskFailed("it failed")
    assert str(raised.value).startswith(
        f"it failed The parameter {NAME} of cluster orders was 3600s before a run raised it. "
    )
    assert str(raised.value).endswith(
        "run: ansible localhost -m oceanbase.ocp.cluster_offline_time -a 'state=restored'"
    )
    assert noted_clusters(journal, service.url) == [31]


def test_row_goes_only_when_the_old_value_shows(service, journal, held):
    run = held()
    run.keep()
    service.delay = 100
    with pytest.raises(OfflineTimeRaised, match="does not show on all servers after 30 seconds"):
        run.restore()
    assert noted_clusters(journal, service.url) == [31]
    service.delay = 0
    assert held(None).restore() == f"{NAME} of orders is 3600s again"
    assert noted_clusters(journal, service.url) == []


def test_value_that_is_high_enough_is_left(service, journal, held, said):
    service.values = {NAME: dict.fromkeys(SERVERS, "1d")}
    with raised_while(held()):
        assert noted_clusters(journal, service.url) == []
    assert (service.sent, said) == ([], [])


def test_second_run_does_not_note_the_raised_value_as_the_old_one(service, held):
    one, other = held(), held("6h")
    one.keep()
    other.keep()
    assert shown(service) == {"6h"}
    other.restore()
    assert shown(service) == {"3600s"}
    # The first one goes on.
    assert one.keep()
    assert shown(service) == {"4h"}
    one.restore()
    assert shown(service) == {"3600s"}


def test_run_without_the_option_puts_back_what_another_one_left(service, held):
    held().keep()
    run = held(None)
    with raised_while(run):
        assert shown(service) == {"4h"}
    assert shown(service) == {"3600s"}


def test_value_of_somebody_else_is_left_and_the_row_goes(service, journal, held, said):
    held().keep()
    service.cluster_parameters(31)
    service._coming.clear()
    service.show(NAME, "2h", "2h", "2h")
    sent = len(service.sent)
    words = held(None).restore()
    assert words == (
        f"{NAME} of orders is 2h, which no run has set, so somebody else has; it is left as it is, and not put back to "
        "3600s"
    )
    assert (len(service.sent), noted_clusters(journal, service.url), said[-1]) == (sent, [], words)


def test_value_of_somebody_else_is_the_old_one_of_the_next_run(service, held):
    held().keep()
    service._coming.clear()
    service.show(NAME, "2h", "2h", "2h")
    with raised_while(held()):
        assert shown(service) == {"4h"}
    assert shown(service) == {"2h"}


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            ("3600s", "2h", "3600s"),
            r"different values of server_permanent_offline_time \(3600s, 2h\), and OCP sets one",
        ),
        ((None, None, None), "the service does not show server_permanent_offline_time of cluster orders"),
    ],
)
def test_what_could_not_be_put_back_is_not_raised(service, journal, held, values, words):
    service.show(NAME, *values)
    with pytest.raises(OptionError, match=words):
        held().keep()
    assert (service.sent, noted_clusters(journal, service.url)) == ([], [])


def test_value_out_of_range_is_refused(service, held):
    with pytest.raises(OptionError, match=r"^raise_offline_time: server_permanent_offline_time: 1s is out of range"):
        held("1s").keep()
    assert service.sent == []


@pytest.mark.parametrize("value", ["", "soon", "0", "4 h"])
def test_what_is_no_time_is_refused(value):
    with pytest.raises(
        OptionError, match=f"^raise_offline_time: {value or 'an empty text'} is not a time; give one as"
    ):
        raised_seconds(value)
    assert (raised_seconds(None), raised_seconds("4h")) == (None, 14400)


def test_it_is_refused_where_the_journal_goes_away(monkeypatch):
    monkeypatch.setenv("LAUNCHED_BY_RUNNER", "1")
    with pytest.raises(
        OptionError, match=r"^raise_offline_time: it rests on the journal, .* a database that lasts; or, if"
    ):
        offline_time_journal(None, raises=True, read_only=False)


def test_check_mode_says_what_would_be_done(service, held):
    value = f"would raise {NAME} of orders from 3600s to 4h, and put it back in the end"
    assert (held().foretold(), held(None).foretold(), service.sent) == (value, "", [])
    held().keep()
    assert held(None).foretold() == f"would put {NAME} of orders back to 3600s"
    assert held().foretold() == f"would put {NAME} of orders back to 3600s in the end"


def test_row_of_a_cluster_of_another_service_with_the_same_id_is_kept(journal, held):
    held().keep()
    [fact] = journal.entries()["facts"]
    theirs = fact["value"].replace("10.1.0.", "10.9.0.").replace("orders", "theirs")
    journal.remember(FACT, fact["key"], theirs)
    assert held(None).restore() == ""
    with raised_while(held()):
        pass
    assert journal.recall(FACT, fact["key"]) == theirs


class Killed(BaseException):
    """SIGKILL: nothing of the run is executed after it."""


def killed_run(service, journal, effect, late):
    """A run that is killed at this effect, before it or right after it; returns whether it came so far."""
    left = [effect]

    def counted(target, name):
        real = getattr(type(target), name)

        def run(*args, **more):
            left[0] -= 1
            if left[0] < 0 or (left[0] == 0 and not late):
                raise Killed
            result = real(target, *args, **more)
            if left[0] == 0:
                raise Killed
            return result

        setattr(target, name, run)
        return lambda: delattr(target, name)

    names = [(journal, "remember"), (journal, "forget"), (journal, "recall"), (service, "set_cluster_parameters")]
    undo = [counted(*each) for each in (*names, (service, "cluster_parameters"))]
    try:
        with raised_while(OfflineTime(service, journal, 31, "4h", lambda _words: None, service.time.clock)):
            service.cluster_parameters(31)
    except Killed:
        return True
    finally:
        for each in undo:
            each()
    return False


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("delay", [0, 3])
def test_old_value_is_back_after_a_kill_at_any_point(tmp_path, late, delay):
    points = 0
    for effect in range(1, 200):
        service, journal = ParametersOcp(), LocalJournal(tmp_path / f"{effect}")
        (tmp_path / f"{effect}").mkdir()
        service.values = {NAME: dict.fromkeys(SERVERS, "3600s")}
        service.delay = delay
        if not killed_run(service, journal, effect, late):
            break
        points += 1
        # The next run, which does not ask for it, or the command.
        OfflineTime(service, journal, 31, None, lambda _words: None, service.time.clock).restore()
        for _read in range(5):
            service.cluster_parameters(31)
        assert (shown(service), noted_clusters(journal, service.url)) == ({"3600s"}, [])
    assert points >= 12
