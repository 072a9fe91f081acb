# SPDX-License-Identifier: GPL-3.0-or-later
"""Bundles on disk: found, unpacked safely, judged like live hosts."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    ExpectationError,
    Expectations,
    from_inventory,
)
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect as _collect
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import bundles
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.bundles import BundlesError
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import unpack
from tests.gauntlet import render
from tests.unit import fleets

pytestmark = pytest.mark.thorough

AT = "2026-11-20T10:00:00+00:00"


def site(_name: str) -> tuple[Expectations, tuple[()]]:
    return Expectations(), ()


def collect(folder: Path, *names: str) -> None:
    for number, name in enumerate(names, 1):
        tree = render.render(fleets.described("ib-login", number))
        _collect.collect(tree, str(folder), name, AT)


def test_what_the_site_leaves_open_the_bundle_carries(tmp_path: Path) -> None:
    tree = render.render(fleets.described("ib-login", 1))
    _collect.collect(tree, str(tmp_path), "n1", AT, {"rate_gbps": 800})

    def said(_name: str) -> tuple[Expectations, tuple[()]]:
        return from_inventory({"rate_gbps": 400}), ()

    found = bundles.find(tmp_path / "n1")
    rates = [bundles.judge(found, each)[0].expect.get("rate_gbps") for each in (site, said)]
    assert [rate and rate.value for rate in rates] == [800, 400]


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


def test_an_archive_is_judged_as_its_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collect(tmp_path, "n1")
    (tmp_path / "unpacked").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "unpacked"))
    folder, archive = bundles.find(tmp_path / "n1"), bundles.find(tmp_path / "n1.tar.gz")
    one, two = bundles.judge(folder, site)[0], bundles.judge(archive, site)[0]
    assert one == two
    assert (one.name, one.absent, AT in one.recorded) == ("n1", "", True)
    assert one.node is not None
    assert (one.node["kernel"], one.node["simulated"]) == ("6.8.0-88-generic", "")
    assert {"hostname", "memory_mb", "cpus"} <= set(one.node)
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


def test_a_copy_under_another_name_is_not_taken_for_the_host(tmp_path: Path) -> None:
    collect(tmp_path, "n1")
    (tmp_path / "n1").rename(tmp_path / "copy")
    copy, real = bundles.judge(bundles.find(tmp_path), site)
    assert (copy.name, copy.ib) == ("copy", None)
    assert "its bundle says that it is of 'n1'" in copy.absent
    assert "name the bundle after the host" in copy.remedy
    assert (real.name, real.absent) == ("n1", "")


def claim(folder: Path, host: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "host": host}))


CLAIMS: list[object] = [
    *("n2", "../../x", "", "<script>", "\x1b[2J", "n1\n", "x" * 100_000, "n\u202e1", "n/1"),
    *(None, 5, ["n1"], {"n1": 1}),
]


@pytest.mark.parametrize("host", CLAIMS, ids=lambda host: repr(host)[:20])
@pytest.mark.parametrize("packed", [False, True])
def test_a_bundle_speaks_for_no_other_host(tmp_path: Path, packed: bool, host: object) -> None:
    collect(tmp_path, "n1", "n2")
    claim(tmp_path / "n1", host)
    for name in ("n1", "n2"):
        (tmp_path / f"{name}.tar.gz").unlink()
    if packed:
        with tarfile.open(tmp_path / "n1.tar.gz", "w:gz") as stream:
            stream.add(tmp_path / "n1", arcname="n1")
        shutil.rmtree(tmp_path / "n1")
    asked: list[str] = []
    evil, good = bundles.judge(bundles.find(tmp_path), lambda name: (asked.append(name), site)[1](name))
    assert asked == ["n1", "n2"]
    assert (evil.name, evil.ib) == ("n1", None)
    assert "says that it is of" in evil.absent
    assert len(evil.absent) < 1000
    assert evil.absent.isprintable()
    assert (good.name, good.absent, good.ib is None) == ("n2", "", False)


@pytest.mark.parametrize("name", ["n 1", "<b>", "\x1b[2Jn1", "n\u202e1", "-e@x", "n1;reboot", "\udcff"])
def test_a_path_that_no_host_is_called_is_told_of_and_not_judged(tmp_path: Path, name: str) -> None:
    collect(tmp_path, "n1")
    (tmp_path / "n1.tar.gz").rename(tmp_path / f"{name}.tar.gz")
    hosts = bundles.judge(bundles.find(tmp_path), site)
    (odd,) = (host for host in hosts if host.absent)
    assert len(hosts) == 2
    assert "none of a host" in odd.absent
    assert odd.name.isascii()
    assert odd.name.isprintable()


WRONG = [OSError("x"), ValueError("x"), RecursionError(), MemoryError(), KeyError("x"), TypeError()]


@pytest.mark.parametrize("exc", WRONG, ids=repr)
@pytest.mark.parametrize("where", ["unpack.unpack", "_verify.verify", "_hosts.recorded"])
def test_whatever_goes_wrong_with_a_bundle_costs_its_own_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, exc: Exception
) -> None:
    collect(tmp_path, "n1", "n2")
    (tmp_path / "n2.tar.gz").unlink()
    shutil.rmtree(tmp_path / "n1")
    module, name = where.split(".")
    works, calls = getattr(getattr(bundles, module), name), [0]

    def failing(*args: object, **more: object) -> object:
        calls[0] += 1
        if calls[0] == 1:
            raise exc
        return works(*args, **more)

    monkeypatch.setattr(getattr(bundles, module), name, failing)
    bad, good = bundles.judge(bundles.find(tmp_path), site)
    assert (bad.name, bad.ib, good.absent) == ("n1", None, "")
    assert bad.absent.startswith("its bundle cannot be read: ")
    assert len(bad.absent) > len("its bundle cannot be read: ")


def test_what_the_site_says_wrong_is_told_to_the_site(tmp_path: Path) -> None:
    collect(tmp_path, "n1")

    def wrong(_name: str) -> tuple[Expectations, tuple[()]]:
        raise ExpectationError("expect.hcas is no number")

    with pytest.raises(ExpectationError):
        bundles.judge(bundles.find(tmp_path), wrong)


def test_a_folder_that_cannot_be_looked_into_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collect(tmp_path, "n1", "n2")
    exists = Path.exists

    def shut(path: Path) -> bool:
        if path.parent.name == "n2":
            raise PermissionError(13, "Permission denied")
        return exists(path)

    monkeypatch.setattr(Path, "exists", shut)
    assert [one.name for one in bundles.find(tmp_path)] == ["n1", "n2"]


@pytest.mark.parametrize("depth", [41, 900, 2100, 20_000])
def test_a_deep_archive_costs_its_own_host(tmp_path: Path, depth: int) -> None:
    collect(tmp_path, "n2")
    archive(tmp_path / "n1.tar.gz", (member("n1/" + "a/" * depth + "x"), b""), MANIFEST)
    deep, good = bundles.judge(bundles.find(tmp_path), site)
    assert (deep.name, "cannot be read" in deep.absent) == ("n1", True)
    assert (good.name, good.absent) == ("n2", "")


def test_what_it_says_of_its_time_is_a_time(tmp_path: Path) -> None:
    collect(tmp_path, "n1")
    path = tmp_path / "n1/manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "collected_at": "\x1b[2J" * 999}))
    (host,) = bundles.judge(bundles.find(tmp_path), site)
    assert host.recorded == "judged from the bundle collected at a time that it omits"


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


def test_an_archive_that_would_fill_the_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "BYTES", 1000)
    path = archive(tmp_path / "n1.tar.gz", MANIFEST, (member("n1/files/big"), b"0" * 2000))
    (host,) = bundles.judge(bundles.find(path), site)
    assert "more than a bundle does" in host.absent
    monkeypatch.setattr(unpack, "BYTES", 1 << 20)
    monkeypatch.setattr(unpack, "MEMBERS", 1)
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
