# SPDX-License-Identifier: GPL-3.0-or-later
"""Package files wait where no user of the node can be first, and nothing stays."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import stage
from ansible_collections.ibready.cluster.plugins.module_utils._ground import state


def test_the_place_is_below_a_folder_of_root_s() -> None:
    assert stage.HOME.startswith(f"{state.DIRECTORY}/")


def test_it_can_be_read_is_gone_on_with_and_leaves_nothing(tmp_path: Path) -> None:
    home = tmp_path / "ibready/bundle-files"
    stage.make(str(home))
    assert home.stat().st_mode & 0o777 == 0o755
    (home / "a.deb").write_bytes(b"a")
    stage.make(str(home))
    assert (home / "a.deb").exists()
    assert stage.clean(str(home))
    assert list(tmp_path.iterdir()) == []
    assert not stage.clean(str(home))


def test_what_else_lies_above_stays(tmp_path: Path) -> None:
    home = tmp_path / "ibready/bundle-files"
    stage.make(str(home))
    (tmp_path / "ibready/stack.json").write_text("{}")
    assert stage.clean(str(home))
    assert (tmp_path / "ibready/stack.json").exists()
