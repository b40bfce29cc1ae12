# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The options of a restart of many servers, and what they ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import Any

from .._base.checks import check_range
from .._base.errors import OptionError
from .._health.scenarios import SCENARIOS
from .._ocp.endpoints import OcpApi
from .._ocp.side_by_side import Crew
from .._restart.fleet_outcome import FleetMember
from .._restart.many_restarts import restart_many
from .._rolling.fleet_plan import FleetRequest
from .._signs.offline_budget import raised_seconds
from .._waiting.progress_lines import Show
from .approval_options import APPROVAL_OPTIONS, approval, given_path
from .bridge import RunMode
from .connection_options import Params, seconds_option
from .restart_options import (
    NONE,
    SAFETY_OPTIONS,
    given_caps,
    given_change,
    given_instant,
    given_windows,
    restart_options,
)
from .server_options import SERVER_OPTIONS, server_selector

Result = dict[str, Any]

THREADS_OPTION: dict[str, Any] = {"threads": {"type": "int", "default": 16}}
FLEET_OPTIONS: dict[str, Any] = {
    "servers": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            **SERVER_OPTIONS,
            "tolerate_outage_of": SAFETY_OPTIONS["tolerate_outage_of"],
            # Keys that a plan has.
            "cluster_id": {"type": "int"},
            "id": {"type": "int"},
            "reason": {"type": "str"},
        },
    },
    "waves": {"type": "bool"},
    **APPROVAL_OPTIONS,
    "pause_file": {"type": "path"},
    "raise_offline_time": {"type": "str"},
    "inspection": {"type": "str", "choices": [*SCENARIOS]},
    "proof_timeout": {"type": "int", "default": 180},
    **THREADS_OPTION,
}
MOST_THREADS = 64


def _pause_file(params: Params) -> str | None:
    """The file at which a run pauses, if any. Raises OptionError."""
    pause_file = given_path(params, "pause_file")
    if pause_file is not None and not params["waves"]:
        raise OptionError(
            "pause_file: needs waves=true since a run pauses between its waves; give it, or leave this out."
        )
    return pause_file


def _check_options_of_a_run(params: Params) -> None:
    """Raise OptionError for a wrong ``raise_offline_time``, and for options that need a run with an end."""
    raised_seconds(params["raise_offline_time"])
    whys = {"raise_offline_time": "it is put back", "inspection": "the second one is made"}
    for option, why in whys.items():
        if params[option] is not None and (params["waves"] is None or not params["wait"]):
            raise OptionError(
                f"{option}: needs wait=true and waves, true or false, since {why} at the end of the plan; give both, "
                "or leave it out."
            )


def restart_servers(api: OcpApi, params: Params, mode: RunMode) -> Result:
    """The result of the restart of many servers side by side. Raises an OcpError."""
    if not params["servers"]:
        raise OptionError("servers: is empty; give the servers, each with its cluster.")
    proof_timeout = seconds_option(params, "proof_timeout", 0)
    one_at_a_time = replace(mode, show=_locked(mode.show), announce=_locked(mode.announce))
    request = restart_options(params, one_at_a_time)
    if params["wait"] and not request.is_dated:
        raise OptionError(
            "change: is not given, nor is started_before, and wait=true needs one of them to prove the restarts; give "
            "the name of the change that they are for, or its instant, or leave wait out."
        )
    params = _in_waves(params)
    pause_file = _pause_file(params)
    _check_options_of_a_run(params)
    if params["waves"] is None:
        members = [_member(params, server, one_at_a_time) for server in params["servers"]]
        return restart_many(api, crew(params, mode), members, proof_timeout)
    from .._rolling.fleet_run import FleetRun, restart_by_plan

    if params["until_effective"]:
        raise OptionError("waves: does not go with until_effective, whose values no plan reads; leave one of them out.")

    def member(planned: Result, place: int) -> FleetMember:
        return _planned_member(params, planned, params["servers"][place], one_at_a_time)

    wanted = FleetRun(
        planned_servers(params, mode),
        member,
        request,
        params["waves"],
        proof_timeout,
        pause_file,
        params["raise_offline_time"],
        params["inspection"],
    )
    return restart_by_plan(api, crew(params, mode), wanted)


def _in_waves(params: Params) -> Params:
    """The options, with waves where a plan is kept or approved and nothing else is said. Raises OptionError."""
    plan_file, approved = (given_path(params, name) for name in APPROVAL_OPTIONS)
    if plan_file is None and approved is None:
        return params
    if approved is not None and not params["wait"]:
        raise OptionError(
            f"approved_plan: {approved} is given without wait=true, and a wave begins when the one before serves; give "
            "both."
        )
    return params if params["waves"] is not None else {**params, "waves": True}


def planned_servers(params: Params, mode: RunMode) -> FleetRequest:
    """What to plan. What is tolerated of one server may be lost in the plan; its restart is judged by its own list.

    Raises OptionError.
    """
    alone = {
        f"{server['cluster']} {server['server']}": server["tolerate_outage_of"]
        for server in params["servers"]
        if server.get("tolerate_outage_of")
    }
    own = (name for names in alone.values() for name in names)
    return FleetRequest(
        servers=[(str(one.get("cluster_id") or one["cluster"]), one["server"]) for one in params["servers"]],
        started_before=given_instant(params, "started_before"),
        change=given_change(params),
        journal_url=params["journal_url"],
        majority=params["safety"] != NONE,
        tolerated=list(dict.fromkeys([*(params["tolerate_outage_of"] or ()), *own])) or params["tolerate_outage_of"],
        caps=given_caps(params),
        windows=given_windows(params),
        tolerated_alone=alone,
        approval=approval(params, mode, of_fleet=True),
    )


def crew(params: Params, mode: RunMode) -> Crew:
    """The threads of the option, each with its own connection. Raises OptionError."""
    check_range("threads", params["threads"], 1, MOST_THREADS, " threads")
    if mode.connect is None:
        raise TypeError("a body that needs more connections runs by call_module")
    return Crew(mode.connect, params["threads"])


def _member(params: Params, server: Params, mode: RunMode) -> FleetMember:
    own = {name: value for name, value in server.items() if value not in (None, [])}
    # More than one cluster may have the name.
    found_by = {} if server["cluster_id"] is None else {"cluster": str(server["cluster_id"])}
    both = {"zone": None, **params, **own, **found_by}
    return FleetMember(server["cluster"], server["server"], server_selector(both), restart_options(both, mode))


def _planned_member(params: Params, planned: Result, given: Params, mode: RunMode) -> FleetMember:
    """A server of a plan, with what the options say of it alone. Raises OptionError if the two do not agree."""
    if given["zone"] not in (None, planned["zone"]):
        raise OptionError(
            f"servers: {planned['server']} of cluster {planned['cluster']} is in {planned['zone']} and not in "
            f"{given['zone']}; look at it, then leave its zone out. Nothing was sent."
        )
    tolerated = given["tolerate_outage_of"] or params["tolerate_outage_of"] or []
    known = [name for name in planned["tolerate_outage_of"] if name in tolerated]
    return _member({**params, "tolerate_outage_of": known or None}, {**planned, "tolerate_outage_of": None}, mode)


def _locked(show: Show) -> Callable[[str, bool], None]:
    """The same function, called by one thread at a time."""
    guard = Lock()

    def shown(line: str, failed: bool) -> None:
        with guard:
            show(line, failed)

    return shown
