# SPDX-License-Identifier: GPL-3.0-or-later
"""Bundles on disk: found, unpacked safely, judged like live hosts."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils import _collect
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.plugin_utils import _unpack
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import bundles
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.bundles import (
    BundlesError,
)
from tests.gauntlet import render
from tests.unit import fleets

AT = "2026-11-20T10:00:00+00:00"


def site(_name: str) -> tuple[Expectations, tuple[()]]:
    return Expectations(), ()


def collect(folder: Path, *names: str) -> None:
    for number, name in enumerate(names, 1):
        tree = render.render(fleets.described("ib-login", number))
        _collect.collect(tree, str(folder), name, AT)


def test_folders_and_archives_are_found_once_each(tmp_path: Path) -> None:
    collect(tmp_path, "n1", "n2")
    (tmp_path / "n1.tar.gz").rename(tmp_path / "n3.tar.gz")
    (tmp_path / "notes").mkdir()
    (tmp_path / "README").write_text("x")
    found = bundles.find(tmp_path)
    assert [(one.name, one.packed) for one in found] == [
        ("n1", False),
        ("n2", False),
        ("n3", True),
    ]
    assert [one.name for one in bundles.find(tmp_path / "n1")] == ["n1"]
    assert [one.packed for one in bundles.find(tmp_path / "n3.tar.gz")] == [True]


def test_an_archive_is_judged_as_its_folder_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collect(tmp_path, "n1")
    (tmp_path / "unpacked").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "unpacked"))
    folder, archive = bundles.find(tmp_path / "n1"), bundles.find(tmp_path / "n1.tar.gz")
    one, two = bundles.judge(folder, site)[0], bundles.judge(archive, site)[0]
    assert one == two
    assert (one.name, one.absent, AT in one.recorded) == ("n1", "", True)
    assert one.node == {"kernel": "6.8.0-88-generic", "simulated": ""}
    assert not list((tmp_path / "unpacked").iterdir())


@pytest.mark.parametrize(
    ("make", "why"),
    [
        pytest.param(lambda path: None, "no folder", id="nothing"),
        pytest.param(lambda path: path.mkdir(), "holds no bundle", id="empty"),
        pytest.param(lambda path: path.write_text("x"), "no folder", id="a file"),
    ],
)
def test_a_place_without_bundles_says_what_next(tmp_path: Path, make, why: str) -> None:  # type: ignore[no-untyped-def]
    make(tmp_path / "bundles")
    with pytest.raises(BundlesError, match=rf"{why}.*next: "):
        bundles.find(tmp_path / "bundles")


def test_two_bundles_of_one_host_are_refused(tmp_path: Path) -> None:
    collect(tmp_path, "n1")
    (tmp_path / "n1").rename(tmp_path / "copy")
    with pytest.raises(BundlesError, match=r"are both of n1; next: leave one"):
        bundles.judge(bundles.find(tmp_path), site)


def archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as stream:
        for info, data in members:
            info.size = len(data)
            stream.addfile(info, io.BytesIO(data))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


MANIFEST = (member("n1/manifest.json"), b'{"format": 1, "host": "n1"}')


@pytest.mark.parametrize(
    ("members", "why"),
    [
        pytest.param([(member("../evil"), b"x")], "a way out", id="up"),
        pytest.param([(member("/etc/evil"), b"x")], "a way out", id="absolute"),
        pytest.param([(member("n1/../../evil"), b"x")], "a way out", id="up in the middle"),
        pytest.param([MANIFEST, (member("n2/manifest.json"), b"{}")], "2 folders", id="two hosts"),
        pytest.param([], "0 folders", id="empty"),
        pytest.param(
            [MANIFEST, (member("n1/files/rate", tarfile.SYMTYPE, "/etc/passwd"), b"")],
            "'n1/files/rate', a link",
            id="a link",
        ),
        pytest.param([(member("n1"), b"x"), MANIFEST], "n1", id="a file that is a folder"),
        pytest.param([MANIFEST, MANIFEST], "exists", id="a file twice"),
    ],
)
def test_an_archive_that_is_none_of_ours_is_an_unknown_host(
    tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]], why: str
) -> None:
    path = archive(tmp_path / "n1.tar.gz", *members)
    (host,) = bundles.judge(bundles.find(path), site)
    assert host.absent.startswith("its bundle cannot be read: ")
    assert why in host.absent
    assert "collect the bundle again" in host.remedy
    assert not (tmp_path / "evil").exists()


def test_an_archive_that_would_fill_the_disk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_unpack, "BYTES", 1000)
    path = archive(tmp_path / "n1.tar.gz", MANIFEST, (member("n1/files/big"), b"0" * 2000))
    (host,) = bundles.judge(bundles.find(path), site)
    assert "more than a bundle does" in host.absent
    monkeypatch.setattr(_unpack, "BYTES", 1 << 20)
    monkeypatch.setattr(_unpack, "MEMBERS", 1)
    (host,) = bundles.judge(bundles.find(path), site)
    assert "more than a bundle does" in host.absent


@pytest.mark.parametrize("data", [b"nonsense", b"", b"\x1f\x8b\x08\x00 cut"])
def test_what_is_no_archive_is_an_unknown_host(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "n1.tar.gz").write_bytes(data)
    (host,) = bundles.judge(bundles.find(tmp_path), site)
    assert (host.name, host.ib) == ("n1", None)
    assert host.absent


def test_a_manifest_of_another_format_is_an_unknown_host(tmp_path: Path) -> None:
    (tmp_path / "n1").mkdir()
    (tmp_path / "n1" / "manifest.json").write_text('{"format": 9, "host": "n1"}')
    (host,) = bundles.judge(bundles.find(tmp_path), site)
    assert "format 9 is not known" in host.absent
