# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine loses its power while packages are installed on it; the run says so and ends.

The scenario's converge comes next: it has to repair the machine, and verify.yml looks at it.
"""

from __future__ import annotations

import time
from typing import Any

VICTIM = "vm2"
OTHER = "vm1"
SECONDS = 1200.0
# dpkg keeps what it has not yet merged into its status there: it is in the middle of packages.
UNDER_WAY = 'set -- /var/lib/dpkg/updates/0*; [ -e "$1" ]'


def test_the_power_is_cut_while_packages_are_installed(machines: Any) -> None:
    assert not machines.host(VICTIM).package("rdma-core").is_installed, "the machine is not bare"
    under_way = machines.seen(VICTIM, UNDER_WAY, SECONDS)
    # Only as far as the packages: what comes after them, the scenario's converge does anyway.
    with machines.playing("playbooks/converge.yml", {}, "--tags", "rdma_packages") as running:
        while not under_way.wait(1):
            assert running.runs, running.output
        machines.switch("kill", VICTIM)
        machines.forget(VICTIM)
        # The run notices at once, and asks no more of it: it may come back while the other goes on.
        deadline = time.monotonic() + SECONDS
        while f"{VICTIM}]: UNREACHABLE" not in running.output and running.runs:
            assert time.monotonic() < deadline, running.output
            time.sleep(1)
        machines.switch("start", VICTIM)
        running.wait(SECONDS)
        recap = running.output.partition("PLAY RECAP")[2]
        assert running.status != 0
    # The operator is told which one, and the other went on.
    assert VICTIM in recap
    assert machines.host(OTHER).package("rdma-core").is_installed


def test_the_machine_is_back_with_what_was_left_half_done(machines: Any) -> None:
    assert machines.host(VICTIM).run("dpkg --audit").stdout.strip()
