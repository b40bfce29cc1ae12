# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The random fault campaign: which faults, how likely, how many runs, and which reports count as wrong.

Every change names a target and an instant, and is carried out as a person would: run again until it says that it is
done. Afterwards the emulator is asked how often the target really restarted, and what was said is held against it.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from ansible_collections.oceanbase.ocp.plugins.module_utils._base.errors import OcpError, OutcomeUnknown
from ansible_collections.oceanbase.ocp.plugins.module_utils._journal.memory_journal import MemoryJournal
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.auth import basic_auth
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.endpoints import OcpApi
from ansible_collections.oceanbase.ocp.plugins.module_utils._ocp.session import HttpClient
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.own_notes import forget_process
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.restart_request import RestartRequest
from ansible_collections.oceanbase.ocp.plugins.module_utils._restart.run import restart_target
from ansible_collections.oceanbase.ocp.plugins.module_utils._waiting.poll_pauses import PollPolicy
from campaign_emulator import Service, emulator
from places import VICTIM, Place, places

PROFILES = ("4.3", "4.2")
NAMES_TARGETS = "4.3"
STEP_SECONDS = 0.2
TIMEOUT = 2.0
RIVALS = 0.2
# After a lost answer a run waits for more than a minute, but one whose first look fails ends at once.
RUNS_AT_MOST = 100
# Replicas lag by less than the pause before the next run: what no answer can hold yet, nobody can know.
PAUSE, LAG = 0.4, 0.3
# So many at most, and so few that a short campaign beside other tests does not starve its emulator: of requests that
# wait longer than TIMEOUT, all time out.
CLIENTS, RESTARTS_OF_A_CLIENT = 24, 5

# The shortest task of all. With STEP_SECONDS alone it may end before the request of a rival arrives whose last look was
# of the time before it: no service refuses that request, and no controller could have known.
ARBITRATION_SECONDS = 3.0
ARBITRATION_STEP = {"kind": "subtask", "action": "slow", "match": {"subtask": "Start arbitration service"}}

POSTS = {"method": "POST"}
RUNNING_TASKS = {"record": "task", "status": "RUNNING"}

# What may hit a request of the victim, and how likely. What has no method hits reads, polls and restarts alike;
# what has no kind is of the kind http.
FAULTS: tuple[tuple[float, dict[str, Any]], ...] = (
    (0.005, {"action": "refuse", "seconds": 0.3}),
    (0.02, {"action": "reset", "when": "before"}),
    (0.02, {"action": "reset", "when": "after"}),
    (0.01, {"action": "drop", "when": "before"}),
    (0.01, {"action": "drop", "when": "after"}),
    (0.02, {"action": "slow", "seconds": 0.2}),
    (0.01, {"action": "truncate"}),
    (0.01, {"action": "garbage", "when": "after"}),
    (0.01, {"action": "html", "status": 502, "when": "before"}),
    (0.01, {"action": "html", "status": 200, "when": "after"}),
    (0.02, {"action": "error", "status": 429, "reset": 1}),
    (0.01, {"action": "error", "status": 502, "when": "before"}),
    (0.01, {"action": "error", "status": 502, "when": "after"}),
    (0.01, {"action": "error", "status": 503, "when": "before"}),
    (0.01, {"action": "error", "status": 504, "when": "before"}),
    (0.01, {"action": "error", "status": 504, "when": "after"}),
    (0.08, {"action": "reset", "when": "after", "match": {"method": "POST"}}),
    (0.05, {"action": "drop", "when": "after", "match": {"method": "POST"}}),
    (0.05, {"action": "truncate", "match": {"method": "POST"}}),
    (0.05, {"action": "error", "status": 503, "when": "after", "match": {"method": "POST"}}),
    (0.05, {"action": "error", "status": 429, "reset": 1, "match": {"method": "POST"}}),
    (0.02, {"action": "html", "status": 403, "when": "after", "match": {"method": "POST"}}),
    (0.03, {"kind": "proxy", "action": "redirect", "status": 303, "location": "/", "when": "after", "match": POSTS}),
    (0.03, {"kind": "proxy", "action": "replace", "path": "/api/v2/info", "when": "after", "match": POSTS}),
    (0.03, {"kind": "proxy", "action": "repeat", "match": POSTS}),
    (0.05, {"kind": "answer", "action": "clock", "seconds": -86400}),
    (0.2, {"kind": "answer", "action": "status", "status": "PENDING", "match": RUNNING_TASKS}),
    (0.1, {"kind": "answer", "action": "lag", "seconds": LAG}),
    (0.05, {"kind": "answer", "action": "ignore", "parameters": ["sort"]}),
)
# Of a service that names the targets of a task: otherwise its end is no evidence before the start shows.
FAULTS_WITH_TARGETS: tuple[tuple[float, dict[str, Any]], ...] = (
    (0.3, {"kind": "answer", "action": "late_start", "seconds": 2.0}),
)


@dataclass
class Tally:
    """What was asked, what was said, and what was so."""

    asked: int = 0
    doubles: int = 0
    said: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    last: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


def run(
    service: Service, place: Place, since: datetime, journal: MemoryJournal
) -> tuple[str, dict[str, Any] | None, str]:
    """One run of a verb, as by a new process of the controller with this ``journal``.

    What it said in a word, its result or facts, and its message.
    """
    forget_process()
    client = HttpClient(service.url, basic_auth(*VICTIM), verify=True, timeout=TIMEOUT)
    options = RestartRequest(check_mode=False, wait=True, policy=PollPolicy(60, 0.5), started_before=since)
    try:
        api = OcpApi(client)
        result = restart_target(api, place.selector, options, journal=journal)
    except OutcomeUnknown as error:
        return "unknown", error.facts, str(error)
    except OcpError as error:
        return ("failed, started" if error.facts.get("changed") else "failed, not started"), error.facts, str(error)
    return str(result["action"]), result, str(result["reason"])


def change(service: Service, place: Place, chance: random.Random, tally: Tally) -> None:
    """Carry out one change, and hold what was said against what was so.

    Two controllers that know nothing of each other begin together, and then take turns.
    """
    before = service.restarts()[place.object_type, place.name]
    since = datetime.now(UTC)
    said: list[tuple[str, dict[str, Any] | None, str]] = []
    journals = [MemoryJournal()]
    if chance.random() < RIVALS:
        journals.append(MemoryJournal())
        with ThreadPoolExecutor(len(journals)) as controllers:
            said += controllers.map(partial(run, service, place, since), journals)
    while len(said) < RUNS_AT_MOST and not any(word in DONE for word, _facts, _message in said):
        time.sleep(PAUSE)
        said.append(run(service, place, since, journals[len(said) % len(journals)]))
    times = service.restarts()[place.object_type, place.name] - before
    with tally.lock:
        tally.asked += 1
        tally.doubles += max(0, times - 1)
        tally.said.update(word for word, _facts, _message in said)
        story = "; ".join(f"{word}: {message}{_when(facts)}" for word, facts, message in said)
        last = tally.last.get(place.name, "none")
        tally.last[place.name] = f"since {since:%H:%M:%S.%f}, {times} times: {story}"
        for problem in problems(service, said, times):
            change_told = f"{place.object_type} {place.name}, restarted {times} times: {problem}. {story}"
            tally.wrong.append(f"{change_told} THE CHANGE BEFORE: {last}")


def _when(facts: dict[str, Any] | None) -> str:
    """When the task of a run began and ended, for the story."""
    task = (facts or {}).get("task") or {}
    return f" [task {task['id']}, {task['start_time']} to {task['finish_time']}]" if task.get("id") else ""


DONE = frozenset({"submitted", "adopted", "attached", "skipped"})


def problems(service: Service, said: list[tuple[str, dict[str, Any] | None, str]], times: int) -> Iterator[str]:
    """What was said about a change and was not so."""
    words = {word for word, _facts, _message in said}
    if not words & DONE:
        yield "it was never done"
    if times != 1 and words & DONE:
        yield "it was said to be done"
    if not words & {"submitted", "adopted", "unknown", "failed, started"}:
        yield "nobody said to have started it"
    for word, facts, _message in said:
        facts = facts or {}
        if facts.get("verified") is False:
            yield "it was said not to have restarted"
        if word in ("submitted", "adopted", "attached"):
            task = service.call("GET", f"/api/v2/tasks/instances/{facts['task_id']}")
            if (task["status"], task["name"]) != ("SUCCESSFUL", facts["task"]["name"]):
                yield f"task {facts['task_id']} is {task['status']}"
        if word == "failed, started" and facts.get("task_id") is None:
            yield "a task was lost"


def campaign(profile: str, restarts: int, seed: int, folder: Path) -> Tally:
    """``restarts`` changes on one emulator; prints what came of them."""
    named = profile == NAMES_TARGETS
    fleet, found = places(min(48, max(4, restarts // 4 * 4)), arbitration=profile != "4.2", named=named)
    chance = random.Random(f"{seed}/{profile}")
    chance.shuffle(found)
    workers = min(CLIENTS, len(found), max(1, restarts // RESTARTS_OF_A_CLIENT))
    tally = Tally()
    started = time.monotonic()

    with emulator(profile, fleet, STEP_SECONDS, folder) as service:
        faults = FAULTS + (FAULTS_WITH_TARGETS if named else ())
        for number, (probability, fault) in enumerate(faults):
            match = {"user": VICTIM[0], **fault.get("match", {})}
            rule = {"match": match, "probability": probability, "seed": seed + number, "times": None}
            service.call("POST", "/emulator/faults", json={"kind": "http", **fault, **rule})
        longer = {**ARBITRATION_STEP, "seconds": ARBITRATION_SECONDS, "times": None}
        service.call("POST", "/emulator/faults", json=longer)

        def work(worker: int) -> None:
            own = random.Random(f"{seed}/{profile}/{worker}")
            mine = found[worker::workers]
            for number in range(worker, restarts, workers):
                change(service, mine[number // workers % len(mine)], own, tally)

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(work, range(workers)))
        tasks = service.tasks()
        hits = {fault["fault"]["action"]: 0 for fault in service.call("GET", "/emulator/faults")["contents"]}
        for fault in service.call("GET", "/emulator/faults")["contents"]:
            hits[fault["fault"]["action"]] += fault["hits"]
    print(f"profile {profile}, seed {seed}: {tally.asked} restarts asked in {time.monotonic() - started:.0f} s")
    print(f"  tasks started     {tasks}")
    print(f"  doubles           {tally.doubles}")
    print(f"  unknown outcomes  {tally.said['unknown']}")
    print(f"  wrong reports     {len(tally.wrong)}")
    print(f"  what was said     {', '.join(f'{word} {number}' for word, number in tally.said.most_common())}")
    print(f"  faults that hit   {', '.join(f'{action} {number}' for action, number in sorted(hits.items()))}")
    for line in tally.wrong[:20]:
        print(f"  WRONG {line[:4000]}")
    return tally


def main() -> int:
    """Run the campaign; 0 if nothing was doubled and nothing said wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--restarts", type=int, default=2000, help="how many in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6), help="of all that is random")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tallies = [
            campaign(profile, options.restarts // len(PROFILES), options.seed, Path(folder)) for profile in PROFILES
        ]
    return int(any(tally.doubles or tally.wrong or not tally.asked for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())
