# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""What the evidence keeps of a result: outcome, starts, task, failure and plan, by the module that returned it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...module_utils._base.parsing import Record, integer, integers, record, records, text
from ...module_utils._base.text import LONGEST_LOG_LINES, escape_lines, log_tail, one_line

FLEET, FLEET_PLAN = "fleet_restart", "fleet_restart_info"
ROLLING, ROLLING_PLAN = "cluster_rolling_restart", "cluster_rolling_restart_info"
PLANS = {FLEET: FLEET_PLAN, ROLLING: ROLLING_PLAN}
# Below which key a result has its servers.
SERVERS = {FLEET: "servers", ROLLING: "results"}
# Modules that a run calls for one part of its targets after another, and the kind of these. Their option ``planned``
# has all of them.
PARTS = {"agent_restart": "agents", "arbitration_service_restart": "arbitration_service"}
FAILED, PROVEN, UNPROVEN, SKIPPED = "failed", "proven", "unproven", "skipped"
PLANNED, POSTPONED, NOT_BEGUN, UNKNOWN = "planned", "postponed", "not_begun", "unknown"
# What was done to a task by the module task, and what a task shows of itself.
TASK_KEYS = ("id", "name", "status", "creator", "start_time", "finish_time", "duration")
LONGEST_MESSAGE = 20_000


def is_restart(module: str) -> bool:
    """Whether results of this module are restarts."""
    return module.endswith("_restart")


def has_failed(result: Record) -> bool:
    """Whether the module itself failed, however the playbook handles that."""
    return "msg" in result


def restart_entries(module: str, result: Record, check_mode: bool) -> list[Record]:
    """The outcome of each target of a result; empty if it names none."""
    if module == FLEET:
        return [_of_fleet(one, check_mode) for one in records(result.get("servers"))]
    if module == ROLLING:
        return list(_of_cluster(result, check_mode))
    return [_of_one(result, check_mode)] if is_restart(module) and record(result.get("target")) else []


def failure_entry(result: Record) -> Record:
    """Why it failed, which tasks did, and their failed subtasks with the end of their logs."""
    message = result.get("msg")
    ids = [*integers(result.get("failed_task_ids")), *integers(result.get("unfinished_task_ids"))]
    return {
        "message": escape_lines(str(message)[:LONGEST_MESSAGE]) if has_failed(result) else None,
        "task_ids": ids or [number for number in [integer(result.get("task_id"))] if number is not None],
        "failed_subtasks": [_failed_subtask(one) for one in records(result.get("failed_subtasks"))],
        "trace_id": one_line(result.get("trace_id")),
    }


def task_entry(task: Record) -> Record:
    """What a task shows of itself, without its subtasks."""
    words = {key: one_line(task.get(key)) for key in TASK_KEYS}
    return {**words, "id": integer(task.get("id")), "duration": _seconds(task.get("duration"))}


def plan_entry(module: str, result: Record) -> Record | None:
    """The plan in a result of a module that plans: what restarts together, in order; None if there is none."""
    left_alone = [_planned(one) for one in records(result.get("left_alone"))]
    if module in PLANS:
        return plan_entry(PLANS[module], record(result["plan"])) if record(result.get("plan")) else None
    if module == ROLLING_PLAN:
        batches = records(result.get("batches"))
        blocked = [one for one in records(result.get("clusters")) if one.get("blocked")]
        return {
            "steps": [_batch(batch) for batch in batches],
            "left_alone": left_alone,
            "refused": [{"cluster": one_line(one.get("name")), "reason": _message(one)} for one in blocked],
        }
    if module == FLEET_PLAN:
        refused = [_planned(one) for one in records(result.get("refused"))]
        waves = [records(wave.get("servers")) for wave in records(result.get("waves"))]
        return {
            "steps": [[_planned(one) for one in servers] for servers in waves],
            "left_alone": left_alone,
            "refused": [{"cluster": one["cluster"], "reason": f"no wave can take {one['name']}"} for one in refused],
        }
    return None


def inspection_entry(found: Record) -> Record:
    """What an inspection of a cluster has found, or why it has no report."""
    words = ("cluster", "moment", "scenario", "start_time", "end_time")
    numbers = ("cluster_id", "task_id", "report_id", "high_risks", "medium_risks", "low_risks")
    risk = ("item", "target", "value", "level")
    return {
        **{key: one_line(found.get(key)) for key in words},
        **{key: integer(found.get(key)) for key in numbers},
        "risks": [{key: one_line(one.get(key)) for key in risk} for one in records(found.get("risks"))],
        "reason": text(found.get("reason")),
    }


def _batch(batch: Record) -> list[Record]:
    """The servers of a batch that need the restart; a batch names their cluster and zone."""
    needed = [one for one in records(batch.get("servers")) if one.get("needed") is not False]
    return [{**_planned(one), **_place(batch)} for one in needed]


def _message(cluster: Record) -> str:
    return escape_lines(str(cluster.get("message"))[:LONGEST_MESSAGE])


def _of_one(result: Record, check_mode: bool) -> Record:
    target = record(result.get("target"))
    parts = records(target.get("hosts")) or records(target.get("obproxies"))
    cluster = target.get("cluster_name") or target.get("obproxy_cluster_name")
    return {
        "kind": one_line(target.get("kind")),
        "name": one_line(target.get("name")) or ", ".join(str(one_line(part.get("name"))) for part in parts),
        "cluster": one_line(target.get("name") if target.get("kind") == "cluster" else cluster),
        **_course(result, check_mode),
        "members": _members(record(result.get("before")), record(result.get("after"))),
        "task": _task(result.get("task"), result.get("task_id"), None),
        "elapsed": _seconds(result.get("elapsed")),
        "trace_id": one_line(result.get("trace_id")),
    }


def _of_fleet(server: Record, check_mode: bool) -> Record:
    if server.get("refused") and server.get("name") is None:
        named = {"name": one_line(server.get("server")), "cluster": one_line(server.get("cluster"))}
        # It failed, so in check mode too it is not what would be done.
        return unreached_entry({**named, "reason": text(server.get("msg"))}, check_mode=False)
    name = one_line(server.get("name") or server.get("server"))
    shown = {key: value for key, value in server.items() if key != "msg" or server.get("failed")}
    return {
        "kind": "server",
        "name": name,
        "cluster": one_line(server.get("cluster")),
        **_course(shown, check_mode),
        "members": _starts(name, server),
        "task": _task(None, server.get("task_id"), server.get("duration")),
        "elapsed": None,
        "trace_id": one_line(server.get("trace_id")),
    }


def unreached_entry(target: Record, check_mode: bool, kind: str = "server", *, is_open: bool = False) -> Record:
    """A target of a plan that has no outcome; ``is_open``: the run was at work, and may have come to it."""
    outcome = PLANNED if check_mode else UNKNOWN if is_open else NOT_BEGUN
    return {
        **{"kind": kind, "name": target["name"], "cluster": target["cluster"]},
        **_course({}, check_mode),
        **{"outcome": outcome, "reason": target["reason"]},
        **{"members": [], "task": None, "elapsed": None, "trace_id": None},
    }


def _of_cluster(result: Record, check_mode: bool) -> Iterator[Record]:
    own = one_line(record(result.get("cluster")).get("name"))
    for server in records(result.get("results")):
        name, outcome = one_line(server.get("name")), server.get("outcome")
        cluster = one_line(server.get("cluster")) or own
        failed = {"msg": result.get("msg")} if outcome == FAILED else {}
        yield {
            "kind": "server",
            "name": name,
            "cluster": cluster,
            **_course({**server, "action": None if failed else outcome, **failed}, check_mode),
            "members": _starts(name, server),
            "task": _task(None, server.get("task_id"), None),
            "elapsed": _seconds(server.get("elapsed")),
            "trace_id": None,
        }
    # Those of a result with a plan are known by that.
    untouched = result.get("untouched") if own else None
    for name in untouched if isinstance(untouched, list) else []:
        yield unreached_entry({"name": one_line(name), "cluster": own, "reason": None}, check_mode)


def _course(result: Record, check_mode: bool) -> Record:
    """The outcome. A rolling restart does not say for each server whether it changed; a submitted restart did."""
    action, verified = one_line(result.get("action")), result.get("verified")
    began = action in ("submitted", "adopted") or (has_failed(result) and result.get("task_id") is not None)
    return {
        "outcome": _outcome(result, action, check_mode),
        "action": action,
        "changed": bool(result.get("changed", began)),
        "verified": verified if isinstance(verified, bool) else None,
        "reason": text(result.get("reason")),
    }


def _outcome(result: Record, action: str | None, check_mode: bool) -> str:
    if has_failed(result) or result.get("verified") is False:
        return FAILED
    if action in (SKIPPED, POSTPONED):
        return action
    if check_mode:
        return PLANNED
    return PROVEN if result.get("verified") is True else UNPROVEN


def _members(before: Record, after: Record) -> list[Record]:
    """Each part of a target with its start, and for agents the pids of their processes, before and after."""
    earlier, later = ({str(one.get("name")): one for one in records(seen.get("members"))} for seen in (before, after))
    return [_member(name, earlier.get(name, {}), later.get(name, {})) for name in {**earlier, **later}]


def _member(name: object, before: Record, after: Record) -> Record:
    starts = {
        f"start_{when}": one_line(seen.get("start_time")) for when, seen in (("before", before), ("after", after))
    }
    pids = {f"pids_{when}": record(seen.get("pids")) or None for when, seen in (("before", before), ("after", after))}
    return {"name": one_line(name), **starts, **pids}


def _starts(name: object, server: Record) -> list[Record]:
    """The only member of a server, if the module shows only its starts."""
    return [_member(name, *({"start_time": server.get(f"start_{when}")} for when in ("before", "after")))]


def _task(task: object, number: object, duration: object) -> Record | None:
    if isinstance(task, dict):
        return task_entry(task)
    return None if integer(number) is None else task_entry({"id": number, "duration": duration})


def _failed_subtask(step: Record) -> Record:
    words = {key: one_line(step.get(key)) for key in ("name", "description", "status", "start_time", "finish_time")}
    numbers = {key: integer(step.get(key)) for key in ("task_id", "id", "position", "attempt")}
    log = log_tail(step.get("log_tail"), LONGEST_LOG_LINES)
    return {**numbers, **words, "log_tail": log.lines if log else None}


def _planned(server: Record) -> Record:
    name = one_line(server.get("server") or server.get("name"))
    return {**_place(server), "name": name, "reason": text(server.get("reason"))}


def _place(found: Record) -> Record:
    return {"cluster": one_line(found.get("cluster")), "zone": one_line(found.get("zone"))}


def _seconds(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
