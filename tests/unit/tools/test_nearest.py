# SPDX-License-Identifier: GPL-3.0-or-later
"""`./run unit` takes the tests that import what differs by the shortest chain."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import nearest


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    texts = {
        "plugins/module_utils/_a/low.py": "",
        "plugins/module_utils/_a/high.py": "from . import low",
        "plugins/modules/top.py": "from ansible_collections.ibready.cluster.plugins.module_utils._a import high",
        "tests/unit/test_top.py": "from ansible_collections.ibready.cluster.plugins.modules import top",
        "tests/unit/test_low.py": "from ansible_collections.ibready.cluster.plugins.module_utils._a.low import x",
        "tests/unit/test_other.py": "import json",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(nearest, "ROOT", tmp_path)
    return tmp_path


def test_the_shortest_chain_comes_first_and_what_imports_nothing_of_it_not_at_all(tree: Path) -> None:
    known = nearest.importers()
    assert nearest.nearest("plugins/module_utils/_a/low.py", known) == [
        "tests/unit/test_low.py",
        "tests/unit/test_top.py",
    ]
    assert nearest.nearest("plugins/modules/top.py", known) == ["tests/unit/test_top.py"]


def test_a_test_that_differs_is_run_and_what_is_no_code_has_none(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert nearest.chosen(["README.md", "tests/unit/test_other.py"]) == ["tests/unit/test_other.py"]
    monkeypatch.setattr(nearest, "MOST", 1)
    files = ["plugins/module_utils/_a/low.py", "plugins/modules/top.py"]
    assert nearest.chosen(files) == ["tests/unit/test_low.py", "tests/unit/test_top.py"]


def test_it_says_so_where_nobody_tells_what_differs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nearest, "changed", lambda: None)
    assert nearest.main() == 1
    assert "use `./run unit all`" in capsys.readouterr().err
