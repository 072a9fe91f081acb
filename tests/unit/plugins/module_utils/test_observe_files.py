# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies in the place of a file that ibready wrote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import observe_files
from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.facts import OurFiles
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.pasted import NOT_GIVEN, Pasted
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from tests.gauntlet.tree import Tree

LIMITS = "/etc/security/limits.d/90-ibready.conf"
MOUNTS = "/dev/sda1 / ext4 rw 0 0\n"


def tree(mounts: str = MOUNTS) -> Tree:
    found = Tree()
    found.file(observe_files.BROUGHT, "{}")
    found.file(observe_files.MOUNTS, mounts)
    found.file("/etc/nccl.conf", "NCCL_DEBUG=WARN")
    return found


def wrong(seen: Tree) -> tuple[str, ...]:
    found = observe_files.observe(seen).value
    assert found is not None
    return found.wrong


def test_files_are_as_they_were_written() -> None:
    seen = tree()
    seen.file(LIMITS, "* hard memlock unlimited")
    seen.file("/etc/systemd/system/ibready-health.service.d/site.conf", "[Service]")
    assert observe_files.observe(seen).value == OurFiles(2)


def test_a_link_whether_it_leads_somewhere_or_not() -> None:
    seen = tree()
    seen.remove("/etc/nccl.conf")
    seen.symlink("/etc/nccl.conf", "/nowhere")
    seen.symlink(LIMITS, "/etc/os-release")
    seen.file("/etc/os-release", "ID=x")
    assert wrong(seen) == (f"{LIMITS} is a link to /etc/os-release", "/etc/nccl.conf is a link to /nowhere")


def test_a_folder_and_a_mount() -> None:
    seen = tree(f"{MOUNTS}overlay /etc/nccl.conf overlay rw 0 0\n")
    seen.folder("/etc/modprobe.d/ibready-nouveau.conf")
    assert wrong(seen) == (
        "/etc/modprobe.d/ibready-nouveau.conf is a folder",
        "/etc/nccl.conf is a mount of something else",
    )


def test_of_a_host_that_ibready_never_touched_nothing_is_ours() -> None:
    seen = Tree()
    seen.symlink("/etc/nccl.conf", "/site/nccl.conf")
    assert observe_files.observe(seen).missing


@pytest.mark.parametrize("place", [observe_files.MOUNTS, "/etc/security/limits.d"])
def test_what_cannot_be_seen_is_unknown(place: str) -> None:
    seen = tree()
    seen.broken[place] = "Permission denied"
    found = observe_files.observe(seen)
    assert (found.value, found.missing) == (None, False)
    assert "Permission denied" in found.why


def test_a_pipe_is_no_file_and_stops_nobody(tmp_path: Path) -> None:
    """On a real file system: what a simulated one cannot hold."""
    for path in ("var/lib/ibready", "proc/self", "etc/security/limits.d"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / observe_files.MOUNTS[1:]).write_text(MOUNTS)
    os.mkfifo(tmp_path / LIMITS[1:])
    found = observe_files.observe(Live(root=str(tmp_path))).value
    assert found == OurFiles(1, (f"{LIMITS} is no regular file",))


def test_a_bundle_without_those_folders_does_not_say_that_there_is_none() -> None:
    found = observe_files.observe(Pasted({}))
    assert (found.value, found.missing) == (None, True)
    assert NOT_GIVEN in found.why
