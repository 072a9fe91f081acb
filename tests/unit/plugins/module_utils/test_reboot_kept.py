# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.reboot import look as _reboot_kept
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live, Output, Unavailable

LIMITS = "DefaultLimitMEMLOCK={0}\nDefaultLimitMEMLOCKSoft={0}\nDefaultLimitNOFILE=1048576\n"


class Host(Live):
    def __init__(self, root: Path, memlock: str = "infinity") -> None:
        super().__init__(root)
        self.memlock = memlock

    def run(self, name: str, *args: str) -> Output:
        if name != "systemctl_show" or not self.memlock:
            raise Unavailable(name, "not installed")
        return Output(0, LIMITS.format(self.memlock), "")


def a_host(root: Path, *modules: str, device: str = "rxe0") -> Path:
    for name in modules:
        (root / "sys/module" / name).mkdir(parents=True)
    (root / "sys/class/infiniband" / device).mkdir(parents=True)
    return root


def test_what_is_back_is_not_lost(tmp_path: Path) -> None:
    root = a_host(tmp_path, "ib_core", "ib_uverbs", "rdma_rxe", "ext4")
    kept = _reboot_kept.look_at_kept(Host(root))
    assert kept == {
        "modules": ["ib_core", "ib_uverbs", "rdma_rxe"],
        "devices": ["rxe0"],
        "guids": {"rxe0": ""},
        "limits": {"memlock": 2**64 - 1, "nofile": 1048576},
    }
    assert _reboot_kept.lost(kept, kept) == []
    assert _reboot_kept.lost({}, kept) == []


@pytest.mark.parametrize(
    ("now", "says"),
    [
        ({"modules": ["ib_core"]}, "module rdma_rxe was loaded before, and is not"),
        ({"devices": []}, "RDMA device rxe0 was there before, and is not"),
        ({"limits": {"memlock": 65536}}, "DefaultLimitMEMLOCK is 65536 instead of infinity"),
        ({"limits": {}}, "systemd no longer tells its DefaultLimitMEMLOCK"),
    ],
)
def test_what_is_gone_is_named(now: dict[str, Any], says: str) -> None:
    before = {
        "modules": ["ib_core", "rdma_rxe"],
        "devices": ["rxe0"],
        "limits": {"memlock": 2**64 - 1},
    }
    assert _reboot_kept.lost(before, {**before, **now}) == [says]


def test_a_device_that_has_another_name_now_is_not_lost(tmp_path: Path) -> None:
    root = a_host(tmp_path, "ib_core", device="mlx5_0")
    old = root / "sys/class/infiniband/mlx5_0"
    (old / "node_guid").write_text("0002:c903:00a1:b2c3\n")
    kept = _reboot_kept.look_at_kept(Host(root))
    now = _reboot_kept.look_at_kept(Host(a_host(tmp_path / "later", "ib_core", device="rocep1s0")))
    assert _reboot_kept.lost(kept, now) == ["RDMA device mlx5_0 was there before, and is not"]
    old.rename(old.with_name("rocep1s0"))
    assert _reboot_kept.lost(kept, _reboot_kept.look_at_kept(Host(root))) == []


def test_soft_roce_that_was_taken_away_is_not_missed(tmp_path: Path) -> None:
    root = a_host(tmp_path, "ib_core", "rdma_rxe", device="mlx5_0")
    (root / "sys/class/infiniband/mlx5_0/device").mkdir()
    assert _reboot_kept.look_at_kept(Host(root))["modules"] == ["ib_core"]
    (root / "sys/class/infiniband/rxe0").mkdir()
    assert _reboot_kept.look_at_kept(Host(root))["modules"] == ["ib_core", "rdma_rxe"]


def test_what_somebody_asked_for_is_not_missed_where_no_device_is(tmp_path: Path) -> None:
    # An MPI job looked for RDMA, on a host that has none yet.
    root = a_host(tmp_path, "ib_core", "ib_uverbs", "rdma_cm", "rdma_ucm", "nvidia", "mlx5_core")
    (root / "sys/class/infiniband/rxe0").rmdir()
    kept = _reboot_kept.look_at_kept(Host(root))
    assert (kept["devices"], kept["modules"]) == ([], ["nvidia", "mlx5_core"])


@pytest.mark.parametrize(("device", "module"), [("rxe0", "rdma_rxe"), ("mlx5_0", "mlx5_core")], ids=["soft", "hard"])
def test_of_a_device_that_is_gone_the_modules_are_not_said_to_be_gone(device: str, module: str, tmp_path: Path) -> None:
    root = a_host(tmp_path, "ib_core", "ib_uverbs", "rdma_ucm", module, device=device)
    before = _reboot_kept.look_at_kept(Host(root))
    (root / "sys/class/infiniband" / device).rmdir()
    now = _reboot_kept.look_at_kept(Host(root), before)
    assert _reboot_kept.lost(before, now) == [f"RDMA device {device} was there before, and is not"]
    (root / "sys/module/ib_uverbs").rmdir()
    now = _reboot_kept.look_at_kept(Host(root), before)
    assert "module ib_uverbs was loaded before, and is not" in _reboot_kept.lost(before, now)


def test_where_nobody_can_tell_the_devices_the_modules_are_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Host(a_host(tmp_path, "ib_core"))
    names = host.list

    def refused(path: str) -> list[str]:
        if path == _reboot_kept.INFINIBAND:
            raise Unavailable(path, "permission denied")
        return names(path)

    monkeypatch.setattr(host, "list", refused)
    assert _reboot_kept.look_at_kept(host)["modules"] == ["ib_core"]


def test_a_module_that_is_to_be_kept_out_may_go(tmp_path: Path) -> None:
    root = a_host(tmp_path, "siw")
    path = root / "etc/modprobe.d/ibready-blacklist.conf"
    path.parent.mkdir(parents=True)
    path.write_text("blacklist siw\ninstall siw /bin/false\n")
    assert _reboot_kept.look_at_kept(Host(root))["modules"] == []


def test_in_a_container_the_modules_are_the_machines(tmp_path: Path) -> None:
    root = a_host(tmp_path, "ib_core")
    (root / "run").mkdir()
    (root / "run/.containerenv").write_text("")
    found = _reboot_kept.look_at_kept(Host(root, memlock=""))
    assert (found["modules"], found["limits"], found["devices"]) == ([], {}, ["rxe0"])
