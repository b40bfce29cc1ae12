# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""The outcome of each server of a fleet restart: its facts, and the words for those that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .._base.cli_hints import NEXT_STEPS_HEADING, RUN_AGAIN, ways_last
from .._base.clock import Clock
from .._base.errors import NotAllRestarted, OcpError, OutcomeUnknown, TaskFailed
from .._base.text import counted
from .._ocp.endpoints import OcpApi
from .._ocp.side_by_side import Ended
from .._ocp.task_model import Task
from .._targets.target import Selector
from .._waiting.failure_report import Purpose, task_failed
from .observed_starts import start_shown
from .restart_request import RestartRequest

Result = dict[str, Any]

MOST_NAMED = 20
# Of the result of a restart; the rest is megabytes for a thousand servers.
KEPT = ("action", "reason", "task_id", "verified", "trace_id")
UNKNOWN: Result = {"changed": False, "warnings": [], "diff": {}, "target": {}, "before": None, **dict.fromkeys(KEPT)}


@dataclass(frozen=True)
class FleetMember:
    """A server of the list, as the options name it, how it is found, and its request.

    Servers with the same ``line`` are checked one after another.
    """

    cluster: str
    server: str
    selector: Selector
    request: RestartRequest

    @property
    def line(self) -> str:
        """The name or id of its cluster."""
        return str(self.selector.options["cluster"])

    @property
    def label(self) -> str:
        """As in ``orders 10.0.0.1:2882``."""
        return f"{self.cluster} {self.server}"


class FleetOutcome:
    """What is known of the ``members``, by their position in the list."""

    def __init__(self, members: Sequence[FleetMember], clock: Clock) -> None:
        self.members = members
        self.warnings: list[str] = []
        self.unsuccessful: dict[int, Task] = {}
        self.durations: dict[int, float | None] = {}
        self._clock = clock
        self._began = clock.now()
        self._asked: dict[int, Ended[Result]] = {}
        self._proofs: dict[int, Ended[Result]] = {}
        self._unawaited: set[int] = set()

    def asked(self, number: int, end: Ended[Result]) -> None:
        """Record how the call for one server ended."""
        self._asked[number] = end

    def proved(self, number: int, end: Ended[Result]) -> None:
        """Record how the last check of one server ended."""
        self._proofs[number] = end

    def broke_off(self, numbers: Sequence[int]) -> None:
        """Record that the wait for the tasks of these members ended before them."""
        self._unawaited.update(number for number in numbers if self.task_ids([number]))

    def task_ids(self, numbers: Sequence[int]) -> list[int]:
        """The ids of the tasks that restart these members, each once."""
        found = (self._facts(number)["task_id"] for number in numbers)
        return list(dict.fromkeys(task_id for task_id in found if task_id is not None))

    @property
    def targets(self) -> dict[int, str]:
        """The server that each task restarts. A task that was joined may restart more than that."""
        shown = ((self._facts(number), member.label) for number, member in enumerate(self.members))
        return {facts["task_id"]: label for facts, label in shown if facts["action"] in ("submitted", "adopted")}

    def skipped(self, numbers: Sequence[int]) -> int:
        """How many of these members need no restart."""
        return sum(self._facts(number)["action"] == "skipped" for number in numbers)

    def to_be_proven(self, numbers: Sequence[int]) -> list[int]:
        """Those that were requested without an error, and whose task did not fail; none that was postponed."""
        ends = ((number, self._asked[number].found) for number in numbers if number in self._asked)
        return [
            number
            for number, found in ends
            if found is not None and found["action"] != "postponed" and found["task_id"] not in self.unsuccessful
        ]

    def have_failed(self, numbers: Sequence[int]) -> bool:
        """Whether one of these members was not restarted as requested."""
        return any(self._failure(number) is not None for number in numbers)

    def unproven(self, numbers: Sequence[int]) -> list[int]:
        """Those of the ``numbers`` for which another check may show more."""
        return [number for number in numbers if not self._is_final(number, self._proofs.get(number))]

    def _is_final(self, number: int, proof: Ended[Result] | None) -> bool:
        """Whether another look would show the same: also if no start of the server was shown before either."""
        if proof is None:
            return False
        if proof.error is not None:
            return bool(_failed_tasks(proof.error))
        never_shown = start_shown(self._facts(number)["before"]) is None
        return proof.found is not None and (is_proven(proof.found) or (never_shown and shows_no_start(proof.found)))

    @property
    def proven(self) -> dict[str, int]:
        """The ids of the tasks of the servers that are proven to serve again, by their addresses."""
        shown = [
            self._facts(number)
            for number, proof in self._proofs.items()
            if proof.found is not None and is_proven(proof.found)
        ]
        return {facts["target"]["name"]: facts["task_id"] for facts in shown if facts["task_id"] is not None}

    def result(self) -> Result:
        """The result of the module so far."""
        everyone = range(len(self.members))
        servers = self.servers(everyone)
        shown = [self._facts(number) for number in sorted(self._asked)]
        warnings = [words for found in shown for words in found["warnings"]]
        return {
            "changed": any(server["changed"] for server in servers),
            "servers": servers,
            "task_ids": self.task_ids(everyone),
            "failed_task_ids": self._failed_task_ids(),
            "elapsed": round(self._clock.now() - self._began, 3),
            "warnings": list(dict.fromkeys([*warnings, *self.warnings])),
            "diff": _joined([found["diff"] for found in shown if found["diff"]]),
        }

    def servers(self, numbers: Sequence[int]) -> list[Result]:
        """What the result has of these members."""
        return [self._server(number) for number in numbers]

    def failure_lines(self) -> list[str]:
        """How many were not restarted as requested, and a line for each of the first ones; empty if there are none."""
        failed = [number for number in range(len(self.members)) if self._failure(number) is not None]
        if not failed:
            return []
        reached = [number for number in failed if number in self._asked]
        left = [self.members[number].label for number in failed if number not in self._asked]
        more = len(reached) - MOST_NAMED
        return [
            self._headline(failed),
            *(f"{self.members[number].label} {self._failure(number)}" for number in reached[:MOST_NAMED]),
            *([f"And {more} more: see servers in the result."] if more > 0 else []),
            *([f"Not reached before the run stopped: {first_of(left)}."] if left else []),
        ]

    def _headline(self, failed: Sequence[int]) -> str:
        ends = [self._asked.get(number) for number in failed]
        unknown = sum(end is not None and isinstance(end.error, OutcomeUnknown) for end in ends)
        known = len(failed) - unknown
        total = counted(len(self.members), "server")
        if not unknown:
            return f"{known} of {total} {'would not be' if self._is_check else 'not'} restarted as requested."
        others = f", {known} not restarted as requested" if known else ""
        return f"{unknown} of {total} {'is' if unknown == 1 else 'are'} not known to have restarted{others}."

    @property
    def _is_check(self) -> bool:
        """Whether the members were asked for in check mode."""
        return any(member.request.check_mode for member in self.members)

    def number_of(self, task_id: int) -> int | None:
        """The member that a task restarts."""
        return next((number for number in self._asked if self._facts(number)["task_id"] == task_id), None)

    def raise_failures(self, api: OcpApi, state: Callable[[int], str]) -> None:
        """Raise an error that names the servers that were not restarted as asked, with the facts of all.

        ``state`` reads the state that a task has left its target in, as a sentence.
        """
        lines, facts = self.failure_lines(), self.result()
        if self.unsuccessful:
            tasks, log_lines = list(self.unsuccessful.values()), self.members[0].request.policy.log_lines
            asked = len(facts["task_ids"])
            # A wait for many needs a change, so what has restarted is left alone.
            purpose = Purpose(then=RUN_AGAIN, state=lambda task: state(task.id))
            detail = task_failed(api, tasks, asked, purpose, log_lines)
            failed = TaskFailed("\n".join([*lines, str(detail)]), **{**detail.facts, **facts})
            failed.whole_tasks = [task.result() for task in tasks]
            raise failed
        if lines:
            message = "\n".join(ways_last(lines))
            if NEXT_STEPS_HEADING not in message and not message.endswith(RUN_AGAIN):
                message += "\nCheck them in OCP, then run this again to go on with these servers."
            elif not message.endswith(RUN_AGAIN):
                message += f"\n{RUN_AGAIN}"
            raise NotAllRestarted(message, **facts)

    def _facts(self, number: int) -> Result:
        """What the call for one server has shown, however it ended."""
        end = self._asked.get(number)
        if end is None:
            return UNKNOWN
        return {**UNKNOWN, **(end.found or (end.error.facts if end.error else {}))}

    def _server(self, number: int) -> Result:
        member, facts, proof = self.members[number], self._facts(number), self._proofs.get(number)
        shown = {key: facts[key] for key in KEPT}
        if proof is not None and proof.found is not None:
            shown["verified"] = proof.found["verified"] if is_proven(proof.found) else None
            if shows_no_start(proof.found):
                shown["reason"] = proof.found["reason"]
        why = self._failure(number) or self._unseen_end(number)
        named = {"cluster": member.cluster, "server": member.server, "name": facts["target"].get("name")}
        ended = {"failed": why is not None, "refused": self._is_refused(number), "changed": facts["changed"]}
        after = proof.found["before"] if proof is not None and proof.found is not None else None
        times = {
            "start_before": start_shown(facts["before"]),
            "start_after": start_shown(after),
            "duration": self.durations.get(facts["task_id"]),
        }
        return {**named, **ended, **shown, **times, **({} if why is None else {"msg": why})}

    def _is_refused(self, number: int) -> bool:
        end = self._asked.get(number)
        return end is None or (end.error is not None and is_refusal(end.error))

    def _failure(self, number: int) -> str | None:
        """Why one failed; None if it did not, as far as is known."""
        end = self._asked.get(number)
        if end is None:
            return "was not reached before the run stopped."
        if isinstance(end.error, OutcomeUnknown):
            return f"is not known to have restarted: {end.error.details or end.error}"
        if end.error is not None:
            return f"{'would not be' if self._is_check else 'was not'} restarted: {end.error}"
        task_id = self._facts(number)["task_id"]
        if task_id in self.unsuccessful:
            return f"did not restart successfully: task {task_id} did not succeed."
        proof = self._proofs.get(number)
        if proof is None or (proof.found is not None and (is_proven(proof.found) or shows_no_start(proof.found))):
            return None
        shown = {**UNKNOWN, **(proof.found or {})}["reason"]
        why = str(proof.error) if proof.error is not None else shown
        since = self.members[number].request.started_before
        when = f" since {since.isoformat()}" if since else ""
        return f"is not proven to have started{when} and to serve: {(why or 'nothing is known of it').rstrip('.')}."

    def _unseen_end(self, number: int) -> str | None:
        """What is not known of a restart whose task was not awaited to its end."""
        if number not in self._unawaited:
            return None
        return f"is not known to have restarted: the wait for task {self._facts(number)['task_id']} ended before it."

    def _failed_task_ids(self) -> list[int]:
        ends = [*self._asked.values(), *self._proofs.values()]
        holders = [number for end in ends if end.error is not None for number in _failed_tasks(end.error)]
        return list(dict.fromkeys([*self.unsuccessful, *holders]))


def first_of(labels: Sequence[str], most: int = MOST_NAMED) -> str:
    """The first ones, and how many more there are."""
    more = len(labels) - most
    return f"{', '.join(labels[:most])}{f' and {more} more' if more > 0 else ''}"


def is_refusal(error: OcpError) -> bool:
    """Whether a restart was not begun since something does not allow it now."""
    safety = error.facts.get("safety") or {}
    is_left = error.left_as_it_was and not error.facts.get("changed")
    return is_left or safety.get("allowed") is False


def is_proven(result: Result) -> bool:
    """Whether a look has shown that a server has started since and serves."""
    return result["verified"] is True


def shows_no_start(result: Result) -> bool:
    """Whether a look has left a server alone by its task alone, since no start of it is shown."""
    is_skipped = result["action"] == "skipped" and result["verified"] is None
    return is_skipped and start_shown(result["before"]) is None


def _failed_tasks(error: OcpError) -> list[int]:
    found: list[int] = error.facts.get("failed_task_ids") or []
    return found


def _joined(diffs: Sequence[dict[str, str]]) -> dict[str, str]:
    """One diff of all, each line with the server that it is of."""
    if not diffs:
        return {}
    texts = {key: "".join(_with_labels(diffs, key)) for key in ("before", "after")}
    return {"before_header": "servers", "after_header": "servers", **texts}


def _with_labels(diffs: Sequence[dict[str, str]], key: str) -> Iterator[str]:
    for diff in diffs:
        yield from (f"{diff['before_header']}: {line}" for line in diff[key].splitlines(keepends=True))
