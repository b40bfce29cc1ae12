# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""No wait is silent for more than a minute: a line says what is waited for, whatever code sleeps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from .._base.clock import Clock
from .poll_pauses import PollPolicy
from .progress_lines import HEARTBEAT_SECONDS, Show, minutes_and_seconds, progress_line


class Heartbeat:
    """Has a ``clock`` and a ``policy`` in place of those given: they notice sleep, and lines that are shown.

    A sleep that is ``about`` something shows a line whenever nothing was shown for a minute.
    """

    def __init__(self, label: str, policy: PollPolicy, clock: Clock) -> None:
        self._label = label
        self._plain = clock
        self._show = policy.show
        self._why = ""
        self._since = self._shown_at = clock.now()
        # What was waited for: since when, and until when.
        self._waits: dict[str, tuple[float, float]] = {}
        self.clock = replace(clock, sleep=self._sleep)
        self.policy = replace(policy, show=self._noticed(policy.show), announce=self._noticed(policy.announce))

    @contextmanager
    def about(self, why: str) -> Iterator[None]:
        """What is waited for meanwhile, as in ``waiting for the lock of its cluster``.

        The same again within a minute is one wait, with the looks and other waits between.
        """
        now = self._plain.now()
        since, until = self._waits.get(why, (now, now))
        self._since = since if now - until <= HEARTBEAT_SECONDS else now
        self._why = why
        try:
            yield
        finally:
            self._why = ""
            self._waits[why] = self._since, self._plain.now()

    def _noticed(self, show: Show) -> Show:
        def shown(line: str, failed: bool) -> None:
            self._shown_at = self._plain.now()
            show(line, failed)

        return shown

    def _sleep(self, seconds: float) -> None:
        left = seconds
        while self._why and (quiet := self._shown_at + HEARTBEAT_SECONDS - self._plain.now()) <= left:
            self._sleep_for(quiet)
            left -= max(0.0, quiet)
            waited = minutes_and_seconds(self._plain.now() - self._since)
            self._shown_at = self._plain.now()
            self._show(progress_line(f"{self._label}, for {waited}: {self._why}"), False)
        self._sleep_for(left)

    def _sleep_for(self, seconds: float) -> None:
        if seconds > 0:
            self._plain.sleep(seconds)
