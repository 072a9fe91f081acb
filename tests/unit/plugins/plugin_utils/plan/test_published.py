# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan import published

PACKAGES = """\
Package: libnccl2
Architecture: amd64
Version: 2.28.3-1+cuda13.0

Package: libnccl2
Version: 2.28.5-1+cuda13.0
Description: one that has
 Version: 9 in its words
"""
REPOMD = (
    '<repomd><data type="filelists"/><data type="primary"><location href="repodata/1-primary.xml.gz"/></data></repomd>'
)
PRIMARY = """<metadata xmlns="http://linux.duke.edu/metadata/common">
<package type="rpm"><name>libnccl</name><arch>x86_64</arch>
<version epoch="0" ver="2.28.5" rel="1+cuda13.0"/></package></metadata>"""
SITE = {
    "http://mirror.example.com/cuda/Packages.gz": gzip.compress(PACKAGES.encode()),
    "http://mirror.example.com/doca/./Packages.gz": gzip.compress(b"Package: doca-ofed\nVersion: 2.9.4-0.1\n"),
    "http://mirror.example.com/rpm/repodata/repomd.xml": REPOMD.encode(),
    "http://mirror.example.com/rpm/repodata/1-primary.xml.gz": gzip.compress(PRIMARY.encode()),
    "http://mirror.example.com/zst/repodata/repomd.xml": REPOMD.replace(".gz", ".zst").encode(),
    "http://mirror.example.com/torn/Packages.gz": gzip.compress(PACKAGES.encode())[:-9],
    "http://mirror.example.com/bent/Packages.gz": gzip.compress(PACKAGES.encode())[:20] + bytes(80),
}


def get(address: str) -> bytes:
    try:
        return SITE[address]
    except KeyError:
        raise OSError(f"{address}: 404") from None


def told(url: str, kind: str, suite: str, **packages: str) -> dict[str, Any]:
    """What install() says, of one repository and one part."""
    named = [{"name": name.replace("_", "-"), "version": version} for name, version in packages.items()]
    repository = {"url": f"http://mirror.example.com/{url}/", "kind": kind, "suite": suite}
    return {"repositories": [repository], "parts": {"nvidia_driver": {"packages": named}}}


@pytest.mark.parametrize(
    ("plan", "lacking"),
    [
        (told("cuda", "apt", "/", libnccl2="2.28.5-1+cuda13.0"), []),
        (told("cuda", "apt", "/", libnccl2=""), []),
        (told("doca", "apt", "./", doca_ofed="2.9.4"), []),
        (
            told("cuda", "apt", "/", libnccl2="2.28.9-1+cuda13.0"),
            ["libnccl2 2.28.9-1+cuda13.0 (there is 2.28.3-1+cuda13.0, 2.28.5-1+cuda13.0)"],
        ),
        (told("cuda", "apt", "/", libnccl9="1"), ["libnccl9 1 (there is none)"]),
        (told("rpm", "dnf", "", libnccl="2.28.5-1+cuda13.0"), []),
        (
            told("rpm", "dnf", "", libnccl="2.28.5-1+cuda12.9"),
            ["libnccl 2.28.5-1+cuda12.9 (there is 2.28.5-1+cuda13.0)"],
        ),
    ],
)
def test_what_no_index_has_is_named_with_what_there_is(plan: dict[str, Any], lacking: list[str]) -> None:
    assert published.lacking(plan, {}, get) == lacking


def test_the_hosts_own_archive_is_not_looked_for_in_a_vendors() -> None:
    plan = told("cuda", "apt", "/", nvidia_open_kernel_dkms="550.163.01")
    assert published.lacking(plan, {"driver": {"flavour": "distribution"}}, get) == []
    assert published.lacking(plan, {"driver": {}}, get)


@pytest.mark.parametrize(
    "plan",
    [
        told("gone", "apt", "/", a="1"),
        told("zst", "dnf", "", a="1"),
        told("torn", "apt", "/", a="1"),
        told("bent", "apt", "/", a="1"),
    ],
)
def test_an_index_that_cannot_be_read_says_nothing(plan: dict[str, Any]) -> None:
    with pytest.raises((OSError, ValueError)):
        published.lacking(plan, {}, get)


def test_an_index_beyond_the_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = told("cuda", "apt", "/", libnccl2="2.28.5-1+cuda13.0")
    monkeypatch.setattr(published, "_INDEX", len(PACKAGES))
    assert published.lacking(plan, {}, get) == []
    monkeypatch.setattr(published, "_INDEX", len(PACKAGES) - 1)
    with pytest.raises(ValueError, match="the index has more than"):
        published.lacking(plan, {}, get)


def test_what_comes_over_the_network_is_bounded_before_it_is_opened(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "Packages").write_text(PACKAGES)
    assert published.fetch((tmp_path / "Packages").as_uri()) == PACKAGES.encode()
    monkeypatch.setattr(published, "_INDEX", len(PACKAGES) - 1)
    with pytest.raises(ValueError, match="the index has more than"):
        published.fetch((tmp_path / "Packages").as_uri())
