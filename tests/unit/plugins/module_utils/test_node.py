# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.stack import contact
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live, Unavailable
from tests.gauntlet import render

PACKAGE = "Package: {}\nStatus: install ok installed\nArchitecture: amd64\nVersion: {}\n\n"
PACKAGES = (
    ("dpkg", "1.22.6ubuntu6"),
    ("libc6", "2.39-0ubuntu8"),
    ("libibverbs1", "50.0-2build2"),
    ("libnccl2", "2.28.9-1+cuda13.0"),
    ("nvidia-utils-580", "580.126.20-1ubuntu1"),
    ("containerd.io", "1.7.24-1"),
    ("docker-ce", "5:28.0.1-1~ubuntu"),
    ("zlib1g", "1:1.3.dfsg-3.1ubuntu2"),
)


def device(root: Path, address: str, kind: str, vendor: str, model: str) -> None:
    home = root / "sys/bus/pci/devices" / address
    home.mkdir(parents=True)
    for name, value in (("class", kind), ("vendor", vendor), ("device", model)):
        (home / name).write_text(value + "\n")
    (home / "numa_node").write_text("1\n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    device(tmp_path, "0000:18:00.0", "0x030200", "0x10de", "0x2330")
    device(tmp_path, "0000:19:00.0", "0x020700", "0x15b3", "0x1021")
    device(tmp_path, "0000:2a:00.0", "0x020000", "0x15b3", "0x101d")
    device(tmp_path, "0000:3a:00.0", "0x020000", "0x10ec", "0x8168")
    device(tmp_path, "0000:c3:00.0", "0x068000", "0x10de", "0x22a3")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text('NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\n')
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").write_text("".join(PACKAGE.format(*one) for one in PACKAGES))
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text("MemTotal:       2113434596 kB\n")
    return tmp_path


def test_gpus_and_hcas_are_known_before_any_driver(root: Path) -> None:
    node = contact.collect(Live(root))
    assert [one["address"] for one in node["gpus"]] == ["0000:18:00.0"]
    assert [one["address"] for one in node["hcas"]] == ["0000:19:00.0", "0000:2a:00.0"]
    assert node["gpus"][0] == {
        "address": "0000:18:00.0",
        "class": "030200",
        "vendor": "10de",
        "device": "2330",
        "numa_node": 1,
    }
    assert node["os"] == {"id": "ubuntu", "version": "24.04"}
    assert node["memory_mb"] == 2063900
    assert node["unreadable"] == []
    assert node["simulated"] == ""


def test_what_a_plan_needs_is_told(root: Path) -> None:
    node = contact.collect(Live(root))
    assert node["nvswitches"] == ["22a3"]
    assert node["product"] == ""
    assert node["secure_boot"] is False
    assert node["engines"] == {"docker": "28.0.1", "containerd": "1.7.24"}
    installed = node["installed"]
    assert installed["rdma"] == "inbox 50.0-2build2"
    assert installed["driver"] == "580.126.20-1ubuntu1 (not loaded)"
    assert installed["nccl"] == "2.28.9-1+cuda13.0"
    assert installed["fabric_manager"] == ""


@pytest.mark.parametrize(("package", "kind"), [("nvidia-dkms-580-open", "open"), ("nvidia-dkms-580", "proprietary")])
def test_a_driver_that_is_not_loaded_is_told_with_its_modules(root: Path, package: str, kind: str) -> None:
    with (root / "var/lib/dpkg/status").open("a") as status:
        status.write(PACKAGE.format(package, "580.126.20-1ubuntu1"))
    assert contact.collect(Live(root))["installed"]["driver"] == f"580.126.20-1ubuntu1 {kind} (not loaded)"


def test_the_loaded_driver_is_told_before_the_installed_one(root: Path) -> None:
    (root / "proc/driver/nvidia").mkdir(parents=True)
    (root / "proc/driver/nvidia/version").write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.105.08  Release Build\n"
    )
    assert contact.collect(Live(root))["installed"]["driver"] == "580.105.08 open"


@pytest.mark.parametrize(("content", "on"), [(b"\6\0\0\0\1", True), (b"\6\0\0\0\0", False)])
def test_secure_boot_is_what_the_firmware_says(root: Path, content: bytes, on: bool) -> None:
    home = root / "sys/firmware/efi/efivars"
    home.mkdir(parents=True)
    (home / "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c").write_bytes(content)
    assert contact.collect(Live(root))["secure_boot"] is on


def test_packages_that_cannot_be_read_are_not_called_absent(root: Path) -> None:
    (root / "var/lib/dpkg/status").unlink()
    node = contact.collect(Live(root))
    assert node["installed"] == {}
    assert any("dpkg" in line for line in node["unreadable"])


def test_what_cannot_be_read_is_listed_with_the_reason(root: Path) -> None:
    (root / "proc/meminfo").write_text("nothing\n")
    (root / "sys/bus/pci/devices/0000:18:00.0/vendor").write_text("NVIDIA\n")
    node = contact.collect(Live(root))
    assert node["memory_mb"] is None
    assert node["gpus"] == []
    assert any("MemTotal" in line for line in node["unreadable"])
    assert any("0000:18:00.0/vendor" in line for line in node["unreadable"])


def test_a_sandbox_node_says_that_it_is_simulated(root: Path) -> None:
    (root / "etc/ibready-sandbox.json").write_text('{"what": "InfiniBand fabric (ibsim)"}')
    assert contact.collect(Live(root))["simulated"] == ""  # no container: somebody left it behind
    (root / "run/systemd").mkdir(parents=True)
    (root / "run/systemd/container").write_text("podman\n")
    assert contact.collect(Live(root))["simulated"] == "InfiniBand fabric (ibsim)"


def test_a_mark_that_cannot_be_read_is_not_real_hardware(root: Path) -> None:
    (root / "etc/ibready-sandbox.json").mkdir()
    node = contact.collect(Live(root))
    assert node["simulated"] == "unreadable sandbox mark"
    assert any("ibready-sandbox.json" in line for line in node["unreadable"])


def test_devices_that_cannot_be_listed_are_unreadable_not_absent(root: Path) -> None:
    class Refusing(Live):
        def list(self, path: str) -> list[str]:
            if path == "/sys/class/infiniband":
                raise Unavailable(path, "permission denied")
            return super().list(path)

    node = contact.collect(Refusing(root))
    assert node["rdma_devices"] == []
    assert node["unreadable"] == ["/sys/class/infiniband: permission denied"]


def test_rdma_devices_are_named_where_a_driver_is_bound(root: Path) -> None:
    assert contact.collect(Live(root))["rdma_devices"] == []
    (root / "sys/class/infiniband/mlx5_0").mkdir(parents=True)
    (root / "sys/class/infiniband/mlx5_0/device").symlink_to("../../../0000:19:00.0")
    (root / "sys/class/infiniband/rxe0").mkdir()
    node = contact.collect(Live(root))
    assert (node["rdma_devices"], node["soft_rdma_devices"]) == (["mlx5_0", "rxe0"], ["rxe0"])


def test_virtual_functions_are_no_hcas(root: Path) -> None:
    device(root, "0000:19:00.1", "0x020700", "0x15b3", "0x101e")
    (root / "sys/bus/pci/devices/0000:19:00.1/physfn").symlink_to("../0000:19:00.0")
    node = contact.collect(Live(root))
    assert [one["address"] for one in node["hcas"]] == ["0000:19:00.0", "0000:2a:00.0"]


def test_no_bus_is_unreadable(tmp_path: Path) -> None:
    node = contact.collect(Live(tmp_path))
    assert (node["gpus"], node["hcas"]) == ([], [])
    assert any("/sys/bus/pci/devices" in line for line in node["unreadable"])


@pytest.mark.parametrize(
    ("board", "bend", "domain"),
    [
        pytest.param("gb200-nvl72-node", None, True, id="of a rack"),
        pytest.param("gb300-nvl72-node", ("<cliqueId>1<", "<cliqueId>0<"), None, id="of no partition"),
        pytest.param("gb200-nvl72-node", ("NVIDIA", "not an XML"), None, id="without an answer"),
        pytest.param("hgx-b200-8", None, "", id="NVLinks that do not leave the host"),
        pytest.param("ib-login", None, "", id="without GPUs"),
    ],
)
def test_a_host_of_a_rack_tells_its_nvlink_domain(board: str, bend: tuple[str, str] | None, domain: object) -> None:
    tree = render.render(render.node(board))
    if bend is not None:
        told = tree.commands["nvsmi_xml"].stdout
        text = told.replace(*bend) if bend[1].startswith("<") else "Failed to initialize NVML: Driver Not Loaded\n"
        tree.command("nvsmi_xml", text)
    found = contact.collect(tree)["nvlink_domain"]
    assert found == domain if domain is not True else str(found).endswith(".1")


def test_a_tray_of_which_the_bus_cannot_be_read_is_not_said_to_be_of_no_rack() -> None:
    tree = render.render(render.node("gb200-nvl72-node"))
    tree.broken["/sys/bus/pci/devices"] = "permission denied"
    tree.broken["/sys/class/dmi/id/product_name"] = "permission denied"
    assert contact.collect(tree)["nvlink_domain"] != ""


def test_a_host_without_a_gpu_is_of_no_rack() -> None:
    assert contact.collect(render.render(render.node("ib-login")))["nvlink_domain"] == ""
