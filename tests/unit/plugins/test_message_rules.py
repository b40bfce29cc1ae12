# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Each error message names option and target, gives a next step, is a sentence and holds no secret."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._base import errors
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue import OPTIONS, TARGETS, Entry
from ansible_collections.oceanbase.ocp.tests.unit.support.errors_catalogue_entries import entries, every_entry
from ansible_collections.oceanbase.ocp.tests.unit.support.module_arguments import BASIC, KEY

# Each test goes through the whole catalogue, which takes seconds to build.
pytestmark = pytest.mark.slow
SECRETS = (BASIC["password"], KEY["access_key_secret"], "Authorization", "Basic ", "OCP-ACCESS-KEY-HMACSHA1")
# A next step is one of these verbs at the start of a clause, or a command.
VERBS = "ask|begin|check|copy|give|have|leave|list|look|name|put|retry|roll|run|set|use|wait"
NEXT_STEP = re.compile(
    rf"(?:^\s*|[.;:,?] |\b(?:and|or|so|then|to choose from: .*\.) )(?:{VERBS})\b|ansible localhost -m oceanbase\.ocp\.",
    re.IGNORECASE | re.MULTILINE,
)
# The accepted values in messages of ansible-core.
ACCEPTED = re.compile(
    r"cannot be converted to an? (bool|dict|float|int|list)$|Valid booleans include: |"
    r"must be one (or more )?of: .*, got|"
    r"must be one or more of: .*\. Got no match for: |^missing required arguments: |are mutually exclusive: |"
    r"Supported parameters include: |^parameters are required together: |^missing parameter\(s\) required by |"
    r"^\w+ is \w+ but all of the following are missing: "
)


def faults_of(entry: Entry) -> list[str]:
    """The faults of a message."""
    message = entry.message
    own = entry.kind is not None
    wrong = [f"does not name {name}" for name in entry.names if not names(message, name)]
    wrong += [f"holds {secret}" for secret in SECRETS if secret in message]
    if not (NEXT_STEP if own else ACCEPTED).search(message):
        wrong.append("tells no next step")
    if own and not message.endswith((".", "'")):
        wrong.append("ends as no sentence")
    if own and re.search(r"\bNone\b|\(\)|: \.", message):
        wrong.append("has a gap")
    return wrong


def names(message: str, name: str) -> bool:
    """Whether ``name`` is in the message, not as a part of another name or number."""
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?!\.?\d)", message) is not None


def test_every_message_follows_the_rules():
    # Not one test for each: every worker would provoke all messages, even to collect the tests.
    wrong = {entry.message: faults for entry in every_entry() if (faults := faults_of(entry))}
    assert wrong == {}
    assert len(every_entry()) > 200


def test_option_error_starts_with_the_option_or_the_credentials():
    for entry in entries(OPTIONS):
        assert entry.message.startswith(
            (f"{entry.heading}: ", f"{entry.heading}.", "No credentials are given", "Both kinds of credentials")
        )
        assert issubclass(entry.kind, errors.OptionError)
        assert "\n" not in entry.message


def test_target_error_starts_with_the_option():
    for entry in entries(TARGETS):
        if entry.kind is errors.TargetError:
            assert entry.message.startswith(f"{entry.heading}: ")


GOOD = Entry(TARGETS, "zone", "is none", "zone: 9 is none. Check the name.", ("zone", "9"), errors.TargetError)


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("zone: 90 is none, nor is 1.9. Check the name.", "does not name 9"),
        (f"zone: 9 and {BASIC['password']} are none. Check the name.", f"holds {BASIC['password']}"),
        ("zone: 9 was refused with status 415. Trace id trace-415.", "tells no next step"),
        ("zone: 9 checks nothing, and it is not given.", "tells no next step"),
        ("zone: 9 is none. Check the name", "ends as no sentence"),
        ("zone: 9 is None. Check the name.", "has a gap"),
    ],
)
def test_message_rules_detect_each_fault(message, fault):
    assert faults_of(GOOD) == []
    assert faults_of(replace(GOOD, message=message)) == [fault]


def test_ansible_messages_have_their_own_rule():
    said = replace(GOOD, message="zone: 9 is wrong", kind=None)
    assert faults_of(said) == ["tells no next step"]
