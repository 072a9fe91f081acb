# SPDX-License-Identifier: GPL-3.0-or-later
"""What the converge of bare nodes warned of."""

from __future__ import annotations

import os
from pathlib import Path

LOG = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"]) / "ansible.log"


def test_a_cold_run_warns_of_none_of_our_own_variables() -> None:
    # As one line of words: Ansible folds what it warns of.
    log = " ".join(LOG.read_text().split())
    assert "PLAY [Enter the hosts" in log or "PLAY RECAP" in log
    assert "is not a variable of ibready" not in log
    assert "nothing here reads it" not in log
