# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""A short campaign of faults; `make chaos` runs a long one."""

from __future__ import annotations

import subprocess
import sys

import pytest
from repository import REPOSITORY


@pytest.mark.timeout(600)
@pytest.mark.nightly
def test_fault_campaign_repeats_no_restart_and_reports_correctly():
    run = subprocess.run(
        [sys.executable, "tests/chaos/campaign.py", "--restarts", "32"],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=580,
    )
    assert run.returncode == 0, run.stdout
    assert run.stdout.count("16 restarts asked") == 2
    assert "adopted" in run.stdout
