# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The plugin for pytest: the fixture `ocp`, its options, and how a test with a fault that never hits fails.

pytest loads this file in every run, so slow imports happen in the first test that needs them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ocp_emulator.testing.emulated_ocp import EmulatedOcp

_OCP = pytest.StashKey["EmulatedOcp"]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known."""
    config.addinivalue_line(
        "markers",
        "ocp(**options): options of `ocp-emulator serve` for the fixture ocp, such as fleet='fleet.yml', profile='4.2'",
    )


@pytest.fixture(scope="session")
def ocp_options() -> dict[str, Any]:
    """Options for the fixture ocp in all tests; a conftest.py may have its own."""
    return {}


@pytest.fixture
def ocp(request: pytest.FixtureRequest, ocp_options: dict[str, Any]) -> Iterator[EmulatedOcp]:
    """An OCP for this test alone, with a new fleet. Paths in its options are relative to the file of the test."""
    from ocp_emulator.cli_options import BadInputError
    from ocp_emulator.testing.emulated_ocp import EmulatedOcp, beside

    options = dict(ocp_options)
    for mark in reversed(list(request.node.iter_markers("ocp"))):
        options |= mark.kwargs
    try:
        emulated = EmulatedOcp(**beside(request.path.parent, options))
    except BadInputError as error:
        raise pytest.fail.Exception(f"Options of the fixture ocp: {error}", pytrace=False) from None
    with emulated:
        request.node.stash[_OCP] = emulated
        yield emulated


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that has passed although one of its faults never hit."""
    result = yield
    emulated = item.stash.get(_OCP, None)
    unused = emulated.faults.unused() if emulated else None
    if unused:
        pytest.fail(unused, pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show what the service did below a failed test."""
    report = yield
    emulated = item.stash.get(_OCP, None)
    if emulated and call.when == "call" and report.failed:
        report.sections.append(("OCP emulator", emulated.summary()))
    return report
