# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The marks of unit tests, and each unit test as a new process; here, as ansible-test does not read pyproject.toml."""

from uuid import uuid4

import pytest
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal import folder_lifetime
from ansible_collections.oceanbase.ocp.tests.unit.support.controllers import another_controller, with_journal_here


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "slow: not in `make unit`, as are the properties that hypothesis tries; both are in `make unit-slow`",
    )
    config.addinivalue_line("markers", "nightly: of a kind that `make test` runs already")
    # ansible-test has no pytest-timeout, which tells this one.
    config.addinivalue_line("markers", "timeout: how many seconds a test may take")


@pytest.fixture(scope="session")
def _homes(tmp_path_factory):
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def _new_process(_homes, monkeypatch):
    """Each test begins as a new process of a new user does, which knows of no request and has noted nothing."""
    another_controller()
    monkeypatch.setenv("ANSIBLE_HOME", str(_homes / uuid4().hex))
    # Tests may run in a container.
    monkeypatch.setattr(folder_lifetime, "MARKS", ())
    for name in ("container", *folder_lifetime.OF_JOBS):
        monkeypatch.delenv(name, raising=False)
    with with_journal_here():
        yield
