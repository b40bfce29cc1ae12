# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The exploration itself: a tiny world ends without a broken promise, and a bug that is put back is told as a story."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.oceanbase.ocp.tests.explore.explorer import explore
from ansible_collections.oceanbase.ocp.tests.explore.known_bugs import put_back
from ansible_collections.oceanbase.ocp.tests.explore.settings import SETTINGS
from ansible_collections.oceanbase.ocp.tests.explore.world import LATER, SOON

TINY = replace(
    SETTINGS["on the way, by a name"],
    events=("kill", "the answer is lost", "it is held back"),
    most_events=1,
    pauses=(SOON, LATER),
)


def test_a_tiny_world_ends_without_a_broken_promise():
    found = explore(TINY)
    assert (found.breaks, found.story) == ({}, None)
    assert found.is_whole
    assert 20 < found.states < found.runs
    assert {"NEEDED", "DONE", "OWN_TASK", "REQUEST_OPEN", "REQUEST_HERE"} <= found.rules.keys()


@pytest.mark.parametrize(
    ("bug", "promise", "event"),
    [
        ("unanswered-requests-are-forgotten", "8", "it is held back"),
        ("requests-are-not-noted", "16", ""),
    ],
)
def test_a_bug_that_is_put_back_is_told_as_a_story(bug, promise, event):
    with put_back(bug):
        found = explore(TINY, until_broken=True)
    broken, story = found.story
    assert broken.promise == promise
    assert f"!! {event}" in "\n".join(story) or not event
    assert any("POST" in line for line in story)
