# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives of a hostile host: refused by the name of what is wrong, and nothing else is touched."""

from __future__ import annotations

import gzip
import io
import os
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from ansible_collections.ibready.cluster.plugins.plugin_utils._ground import child, unpack
from tests.gauntlet import render

Member = tuple[tarfile.TarInfo, bytes]
LINKS = (tarfile.SYMTYPE, tarfile.LNKTYPE)
DEVICES = (tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)


def member(name: str, kind: bytes = tarfile.REGTYPE, data: bytes = b"", target: str = "") -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, len(data)
    return info, data


def manifest(host: str = "n1", folder: str = "n1") -> Member:
    return member(f"{folder}/manifest.json", data=f'{{"format": 1, "host": "{host}"}}'.encode())


def archive(path: Path, *members: Member) -> Path:
    with tarfile.open(path, "w:gz") as stream:
        for info, data in members:
            stream.addfile(info, io.BytesIO(data))
    return path


def seen(folder: Path) -> dict[str, str]:
    """Everything below a folder: the text of files, where links lead."""
    return {
        str(one.relative_to(folder)): os.readlink(one)
        if one.is_symlink()
        else one.read_text(errors="replace")
        if one.is_file()
        else "/"
        for one in sorted(folder.rglob("*"))
    }


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder of bundles with those of an earlier run, of the host and of another."""
    home = tmp_path / "bundles"
    for name in ("n1", "n2"):
        (home / name).mkdir(parents=True)
        (home / name / "manifest.json").write_text(f"before, of {name}")
    return home


EVIL = [
    pytest.param(member("../evil", data=b"x"), "'../evil', a way out", id="up"),
    pytest.param(member("n1/../n2/evil", data=b"x"), "a way out", id="up and down"),
    pytest.param(member("/etc/evil", data=b"x"), "'/etc/evil', a way out", id="absolute"),
    pytest.param(member("."), "a way out", id="the folder itself"),
    pytest.param(
        member("n2/manifest.json", data=b"{}"),
        "'n2/manifest.json', which is not below n1",
        id="another host's",
    ),
    pytest.param(member("n2", tarfile.DIRTYPE), "'n2', which is not below n1", id="another's folder"),
    pytest.param(member("n10/x", data=b"x"), "not below n1", id="a longer name"),
    *(pytest.param(member("n1/x", kind, target="../n2"), "'n1/x', a link", id=f"link {kind!r}") for kind in LINKS),
    *(pytest.param(member("n1/x", kind), "'n1/x', a device or pipe", id=f"device {kind!r}") for kind in DEVICES),
    pytest.param(manifest(), "exists", id="a file twice"),
    pytest.param(member("n1/manifest.json/x", data=b"x"), "n1/manifest.json", id="below a file"),
    pytest.param(member(f"n1/{'x' * 300}", data=b"x"), "too long", id="a name too long"),
]


@pytest.mark.parametrize(("evil", "why"), EVIL)
def test_what_a_bundle_has_not_is_refused_and_nothing_is_touched(
    home: Path, tmp_path: Path, evil: Member, why: str
) -> None:
    path = archive(tmp_path / "n1.tar.gz", manifest(), evil)
    before = seen(tmp_path)
    with pytest.raises(unpack.UnpackError, match=r"n1\.tar\.gz") as caught:
        unpack.replace(path, home, "n1")
    assert why in str(caught.value)
    assert seen(tmp_path) == before


def test_a_link_is_not_followed_by_what_comes_after_it(home: Path, tmp_path: Path) -> None:
    link = member("n1/out", tarfile.SYMTYPE, target=str(home / "n2"))
    path = archive(tmp_path / "n1.tar.gz", manifest(), link, member("n1/out/evil", data=b"x"))
    with pytest.raises(unpack.UnpackError, match="a link"):
        unpack.replace(path, home, "n1")
    assert not (home / "n2/evil").exists()


@pytest.mark.parametrize(("name", "most"), [("BYTES", 1000), ("MEMBERS", 1)])
def test_what_would_fill_the_disk_is_refused(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(unpack, name, most)
    path = archive(tmp_path / "n1.tar.gz", manifest(), member("n1/big", data=b"0" * 2000))
    before = seen(home)
    with pytest.raises(unpack.UnpackError, match="holds more than a bundle does"):
        unpack.replace(path, home, "n1")
    assert seen(home) == before


def test_every_folder_counts_that_is_only_on_the_way_to_a_file(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack, "MEMBERS", 100)
    files = [member("n1/" + "/".join(f"{number}.{at}" for at in range(30))) for number in range(20)]
    made: list[Path] = []
    mkdir = Path.mkdir

    def counting(path: Path, *args: object, **more: object) -> None:
        made.append(path)
        mkdir(path, *args, **more)  # type: ignore[arg-type]

    path = archive(tmp_path / "n1.tar.gz", manifest(), *files)
    before = seen(home)
    monkeypatch.setattr(Path, "mkdir", counting)
    monkeypatch.setattr(child, "within", lambda _seconds, work: work())
    with pytest.raises(unpack.UnpackError, match="holds more than a bundle does"):
        unpack.replace(path, home, "n1")
    assert len(made) <= 110
    assert seen(home) == before


LETTERS = st.sampled_from(["a", "é", "密", "\U0001f600"])


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_name_is_bounded_in_parts_and_bytes(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """By _PARTS, _LENGTH and _PART: either it is unpacked, or nothing is there: never half of it, never a crash."""
    parts = data.draw(st.sampled_from([1, 10, 38, 39, 40, 41, 200, 1000, 5000]))
    part = data.draw(LETTERS) * data.draw(st.sampled_from([1, 2, 20, 63, 64, 255, 256]))
    name = "/".join(["n1", *[part] * parts])
    home = tmp_path_factory.mktemp("drawn")
    path = archive(home / "n1.tar.gz", manifest(), member(name, data=b"x"))
    small = parts + 1 <= 40 and len(name.encode()) < 1024 and len(part.encode()) <= 255
    if small:
        unpack.replace(path, home / "b", "n1")
        assert (home / "b" / name).read_bytes() == b"x"
    else:
        with pytest.raises(unpack.UnpackError, match=r"too long for|cannot be unpacked"):
            unpack.replace(path, home / "b", "n1")
        assert list((home / "b").iterdir()) == []


@pytest.mark.parametrize("board", ["hgx-h100-8", "ib-login"])
def test_a_real_bundle_is_far_below_the_bounds(tmp_path: Path, board: str) -> None:
    tree = render.render(render.node(board))
    collect.collect(tree, str(tmp_path), "n1", "now", {"container": {}})
    names = [one.relative_to(tmp_path) for one in (tmp_path / "n1").rglob("*")]
    assert max(len(one.parts) for one in names) * 2 < unpack._PARTS
    assert max(len(str(one)) for one in names) * 2 < unpack._LENGTH
    assert len(names) * 10 < unpack.MEMBERS
    with gzip.open(tmp_path / "n1.tar.gz") as text, unpack._Archive(fileobj=text) as stream:
        assert stream.getmembers()
        assert 0 < stream.header_bytes * 10 < unpack._HEADERS


def test_what_would_fill_the_memory_is_refused(home: Path, tmp_path: Path) -> None:
    info = tarfile.TarInfo("n1/x")
    info.type, info.size = tarfile.XHDTYPE, 1 << 32
    (tmp_path / "n1.tar.gz").write_bytes(gzip.compress(info.tobuf() + bytes(10240)))
    with pytest.raises(unpack.UnpackError, match="a header that is too long for a bundle"):
        unpack.replace(tmp_path / "n1.tar.gz", home, "n1")


def test_headers_without_end_are_refused(home: Path, tmp_path: Path) -> None:
    header = tarfile.TarInfo("n1/x")
    header.type, header.size = tarfile.XHDTYPE, 512
    record = b"11 a=bcdef\n"
    text = (header.tobuf() + record * (512 // len(record)) + bytes(512 % len(record))) * 5000
    (tmp_path / "n1.tar.gz").write_bytes(gzip.compress(text))
    with pytest.raises(unpack.UnpackError, match="cannot be unpacked"):
        unpack.replace(tmp_path / "n1.tar.gz", home, "n1")


def extended(data: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    """One header that says more of the member after it."""
    info = tarfile.TarInfo("n1/x")
    info.type, info.size = kind, len(data)
    return info.tobuf() + data + bytes(-len(data) % 512)


def plain(name: str, data: bytes = b"") -> bytes:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info.tobuf() + data + bytes(-len(data) % 512)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, b"L", b"K"])
def test_a_long_header_is_not_even_read(home: Path, tmp_path: Path, kind: bytes) -> None:
    # Where tarfile looks for a record in digits alone it is quadratic (CVE-2024-6232).
    text = extended(b"1" * (unpack._HEADER + 1), kind) + plain("n1/manifest.json", b"{}")
    (tmp_path / "n1.tar.gz").write_bytes(gzip.compress(text + bytes(1024)))
    with pytest.raises(unpack.UnpackError, match="a header that is too long for a bundle"):
        unpack.replace(tmp_path / "n1.tar.gz", home, "n1")


@pytest.mark.parametrize(
    ("name", "most", "why"), [("_HEADERS", 100, "too long for"), ("MEMBERS", 12, "holds more than")]
)
def test_nor_are_many_short_ones(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int, why: str
) -> None:
    monkeypatch.setattr(unpack, name, most)
    text = b"".join(extended(b"30 mtime=1700000000.123456789\n") + plain(f"n1/{number}") for number in range(8))
    (tmp_path / "n1.tar.gz").write_bytes(gzip.compress(text + bytes(1024)))
    with pytest.raises(unpack.UnpackError, match=why):
        unpack.replace(tmp_path / "n1.tar.gz", home, "n1")


SPARSE = [
    extended(b"", tarfile.GNUTYPE_SPARSE),
    extended(b"22 GNU.sparse.size=10\n") + plain("n1/x"),
    extended(b"26 GNU.sparse.map=0,1,2,3\n") + plain("n1/x"),
    extended(b"22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n") + plain("n1/x", b"1\n0\n1\n"),
]


@pytest.mark.parametrize("text", SPARSE, ids=["type S", "0.0", "0.1", "1.0"])
def test_a_sparse_file_is_refused(home: Path, tmp_path: Path, text: bytes) -> None:
    (tmp_path / "n1.tar.gz").write_bytes(gzip.compress(text + bytes(1024)))
    with pytest.raises(unpack.UnpackError, match="a sparse file: a bundle has none"):
        unpack.replace(tmp_path / "n1.tar.gz", home, "n1")


def test_whatever_an_archive_keeps_it_busy_with_ends_at_the_deadline(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        time.sleep(3600)

    path = archive(tmp_path / "n1.tar.gz", manifest())
    before = seen(home)
    monkeypatch.setattr(unpack, "_write", busy)
    monkeypatch.setattr(unpack, "_SECONDS", 1)
    with pytest.raises(unpack.UnpackError, match="not done after 1 seconds"):
        unpack.replace(path, home, "n1")
    assert seen(home) == before


@pytest.mark.parametrize("how", [lambda: os.kill(os.getpid(), 9), lambda: {}[1]])
def test_a_reader_that_dies_costs_that_bundle_alone(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: Callable[[], object]
) -> None:
    monkeypatch.setattr(unpack, "_write", lambda *_: how())
    with pytest.raises(unpack.UnpackError, match="the process that read it died"):
        unpack.replace(archive(tmp_path / "n1.tar.gz", manifest()), home, "n1")


@pytest.mark.parametrize("said", ["n2", "", "../n1"])
def test_a_bundle_that_says_it_is_of_another_host_is_refused(home: Path, tmp_path: Path, said: str) -> None:
    before = seen(home)
    path = archive(tmp_path / "n1.tar.gz", manifest(said))
    with pytest.raises(unpack.UnpackError, match="says that it is of"):
        unpack.replace(path, home, "n1")
    assert seen(home) == before


@pytest.mark.parametrize("host", ["", ".", "..", "a/b", "/n1", "n1/"])
def test_a_host_whose_name_is_no_folder_has_no_bundle(home: Path, host: str) -> None:
    with pytest.raises(unpack.UnpackError, match="no name for a folder"):
        unpack.replace(home / "x.tar.gz", home, host)


def test_a_good_one_takes_the_place_of_the_last_and_is_its_owners(home: Path, tmp_path: Path) -> None:
    info = member("n1/files/etc/hostname", data=b"n1\n")
    info[0].mode, info[0].uid = 0o6777, 12345
    path = archive(tmp_path / "n1.tar.gz", member("n1", tarfile.DIRTYPE), manifest(), info)
    assert unpack.replace(path, home, "n1") == home / "n1"
    assert (home / "n1/files/etc/hostname").read_text() == "n1\n"
    assert (home / "n1/files/etc/hostname").stat().st_mode & 0o7777 == 0o600
    assert (home / "n1/files").stat().st_mode & 0o7777 == 0o700
    assert "before" not in (home / "n1/manifest.json").read_text()
    assert sorted(one.name for one in home.iterdir()) == ["n1", "n1.tar.gz", "n2"]
    assert (home / "n1.tar.gz").stat().st_mode & 0o7777 == 0o600
    assert not path.exists()
    assert (home / "n2/manifest.json").read_text() == "before, of n2"


def test_what_was_there_is_back_where_it_cannot_be_replaced(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, rename = seen(home), Path.rename

    def failing(path: Path, target: Path) -> Path:
        if path.parent != home and path.name == "n1":
            raise OSError("no place in the folder")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="no place in the folder"):
        unpack.replace(archive(tmp_path / "n1.tar.gz", manifest()), home, "n1")
    assert seen(home) == before


@pytest.mark.parametrize("host", ["n1", "n3"])
def test_folder_and_archive_change_together_or_not_at_all(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    (home / "n1.tar.gz").write_text("before")
    path = archive(tmp_path / f"{host}.tar.gz", manifest(host, host))
    before, rename = seen(tmp_path), Path.rename

    def failing(old: Path, new: Path) -> Path:
        if old == path:
            raise OSError("no place in the folder")
        return rename(old, new)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="no place in the folder"):
        unpack.replace(path, home, host)
    assert seen(tmp_path) == before


def test_a_link_in_the_place_of_a_bundle_is_replaced_and_not_followed(home: Path, tmp_path: Path) -> None:
    (home / "n3").symlink_to(home / "n2")
    path = archive(tmp_path / "n3.tar.gz", manifest("n3", "n3"))
    unpack.replace(path, home, "n3")
    assert not (home / "n3").is_symlink()
    assert (home / "n2/manifest.json").read_text() == "before, of n2"


def test_a_full_disk_is_not_the_hosts_fault(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = archive(tmp_path / "n1.tar.gz", manifest())
    before = seen(home)
    monkeypatch.setattr(unpack, "_write", full)
    with pytest.raises(OSError, match="No space"):
        unpack.replace(path, home, "n1")
    assert seen(home) == before


@settings(deadline=None, max_examples=60)
@given(st.binary(max_size=3000), st.booleans())
def test_any_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes, packed: bool):  # type: ignore[no-untyped-def]
    home = tmp_path_factory.mktemp("drawn")
    (home / "n1.tar.gz").write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(unpack.UnpackError, match=r"n1\.tar\.gz"):
        unpack.replace(home / "n1.tar.gz", home, "n1")
    assert [one.name for one in home.iterdir()] == ["n1.tar.gz"]
