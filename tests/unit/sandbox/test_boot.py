# SPDX-License-Identifier: GPL-3.0-or-later
"""What the first program of a node does with the control groups that it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.node import boot

# As podman 4.3 mounts them in a namespace of the node's own, on a machine with both versions.
MOUNTS = """\
970 960 0:36 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs rw,mode=755
976 970 0:40 / /sys/fs/cgroup/memory ro,nosuid - cgroup cgroup rw,memory
984 970 0:37 / /sys/fs/cgroup/systemd ro,nosuid - cgroup systemd rw,name=systemd
985 984 0:37 /../.. /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
990 960 0:50 / /proc rw,nosuid - proc proc rw
"""


def test_a_nodes_systemd_gets_the_nodes_groups_and_never_the_machines(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done: list[str] = []
    shown = tmp_path / "mountinfo"
    shown.write_text(MOUNTS)

    def run(argv: list[str], *, check: bool) -> None:
        assert check
        done.append(" ".join(argv))
        if argv[0] == "umount":
            lines = shown.read_text().splitlines(keepends=True)
            shown.write_text("".join(line for line in lines if " /../.. " not in line))

    monkeypatch.setattr(boot, "MOUNTINFO", str(shown))
    monkeypatch.setattr(boot.subprocess, "run", run)
    boot.own_groups()
    assert done == [
        "umount --lazy /sys/fs/cgroup/systemd",
        "mount -o remount,rw,bind /sys/fs/cgroup",
        "mount -o remount,rw,bind /sys/fs/cgroup/memory",
        "mount -o remount,rw,bind /sys/fs/cgroup/systemd",
    ]
