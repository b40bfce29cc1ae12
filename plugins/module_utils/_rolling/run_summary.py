# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The end of a run over many clusters: what became of each in a table, what is counted, and the file of both."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._base.errors import OptionError
from .._base.text import counted
from .rolling_plan import RollingRequest
from .run_record import ENDED, FAILED, STOPPED, RunRecord

Result = dict[str, Any]

# Of more clusters that ended well there is only a count; of those that were not begun only the first have their name.
MOST_ROWS = 30
MOST_NAMES = 10
RUN_AGAIN_WORDS = "When the cause is gone, run the same command again: it goes on where it stopped."
RECORD, DOCUMENT, ENDED_RECORD = ".record", ".json", ".ended"


def close_run(record: RunRecord, wanted: RollingRequest, names: Sequence[str] = ()) -> list[str]:
    """End a run: write its document in place of its ``record``; returns the lines to show. Raises OptionError.

    ``wanted`` has what the restarts are for. Those of ``names`` that are not in the record were not begun. Of several
    processes that end it the first one has the lines.
    """
    ended = replace(record, path=f"{record.path}{ENDED_RECORD}")
    try:
        Path(record.path).rename(ended.path)
    except FileNotFoundError:
        return []
    entries = ended.entries()
    missing = [name for name in names if name not in {entry["host"] for entry in entries}]
    path = record.path.removesuffix(RECORD) + DOCUMENT
    since = wanted.started_before
    document = {
        "change": wanted.change or "",
        "started_before": "" if since is None else since.isoformat(),
        "until_effective": dict(wanted.until_effective),
        "clusters": entries,
        "not_begun": missing,
    }
    try:
        with open(path, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            json.dump(document, file, indent=4, sort_keys=True)
        Path(ended.path).unlink()
    except OSError as error:
        raise OptionError(f"run: {path} cannot be written: {error.strerror}.") from error
    return [*summary_lines(entries, missing, record.clusters, path)]


def summary_lines(entries: Sequence[Result], missing: Sequence[str], clusters: int, path: str) -> Iterator[str]:
    """The counts; before them, unless all went well, a line for each cluster, and after them what to do."""
    bad = [entry for entry in entries if entry["outcome"] != ENDED]
    good = [entry for entry in entries if entry["outcome"] == ENDED]
    late = [entry for entry in good if entry["postponed"]]
    if bad or late or missing:
        yield from (_row(entry) for entry in [*(good if len(good) <= MOST_ROWS else late), *bad])
        if len(good) > MOST_ROWS:
            yield f"{len(good) - len(late)} other clusters: ok"
    if missing:
        # Others are not begun only before each canary is restarted and watched.
        why = "" if bad else ", since canaries are left for the next run"
        more = f" and {len(missing) - MOST_NAMES} more" if len(missing) > MOST_NAMES else ""
        yield f"not begun{why}: {', '.join(missing[:MOST_NAMES])}{more}"
    yield _counts(entries, len(missing), clusters)
    if bad or missing:
        yield f"{RUN_AGAIN_WORDS} For details see {path}."


def _row(entry: Result) -> str:
    words = {ENDED: "ok", FAILED: "FAILED"}.get(entry["outcome"], entry["outcome"])
    name = entry["host"] if entry["cluster"]["id"] is None else entry["cluster"]["name"]
    left = f"; left for the next run, since {entry['postponed']}: {', '.join(entry['untouched'])}"
    return (
        f"{name:24} {words:8} {_restarted(entry):3} of {entry['planned']:3} restarted {entry['elapsed']:8.1f} s"
        f"{left if entry['postponed'] else ''}"
    )


def _restarted(entry: Result) -> int:
    return sum(one["outcome"] not in ("failed", "skipped") for one in entry["results"])


def _counts(entries: Sequence[Result], missing: int, clusters: int) -> str:
    """As in ``2 clusters: 2 ok; servers: 9 restarted, 2 left alone``, and so on."""
    ends = [entry["outcome"] for entry in entries]
    failed, stopped = ends.count(FAILED), ends.count(STOPPED) + missing
    outcomes = [one["outcome"] for entry in entries for one in entry["results"]]
    late = sum(len(entry["untouched"]) for entry in entries if entry["postponed"])
    untouched = sum(len(entry["untouched"]) for entry in entries) - late
    servers = [
        f"{sum(map(_restarted, entries))} restarted",
        f"{sum(entry['left_alone'] for entry in entries) + outcomes.count('skipped')} left alone",
        *([f"{late} left for the next run"] if late else []),
        *([f"{untouched} not touched"] if untouched else []),
        f"{outcomes.count('failed')} failed",
    ]
    return (
        f"{counted(clusters, 'cluster')}: {ends.count(ENDED)} ok, {failed} failed, {stopped} stopped or not begun; "
        f"servers: {', '.join(servers)}"
    )
