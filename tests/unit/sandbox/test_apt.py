# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding the host's own archive in both formats of apt's sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.apt import Archive, Debian, Distribution, choose, debian, host, parse
from sandbox.errors import SandboxError

ONE_LINE = """\
# deb http://old.test/debian bookworm main
deb [arch=amd64 signed-by=/x.gpg] http://mirror.test/debian bookworm main contrib # mine
deb-src http://mirror.test/debian bookworm main
deb http://security.test/debian-security bookworm-security main
"""
DEB822 = """\
Types: deb deb-src
# a comment inside
URIs: http://mirror.test/debian
Suites: bookworm bookworm-updates
Components: main
 contrib
Signed-By: /usr/share/keyrings/x.gpg

Enabled: no
Types: deb
URIs: http://off.test/debian
Suites: bookworm
Components: main

Types: deb-src
URIs: http://source.test/debian
Suites: bookworm
Components: main
"""
BOOKWORM = {"ID": "debian", "VERSION_CODENAME": "bookworm"}


def test_the_one_line_format_is_read_without_comments_and_sources() -> None:
    assert parse("sources.list", ONE_LINE) == [
        Archive("http://mirror.test/debian", "bookworm", ("main", "contrib")),
        Archive("http://security.test/debian-security", "bookworm-security", ("main",)),
    ]


def test_deb822_is_read_without_what_is_switched_off() -> None:
    assert parse("debian.sources", DEB822) == [
        Archive("http://mirror.test/debian", "bookworm", ("main", "contrib")),
        Archive("http://mirror.test/debian", "bookworm-updates", ("main", "contrib")),
    ]


def test_debian_takes_the_release_whose_simulator_knows_ndr() -> None:
    archives = parse("sources.list", ONE_LINE)
    assert choose(archives, BOOKWORM) == Distribution("http://mirror.test/debian", "trixie", ("main",))


def test_ubuntu_takes_its_own_release_with_universe() -> None:
    archives = [
        Archive("http://security.test/ubuntu", "noble-security", ("main",)),
        Archive("http://mirror.test/ubuntu", "noble", ("main", "universe")),
    ]
    chosen = choose(archives, {"ID": "ubuntu", "VERSION_CODENAME": "noble"})
    assert chosen == Distribution("http://mirror.test/ubuntu", "noble", ("main", "universe"))


@pytest.mark.parametrize(
    ("archives", "release", "reason"),
    [
        pytest.param([], BOOKWORM, "no archive for bookworm", id="no sources"),
        pytest.param([], {"ID": "fedora"}, "ID=fedora", id="another distribution"),
        pytest.param([], {}, "ID=nothing", id="an os-release that says nothing"),
    ],
)
def test_a_host_without_an_archive_is_refused_with_the_reason(
    archives: list[Archive], release: dict[str, str], reason: str
) -> None:
    with pytest.raises(SandboxError, match=reason):
        choose(archives, release)


def test_a_host_s_files_are_found_and_a_mirror_list_is_followed(tmp_path: Path) -> None:
    mirrors = tmp_path / "mirrors.list"
    mirrors.write_text("# nearest first\nhttp://near.test/debian\nhttp://far.test/debian\n")
    parts = tmp_path / "etc/apt/sources.list.d"
    parts.mkdir(parents=True)
    (parts / "debian.sources").write_text(DEB822.replace("http://mirror.test/debian", f"mirror+file:{mirrors}"))
    (parts / "debian.sources.off").write_text("not apt's")
    (tmp_path / "etc/os-release").write_text('ID=debian\nVERSION_CODENAME="bookworm"\n')
    assert host(tmp_path).mirror == "http://near.test/debian"


@pytest.mark.parametrize(
    ("release", "sources", "found"),
    [
        pytest.param(
            "ID=debian\nVERSION_CODENAME=bookworm\n",
            ONE_LINE,
            Debian("http://mirror.test/debian", "trixie", "http://security.test/debian-security"),
            id="as the host's own sources say",
        ),
        pytest.param(
            "ID=debian\nVERSION_CODENAME=bookworm\n",
            "deb http://mirror.test/debian bookworm main\n",
            Debian("http://mirror.test/debian", "trixie", ""),
            id="no security updates there",
        ),
        pytest.param(
            "ID=ubuntu\nVERSION_CODENAME=noble\n",
            "deb http://mirror.test/ubuntu noble main universe\n",
            Debian("", "trixie", ""),
            id="another distribution: mmdebstrap's own",
        ),
    ],
)
def test_where_the_machines_debian_comes_from(tmp_path: Path, release: str, sources: str, found: Debian) -> None:
    (tmp_path / "etc/apt/sources.list.d").mkdir(parents=True)
    (tmp_path / "etc/os-release").write_text(release)
    (tmp_path / "etc/apt/sources.list").write_text(sources)
    assert debian(tmp_path) == found
