# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.driver import nvidia_build

KERNEL = "6.8.0-31-generic"


def built(root: Path, name: str, version: str, at: float, kernel: str = KERNEL) -> None:
    path = root / f"var/lib/dkms/{name}/{version}/{kernel}/x86_64/module/{name}.ko.zst"
    path.parent.mkdir(parents=True)
    path.touch()
    os.utime(path, (at, at))


@pytest.mark.parametrize("stack", nvidia_build.STACKS)
def test_a_stack_that_was_built_later_makes_the_driver_stale(tmp_path: Path, stack: str) -> None:
    built(tmp_path, "nvidia", "580.173.02", 100)
    built(tmp_path, stack, "24.10", 90)
    assert nvidia_build.stale(str(tmp_path), KERNEL) is None
    built(tmp_path, stack, "25.10", 110)
    found = nvidia_build.stale(str(tmp_path), KERNEL)
    assert found is not None
    assert str(found[0]) == "nvidia/580.173.02"
    assert f"{stack}/25.10 was built for {KERNEL} after" in found[1]


@pytest.mark.parametrize("name", ["nvidia-srv", "nvidia-current", "nvidia-current-open", "nvidia-tesla-535"])
def test_a_distributions_driver_is_one_by_its_own_name(tmp_path: Path, name: str) -> None:
    built(tmp_path, name, "550.163.01", 100)
    built(tmp_path, "nvidia-fs", "2.19.7", 50)
    built(tmp_path, "mlnx-ofed-kernel", "25.10", 110)
    found = nvidia_build.stale(str(tmp_path), KERNEL)
    assert found is not None
    assert str(found[0]) == f"{name}/550.163.01"


def test_nvidia_fs_is_stale_after_the_driver_and_only_then(tmp_path: Path) -> None:
    built(tmp_path, "nvidia-fs", "2.26.6", 100)
    assert nvidia_build.stale(str(tmp_path), KERNEL) is None
    built(tmp_path, "nvidia", "580.126.20", 90)
    assert nvidia_build.stale(str(tmp_path), KERNEL) is None
    built(tmp_path, "nvidia", "580.173.02", 110)
    found = nvidia_build.stale(str(tmp_path), KERNEL)
    assert found is not None
    assert str(found[0]) == "nvidia-fs/2.26.6"
    assert found[1] == f"nvidia/580.173.02 was built for {KERNEL} after nvidia-fs/2.26.6"
    # The driver first: nvidia-fs is built against what comes of it.
    built(tmp_path, "mlnx-ofed-kernel", "25.10", 120)
    first = nvidia_build.stale(str(tmp_path), KERNEL)
    assert first is not None
    assert str(first[0]) == "nvidia/580.173.02"


def test_the_file_that_debian_renamed_is_the_one_that_modprobe_loads(tmp_path: Path) -> None:
    assert nvidia_build.module(str(tmp_path)) == "nvidia"
    # As nvidia-open-kernel-support 550.163.01-2 has it, by a link of Debian's alternatives.
    real = tmp_path / "etc/nvidia/current-open/nvidia-modprobe.conf"
    real.parent.mkdir(parents=True)
    real.write_text(
        "install nvidia modprobe -i nvidia-current-open $CMDLINE_OPTS\n\nremove nvidia modprobe -r -i nvidia\n"
    )
    (tmp_path / "etc/modprobe.d").mkdir()
    (tmp_path / "etc/modprobe.d/nvidia.conf").symlink_to(real)
    assert nvidia_build.module(str(tmp_path)) == "nvidia-current-open"


def test_other_kernels_and_a_host_without_either_are_left_alone(tmp_path: Path) -> None:
    assert nvidia_build.stale(str(tmp_path), KERNEL) is None
    built(tmp_path, "nvidia", "580.173.02", 100)
    built(tmp_path, "mlnx-ofed-kernel", "25.10", 110, "6.8.0-99-generic")
    assert nvidia_build.stale(str(tmp_path), KERNEL) is None


def test_what_is_loaded(tmp_path: Path) -> None:
    assert (nvidia_build.loaded(str(tmp_path)), nvidia_build.rival(str(tmp_path))) == ("", False)
    (tmp_path / "sys/module/nouveau").mkdir(parents=True)
    (tmp_path / "sys/module/nvidia").mkdir()
    (tmp_path / "sys/module/nvidia/version").write_text("580.173.02\n")
    assert nvidia_build.loaded(str(tmp_path)) == "580.173.02"
    assert nvidia_build.rival(str(tmp_path))
