# SPDX-License-Identifier: GPL-3.0-or-later
"""What the agent does not ask every minute."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._agent import judge
from ansible_collections.ibready.cluster.plugins.module_utils._agent.settings import Settings
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import sources
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import COMMANDS, Live, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.gauntlet import render
from tests.gauntlet.tree import Tree


def test_a_spectrum_x_host_is_judged_without_what_takes_seconds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    described = render.node("hgx-h200-8-spectrum-x")
    tree = render.render(described)

    def live(root: str, questions: Any, unasked: Collection[str]) -> Tree:
        for name in unasked:
            tree.broken[name] = "it takes too long"
        return tree

    monkeypatch.setattr(sources, "Live", live)
    expect = tmp_path / "expect.json"
    expect.write_text(json.dumps(described.expect))
    checks = judge._judged(Settings(expect=str(expect), areas=("roce",)))["checks"]
    found = {check["id"]: check["result"] for check in checks}
    assert "unknown" not in found.values()
    assert "roce.spectrum.firmware" not in found
    assert [found[f"roce.spectrum.{name}"] for name in ("hca", "routing", "congestion")] == ["pass"] * 3


def test_what_is_not_asked_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "run_program", lambda *_args, **_more: pytest.fail("it ran"))
    monkeypatch.setattr(sources, "find_first", lambda programs: f"/bin/{programs[0]}")
    with pytest.raises(Unavailable, match="takes too long"):
        Live(unasked=judge.SLOW).run("mstconfig", "-d", "0000:18:00.0", "-e", "query")


def test_what_is_slow_is_known() -> None:
    assert set(judge.SLOW) <= set(COMMANDS)
    assert set(judge.SLOW.values()) <= {entry.id for entry in CATALOG.values()}
