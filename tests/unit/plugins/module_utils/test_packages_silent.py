# SPDX-License-Identifier: GPL-3.0-or-later
"""A package database that cannot be asked is no database in which nothing is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import ledger
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.apt import Apt
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.dnf import Dnf
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import PackageError
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot import store
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot.apt import SnapshotApt
from ansible_collections.ibready.cluster.plugins.module_utils._act.snapshot.dnf import SnapshotDnf
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output

Ask = Callable[[Any], object]
# What is asked of whom, and the word of its argv by which the one question that fails is known.
ASKED: dict[str, tuple[type[Apt] | type[Dnf], Ask, str]] = {
    "apt, installed": (Apt, lambda pool: pool.installed(), "--show"),
    "apt, its architecture": (Apt, lambda pool: pool._arch(), "--print-architecture"),
    "apt, a package's files": (Apt, lambda pool: pool.owned("x-dkms"), "--listfiles"),
    "apt, which is older": (Apt, lambda pool: pool._older("1", "2"), "--compare-versions"),
    "apt, all of a snapshot": (SnapshotApt, lambda pool: pool.packages(), "--show"),
    "apt, marks of a snapshot": (SnapshotApt, lambda pool: pool.packages(), "showauto"),
    "dnf, installed": (Dnf, lambda pool: pool.installed(), "--all"),
    "dnf, a package's files": (Dnf, lambda pool: pool.owned("x-dkms"), "--list"),
    "dnf, all of a snapshot": (SnapshotDnf, lambda pool: pool.packages(), "--all"),
    "dnf, keys of a snapshot": (SnapshotDnf, lambda pool: pool.packages(), "gpg-pubkey"),
}


@pytest.mark.parametrize("status", [2, 127, -9])
@pytest.mark.parametrize("asked", ASKED)
def test_a_question_that_fails_is_no_answer(tmp_path: Path, asked: str, status: int) -> None:
    kind, ask, word = ASKED[asked]

    def run(argv: Sequence[str]) -> Output:
        if word in argv:
            return Output(status, "", "error: cannot open the database\n")
        return Output(0, "amd64\n" if "--print-architecture" in argv else "", "")

    with pytest.raises(PackageError):
        ask(kind(run, str(tmp_path)))


def test_what_is_not_installed_has_no_files(tmp_path: Path) -> None:
    words = "package x-dkms is not installed\n"

    assert Apt(lambda _argv: Output(1, "", words), str(tmp_path)).owned("x-dkms") == []
    assert Dnf(lambda _argv: Output(1, words, ""), str(tmp_path)).owned("x-dkms") == []


def test_a_journal_of_dpkg_that_cannot_be_read_is_damage(tmp_path: Path) -> None:
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/updates").write_text("no folder")
    pool = Apt(lambda _argv: Output(0, "", ""), str(tmp_path))

    assert "updates cannot be read: Not a directory" in pool.damage()[0]


@pytest.mark.parametrize("home", [ledger.HOME, store.HOME])
def test_a_folder_of_ours_that_cannot_be_listed_is_no_bare_host(tmp_path: Path, home: str) -> None:
    names = ledger.names if home == ledger.HOME else store.names
    assert names(str(tmp_path)) == []
    place = tmp_path / home.lstrip("/")
    place.parent.mkdir(parents=True)
    place.write_text("no folder")
    with pytest.raises(PackageError, match="cannot be listed"):
        names(str(tmp_path))
