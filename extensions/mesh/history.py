# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Whether a run kept its promises, by the history of the service: requests, tasks, and the starts of servers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs

RESTART = re.compile(r"/api/v2/ob/clusters/(\d+)/servers/(\d+)/restart")
TASKS = "/api/v2/tasks/instances"


@dataclass(frozen=True)
class Post:
    """A request for the restart of a server, by its number in the history, and the task that it started."""

    number: int
    time: datetime
    user: str | None
    cluster: int
    server: int
    task: int | None


@dataclass(frozen=True)
class Task:
    """A task of the service."""

    id: int
    status: str
    start: datetime
    finish: datetime | None


class History:
    """What the emulator has seen and done: its requests, its tasks, and the starts of its servers by their id."""

    def __init__(
        self, requests: Sequence[Mapping[str, Any]], tasks: Sequence[Mapping[str, Any]], starts: Mapping[int, int]
    ) -> None:
        self._requests = sorted(requests, key=lambda request: request["id"])
        self.tasks = {task["id"]: _task(task) for task in tasks}
        self.starts = dict(starts)

    @property
    def posts(self) -> list[Post]:
        """The requests for restarts."""
        return [post for request in self._requests for post in _posts(request)]

    @property
    def others(self) -> list[str]:
        """Requests that change something else than by the restart of one server."""
        changing = [request for request in self._requests if request["method"] != "GET"]
        return [f"{each['method']} {each['path']}" for each in changing if not RESTART.fullmatch(each["path"])]

    def last_look(self, post: Post) -> datetime | None:
        """When this user last read the FAILED restarts of the service before a request.

        If the user restarts one cluster after another, that read belongs to the request itself.
        """
        looks = (each for each in self._requests if each["id"] < post.number and each["user"] == post.user)
        return max((_instant(each["time"]) for each in looks if _looks_for_failures(each)), default=None)

    def in_flight(self, at: datetime, users: Sequence[str]) -> list[Post]:
        """The restarts of these users that ran then."""
        return [post for post in self.posts if post.user in users and post.time <= at and self._ends_after(post, at)]

    def _ends_after(self, post: Post, at: datetime) -> bool:
        finish = self.tasks[post.task].finish if post.task in self.tasks else None
        return finish is None or finish > at


def once_problems(history: History, servers: Mapping[int, int]) -> list[str]:
    """What disproves that each server, given with its cluster, was restarted exactly once, by one request."""
    asked = Counter((post.cluster, post.server) for post in history.posts)
    expected = {(cluster, server) for server, cluster in servers.items()}
    bad = [task for task in history.tasks.values() if task.status != "SUCCESSFUL"]
    return [
        *(f"server {server}: {asked[cluster, server]} requests" for cluster, server in sorted(expected)
          if asked[cluster, server] != 1),
        *(f"server {server}: {history.starts.get(server, 0)} starts" for server in sorted(servers)
          if history.starts.get(server, 0) != 1),
        *(f"server {server} of cluster {cluster} was not meant" for cluster, server in sorted(asked.keys() - expected)),
        *(f"task {task.id} is {task.status}" for task in bad),
        *(f"{other} was sent" for other in history.others),
    ]  # fmt: skip


def slice_problems(history: History, clusters: Mapping[str, Sequence[int]]) -> list[str]:
    """What disproves that each user restarted servers of its own clusters, and of all of them."""
    owners = {cluster: user for user, owned in clusters.items() for cluster in owned}
    strangers = [post for post in history.posts if owners.get(post.cluster) != post.user]
    missing = sorted(owners.keys() - {post.cluster for post in history.posts})
    return [
        *(f"{post.user} restarted server {post.server} of cluster {post.cluster}" for post in strangers),
        *(f"nobody restarted cluster {cluster}" for cluster in missing),
    ]


def stop_problems(history: History, users: Sequence[str], servers: int) -> list[str]:
    """What disproves that one failed restart stopped all others: none began after a look that could see it."""
    failed = [task for task in history.tasks.values() if task.status == "FAILED" and task.finish]
    if len(failed) != 1:
        return [f"{len(failed)} restarts failed, not one"]
    since = failed[0].finish
    looked = [(post, history.last_look(post)) for post in history.posts]
    twice = [server for server, times in Counter(post.server for post in history.posts).items() if times > 1]
    begun = {post.user for post in history.posts}
    return [
        *(f"server {post.server} was restarted without a look for failures" for post, look in looked if look is None),
        *(f"server {post.server} was restarted after a look at {look}, and the failure was there since {since}"
          for post, look in looked if look is not None and look >= since),
        *(f"server {server} was restarted twice" for server in twice),
        *(f"{user} has begun nothing, so nothing was stopped" for user in users if user not in begun),
        *(["all servers were restarted, so nothing was stopped"] if len(history.posts) >= servers else []),
        *(f"task {task.id} is {task.status}" for task in history.tasks.values()
          if task.status not in ("SUCCESSFUL", "FAILED")),
        *(f"{other} was sent" for other in history.others),
    ]  # fmt: skip


def _posts(request: Mapping[str, Any]) -> Iterator[Post]:
    match = RESTART.fullmatch(request["path"])
    if request["method"] == "POST" and match:
        cluster, server = map(int, match.groups())
        time = _instant(request["time"])
        yield Post(request["id"], time, request["user"], cluster, server, request.get("taskId"))


def _looks_for_failures(request: Mapping[str, Any]) -> bool:
    query = parse_qs(request["query"] or "")
    everywhere = "clusterId" not in query and "hostId" not in query
    return request["method"] == "GET" and request["path"] == TASKS and query.get("status") == ["FAILED"] and everywhere


def _task(task: Mapping[str, Any]) -> Task:
    finish = task.get("finishTime")
    return Task(task["id"], task["status"], _instant(task["startTime"]), finish and _instant(finish))


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
