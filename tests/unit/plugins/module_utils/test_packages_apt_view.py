# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from pathlib import Path

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
