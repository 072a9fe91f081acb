# SPDX-License-Identifier: GPL-3.0-or-later
"""The tiny image: the host's own files at their own places, as `docker save` writes one."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.container import image
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Unavailable


def test_links_on_the_way_to_a_file_are_kept(tmp_path: Path) -> None:
    (tmp_path / "usr/lib").mkdir(parents=True)
    (tmp_path / "lib").symlink_to("usr/lib")
    (tmp_path / "usr/lib/libx.so.1.2").write_bytes(b"x")
    (tmp_path / "usr/lib/libx.so.1").symlink_to("libx.so.1.2")
    tree = image.Tree()
    place = tree.add(f"{tmp_path}/lib/libx.so.1")
    assert place == f"{tmp_path}/usr/lib/libx.so.1.2"
    assert tree.files == {place: b"x"}
    assert tree.links[f"{tmp_path}/lib"] == "usr/lib"
    assert tree.links[f"{tmp_path}/usr/lib/libx.so.1"] == "libx.so.1.2"


def test_an_absolute_link_leads_from_the_top(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    tree = image.Tree()
    assert tree.add(f"{tmp_path}/b") == f"{tmp_path}/a"


def test_links_in_a_circle_and_files_that_are_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for name in ("a", "none"):
        with pytest.raises(Unavailable, match=str(tmp_path)):
            image.Tree().add(f"{tmp_path}/{name}")


def test_what_is_gathered_runs_by_itself() -> None:
    tree = image.gather()
    shell = os.path.realpath(image.SHELL)
    assert shell in tree.files
    assert tree.modes[shell] == 0o755
    assert any("/ld-" in one or "ld-linux" in one for one in [*tree.files, *tree.links])
    assert any("libc.so" in one for one in [*tree.files, *tree.links])
    assert os.path.realpath("/etc/os-release") in tree.files


def test_the_archive_is_one_that_engines_load(tmp_path: Path) -> None:
    tree = image.Tree()
    tree.files["/usr/bin/dash"], tree.modes["/usr/bin/dash"] = b"shell", 0o755
    tree.links["/bin"] = "usr/bin"
    name = image.write(tree, str(tmp_path / "i.tar"), "0a1b", "aarch64")
    with tarfile.open(tmp_path / "i.tar") as archive:
        read = {one.name: _data(archive, one) for one in archive}
    (manifest,) = json.loads(read["manifest.json"])
    config = json.loads(read[manifest["Config"]])
    layer = read[manifest["Layers"][0]]
    digest = hashlib.sha256(layer).hexdigest()
    assert manifest["RepoTags"] == [name] == [f"{image.NAME}:{digest[:12]}-0a1b"]
    assert manifest["Config"] == f"{hashlib.sha256(read[manifest['Config']]).hexdigest()}.json"
    assert config["rootfs"]["diff_ids"] == [f"sha256:{digest}"]
    assert (config["os"], config["architecture"]) == ("linux", "arm64")
    assert "host's own files" in next(iter(config["config"]["Labels"].values()))
    with tarfile.open(fileobj=io.BytesIO(layer)) as inner:
        assert inner.getmember("bin").linkname == "usr/bin"
        assert inner.getmember("usr/bin/dash").mode == 0o755
        assert {one.mtime for one in inner} == {0}


def test_the_same_files_give_the_same_layer() -> None:
    one, other = image.Tree(), image.Tree()
    one.files, other.files = {"/a": b"1", "/b": b"2"}, {"/b": b"2", "/a": b"1"}
    one.modes = other.modes = {"/a": 0o644, "/b": 0o644}
    assert one.layer() == other.layer()


def test_what_has_no_libraries_needs_none(tmp_path: Path) -> None:
    (tmp_path / "script").write_text("#!/bin/sh\n")
    assert image.needed(str(tmp_path / "script")) == []
    assert any("libc" in one for one in image.needed(os.path.realpath("/bin/sh")))


def _data(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(member)
    return stream.read() if stream else b""
