# SPDX-License-Identifier: GPL-3.0-or-later
# Copyright (c) 2026 oceanbase.ocp contributors
"""The entry of `python -m ocp_emulator`."""

import sys

from ocp_emulator.cli import main

sys.exit(main())
