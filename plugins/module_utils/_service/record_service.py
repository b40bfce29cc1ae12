# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 oceanbase.ocp contributors
"""A check with a recording: all answers are kept, the rest of the fleet is read too, and the file is written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from .._base.clock import SYSTEM_CLOCK, Clock
from .._base.errors import OptionError
from .._masking.mask_answers import Clean
from .._ocp.service_reads import ServiceReads
from .ask_service import Samples
from .findings import Verdict
from .recorder import Recorder
from .recording_file import new_recording
from .service_report import service_report
from .sweep import Sweep

OPTION = "recording"


def recorded_report(
    reads: ServiceReads,
    samples: Samples,
    path: str,
    clean: Clean,
    *,
    dry: bool,
    clock: Clock = SYSTEM_CLOCK,
) -> dict[str, Any]:
    """The result of ``service_report``, with ``recording``; in a ``dry`` run nothing is written or asked beyond it.

    Raises OptionError before anything is sent if the file cannot be made.
    """
    if not path.strip():
        raise OptionError(f"{OPTION}: is empty; give the path of a new file, or leave it out.")
    with new_recording(OPTION, path, dry=dry) as write:
        if dry:
            return {**service_report(reads, samples), "recording": None}
        recorder = Recorder()
        reads.observe(recorder.take)
        report = service_report(reads, samples)
        sent = reads.sent
        sweep = Sweep(reads, clock)
        if report["verdict"] == Verdict.CHECKED.value:
            sweep.ask_everything()
        reads.observe(None)
        left_out = {**sweep.left_out, **({"too large": recorder.dropped} if recorder.dropped else {})}
        at = datetime.fromtimestamp(clock.wall(), UTC).isoformat(timespec="seconds")
        write(recorder.document(clean, at, left_out))
    kept = {"path": path, "answers": len(recorder), "requests": reads.sent - sent, "left_out": left_out}
    return {**report, "recording": kept}
