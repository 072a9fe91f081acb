# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import config, parcel

BOX = config.Sandbox("test", "198.18.99", Path("/nowhere"))


@pytest.mark.parametrize(
    ("system", "host", "said"),
    [
        ("ubuntu", {"ID": "ubuntu", "VERSION_ID": "24.04"}, ""),
        ("ubuntu", {"ID": "debian"}, ", Ubuntu 24.04 userland"),
        ("ubuntu", {"ID": "ubuntu", "VERSION_ID": "26.04"}, ", Ubuntu 24.04 userland"),
        ("el", {"ID": "ubuntu", "VERSION_ID": "24.04"}, ", EL 9 userland"),
    ],
)
def test_a_borrowed_userland_is_said(system: str, host: dict[str, str], said: str) -> None:
    assert parcel.userland(system, host) == said


@pytest.mark.parametrize(
    ("system", "file", "url"),
    [
        ("ubuntu", "etc/apt/sources.list.d/ibready-sandbox.sources", "http://198.18.99.2:8080/os/ubuntu24.04/"),
        ("el", "etc/yum.repos.d/baseos.repo", "http://198.18.99.2:8080/os/el9/"),
    ],
)
def test_a_node_checks_the_archive_s_signature(system: str, file: str, url: str) -> None:
    files = parcel.archive_files(replace(BOX, system=system), "the key\n")
    text = str(files[file][0])
    assert url in text
    assert "Signed-By: /usr/share" in text or "gpgcheck=1\ngpgkey=file:///etc/pki" in text
    assert ("the key\n", 0o644) in files.values()


def test_what_the_nodes_play_is_known_from_the_state(tmp_path: Path) -> None:
    assert config.sandbox("test", "198.18.99", str(tmp_path)).system == "ubuntu"
    (tmp_path / "sandbox.json").write_text('{"system": "el"}')
    assert config.sandbox("test", "198.18.99", str(tmp_path)).system == "el"
    assert config.sandbox("test", "198.18.99", str(tmp_path), "ubuntu").system == "ubuntu"
