# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._rails import users as _rdma_users

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
10.0.0.1@o2ib:/scratch /scratch lustre rw,flock 0 0
beegfs_nodev /mnt/beegfs beegfs rw 0 0
nas:/home /home nfs4 rw,proto=rdma,port=20049 0 0
nas:/tools /tools nfs4 rw,proto=tcp 0 0
"""
MODULES = """\
nvidia_peermem 16384 0 - Live 0x0
xprtrdma 16384 2 - Live 0x0
nvme_rdma 16384 0 - Live 0x0
mlx5_ib 49152 4 - Live 0x0
"""


def test_file_systems_over_rdma_are_named() -> None:
    assert [(one.name, one.what) for one in _rdma_users.mounts(MOUNTS)] == [
        ("/scratch", "Lustre"),
        ("/mnt/beegfs", "BeeGFS"),
        ("/home", "nfs4 over RDMA"),
    ]


def test_modules_count_when_they_are_used_and_peer_memory_always() -> None:
    found = _rdma_users.modules(MODULES)
    assert [one.name for one in found] == ["nvidia_peermem", "xprtrdma"]
    assert "modprobe -r nvidia_peermem" in found[0].following


def test_programs_with_an_open_device_are_named_once(tmp_path: Path) -> None:
    for number, target in (("3", "/dev/infiniband/uverbs0"), ("4", "/dev/infiniband/rdma_cm")):
        link = tmp_path / f"proc/712/fd/{number}"
        link.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(target, link)
    (tmp_path / "proc/712/comm").write_text("train\n")
    (tmp_path / "proc/9/fd").mkdir(parents=True)
    (tmp_path / "proc/mounts").write_text(MOUNTS)
    (one,) = (one for one in _rdma_users.look(str(tmp_path)) if one.kind == "process")
    assert (one.name, "/dev/infiniband/" in one.what) == ("train[712]", True)
    assert str(one).startswith("/dev/infiniband/")


@pytest.mark.parametrize(
    ("loaded", "installed", "expected"),
    [
        pytest.param(
            {"version": "24.10-1.1.4"},
            {"version": "25.10-3.1.8", "srcversion": ""},
            ["mlx5_core 24.10-1.1.4 is loaded, 25.10-3.1.8 is installed"],
            id="an older OFED",
        ),
        pytest.param(
            {},
            {"version": "25.10-3.1.8", "srcversion": "A"},
            ["mlx5_core the kernel's own is loaded, 25.10-3.1.8 is installed"],
            id="the kernel's own, which has no version",
        ),
        pytest.param(
            {"srcversion": "A"},
            {"version": "", "srcversion": "B"},
            ["mlx5_core A is loaded, B is installed"],
            id="only the sources differ",
        ),
        pytest.param(
            {"version": "1", "srcversion": "A"},
            {"version": "1", "srcversion": "A"},
            [],
            id="the same",
        ),
    ],
)
def test_what_is_loaded_is_compared_with_what_is_installed(
    tmp_path: Path,
    loaded: Mapping[str, str],
    installed: Mapping[str, str],
    expected: list[str],
) -> None:
    home = tmp_path / "sys/module/mlx5_core"
    home.mkdir(parents=True)
    for name, value in loaded.items():
        (home / name).write_text(f"{value}\n")
    found, unknown = _rdma_users.differs(str(tmp_path), lambda name: installed)
    assert ([str(one) for one in found], unknown) == (expected, [])
    assert _rdma_users.loaded(str(tmp_path)) == ["mlx5_core"]


def test_a_stack_that_is_not_loaded_is_none_that_is_as_installed(tmp_path: Path) -> None:
    """Nothing differs then: whoever restarts it has to see that it is there."""
    assert _rdma_users.differs(str(tmp_path), lambda name: {}) == ([], [])
    assert _rdma_users.loaded(str(tmp_path)) == []


def test_a_module_that_modinfo_does_not_know_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "sys/module/ib_core").mkdir(parents=True)
    assert _rdma_users.differs(str(tmp_path), lambda name: None) == ([], ["ib_core"])


def test_what_has_to_be_back_is_loaded_and_as_installed() -> None:
    old = _rdma_users.Loaded("mlx5_core", "A", "B")
    wanted = ["mlx5_core", "ib_core", "ib_uverbs"]
    assert _rdma_users.not_back(wanted, [], wanted, []) == []
    assert _rdma_users.not_back(wanted, [], [], []) == wanted
    assert _rdma_users.not_back(wanted, [old], wanted, ["ib_core"]) == ["mlx5_core", "ib_core"]
    assert _rdma_users.not_back([], [old], ["mlx5_core"], []) == ["mlx5_core"]
