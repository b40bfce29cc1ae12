# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each failed read is a row; 401, 429, silence and what is no OCP end the check, and nothing more is asked."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import (
    ConnectionFailed,
    ResponseLost,
    ResponseUnreadable,
    ServiceError,
)
from ansible_collections.oceanbase.ocp.plugins.module_utils._base.service_clock import ServiceClock
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.findings import Answer, Verdict
from ansible_collections.oceanbase.ocp.plugins.module_utils._service.interview import Interview
from ansible_collections.oceanbase.ocp.tests.unit.support.fake_ocp import refused
from ansible_collections.oceanbase.ocp.tests.unit.support.fakes import URL

PATH = "/api/v2/x"
NO_CONNECTION, LOST = ConnectionFailed("No way.", url=URL), ResponseLost("Lost.", url=URL)
PAGE = ResponseUnreadable("A page.", url=URL).without_envelope()
ODD = ResponseUnreadable("Odd data.", url=URL)


def page(status: int) -> ServiceError:
    return refused(status).without_envelope()


@pytest.fixture
def interview():
    return Interview(
        SimpleNamespace(url=URL, user="admin", service_clock=ServiceClock(), last_path=PATH, trace_id="trace-7")
    )


def failing(error):
    def read():
        raise error

    return read


def ask(interview, *errors):
    """Ask once for each error, None for success; returns the verdict and the answers."""
    for number, error in enumerate(errors):
        interview.ask(str(number), (lambda: 7) if error is None else failing(error))
    return interview.findings.verdict, [read.answer for read in interview.findings.reads.values()]


@pytest.mark.parametrize(
    ("error", "answer", "why"),
    [
        (None, Answer.OK, None),
        (refused(403), Answer.FORBIDDEN, "no permission (403)"),
        *((refused(status), Answer.ABSENT, f"no such call ({status})") for status in (400, 404, 405)),
        (page(404), Answer.ABSENT, "no such call (404)"),
        (PAGE, Answer.ABSENT, "no answer of an OCP"),
        (refused(409), Answer.FAILED, "status 409"),
        (refused(500), Answer.FAILED, "status 500"),
        (page(502), Answer.FAILED, "status 502"),
        (ODD, Answer.FAILED, "not of the documented form"),
        (LOST, Answer.FAILED, "no whole answer in time"),
    ],
)
def test_answer_is_a_row_and_no_end(interview, error, answer, why):
    assert ask(interview, error, None) == (Verdict.CHECKED, [answer, Answer.OK])
    row = interview.findings.reads["0"]
    assert (row.path, row.why, row.message is None) == (PATH, why, error is None)


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ([refused(401)], Verdict.CREDENTIALS_REFUSED),
        ([page(401)], Verdict.CREDENTIALS_REFUSED),
        ([refused(429)], Verdict.RATE_LIMITED),
        ([NO_CONNECTION], Verdict.UNREACHABLE),
        ([LOST, LOST], Verdict.UNREACHABLE),
    ],
)
def test_nothing_more_is_asked_after_the_end(interview, errors, verdict):
    found, answers = ask(interview, *errors, AssertionError("It was asked."), AssertionError("It was asked."))
    assert (found, answers[len(errors) :]) == (verdict, [Answer.SKIPPED] * 2)
    assert interview.findings.message
    last = list(interview.findings.reads.values())[-1]
    assert (last.path, bool(last.why)) == (None, True)


def test_one_lost_answer_between_others_is_no_silence(interview):
    assert ask(interview, LOST, None, LOST, refused(404), LOST)[0] is Verdict.CHECKED


def test_refused_read_without_credentials_goes_on(interview):
    interview.ask("time", failing(refused(401)), public=True)
    assert ask(interview, None)[0] is Verdict.CHECKED
    assert interview.findings.reads["time"].why == "not without credentials (401)"


def test_refusal_by_a_proxy_is_said_so(interview):
    ask(interview, page(401))
    assert "a proxy in front of the OCP may have refused it" in interview.findings.message


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (PAGE, PAGE, Verdict.NO_OCP),
        (page(404), page(404), Verdict.NO_OCP),
        (page(500), page(500), Verdict.NO_OCP),
        (page(502), page(503), Verdict.UNREACHABLE),
        (page(404), None, Verdict.CHECKED),
        (None, page(404), Verdict.CHECKED),
        (refused(404), page(404), Verdict.CHECKED),
        (page(404), refused(403), Verdict.CHECKED),
        (refused(404), refused(404), Verdict.CHECKED),
        (LOST, page(404), Verdict.CHECKED),
        (page(404), refused(401), Verdict.CREDENTIALS_REFUSED),
    ],
)
def test_two_answers_without_an_envelope_are_no_ocp(interview, first, second, verdict):
    ask(interview, first, second)
    interview.end_unless_ocp("0", "1")
    assert interview.findings.verdict is verdict


def test_read_aside_is_no_row(interview):
    assert interview.ask_aside(lambda: 7)[0] == 7
    found, read = interview.ask_aside(failing(refused(404)))
    assert (found, read.answer, interview.findings.reads) == (None, Answer.ABSENT, {})
