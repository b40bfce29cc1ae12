# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A rolling restart in words: its plan in a few lines, what it is for, what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from .._base.cli_hints import NEXT_STEPS_HEADING
from .._base.text import counted, join_names
from .._signs.sign_rules import Sign
from .rolling_plan import RollingRequest
from .server_outcomes import FAILED

Result = dict[str, Any]

# Of a larger plan only the counts are shown.
MOST_ZONES = 12
# Of larger fleets check mode does not name the servers.
MOST_CLUSTERS = 10


def plan_lines(plan: Result, wanted: RollingRequest, *, in_full: bool, would: bool = False) -> Iterator[str]:
    """The counts, a line for each zone, and what may stop the run; ``in_full`` also the reason of each server.

    A plan of which nothing is left has one line, but for what is ill. ``would``: in check mode.
    """
    clusters, left = plan["clusters"], plan["left_alone"]
    blocked = [cluster for cluster in clusters if cluster["blocked"]]
    batches = unblocked(plan)
    total = sum(len(batch["servers"]) for batch in batches)
    where = f" of {len(clusters)} clusters" if len(clusters) > 1 else ""
    done = _would_words(total, batches) if would and total else f"{total} to restart"
    held = sum(len(batch["servers"]) for batch in plan["batches"]) - total
    scope = f"{len(blocked)} of {counted(len(clusters), 'cluster')}, {counted(held, 'server')}"
    ill = f"blocked: {scope}; " if blocked else ""
    yield f"{ill}{done}, {len(left)} left alone{where}"
    if wanted.approval is not None:
        yield wanted.approval.words(plan["digest"])
    yield from _blocked_lines(blocked)
    zones = [(place, [*there]) for place, there in groupby(batches, itemgetter("cluster", "zone", "canary"))]
    for (cluster, zone, canary), there in zones if in_full or len(zones) <= MOST_ZONES else ():
        servers = [server for batch in there for server in batch["servers"]]
        yield f"{cluster} {zone}: {_servers(len(servers), is_canary=canary)} ({there[-1]['reason']})"
        yield from (f"  {server['reason']}" for server in servers if in_full)
    yield from (_left_alone(server) for server in left if in_full or not server["serves"])
    yield from _trouble_lines(clusters, would=would)
    if wanted.windows is not None and batches:
        yield f"forecast: {plan['forecast']['message']}"
    if wanted.watch is not None and batches:
        signs = sorted(sign.value for sign in wanted.watch.checked)
        limit = f" (max_lag={wanted.watch.max_lag:g})" if would and Sign.LAG in wanted.watch.signs else ""
        yield f"stops on: {', '.join(signs)}{limit}"


def unblocked(plan: Result) -> list[Result]:
    """The batches of the clusters of a plan that may restart."""
    blocked = {cluster["id"] for cluster in plan["clusters"] if cluster["blocked"]}
    return [batch for batch in plan["batches"] if batch["cluster_id"] not in blocked]


def _blocked_lines(blocked: Sequence[Result]) -> Iterator[str]:
    for cluster in blocked:
        # What to do is in the message of the failure.
        why = cluster["message"].splitlines()[0].removesuffix(f" {NEXT_STEPS_HEADING}")
        yield f"blocked: {cluster['name']}: {why}"


def _trouble_lines(clusters: Sequence[Result], *, would: bool) -> Iterator[str]:
    for cluster in clusters:
        if would and cluster["task_ids"]:
            yield f"would first wait for {join_names(cluster['waits_for'])}, running on {cluster['name']} already"
        yield from (f"sign of trouble: {sign}" for sign in cluster["signs"])
        yield from (f"the database would refuse in {cluster['name']} now: {each}" for each in cluster["obstacles"])


def _would_words(total: int, batches: Sequence[Result]) -> str:
    """As in ``would restart 9 servers one by one``."""
    how = " one by one" if len(batches) == total > 1 else f" in {counted(len(batches), 'batch')}" if total > 1 else ""
    return f"would restart {counted(total, 'server')}{how}"


def _servers(count: int, *, is_canary: bool) -> str:
    if is_canary:
        return "1 canary" if count == 1 else f"{count} canaries"
    return counted(count, "server")


def purposes(wanted: RollingRequest) -> str:
    """What is left alone, for each thing that the restart is for, as in ``has restarted for memory-2026-11-20``."""
    values = ", ".join(f"{name}={value}" for name, value in sorted(wanted.until_effective.items()))
    since = wanted.started_before
    return " and ".join(
        [
            *([f"has restarted for {wanted.change}"] if wanted.change else []),
            *([f"has started since {since.isoformat()}"] if since else []),
            *([f"shows {values}"] if values else []),
        ]
    )


def batch_words(batch: Result, batches: int) -> str:
    """As in ``batch 1 of 9 (zone2: 10.0.0.4:2882)``."""
    names = ", ".join(server["name"] for server in batch["servers"])
    return f"batch {batch['number']} of {batches} ({batch['zone']}: {names})"


def outcome_counts(planned: Sequence[Result], left_alone: Sequence[Result], results: Sequence[Result]) -> str:
    """The last line of a run: all servers in its scope, those that the plan left alone too."""
    failed, skipped = (sum(one["outcome"] == word for one in results) for word in (FAILED, "skipped"))
    return (
        f"{counted(len(planned) + len(left_alone), 'server')}: {len(results) - failed - skipped} restarted, "
        f"{len(left_alone) + skipped} left alone, {failed} failed, {len(planned) - len(results)} not touched"
    )


def left_alone_lines(planned: Sequence[Result], left_alone: Sequence[Result], *, in_full: bool) -> Iterator[str]:
    """How many servers of a cluster are left alone; ``in_full`` and of those that do not serve the reason of each."""
    if left_alone:
        yield f"{len(planned)} to restart, {len(left_alone)} left alone"
    yield from (_left_alone(server) for server in left_alone if in_full or not server["serves"])


def _left_alone(server: Result) -> str:
    return f"left alone: {server['reason']}{'' if server['serves'] else ', but does not serve'}"


def scope_lines(plan: Result, forks: int, canaries: Sequence[str], *, in_full: bool, would: bool) -> Iterator[str]:
    """The scope of a run over many clusters: what may stop it, then the counts; ``in_full`` its servers too."""
    clusters, batches, left = plan["clusters"], plan["batches"], plan["left_alone"]
    blocked = [cluster for cluster in clusters if cluster["blocked"]]
    yield from _blocked_lines(blocked)
    yield from _trouble_lines(clusters, would=would)
    if in_full or (would and len(clusters) <= MOST_CLUSTERS):
        for cluster in clusters:
            own = [batch for batch in batches if batch["cluster_id"] == cluster["id"]]
            named = [f"{join_names(one['name'] for one in batch['servers'])} ({batch['zone']})" for batch in own]
            yield from [f"{cluster['name']}: {', '.join(named)}"] if own else ()
    yield from (_left_alone(server) for server in left if in_full or not server["serves"])
    if canaries:
        yield f"canaries: {', '.join(canaries)}"
    free = unblocked(plan)
    total, held = (sum(len(batch["servers"]) for batch in some) for some in (free, batches))
    busy = len({batch["cluster_id"] for batch in free})
    todo = f"would restart {total}" if would and total else f"{total} to restart"
    where = f" in {counted(busy, 'cluster')}" if total else ""
    ill = f", {counted(len(blocked), 'cluster')} with {counted(held - total, 'server')} blocked" if blocked else ""
    side_by_side = f"; up to {min(forks, busy)} clusters at the same time" if busy > 1 and forks > 1 else ""
    scope = f"{counted(len(clusters), 'cluster')} with {counted(held + len(left), 'server')}"
    yield f"{scope}: {todo}{where}, {len(left)} left alone{ill}{side_by_side}"
