# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci.facts import PciFacts, Rdma
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci.observe import observe
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Missing, Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from tests.unit import pci_samples as sample
from tests.unit.pci_samples import GPU0, HCA0, PORTS
from tests.unit.plugins.module_utils.test_parse_pci_config import space
from tests.unit.plugins.module_utils.test_parse_pci_resource import MEMORY, REGISTERS, resource

DEVICES = "/sys/bus/pci/devices"
ROOT, UPSTREAM, DOWNSTREAM = PORTS[HCA0]
XML = "<nvidia_smi_log><gpu id='x'><product_name>NVIDIA H100</product_name></gpu></nvidia_smi_log>"
FILES: dict[str, str | bytes] = {
    f"{DEVICES}/{GPU0}/resource": resource(REGISTERS, MEMORY),
    f"{DEVICES}/{HCA0}/sriov_numvfs": "4\n",
    f"{DEVICES}/{HCA0}/config": bytes(space(64)),
    f"{DEVICES}/{HCA0}/current_link_speed": "16.0 GT/s PCIe\n",
    f"{DEVICES}/{HCA0}/current_link_width": "8\n",
    f"{DEVICES}/{DOWNSTREAM}/max_link_speed": "32.0 GT/s PCIe\n",
    f"{DEVICES}/{DOWNSTREAM}/max_link_width": "16\n",
    f"{DEVICES}/{UPSTREAM}/current_link_width": "63\n",
    f"{DEVICES}/{ROOT}/aer_dev_fatal": "DLP 1\nTOTAL_ERR_FATAL 1\n",
    "/sys/class/infiniband/mlx5_0/sys_image_guid": "a088:c203:0000:0001\n",
    "/sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n",
    "/sys/class/infiniband/mlx5_0/ports/1/rate": "400 Gb/sec (4X NDR)\n",
    "/sys/class/infiniband/mlx5_0/ports/2/state": "1: DOWN\n",
    "/sys/devices/system/node/node0/distance": "10 21\n",
    "/sys/devices/system/node/node1/distance": "21 10\n",
    "/sys/devices/system/node/has_cpu": "0-1\n",
    "/proc/uptime": "864000.52 190080000.12\n",
}
LINKS = {"/sys/class/infiniband/mlx5_0/device": f"../../../{HCA0}"}


class Host:
    """Evidence from dictionaries; ``broken`` paths cannot be looked at."""

    recorded = False

    def __init__(self, **bent: Any) -> None:
        self.files = {**FILES, **bent.get("files", {})}
        self.links = bent.get("links", LINKS)
        self.broken = bent.get("broken", ())
        self.smi = bent.get("smi", Output(0, XML, ""))
        self.asked: list[str] = []

    def run(self, name: str, *args: str) -> Output:
        self.asked.append(name)
        if isinstance(self.smi, Unavailable):
            raise self.smi
        answer: Output = self.smi
        return answer

    def read(self, path: str) -> str:
        return str(self._get(path))

    def read_bytes(self, path: str) -> bytes:
        content = self._get(path)
        assert isinstance(content, bytes)
        return content

    def link(self, path: str) -> str:
        self._look(path)
        if path not in self.links:
            raise Missing(path, "no such link")
        return str(self.links[path])

    def list(self, path: str) -> list[str]:
        self._look(path)
        names = {one[len(path) + 1 :].split("/")[0] for one in self.files if one.startswith(path)}
        if not names:
            raise Missing(path, "no such directory")
        return sorted(names)

    def mode(self, path: str) -> int:
        raise Missing(path, "no such file")

    def again(self, seconds: float) -> Any:
        return self, seconds

    def _look(self, path: str) -> None:
        self.asked.append(path)
        if path in self.broken:
            raise Unavailable(path, "permission denied")

    def _get(self, path: str) -> Any:
        self._look(path)
        if path not in self.files:
            raise Missing(path, "no such file")
        return self.files[path]


def seen(machine: Any = None, **bent: Any) -> PciFacts:
    return observe(Host(**bent), machine or sample.machine())


def test_links_registers_and_counters_are_read_by_address() -> None:
    facts = seen()
    assert facts.ends[HCA0].speed == Reading(16.0)
    assert facts.ends[HCA0].width == Reading(8)
    assert facts.ends[DOWNSTREAM].max_width == Reading(16)
    assert facts.ends[DOWNSTREAM].width == Reading()  # its link is asked at the lower end
    assert "'63' is no width" in facts.ends[UPSTREAM].width.why
    assert [one.size for one in facts.bars[GPU0].value or ()] == [16 << 20, 128 << 30]
    assert (facts.configs[HCA0].value or sample.config()).header_only
    assert facts.configs[sample.SWITCH].missing
    assert facts.vfs[HCA0] == Reading(4)
    assert facts.errors[ROOT].fatal == Reading({"DLP": 1, "TOTAL_ERR_FATAL": 1})
    assert facts.errors[ROOT].nonfatal.missing
    assert facts.nodes == Reading((0, 1))
    assert facts.uptime_s == Reading(864000.52)


def test_rdma_devices_are_matched_by_their_link() -> None:
    device = Rdma("mlx5_0", HCA0, "a088:c203:0000:0001", 400.0)
    assert seen().rdma == Reading((device,))
    assert seen(links={}).rdma == Reading((replace(device, address=""),))
    base = "/sys/class/infiniband/mlx5_0/device"
    assert seen(links={base: "../../../mlx5_core.sf.2"}).rdma == Reading((replace(device, address=""),))
    # A copy of directories: the link is none, but the function's own event file names it.
    files = {f"{base}/uevent": f"DRIVER=mlx5_core\nPCI_SLOT_NAME={HCA0}\n"}
    assert seen(broken=(base,)).rdma == Reading((replace(device, address=None),))
    assert seen(broken=(base,), files=files).rdma == Reading((device,))


@pytest.mark.parametrize(
    ("bent", "gbps"),
    [
        ({"files": {"/sys/class/infiniband/mlx5_0/ports/1/state": "1: DOWN\n"}}, 0.0),
        ({"files": {"/sys/class/infiniband/mlx5_0/ports/1/rate": "fast\n"}}, None),
        ({"broken": ("/sys/class/infiniband/mlx5_0/ports/1/rate",)}, None),
        ({"broken": ("/sys/class/infiniband/mlx5_0/ports/1/state",)}, None),
        ({"broken": ("/sys/class/infiniband/mlx5_0/ports",)}, None),
    ],
)
def test_a_rate_is_told_of_active_ports_only(bent: Any, gbps: float | None) -> None:
    assert [one.gbps for one in seen(**bent).rdma.value or ()] == [gbps]


SECOND = HCA0[:-1] + "1"
BONDED: dict[str, str | bytes] = {
    f"{DEVICES}/{HCA0}/net/eth0/mtu": "9000\n",
    f"{DEVICES}/{SECOND}/net/eth1/mtu": "9000\n",
    "/sys/class/net/bond0/bonding/mode": "802.3ad 4\n",
}
MASTERS = {f"/sys/class/net/{one}/master": "../bond0" for one in ("eth0", "eth1")}


@pytest.mark.parametrize(
    ("links", "broken", "bond"),
    [
        (MASTERS, (), Reading("bond0")),
        ({**MASTERS, "/sys/class/net/eth1/master": "../br0"}, (), Reading("")),
        ({}, (), Reading("")),
        (MASTERS, ("/sys/class/net/eth1/master",), None),
        (MASTERS, ("/sys/class/net/bond0/bonding",), None),
        (MASTERS, (f"{DEVICES}/{SECOND}/net",), None),
    ],
)
def test_a_bond_is_read_of_cards_with_one_rdma_device_for_two(links: Any, broken: Any, bond: Any) -> None:
    ports = [sample.hca(HCA0, 0, class_code="020000", address=one) for one in (HCA0, SECOND)]
    facts = seen(sample.machine(*ports), files=BONDED, links={**LINKS, **links}, broken=broken)
    assert set(facts.bonds) == {HCA0, SECOND}
    reported = facts.bonds[SECOND]
    assert reported == bond if bond else reported.value is None and not reported.missing
    assert seen(sample.machine(ports[0])).bonds == {}


def test_a_class_that_cannot_be_listed() -> None:
    assert not seen(broken=("/sys/class/infiniband",)).rdma.missing
    bare = Host()
    bare.files = {name: one for name, one in FILES.items() if "infiniband" not in name}
    assert observe(bare, sample.machine()).rdma.missing


def test_distances_are_read_where_an_hca_has_no_gpu() -> None:
    assert seen().distances == {}
    far = sample.machine(sample.gpu(GPU0, 0), sample.hca(HCA0, 1))
    assert seen(far).distances == {1: Reading((21, 10))}
    unknown = sample.machine(sample.gpu(GPU0, 0), sample.hca(HCA0, -1))
    assert seen(unknown).distances == {}


@pytest.mark.parametrize(
    ("smi", "whole", "anyhow"),
    [
        (Output(0, XML, ""), 1, 1),
        (Output(14, XML, ""), 1, 1),
        (Output(15, XML, ""), None, 1),
        (Output(0, XML[:40], ""), None, None),
        # The driver is loaded and could start none: an answer, on every driver with its own status.
        (Output(6, "No devices were found\n", ""), 0, 0),
        (Output(0, "No devices were found\n", ""), 0, 0),
        (Output(9, "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", ""), None, None),
        (Unavailable("nvidia-smi", "not installed"), None, None),
    ],
)
def test_nvidia_smi_with_and_without_an_error(smi: Any, whole: int | None, anyhow: int | None) -> None:
    facts = seen(smi=smi)
    reported = [one.value and len(one.value.gpus) for one in (facts.smi, facts.smi_anyhow)]
    assert reported == [whole, anyhow]
    assert bool(facts.smi.why) is (whole is None)


def test_nothing_is_asked_in_vain() -> None:
    host = Host()
    observe(host, sample.machine(sample.hca(HCA0, 0)))
    assert "nvsmi_xml" not in host.asked
    assert not any(GPU0 in path or path.endswith("/resource") for path in host.asked)
    host = Host()
    observe(host, replace(sample.machine(), simulated="InfiniBand fabric (ibsim)"))
    assert host.asked == []


def test_a_function_costs_a_dozen_looks_at_most() -> None:
    host = Host()
    observe(host, sample.machine())
    looks = [path for path in host.asked if path.startswith(DEVICES)]
    assert len(looks) == len(set(looks)) <= 10 * len(sample.LIST)


def test_the_report_shows_links_and_sizes() -> None:
    shown = seen().to_dict()
    assert shown["links"][HCA0] == {"gts": 16.0, "lanes": 8}
    assert shown["bars"][GPU0] == [16 << 20, 128 << 30]
    assert shown["rdma"] == {"mlx5_0": HCA0}
