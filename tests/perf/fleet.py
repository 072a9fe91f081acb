# SPDX-License-Identifier: GPL-3.0-or-later
"""What holding every host against its equals costs, and drawing their fabric: CPU seconds.

The hosts are copies of a simulated node of the gauntlet, the fabrics made up.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "collections")]

from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import consistency
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections import fabric
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import drawn_fabrics, fleets

SIZES = (125, 250, 500, 1000, 2000)


def main() -> None:
    one = fleets.equals(fleets.BOARD)[0]
    print("  hosts  compare s  us/host  draw s  page KB")
    for hosts in SIZES:
        many = [replace(one, name=f"node{number}") for number in range(1, hosts + 1)]
        begun = time.process_time()
        consistency.judge(many, hosts)
        compared = time.process_time() - begun
        reported = {"fabric": {"fabrics": [drawn_fabrics.fat_tree(hosts, 8, 32, 16)]}}
        begun = time.process_time()
        section = fabric.section(reported, Speech())
        drawn = len(section.html) if section else 0
        took = time.process_time() - begun
        each = compared / hosts * 1e6
        print(f"{hosts:7}  {compared:9.2f}  {each:7.0f}  {took:6.2f}  {drawn / 1000:7.0f}")


if __name__ == "__main__":
    main()
