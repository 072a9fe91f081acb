# SPDX-License-Identifier: GPL-3.0-or-later
"""What role stack_packages writes is whole; every beginning of it is not."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import files
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.model import Repository
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import observe_repositories
from tests.gauntlet.tree import Tree


def repository(name: str, url: str, **more: Any) -> Repository:
    return Repository(name, "apt", url, "", ("0" * 40,), **more)


APT = repository("doca", "https://vendor.example/doca/ubuntu")
CUDA = repository("cuda", "https://vendor.example/cuda", suite="noble", components=("main", "contrib"))
LOCAL = repository("site-bundle", "file:///srv/bundle")


def seen(path: str, text: str, key: str, data: bytes = b"\x99") -> tuple[str, str]:
    tree = Tree()
    tree.files[path] = text.encode()
    tree.file(key, data)
    (found,) = observe_repositories.observe(tree).value or ()
    return found.wrong, found.unknown


@pytest.mark.parametrize("one", [APT, CUDA, LOCAL], ids=lambda one: one.name)
@pytest.mark.parametrize("manager", ["apt", "dnf"])
def test_what_the_role_writes_is_whole_and_no_cut_of_it_is(one: Repository, manager: str) -> None:
    if manager == "apt":
        path, key = files.apt_source(one.name), files.apt_key(one.name)
        text = files.source_list(one, key)
    else:
        path, key = files.dnf_repo(one.name), files.dnf_key(one.name)
        text = files.repo_file(one, key)
    assert seen(path, text, key) == ("", "")
    assert seen(path, text, key, b"")[0] == f"its key {key} is empty"
    # All that is needed stands before this; a cut behind it costs nothing.
    needed = len(files.HEADER) + text[len(files.HEADER) :].index(key) + len(key)
    for length in range(len(files.HEADER), needed if manager == "dnf" else needed + 2):
        assert any(seen(path, text[:length], key)), text[:length]


@pytest.mark.parametrize("path", [files.apt_source("doca"), files.apt_key("doca"), "/etc/apt/sources.list.d"])
def test_what_cannot_be_read_is_not_taken_for_whole(path: str) -> None:
    tree = Tree()
    tree.file(files.apt_source("doca"), files.source_list(APT, files.apt_key("doca")))
    tree.file(files.apt_key("doca"), b"\x99")
    tree.broken[path] = "permission denied"
    found = observe_repositories.observe(tree)
    assert not found.missing
    assert "permission denied" in (found.why or "".join(one.unknown for one in found.value or ()))


def test_where_ibready_wrote_none() -> None:
    tree = Tree()
    tree.file("/etc/apt/sources.list.d/ubuntu.list", "deb")
    assert observe_repositories.observe(tree).missing
