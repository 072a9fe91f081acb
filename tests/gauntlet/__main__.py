# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the gauntlet: every healthy node, then every fault. See README.md.

Prints found, missed and false alarms; the exit status is 0 only without the last two. ``ledger``
bends every field of healthy nodes instead (bent/command.py), ``leaves`` every leaf of the raw texts of
one part (bent/leaves.py).
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "collections"))

if __name__ == "__main__":
    if sys.argv[1:2] == ["ledger"]:
        # It puts parsers behind a switch before any area is imported.
        from tests.gauntlet.bent import command

        sys.exit(command.main(sys.argv[2:]))
    if sys.argv[1:2] == ["leaves"]:
        from tests.gauntlet.bent import leaves

        sys.exit(leaves.main(sys.argv[2:]))
    from tests.gauntlet import run

    sys.exit(run.main(sys.argv[1:]))
