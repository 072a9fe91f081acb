# SPDX-License-Identifier: GPL-3.0-or-later
"""Every filter has a name, a page and a function; and a process that only names them imports none of what they do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ansible_collections.ibready.cluster.plugins.filter import filters
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks import filters as made


def test_names_pages_and_functions_are_the_same() -> None:
    pages = {path.stem for path in Path(filters.__file__).parent.glob("*.yml")}
    assert set(filters.FilterModule().filters()) == set(filters.NAMES) == pages
    assert all(callable(getattr(made, name)) for name in filters.NAMES)


def test_their_names_cost_no_import_of_ours() -> None:
    asked = f"import runpy, sys; runpy.run_path({filters.__file__!r})['FilterModule']().filters(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert "ansible_collections" not in done.stdout
