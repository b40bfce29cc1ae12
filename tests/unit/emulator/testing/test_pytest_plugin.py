# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The fixture `ocp` as pytest runs it: its options, the test with a fault that never hits, the section of a failure."""

import gc
import importlib
import subprocess
import sys

import pytest

# Or each run of pytest imports it anew.
importlib.import_module("ocp_emulator.testing.emulated_ocp")

pytest_plugins = ["pytester"]

ARGUMENTS = ["-p", "ocp_emulator.testing.pytest_plugin", "-p", "no:cacheprovider"]


@pytest.fixture(autouse=True)
def _no_other_plugin(monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def run(pytester):
    """Run a file of tests; returns the outcomes and what pytest printed."""

    def of(tests, conftest=""):
        pytester.makeconftest(conftest)
        pytester.makepyfile(f"import pytest\nfrom urllib.request import urlopen\n\n{tests}")
        # Earlier tests of this process may have left databases open, of which Python 3.13 would warn in this run.
        gc.collect()
        result = pytester.runpytest_inprocess(*ARGUMENTS, "--strict-markers", "-W", "error")
        return result.parseoutcomes(), result.stdout.str()

    return of


def test_each_test_has_a_fleet_of_its_own(run):
    outcomes, printed = run(
        """
URLS = set()

@pytest.mark.parametrize("number", range(3))
def test_it(ocp, number):
    assert ocp.requests() == []
    urlopen(f"{ocp.url}/api/v2/time").close()
    URLS.add(ocp.url)
    assert len(URLS) == number + 1
"""
    )
    assert outcomes == {"passed": 3}, printed


def test_fault_that_never_hits_fails_the_test(run):
    outcomes, printed = run(
        """
def test_it(ocp):
    ocp.faults.plan("subtask", "fail", {"subtask": "Stop server"})
"""
    )
    assert outcomes == {"failed": 1}, printed
    assert 'fault 1: subtask fail {"match": {"subtask": "Stop server"}}' in printed
    assert "plan it with optional=True" in printed


def test_failed_test_is_told_as_it_failed(run):
    outcomes, printed = run(
        """
def test_it(ocp):
    ocp.faults.plan("subtask", "fail", {"subtask": "Stop server"})
    urlopen(f"{ocp.url}/api/v2/time").close()
    assert "its own reason" == ""

def test_without_it():
    assert "another reason" == ""
"""
    )
    assert outcomes == {"failed": 2}, printed
    assert "never hit" not in printed
    assert printed.count("- OCP emulator -") == 1
    assert "\nGET /api/v2/time 200\n" in printed


@pytest.mark.parametrize("outcome", ["skip", "xfail"])
def test_unused_fault_is_no_matter_in_a_test_that_did_not_run_on(run, outcome):
    outcomes, printed = run(f"def test_it(ocp):\n    ocp.faults.plan('http', 'reset')\n    pytest.{outcome}('so')\n")
    assert outcomes in ({"skipped": 1}, {"xfailed": 1}), printed


def test_mark_of_the_test_stands_above_that_of_the_class_and_the_options_of_all(run):
    outcomes, printed = run(
        """
def test_options(ocp):
    assert len(ocp.fleet.clusters) == 5

@pytest.mark.ocp(clusters=2)
class TestIt:
    def test_class(self, ocp):
        assert (len(ocp.fleet.clusters), len(ocp.fleet.servers)) == (2, 4)

    @pytest.mark.ocp(clusters=3)
    def test_own(self, ocp):
        assert (len(ocp.fleet.clusters), len(ocp.fleet.servers)) == (3, 6)
""",
        conftest="""
import pytest

@pytest.fixture(scope="session")
def ocp_options():
    return {"clusters": 5, "zones": 1, "servers_per_zone": 2}
""",
    )
    assert outcomes == {"passed": 3}, printed


def test_files_are_looked_for_beside_the_test(pytester, monkeypatch):
    (pytester.path / "fleet.yml").write_text("clusters: [{name: a, zones: [{name: z, servers: [{ip: 10.7.0.1}]}]}]")
    elsewhere = pytester.mkdir("elsewhere")
    monkeypatch.chdir(elsewhere)
    mark = "import pytest\n\n@pytest.mark.ocp(fleet='fleet.yml')"
    pytester.makepyfile(test_it=f"{mark}\ndef test_it(ocp): assert '10.7.0.1:2882' in ocp.fleet.servers\n")
    result = pytester.runpytest_inprocess(*ARGUMENTS, str(pytester.path / "test_it.py"))
    assert result.parseoutcomes() == {"passed": 1}, result.stdout.str()


def test_bad_option_is_one_sentence(run):
    outcomes, printed = run("@pytest.mark.ocp(profil='4.2')\ndef test_it(ocp): pass\n")
    assert outcomes == {"errors": 1}, printed
    assert "\nOptions of the fixture ocp: unrecognized arguments: --profil=4.2\n" in printed
    assert "Traceback" not in printed


def test_mark_is_known_where_the_fixture_is_not_used(run):
    outcomes, printed = run("@pytest.mark.ocp(profile='4.2')\ndef test_it(): pass\n")
    assert outcomes == {"passed": 1}, printed


def test_plugin_imports_the_emulator_only_for_a_test_that_needs_it():
    code = "import sys, ocp_emulator.testing.pytest_plugin; print([name for name in sys.modules if 'fastapi' in name])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"
