# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the gauntlet: every healthy node, then every fault. See README.md.

Prints found, missed and false alarms; the exit status is 0 only without the last two.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "collections"))

from tests.gauntlet import run

if __name__ == "__main__":
    sys.exit(run.main(sys.argv[1:]))
