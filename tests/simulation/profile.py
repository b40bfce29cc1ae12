# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""How a service behaves in one run: what it shows, how late, and what it accepts."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from .choices import Stream

NEVER = 1e12
# Seconds by which the clock of a database host may be off: docs/at-most-once-reference.md.
HOST_UNCERTAINTY = 60.0
EPOCH = 1_777_863_600.0  # 2026-05-04T03:00:00Z
HOUR, DAY = 3_600.0, 86_400.0


@dataclass
class Profile:
    """One service. Times are in seconds."""

    # What records hold.
    cluster_detail: bool = True
    servers_in_cluster: bool = True
    operating: str = "all"  # which records name the task that works on them: all, own, none
    tags: bool = True
    starts: bool = True
    inner_status: bool = True
    creators: bool = True
    ids_as_text: bool = False
    cluster_task_shape: str = "full"  # or reduced
    first_word: str = "RUNNING"  # status of a task before its first subtask begins
    abort_word: str = "ABORTED"
    milliseconds: bool = True
    ids: str = "rise"  # of new tasks; or fall, mixed
    task_ends: str = "list"  # which records of tasks tell when it ended, or detail, none
    task_begins: str = "list"  # or detail
    list_tells: str = "operation and steps"  # of a task, besides its status; or steps, nothing
    chinese_steps: bool = False
    cluster_word: str = "RUNNING"  # status of a cluster in which a part is worked on
    agents_below: str = "/api/v2"
    agent_refresh: float = 0.0
    # What it accepts.
    busy: str = "refuse"  # or accept, or fail: a task that fails in its first subtask
    ignores: frozenset[str] = field(default_factory=frozenset)  # parameters of the task list
    reads_tasks: bool = True
    rate_limit: int = 0
    # How late.
    lags: tuple[float, ...] = (0.0,)
    list_lag: float = 0.0
    start_late: float = 0.0
    # Seconds by which a start that is shown moves when a task does nothing; None: all tasks do their work.
    idle_moves: float | None = None
    # Its clock: seconds ahead of the true time, and another number of them from an instant on.
    ahead: float = 0.0
    jumps_at: float = NEVER
    jumps_to: float = 0.0
    # Those of its application servers, seconds ahead of that, and those of database hosts.
    servers: tuple[float, ...] = (0.0,)
    host_clocks: tuple[float, ...] = (0.0,)
    # Until when the start of one server is not shown, and how many tasks there are from before.
    start_unknown_until: float = 0.0
    past_tasks: int = 0
    # Seconds after its end from which a task is shown no more, unless it FAILED.
    archives_after: float = NEVER
    # The most entries of a page, whatever is asked for.
    page_size: int = 1000

    def wall(self, now: float) -> float:
        """Seconds since 1970 by the clock of the service."""
        return EPOCH + now + (self.jumps_to if now >= self.jumps_at else self.ahead)

    def told(self) -> str:
        """What is unlike the plainest service."""
        plain = Profile()
        odd = [each.name for each in fields(self) if getattr(self, each.name) != getattr(plain, each.name)]
        return " ".join(f"{name}={getattr(self, name)}" for name in odd) or "the plainest"

    @property
    def latest(self) -> float:
        """Seconds by which an answer may be behind."""
        return max(self.lags)

    @property
    def spread(self) -> float:
        """Seconds by which the clocks of its application servers differ."""
        return max(self.servers) - min(self.servers)

    @property
    def hosts_are_near(self) -> bool:
        """Whether the clocks of database hosts are within what is uncertain about them."""
        return all(abs(clock) <= HOST_UNCERTAINTY for clock in self.host_clocks)

    @property
    def clock_is_sane(self) -> bool:
        """Whether its clock can be believed after a correction of less than five minutes."""
        return abs(self.ahead) < 290 and self.jumps_at == NEVER


def draw_profile(choices: Stream) -> Profile:
    """The newest service most of the time; the others lack something."""
    profile = Profile()
    kind = choices.pick(("newest", "4.2", "mixed"), (55, 20, 25))
    choices.counted(f"profile {kind}")
    if kind == "4.2":
        profile.cluster_detail = profile.servers_in_cluster = profile.tags = profile.milliseconds = False
        profile.operating = "none"
        profile.list_tells = "steps"
    elif kind == "mixed":
        _mix(profile, choices)
    profile.busy = choices.pick(("refuse", "accept", "fail"), (50, 35, 15))
    choices.counted(f"busy: {profile.busy}")
    if choices.chance(0.1):
        profile.first_word = choices.pick(("PENDING", "CREATED", "SUSPENDED"))
        choices.counted("task status PENDING and the like")
    often = {"newest": 0.02, "4.2": 0.05, "mixed": 0.2}[kind]
    names = [name for name in ("clusterId", "status", "hostId", "name", "sort") if choices.chance(often)]
    profile.ignores = frozenset(names)
    for name in names:
        choices.counted(f"list ignores {name}")
    if choices.chance(0.04):
        profile.idle_moves = choices.pick((0.0, 0.003, 0.4, -3600.0))
        choices.counted("tasks that do nothing")
    profile.abort_word = choices.pick(("ABORTED", "CANCELED", "TERMINATED"), (8, 1, 1))
    _draw_lags(profile, choices)
    _draw_clock(profile, choices)
    _draw_clocks(profile, choices)
    _draw_tasks(profile, choices)
    if choices.chance(0.06):
        profile.start_unknown_until = choices.pick((30.0, 14.0, 100.0))
        choices.counted("start unknown at first")
    return profile


def _mix(profile: Profile, choices: Stream) -> None:
    profile.cluster_detail = not choices.chance(0.3)
    profile.servers_in_cluster = not choices.chance(0.4)
    profile.operating = choices.pick(("all", "own", "none"))
    profile.tags = not choices.chance(0.4)
    profile.starts = not choices.chance(0.15)
    profile.inner_status = not choices.chance(0.3)
    profile.creators = not choices.chance(0.3)
    profile.ids_as_text = choices.chance(0.2)
    profile.cluster_task_shape = choices.pick(("full", "reduced"))
    profile.milliseconds = not choices.chance(0.5)
    profile.cluster_word = choices.pick(("RUNNING", "OPERATING"))
    profile.agents_below = choices.pick(("/api/v2", ""))
    profile.agent_refresh = choices.pick((0.0, 60.0))
    profile.reads_tasks = not choices.chance(0.05)
    if not profile.reads_tasks:
        choices.counted("task list may not be read")


def _draw_lags(profile: Profile, choices: Stream) -> None:
    if choices.chance(0.17):
        profile.lags = choices.pick(((0.0, 2.0), (2.0,), (0.0, 0.0, 6.0), (0.5, 4.0)))
        choices.counted("reads lag")
    if choices.chance(0.15):
        profile.list_lag = choices.pick((1.0, 2.0, 5.0, 12.0))
        choices.counted("lists lag")
    if choices.chance(0.25):
        profile.start_late = choices.pick((2.0, 10.0, 40.0, 150.0), (3, 4, 3, 1))
        choices.counted("starts shown late")


def _draw_clock(profile: Profile, choices: Stream) -> None:
    profile.ahead = choices.pick(
        (0.0, 2.0, -2.0, 100.0, -100.0, -2 * DAY, 3 * DAY, -EPOCH + 20.0), (80, 3, 3, 3, 3, 3, 3, 2)
    )
    if profile.ahead:
        choices.counted("service clock off")
    if choices.chance(0.03):
        profile.jumps_at = choices.pick((12.0, 30.0, 60.0))
        profile.jumps_to = choices.pick((0.0, 50.0, -50.0, -2 * DAY, 400.0))
        choices.counted("service clock jumps")


def _draw_clocks(profile: Profile, choices: Stream) -> None:
    if choices.chance(0.15):
        profile.servers = choices.pick(
            ((0.0, 1.0), (0.0, -3.0, 0.5), (0.0, 20.0), (0.0, 40.0), (-40.0, 0.0)), (4, 3, 1, 1, 1)
        )
        far = " by 40 s" if profile.spread >= 40 else ""
        choices.counted(f"clocks of application servers differ{far}")
    if choices.chance(0.25):
        near, far = ((0.0, 5.0, -5.0), (0.0, 50.0, -50.0)), ((0.0, 100.0), (-100.0, 0.0), (3600.0,))
        profile.host_clocks = choices.pick((*near, *far), (3, 4, 1, 1, 1))
        choices.counted("clocks of hosts differ" if profile.hosts_are_near else "host clocks far off")


def scatter_clocks(profile: Profile, choices: Stream) -> None:
    """No clock near another: those of OCP hours off, of its application servers ten minutes, of hosts anywhere."""
    profile.ahead = choices.pick((5 * HOUR, -3 * HOUR, 2 * DAY, -2 * DAY))
    profile.servers = choices.pick(((0.0, 600.0), (0.0, -600.0), (600.0, 0.0, -600.0)))
    # A start that was still to come and is earlier now shows that a clock was set.
    profile.idle_moves = None if profile.idle_moves is None else max(0.0, profile.idle_moves)
    profile.host_clocks = choices.pick(((2 * HOUR, -2 * HOUR), (0.0, 3 * DAY), (-30 * DAY, 40.0, 700.0)))


def _draw_tasks(profile: Profile, choices: Stream) -> None:
    if choices.chance(0.15):
        profile.ids = choices.pick(("fall", "mixed"))
        choices.counted(f"ids of tasks: {profile.ids}")
    if choices.chance(0.15):
        profile.past_tasks = choices.pick((35, 60, 120), (5, 3, 1))
        choices.counted("many tasks")
    if choices.chance(0.12):
        profile.task_ends = choices.pick(("detail", "none"))
        choices.counted(f"end of tasks told: {profile.task_ends}")
    if choices.chance(0.04):
        profile.task_begins = "detail"
        choices.counted("begin of tasks told in the detail only")
    if choices.chance(0.08):
        profile.page_size = choices.pick((20, 50))
        profile.past_tasks = max(profile.past_tasks, choices.pick((60, 20)))
        choices.counted(f"pages of {profile.page_size}")
    if choices.chance(0.06):
        profile.archives_after = choices.pick((60.0, 300.0, 10.0, 0.5))
        choices.counted("tasks vanish some time after their end")
    if choices.chance(0.08):
        profile.chinese_steps = True
        choices.counted("task steps in Chinese")
    if choices.chance(0.03):
        profile.ignores |= {"sort"}
        choices.counted("list ignores sort")
    if choices.chance(0.1):
        profile.list_tells = choices.pick(("steps", "nothing"))
        choices.counted("lists of tasks tell less")
