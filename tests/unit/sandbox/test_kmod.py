# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated kernel: what loads, what refuses, and what a node then sees of it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack.observe import driver_version
from ansible_collections.ibready.cluster.plugins.module_utils._parse import lsmod, modules_dep
from sandbox.hardware.kernel import HOLDERS, RUN
from sandbox.hardware.settings import node_kernel
from sandbox.hardware.tree import below
from tests.unit.sandbox import hardware
from tests.unit.sandbox.hardware import DRIVER, RELEASE, run

SAYS = Path(__file__).parents[3] / "sandbox/node/kernel_says.sh"


def loaded(root: Path) -> set[str]:
    kernel = node_kernel(root)
    kernel.read()
    return set(kernel.loaded)


def driver_of(root: Path, kind: str) -> set[str]:
    """The bound drivers of all functions of a kind."""
    links = [root / one.place.lstrip("/") / "driver" for one in node_kernel(root).board.of(kind)]
    return {os.path.basename(link.readlink()) if link.is_symlink() else "" for link in links}


def test_a_bare_node_boots_with_nouveau_and_the_kernel_s_own_rdma(tmp_path: Path) -> None:
    hardware.node(tmp_path)
    assert run(tmp_path, "simulated-kmod autoload") == 0
    assert {"nouveau", "mlx5_core", "mlx5_ib", "ib_umad", "rdma_cm"} <= loaded(tmp_path)
    assert (driver_of(tmp_path, "gpu"), driver_of(tmp_path, "hca")) == ({"nouveau"}, {"mlx5_core"})
    assert driver_of(tmp_path, "nvswitch") == {""}
    names = sorted(os.listdir(tmp_path / "sys/class/infiniband"))
    assert names == ["ibsim0", "ibsim1"]


@pytest.mark.parametrize("line", ["blacklist nouveau", "alias nouveau off", "install nouveau /bin/false"])
def test_nouveau_stays_away_where_it_is_blocked(tmp_path: Path, line: str) -> None:
    hardware.node(tmp_path)
    hardware.put(tmp_path, "/etc/modprobe.d/nvidia.conf", line + "\n")
    run(tmp_path, "simulated-kmod autoload")
    assert "nouveau" not in loaded(tmp_path)


def test_nouveau_keeps_the_driver_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hardware.node(tmp_path)
    run(tmp_path, "simulated-kmod autoload")
    hardware.driver(tmp_path)
    assert run(tmp_path, "modprobe nvidia") == 1
    assert capsys.readouterr().err.strip() == ("modprobe: ERROR: could not insert 'nvidia': No such device")
    assert run(tmp_path, "rmmod nouveau") == run(tmp_path, "modprobe nvidia") == 0
    assert driver_of(tmp_path, "gpu") == {"nvidia"}
    assert driver_of(tmp_path, "nvswitch") == {"nvidia-nvswitch"}


def test_the_loaded_driver_is_the_one_of_that_moment(tmp_path: Path) -> None:
    hardware.node(tmp_path)
    hardware.driver(tmp_path, "580.126.20")
    run(tmp_path, "modprobe nvidia")
    hardware.driver(tmp_path, DRIVER)
    reported = (tmp_path / "proc/driver/nvidia/version").read_text()
    assert (driver_version(reported).version, driver_version(reported).open) == ("580.126.20", True)
    assert (tmp_path / "sys/module/nvidia/version").read_text() == "580.126.20\n"
    run(tmp_path, "modprobe -r nvidia")
    assert not (tmp_path / "proc/driver/nvidia").exists()
    assert not (tmp_path / "sys/module/nvidia").exists()
    run(tmp_path, "modprobe nvidia")
    assert (tmp_path / "sys/module/nvidia/version").read_text() == DRIVER + "\n"


def test_a_module_in_use_is_not_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hardware.node(tmp_path)
    hardware.driver(tmp_path)
    run(tmp_path, "modprobe nvidia-uvm")
    assert run(tmp_path, "rmmod nvidia") == 1
    assert capsys.readouterr().err == "rmmod: ERROR: Module nvidia is in use by: nvidia_uvm\n"
    run(tmp_path, "rmmod nvidia-uvm")
    run(tmp_path, f"simulated-kmod hold nvidia {os.getpid()}")
    assert run(tmp_path, "rmmod nvidia") == 1
    assert capsys.readouterr().err == "rmmod: ERROR: Module nvidia is in use\n"
    (tmp_path / HOLDERS.lstrip("/") / "nvidia" / str(os.getpid())).unlink()
    assert run(tmp_path, "rmmod nvidia") == 0


@pytest.mark.parametrize(
    ("fields", "ofed", "said"),
    [
        pytest.param({"init": "Invalid argument"}, True, "Invalid argument", id="built without"),
        pytest.param({"needs": "ib_register_peer_memory_client"}, True, "", id="built with"),
        pytest.param(
            {"needs": "ib_register_peer_memory_client"},
            False,
            "Unknown symbol in module, or unknown parameter (see dmesg)",
            id="the stack went",
        ),
        pytest.param({}, False, "Invalid argument", id="no stack at all"),
    ],
)
def test_peermem_loads_only_above_the_stack_it_was_built_with(
    tmp_path: Path, fields: dict[str, str], ofed: bool, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    hardware.node(tmp_path)
    if ofed:
        hardware.module(tmp_path, "updates/dkms/ib_core", "25.10-3.1.8")
    hardware.driver(tmp_path)
    hardware.module(tmp_path, "updates/dkms/nvidia-peermem", depends="nvidia,ib_core", **fields)
    assert run(tmp_path, "modprobe nvidia-peermem") == (1 if said else 0)
    err = capsys.readouterr().err
    assert said in err if said else not err
    assert (tmp_path / "sys/kernel/mm/memory_peers/nv_mem/version").exists() == (not said)


def test_a_module_for_another_kernel_does_not_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hardware.node(tmp_path)
    hardware.module(tmp_path, "extra/nvidia", vermagic="5.14.0-427.el9 SMP")
    assert run(tmp_path, "modprobe nvidia") == 1
    assert "Exec format error" in capsys.readouterr().err
    assert run(tmp_path, "modprobe nvidia_fs") == 1
    assert capsys.readouterr().err == (
        f"modprobe: FATAL: Module nvidia_fs not found in directory /lib/modules/{RELEASE}\n"
    )


def test_the_vendor_s_module_goes_before_the_kernel_s(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hardware.node(tmp_path)
    hardware.module(tmp_path, "updates/dkms/mlx5_core", "25.10-3.1.8")
    run(tmp_path, "depmod -a")
    listed = modules_dep.parse((tmp_path / f"lib/modules/{RELEASE}/modules.dep").read_text())
    assert listed["mlx5_core"] == "updates/dkms/mlx5_core.ko"
    assert listed["ib_core"].startswith("kernel/")
    run(tmp_path, "modinfo -F version mlx5_core")
    assert capsys.readouterr().out == "25.10-3.1.8\n"


def said(root: Path, name: str) -> str:
    """What the node's lsmod or dmesg prints."""
    program = root / name
    program.unlink(missing_ok=True)
    program.symlink_to(SAYS)
    home = {**os.environ, "IBREADY_SIMULATED_KERNEL": str(below(root, RUN))}
    return subprocess.run([program], env=home, check=True, capture_output=True, text=True).stdout


def test_lsmod_is_read_like_the_real_one(tmp_path: Path) -> None:
    hardware.node(tmp_path)
    run(tmp_path, "simulated-kmod autoload")
    parsed = lsmod.parse(said(tmp_path, "lsmod"))
    assert parsed.whole
    assert set(parsed.names) == loaded(tmp_path)


def test_lsmod_counts_who_holds_a_module_and_is_alive(tmp_path: Path) -> None:
    hardware.node(tmp_path)
    run(tmp_path, "simulated-kmod autoload")
    kernel = node_kernel(tmp_path)
    kernel.read()
    users = ",".join(kernel.users("nouveau"))
    for holder, held in ((2**30, 0), (os.getpid(), 1)):
        run(tmp_path, f"simulated-kmod hold nouveau {holder}")
        line = next(line for line in said(tmp_path, "lsmod").splitlines() if line.startswith("nouveau "))
        assert line.split()[2:] == [str(len(kernel.users("nouveau")) + held), *([users] if users else [])]


def test_dmesg_says_in_order_what_was_loaded(tmp_path: Path) -> None:
    hardware.node(tmp_path)
    hardware.driver(tmp_path)
    run(tmp_path, "modprobe nvidia")
    lines = said(tmp_path, "dmesg").splitlines()
    assert all(re.match(r"\[ *[0-9]+\.[0-9]{6}\] ", line) for line in lines)
    assert lines == sorted(lines)
    assert "Linux version" in lines[0]
    assert "NVRM: loading NVIDIA UNIX Kernel Module" in lines[-1]


def test_without_its_driver_an_hca_is_no_rdma_device(tmp_path: Path) -> None:
    hardware.node(tmp_path)
    run(tmp_path, "simulated-kmod autoload")
    run(tmp_path, "modprobe -r mlx5_ib")
    assert os.listdir(tmp_path / "sys/class/infiniband") == []
    run(tmp_path, "modprobe -r rdma_ucm ib_umad ib_uverbs rdma_cm")
    assert not (tmp_path / "sys/class/infiniband").exists()


def test_what_modules_load_d_names_is_loaded_at_boot(tmp_path: Path) -> None:
    hardware.node(tmp_path)
    hardware.put(tmp_path, "/etc/modules-load.d/ipoib.conf", "# by hand\nib_ipoib\n")
    run(tmp_path, "simulated-kmod autoload")
    assert "ib_ipoib" in loaded(tmp_path)


def test_a_dry_run_names_what_is_still_to_be_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hardware.node(tmp_path)
    run(tmp_path, "simulated-kmod autoload")
    run(tmp_path, "modprobe -r rdma_ucm rdma_cm")
    capsys.readouterr()
    before = loaded(tmp_path)
    assert run(tmp_path, "modprobe --dry-run --verbose rdma_cm") == 0
    told = [Path(line.removeprefix("insmod ")).name.partition(".")[0] for line in capsys.readouterr().out.splitlines()]
    assert told[-1] == "rdma_cm"
    assert set(told).isdisjoint(before)
    assert run(tmp_path, "modprobe --dry-run --verbose ib_core") == 0
    assert capsys.readouterr().out == ""
    assert loaded(tmp_path) == before
