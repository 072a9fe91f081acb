# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.dnf_host import View
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import PackageError
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output


def test_the_agents_of_the_keys_end_with_the_view(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def run(argv: Sequence[str]) -> Output:
        asked.append(list(argv))
        raise PackageError("failed", "no gpgconf", "install it")

    view = View(str(tmp_path), run)
    place = Path(view.home) / "cache/ibready-doca-0123456789abcdef/pubring"
    place.mkdir(parents=True)
    view.close()
    assert asked == [["gpgconf", "--homedir", str(place), "--kill", "all"]]
    assert not Path(view.home).exists()
