# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host lacks of a bundle is told, put in place whole, and nothing else is left there."""

from __future__ import annotations

import hashlib
import os
import tarfile
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.modules.stack_bundle_copy import ARCHIVE, missing, place, sweep, unpack

DATA = {"c/a.deb": b"a", "c/InRelease": b"signed", "key.asc": b"key"}
SUMS = {name: hashlib.sha256(data).hexdigest() for name, data in DATA.items()}


@pytest.fixture
def came(tmp_path: Path) -> Path:
    """One file by itself, the others in the archive, as the controller's half sends them."""
    folder = tmp_path / "came"
    folder.mkdir()
    (folder / "c!a.deb").write_bytes(DATA["c/a.deb"])
    with tarfile.open(folder / ARCHIVE, "w") as archive:
        for name in ("c/InRelease", "key.asc"):
            file = tmp_path / "one"
            file.write_bytes(DATA[name])
            archive.add(file, arcname=name.replace("/", "!"))
        archive.add(file, arcname="../outside")
    return folder


def test_what_came_is_put_in_place_and_is_not_missing_any_more(came: Path, tmp_path: Path) -> None:
    home = tmp_path / "bundle"
    assert missing(str(home), SUMS) == sorted(SUMS)
    home.mkdir()
    unpack(str(came))
    assert not (tmp_path / "outside").exists()
    assert place(str(home), str(came), SUMS) == []
    assert {name: (home / name).read_bytes() for name in SUMS} == DATA
    assert (home / "c/a.deb").stat().st_mode & 0o777 == 0o644
    assert missing(str(home), SUMS) == []
    assert not sweep(str(home), SUMS)


def test_a_file_that_came_damaged_is_named_and_not_put_in_place(came: Path, tmp_path: Path) -> None:
    home = tmp_path / "bundle"
    home.mkdir()
    unpack(str(came))
    (came / "c!a.deb").write_bytes(b"b")
    (came / "key.asc").unlink()
    assert place(str(home), str(came), SUMS) == ["c/a.deb", "key.asc"]
    assert missing(str(home), SUMS) == ["c/a.deb", "key.asc"]


def test_apt_s_own_user_reads_what_was_put_in_place_whatever_the_umask(came: Path, tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        unpack(str(came))
        assert place(str(tmp_path / "bundle"), str(came), SUMS) == []
    finally:
        os.umask(before)
    for folder in ("bundle", "bundle/c"):
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o755


def test_what_is_of_another_bundle_goes(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c/old.deb").write_bytes(b"old")
    (tmp_path / "key.asc").write_bytes(b"other")
    assert sweep(str(tmp_path), SUMS)
    assert missing(str(tmp_path), SUMS) == sorted(SUMS)
    assert (tmp_path / "key.asc").exists()
    assert not (tmp_path / "c/old.deb").exists()
