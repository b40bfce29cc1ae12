# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""What the unit tests tell pytest here and not in pyproject.toml, which ansible-test does not read."""


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "slow: not in `make unit`, as are the properties that hypothesis tries; both are in `make unit-slow`",
    )
