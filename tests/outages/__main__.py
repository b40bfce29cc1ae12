# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""Look for outages that restarts cause: ``make outages FLEETS=500 SEED=1``."""

from __future__ import annotations

import argparse
import os
import sys
import time

# Orders of sets decide what a seed means; other variables would reach the modules under test.
KEPT = ("PATH", "HOME", "TMPDIR", "ANSIBLE_HOME", "ANSIBLE_COLLECTIONS_PATH")


def main() -> int:
    """0 if restarts with safety caused no outage, and those without caused many."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        os.execve(sys.executable, [sys.executable, "-m", __spec__.name, *sys.argv[1:]], {**kept, "PYTHONHASHSEED": "0"})
    from ansible_collections.oceanbase.ocp.tests.outages import campaign
    from ansible_collections.oceanbase.ocp.tests.outages.verdicts import CAUSED
    from ansible_collections.oceanbase.ocp.tests.simulation.choices import Choices, from_text

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fleets", type=int, default=500, help="how many of each kind (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first (default: %(default)s)")
    parser.add_argument("--controllers", type=int, default=1, help="in a story (default: %(default)s)")
    parser.add_argument("--processes", type=int, help="how many at once (default: one for each core)")
    parser.add_argument("--story", action="store_true", help="tell the run of the seed")
    parser.add_argument("--replay", help="tell the run of these choices, as a story has them")
    parser.add_argument("--arbitrated", action="store_true", help="only clusters with arbitration services")
    parser.add_argument("--attempts", type=int, default=150, help="runs to make a failing one smaller")
    options = parser.parse_args()
    if options.story or options.replay:
        choices = Choices(played=from_text(options.replay)) if options.replay else Choices(options.seed)
        print(
            "\n".join(
                campaign.story(
                    choices, campaign.Setting(controllers=options.controllers, arbitrated=options.arbitrated)
                )
            )
        )
        return 0
    settings: tuple[campaign.Setting, ...] = (
        campaign.Setting(),
        campaign.Setting(safety="none"),
        campaign.Setting(controllers=2),
        campaign.Setting(controllers=2, meeting=True),
        campaign.Setting(controllers=2, shared=True),
        campaign.Setting(controllers=2, meeting=True, shared=True),
        campaign.Setting(arbitrated=True),
        campaign.Setting(arbitrated=True, safety="none"),
    )
    if options.arbitrated:
        settings = settings[-2:]
    bad = False
    for setting in settings:
        began = time.monotonic()
        tally = campaign.campaign(setting, options.seed, options.fleets, options.processes)
        print("\n".join(campaign.report(setting, tally)))
        print(f"  in {time.monotonic() - began:.0f} s", flush=True)
        if setting.safety == "none":
            bad |= tally.outages[CAUSED] == 0
        elif tally.seeds:
            bad = True
            smaller = campaign.smallest(min(tally.seeds), setting, options.attempts)
            print("\n".join(campaign.story(smaller, setting)), flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
