# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sandbox.vendor import deb, payload, repack
from sandbox.vendor.catalog import Package, Relation
from sandbox.vendor.nccl import slim, wheel
from tests.unit.sandbox.vendor import nccl_library
from tests.unit.sandbox.vendor.nccl_library import written

PACKAGE = Package(
    kind="deb",
    name="thing",
    version="1:2.0-1",
    path="p",
    summary="a thing",
    depends=(Relation("python3"), Relation("other", "=", "2.0-1")),
    conflicts=("rival",),
    payload="thing",
    values={"version": "2.0"},
)


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tree = tmp_path / "payload"
    (tree / "thing/etc").mkdir(parents=True)
    (tree / "thing/etc/thing.conf").write_text("version=@VERSION@ mail=@NOBODY@\n")
    (tree / "thing/usr/bin").mkdir(parents=True)
    (tree / "thing/usr/bin/thing-@VERSION@").write_text("#!/bin/sh\n")
    (tree / "thing/usr/bin/thing-@VERSION@").chmod(0o755)
    (tree / "thing/usr/bin/thing.link").write_text("thing-@VERSION@\n")
    (tree / "thing.scripts").mkdir()
    (tree / "thing.scripts/postinst").write_text("#!/bin/sh\necho @VERSION@\n")
    monkeypatch.setattr(deb, "files", lambda package: payload.files(package, tree))
    monkeypatch.setattr(deb, "scripts", lambda package: payload.scripts(package, tree))
    return tree


def dpkg_deb(*args: str) -> str:
    return subprocess.run(["dpkg-deb", *args], check=True, capture_output=True, text=True).stdout


@pytest.fixture
def made(trees: Path, tmp_path: Path) -> Path:
    file = tmp_path / deb.file_name(PACKAGE.name, PACKAGE.version)
    file.write_bytes(deb.build(PACKAGE)[1])
    return file


def test_dpkg_reads_back_what_was_asked_for(made: Path) -> None:
    assert made.name == "thing_2.0-1_amd64.deb"
    fields = repack.fields(dpkg_deb("--field", str(made)))
    assert fields["Version"] == "1:2.0-1"
    assert fields["Depends"] == "python3, other (= 2.0-1)"
    assert fields["Conflicts"] == fields["Replaces"] == "rival"
    assert fields["Description"].startswith("SIMULATED")


def test_files_are_root_s_with_values_in_texts_names_and_links(made: Path, tmp_path: Path) -> None:
    listing = dpkg_deb("--contents", str(made))
    assert all(" root/root " in line for line in listing.splitlines())
    assert "./usr/bin/thing -> thing-2.0" in listing
    dpkg_deb("--extract", str(made), str(tmp_path / "out"))
    assert (tmp_path / "out/etc/thing.conf").read_text() == "version=2.0 mail=@NOBODY@\n"
    assert (tmp_path / "out/usr/bin/thing-2.0").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "out/usr/share/doc/thing/SIMULATED").read_text().startswith("SIMULATED")


def test_scripts_and_settings_are_dpkg_s(made: Path, tmp_path: Path) -> None:
    dpkg_deb("--control", str(made), str(tmp_path / "control"))
    assert (tmp_path / "control/postinst").read_text() == "#!/bin/sh\necho 2.0\n"
    assert (tmp_path / "control/postinst").stat().st_mode & 0o100
    assert (tmp_path / "control/conffiles").read_text() == "/etc/thing.conf\n"


def test_the_same_input_gives_the_same_bytes(trees: Path) -> None:
    assert deb.build(PACKAGE) == deb.build(PACKAGE)


def test_without_a_tree_it_says_only_that_it_is_simulated(trees: Path) -> None:
    bare = Package(kind="deb", name="bare", version="1", path="p", payload="not-there")
    assert [file.path for file in payload.files(bare, trees)] == ["usr/share/doc/bare/SIMULATED"]


def test_the_library_of_nccl_is_real_small_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = written(tmp_path, nccl_library.made())
    monkeypatch.setattr(wheel, "library", {"2.0.1": whole}.__getitem__)
    package = Package(kind="deb", name="libnccl2", version="2.0.1-1", path="p", nccl="2.0.1",
                      payload="libnccl2")  # fmt: skip
    (tmp_path / "made.deb").write_bytes(deb.build(package)[1])
    dpkg_deb("--extract", str(tmp_path / "made.deb"), str(tmp_path / "out"))
    place = tmp_path / "out/usr/lib/x86_64-linux-gnu/libnccl.so.2"
    assert str(place.readlink()) == "libnccl.so.2.0.1"
    assert place.read_bytes() == slim.slim(whole)
    text = (tmp_path / "out/usr/share/doc/libnccl2/SIMULATED").read_text()
    assert "built with CUDA 13.0" in text
    assert "not byte for byte" in text
    assert "without its GPU code" in dpkg_deb("--field", str(tmp_path / "made.deb"), "Description")
    dpkg_deb("--control", str(tmp_path / "made.deb"), str(tmp_path / "control"))
    for name in ("postinst", "postrm"):
        assert (tmp_path / "control" / name).read_text().endswith("\nldconfig\n")


def test_a_real_package_gets_the_vendor_s_name_version_and_siblings(tmp_path: Path) -> None:
    control = (
        "Package: libone1t64\nVersion: 56.1-1\nArchitecture: amd64\nMaintainer: m\nSource: s\n"
        "Depends: libc6 (>= 2.4), libtwo2 (= 56.1-1)\nDescription: one\n more\n"
    )
    tar = payload.pack([payload.File("control", control.encode())])
    data = payload.pack([payload.File("usr/lib/libone.so", b"\x7fELF")])
    (tmp_path / "one.deb").write_bytes(deb.archive(tar, data))
    two = control.replace("libone1t64", "libtwo2")
    tar = payload.pack([payload.File("control", two.encode())])
    (tmp_path / "two.deb").write_bytes(deb.archive(tar, data))

    package = Package(kind="deb", name="libone1", version="2510mlnx54-1", path="p",
                      repack=("libone1",))  # fmt: skip
    _text, whole = repack.build(package, repack.read(tmp_path))
    (tmp_path / "made.deb").write_bytes(whole)
    fields = repack.fields(dpkg_deb("--field", str(tmp_path / "made.deb")))
    assert (fields["Package"], fields["Version"]) == ("libone1", "2510mlnx54-1")
    assert fields["Depends"] == "libc6 (>= 2.4), libtwo2 (= 2510mlnx54-1)"
    assert fields["Provides"] == "libone1t64 (= 2510mlnx54-1)"
    assert fields["Conflicts"] == "libone1t64"
    assert fields["Description"].startswith("SIMULATED")
    assert "Source" not in fields
