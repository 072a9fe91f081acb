# SPDX-License-Identifier: GPL-3.0-or-later
"""A second converge finds everything as it wants it.

In place of molecule's own idempotence, which runs the whole of site.yml: verified has been already.
"""

from __future__ import annotations

import re
from typing import Any


def test_a_second_converge_changes_nothing(machines: Any) -> None:
    # With molecule's own words: a run that leaves something out does not settle the host's plan.
    done = machines.play("playbooks/converge.yml", {}, "--skip-tags", "molecule-notest,notest")
    assert done.returncode == 0, done.stdout
    recap = done.stdout.partition("PLAY RECAP")[2]
    changed = dict(re.findall(r"^(vm[12]) .*?changed=([0-9]+)", recap, flags=re.MULTILINE))
    assert changed == {"vm1": "0", "vm2": "0"}, done.stdout
