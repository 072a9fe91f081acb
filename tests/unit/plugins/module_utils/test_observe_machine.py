# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine import observe as machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Bundle, Cached, Live, Unavailable
from tests.unit.plugins.module_utils.test_parse_vpd import END, FIELDS, MARK, NAME

DEVICES = "sys/bus/pci/devices"
GPU, HCA, BRIDGE = "0000:18:00.0", "0000:19:00.0", "0000:15:00.0"


class Root:
    """A host's file system below a directory."""

    def __init__(self, place: Path) -> None:
        self.place = place
        (place / "sys/bus/pci").mkdir(parents=True)

    def write(self, path: str, content: str | bytes) -> None:
        target = self.place / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())

    def function(self, path: str, kind: str, ids: str, driver: str = "", numa: str = "1") -> None:
        """A function by its place below its host bridge: pci0000:17/0000:17:01.0/0000:18:00.0."""
        address = path.rpartition("/")[2]
        home = f"sys/devices/{path}"
        vendor, _colon, device = ids.partition(":")
        for name, value in (("class", kind), ("vendor", vendor), ("device", device)):
            self.write(f"{home}/{name}", f"0x{value}\n")
        self.write(f"{home}/numa_node", f"{numa}\n")
        self.link(f"{DEVICES}/{address}", f"../../../devices/{path}")
        if driver:
            self.link(f"{home}/driver", f"../../../../bus/pci/drivers/{driver}")

    def link(self, path: str, target: str) -> None:
        place = self.place / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def machine(self, profile: str = "") -> Any:
        return machine.observe(Live(self.place), profile)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    made = Root(tmp_path)
    made.function("pci0000:15/0000:15:00.0", "060400", "8086:352a", "pcieport")
    made.function("pci0000:15/0000:15:00.0/0000:18:00.0", "030200", "10de:2330", "nvidia")
    made.function("pci0000:15/0000:15:00.0/0000:19:00.0", "020700", "15b3:1021")
    made.write("sys/class/dmi/id/product_name", "SYS-821GE-TNHR\n")
    made.write("sys/class/dmi/id/sys_vendor", "Supermicro\n")
    made.write("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu lm avx512f\n\nprocessor\t: 1\n")
    made.write("proc/sys/kernel/osrelease", "6.8.0-48-generic\n")
    return made


def test_functions_are_told_with_driver_node_and_path(root: Root) -> None:
    seen = root.machine()
    assert seen.pci.value == (
        PciFunction(BRIDGE, "060400", "", ""),
        PciFunction(GPU, "030200", "10de", "2330", 1, "nvidia", (BRIDGE, GPU)),
        PciFunction(HCA, "020700", "15b3", "1021", 1, "", (BRIDGE, HCA)),
    )
    assert [one.address for one in seen.cards] == [GPU]
    assert [one.address for one in seen.hcas] == [HCA]
    assert seen.has_gpus
    assert [one.model for one in seen.gpus.value] == ["H100 SXM5"]
    assert seen.to_dict()["hcas"] == [HCA]


def test_only_what_the_checks_are_about_is_read_in_detail(root: Root) -> None:
    asked: list[str] = []

    class Counting(Live):
        def read(self, path: str) -> str:
            asked.append(path)
            return super().read(path)

        def link(self, path: str) -> str:
            asked.append(path)
            return super().link(path)

    machine.observe(Counting(root.place))
    assert [path for path in asked if BRIDGE in path] == [f"/{DEVICES}/{BRIDGE}/class"]
    assert len([path for path in asked if GPU in path]) == 7


@pytest.mark.parametrize(
    ("kind", "ids", "gpu", "nvswitch", "hca"),
    [
        ("030200", "10de:2330", True, False, False),
        ("030000", "10de:2684", True, False, False),
        ("040300", "10de:22bb", False, False, False),
        ("068000", "10de:22a3", False, True, False),
        ("068000", "8086:1234", False, False, False),
        ("020700", "15b3:1021", False, False, True),
        ("020000", "15b3:101d", False, False, True),
        ("020000", "8086:1592", False, False, True),
        ("020000", "10ec:8168", False, False, False),
        ("028000", "15b3:1003", False, False, True),
        ("028000", "8086:2725", False, False, False),
        ("0c0600", "15b3:673c", False, False, True),
        ("030000", "1a03:2000", False, False, False),
    ],
)
def test_what_a_function_is(kind: str, ids: str, gpu: bool, nvswitch: bool, hca: bool) -> None:
    vendor, _colon, device = ids.partition(":")
    one = PciFunction("0000:01:00.0", kind, vendor, device)
    assert (one.is_gpu, one.is_nvswitch, one.is_hca) == (gpu, nvswitch, hca)
    assert one.watched is (gpu or nvswitch or hca)


def test_virtual_functions_are_told_apart(root: Root) -> None:
    path = "pci0000:15/0000:15:00.0/0000:19:00.1"
    root.function(path, "020700", "15b3:101e", "mlx5_core")
    root.link(f"sys/devices/{path}/physfn", f"../{HCA}")
    seen = root.machine()
    assert [(one.virtual, one.physical) for one in seen.functions][-1] == (True, HCA)
    assert [one.address for one in seen.hcas] == [HCA]


def test_a_volume_manager_begins_a_bus_of_its_own(root: Root) -> None:
    path = "pci0000:20/0000:20:05.5/pci10000:20/10000:20:01.0/10000:21:00.0"
    root.function(path, "020700", "15b3:1021")
    assert root.machine().functions[-1].path == ("10000:20:01.0", "10000:21:00.0")


def test_a_copy_of_directories_has_no_links(tmp_path: Path) -> None:
    base = f"files/{DEVICES}"
    root = Root(tmp_path)
    for address, kind, ids in (("0000:18:00.0", "030200", "2330"), (HCA, "020700", "101e")):
        for name, value in (("class", kind), ("vendor", "10de"), ("device", ids)):
            root.write(f"{base}/{address}/{name}", f"0x{value}\n")
    root.write(f"{base}/{GPU}/driver/module/version", "580.95.05\n")
    root.write(f"{base}/{HCA}/physfn/class", "0x020700\n")
    gpu, hca = machine.observe(Bundle(tmp_path)).functions
    assert (gpu.driver, gpu.path, gpu.numa_node, gpu.virtual) == (None, (), -1, False)
    assert (hca.driver, hca.virtual, hca.physical) == (None, True, "")


@pytest.mark.parametrize(
    ("path", "content"),
    [("class", "0x3\n"), ("vendor", "NVIDIA\n"), ("device", "")],
)
def test_a_bus_that_cannot_be_read_whole_is_unknown(root: Root, path: str, content: str) -> None:
    root.write(f"sys/devices/pci0000:15/{BRIDGE}/{GPU}/{path}", content)
    seen = root.machine()
    assert not seen.pci.known
    assert not seen.pci.missing
    assert f"{GPU}/{path}" in seen.pci.why
    assert seen.has_gpus is None


def test_no_bus_is_told_from_no_look(tmp_path: Path) -> None:
    seen = machine.observe(Live(tmp_path))
    assert (seen.pci.known, seen.pci.missing, seen.has_gpus) == (False, False, None)
    (tmp_path / "sys/bus").mkdir(parents=True)
    seen = machine.observe(Live(tmp_path))
    assert (seen.pci.known, seen.pci.missing, seen.has_gpus) == (False, True, False)
    assert seen.functions == ()


@pytest.mark.parametrize("sign", ["sys/class/infiniband/mlx5_0", "sys/module/nvidia"])
def test_a_bus_that_hides_what_is_on_it_is_unknown(tmp_path: Path, sign: str) -> None:
    (tmp_path / "sys/bus").mkdir(parents=True)
    (tmp_path / sign).mkdir(parents=True)
    seen = machine.observe(Live(tmp_path))
    assert (seen.pci.known, seen.pci.missing, seen.has_gpus) == (False, False, None)


def test_a_vanishing_function_is_no_missing_bus(root: Root) -> None:
    (root.place / f"sys/devices/pci0000:15/{BRIDGE}/{GPU}/device").unlink()
    seen = root.machine()
    assert not seen.pci.missing
    assert seen.has_gpus is None


def test_the_profile_comes_from_the_inventory_or_the_hardware(root: Root) -> None:
    assert root.machine().board is None
    root.write("sys/class/dmi/id/product_name", "DGXH100\n")
    assert root.machine().board.name == "dgx-h100-8"
    assert root.machine("hgx-a100-8").board.name == "hgx-a100-8"


X86 = "processor\t: 0\nflags\t\t: fpu lm"
ARM = "processor\t: 0\nCPU implementer\t: 0x41"


@pytest.mark.parametrize(
    ("cpu", "vendor", "product", "virtual"),
    [
        pytest.param(X86, "Supermicro", "SYS-821GE", False, id="bare metal"),
        pytest.param(f"{X86} hypervisor", "Dell Inc.", "PowerEdge", True, id="the flag says so"),
        pytest.param(f"{X86} hypervisor", None, None, True, id="without a firmware"),
        pytest.param(X86, None, None, False, id="the flag is absent"),
        pytest.param(X86, "QEMU", "Standard PC (Q35 + ICH9, 2009)", True, id="a hidden flag"),
        pytest.param(X86, "Amazon EC2", "p5.48xlarge", False, id="a flag is better than a name"),
        pytest.param(ARM, "Amazon EC2", "g5g.2xlarge", True, id="a cloud's virtual machine"),
        pytest.param(ARM, "Amazon EC2", "g5g.metal", False, id="a cloud's bare metal"),
        pytest.param(ARM, "Microsoft Corporation", "Virtual Machine", True, id="Hyper-V"),
        pytest.param(ARM, "NVIDIA", "GB200 NVL", False, id="a firmware that knows no hypervisor"),
        pytest.param(ARM, None, None, None, id="nobody tells"),
        pytest.param(None, None, None, None, id="nothing at all"),
        pytest.param(None, "VMware, Inc.", "VMware Virtual Platform", True, id="firmware alone"),
    ],
)
def test_a_virtual_machine_is_told_by_flag_or_firmware(
    tmp_path: Path, cpu: str | None, vendor: str | None, product: str | None, virtual: bool | None
) -> None:
    root = Root(tmp_path)
    for path, text in (
        ("proc/cpuinfo", cpu),
        ("sys/class/dmi/id/sys_vendor", vendor),
        ("sys/class/dmi/id/product_name", product),
    ):
        if text is not None:
            root.write(path, f"{text}\n\n{text}\n" if path == "proc/cpuinfo" else f"{text}\n")
    seen = root.machine().virtual
    assert seen.value is virtual
    assert bool(seen.why) is (virtual is None)


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"),
        ("run/.containerenv", 'engine="podman-4.9"\n', "podman"),
        (".dockerenv", "", "docker"),
        ("run/nothing", "docker", ""),
    ],
)
def test_a_container_is_told_by_its_manager_s_mark(root: Root, path: str, text: str, kind: str) -> None:
    root.write(path, text)
    assert root.machine().container == kind


@pytest.mark.parametrize(
    ("files", "arch"),
    [
        ({"proc/sys/kernel/arch": "aarch64\n"}, "aarch64"),
        ({"proc/sys/kernel/osrelease": "5.14.0-427.el9.x86_64\n", "proc/cpuinfo": ""}, "x86_64"),
        ({"proc/cpuinfo": ARM}, "aarch64"),
        ({}, "x86_64"),
        ({"proc/cpuinfo": ""}, ""),
    ],
)
def test_the_architecture_by_whichever_file_tells(root: Root, files: dict[str, str], arch: str) -> None:
    for path, text in files.items():
        root.write(path, text)
    assert root.machine().arch == arch


class TestSwitchManagers:
    PATH = "pci0000:40/0000:40:01.0/0000:41:00.0"

    def b200(self, root: Root, vpd: bytes | None) -> Any:
        root.function(self.PATH, "020700", "15b3:1021", "mlx5_core")
        if vpd is not None:
            root.write(f"sys/devices/{self.PATH}/vpd", vpd)
        root.write(f"sys/devices/pci0000:15/{BRIDGE}/{HCA}/vpd", NAME + FIELDS + END)
        return root.machine("hgx-b200-8")

    def test_the_marked_ones_are_no_hcas(self, root: Root) -> None:
        seen = self.b200(root, NAME + FIELDS + MARK + END)
        assert seen.switch_managers.value == ("0000:41:00.0",)
        assert [one.address for one in seen.hcas] == [HCA]

    def test_an_hca_without_product_data_is_none(self, root: Root) -> None:
        assert self.b200(root, None).switch_managers.value == ()

    def test_data_that_cannot_be_read_is_unknown(self, root: Root) -> None:
        seen = self.b200(root, bytes(64))
        assert not seen.switch_managers.known
        assert "no product data" in seen.switch_managers.why
        assert len(seen.hcas) == 2

    def test_one_whose_data_cannot_be_read_leaves_the_list_open(self, root: Root) -> None:
        other = "pci0000:42/0000:42:01.0/0000:43:00.0"
        root.function(other, "020700", "15b3:1021", "mlx5_core")
        root.write(f"sys/devices/{other}/vpd", bytes(64))
        seen = self.b200(root, NAME + FIELDS + MARK + END)
        assert not seen.switch_managers.known
        assert seen.marked_managers == ("0000:41:00.0",)
        assert seen.unclear_managers == ("0000:43:00.0",)
        assert [one.address for one in seen.hcas] == [HCA, "0000:43:00.0"]

    def test_other_boards_are_not_asked(self, root: Root) -> None:
        self.b200(root, NAME + FIELDS + MARK + END)
        assert root.machine("hgx-h100-8").switch_managers.value == ()

    def test_without_a_bus_nobody_can_tell(self, tmp_path: Path) -> None:
        assert not machine.observe(Live(tmp_path)).switch_managers.known


def test_gpus_of_a_bundle_of_command_outputs_come_from_nvidia_smi(tmp_path: Path) -> None:
    root = Root(tmp_path)
    text = "<nvidia_smi_log><gpu><product_name>NVIDIA H200</product_name></gpu></nvidia_smi_log>"
    for name, content in (("stdout", text), ("rc", "0")):
        root.write(f"commands/nvsmi_xml/{name}", content)
    seen = machine.observe(Cached(Bundle(tmp_path)))
    assert [one.model for one in seen.gpus.value or () if one] == ["H200 SXM"]
    assert not seen.pci.known


def test_the_sandbox_marks_its_nodes(root: Root) -> None:
    assert root.machine().simulated == ""
    root.write("run/.containerenv", "")
    root.write("etc/ibready-sandbox.json", '{"simulated": true, "hcas": []}')
    assert root.machine().simulated == "InfiniBand fabric"
    root.write("etc/ibready-sandbox.json", '{"what": "InfiniBand fabric (ibsim)"}')
    assert root.machine().simulated == "InfiniBand fabric (ibsim)"
    for nonsense in ("nonsense", "[]", "{}", '{"simulated": false}'):
        root.write("etc/ibready-sandbox.json", nonsense)
        assert root.machine().simulated == machine.MARK_UNREADABLE

    class Denied(Live):
        def read(self, path: str) -> str:
            if path == machine.SANDBOX_MARK:
                raise Unavailable(path, "permission denied")
            return super().read(path)

    assert machine.observe(Denied(root.place)).simulated == machine.MARK_UNREADABLE


@pytest.mark.parametrize(
    ("mark", "shown", "without"),
    [
        ('{"what": "all of it", "hardware": true}', True, ""),
        ('{"what": "a fabric"}', False, "a fabric"),
        ('{"what": "a fabric", "hardware": "yes"}', False, "a fabric"),
        ("nonsense", False, ""),
    ],
)
def test_the_mark_tells_whether_there_is_hardware_to_judge(root: Root, mark: str, shown: bool, without: str) -> None:
    root.write("run/.containerenv", "")
    root.write("etc/ibready-sandbox.json", mark)
    seen = root.machine()
    assert (seen.simulates_hardware, seen.without_hardware) == (shown, without)
    assert seen.container
    assert bool(seen.holds_part) is not shown


def test_a_stray_mark_hides_no_real_hardware(root: Root) -> None:
    root.write("etc/ibready-sandbox.json", '{"simulated": true}')
    assert root.machine().simulated == ""

    class Denied(Live):
        def read(self, path: str) -> str:
            if path == "/run/systemd/container":
                raise Unavailable(path, "permission denied")
            return super().read(path)

    assert machine.observe(Denied(root.place)).simulated == machine.MARK_UNREADABLE
