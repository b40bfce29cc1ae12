# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The playbook `demo` runs and restarts all kinds of targets."""

from __future__ import annotations

import sys
from pathlib import Path

from repository import REPOSITORY


def test_the_demo_shows_four_kinds_of_restart(ansible):
    outcome = ansible.playbook(
        str(REPOSITORY / "playbooks" / "demo.yml"), arguments=f"-e emulator_virtualenv={Path(sys.prefix)}"
    )
    assert outcome.rc == 0, outcome.output
    for kind in "Restart OB server", "Restart OB cluster", "Batch restart OCP agent", "Restart arbitration service":
        assert kind in outcome.output
