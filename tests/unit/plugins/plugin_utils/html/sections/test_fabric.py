# SPDX-License-Identifier: GPL-3.0-or-later
"""What the section of fabrics says of itself, and whether it asks to be looked at."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections.fabric import section
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import runs

ONE = runs.fabric(runs.check())


@pytest.mark.parametrize(
    ("told", "word", "odd"),
    [
        pytest.param(ONE, "fabric.counts", False, id="one that is well"),
        pytest.param({**ONE, "error": "a host is gone"}, "fabric.counts", True, id="one, and another that is unasked"),
        pytest.param({"fabrics": [], "error": "", "skipped": "no InfiniBand"}, "fabric.skipped", False, id="none"),
        pytest.param({"fabrics": [], "error": "", "skipped": ""}, "fabric.unknown", True, id="nobody knows"),
        pytest.param(None, "fabric.nobody", False, id="nobody asked"),
    ],
)
def test_the_section_says_what_there_is(told: dict[str, Any] | None, word: str, odd: bool) -> None:
    t = Speech()
    found = section({"fabric": told}, t)
    assert found is not None
    numbers = {"switches": 0, "adapters": 0, "links": 0, "wrong": 0}
    assert (found.says, found.odd) == (t(word, **(numbers if word == "fabric.counts" else {})), odd)
