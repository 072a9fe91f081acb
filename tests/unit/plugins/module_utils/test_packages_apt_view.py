# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.apt_host import View


def test_apt_s_own_user_reaches_lists_and_keys_whatever_the_umask(tmp_path: Path) -> None:
    (tmp_path / "var/tmp").mkdir(parents=True)
    before = os.umask(0o077)
    try:
        view = View(str(tmp_path))
        view.fill([], {}, [], [])
    finally:
        os.umask(before)
    home = Path(view.home)
    for folder in (home, home / "keyrings", home / "lists", home / "lists/partial"):
        assert folder.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(("age", "alone_is_fetched"), [(0, True), (86_400, False), (None, False)])
def test_lists_that_were_fetched_a_short_time_ago_are_not_fetched_again(
    tmp_path: Path, age: int | None, alone_is_fetched: bool
) -> None:
    (tmp_path / "var/tmp").mkdir(parents=True)
    lists = tmp_path / "var/lib/apt/lists"
    lists.mkdir(parents=True)
    if age is not None:
        (lists / "debian_InRelease").write_text("")
        os.utime(lists, (time.time() - age,) * 2)
    view = View(str(tmp_path))
    view.fill([], {}, [], [])
    assert ("Dir::Etc::sourcelist=/dev/null" in view.fetching()) == alone_is_fetched
