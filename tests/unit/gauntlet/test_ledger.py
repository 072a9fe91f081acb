# SPDX-License-Identifier: GPL-3.0-or-later
"""Every field of every source is judged by a check, or the ledger says why it is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.thorough


def test_the_ledger_is_of_today() -> None:
    # A process of its own: parsers go behind a switch before any area is imported.
    argv = [sys.executable, "-m", "tests.gauntlet", "ledger", "check"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
