# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci import area as pci
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci.facts import End, PciFacts, Rdma, links
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvsmi_xml import Gpu, Nvsmi, Pcie
from tests.unit import pci_samples as sample
from tests.unit.pci_samples import GPU0, GPU1, HCA0, HCA1, PORTS, end, smi

ROOT, UPSTREAM, DOWNSTREAM = PORTS[HCA0]
LOST = Reading(None, "current_link_width: no such file", True)
VM = sample.machine(virtual=Reading(True))
UNSURE = sample.machine(virtual=Reading(None, "no DMI"))


def only(check_id: str, facts: PciFacts, machine: Machine | None = None, **expect: Any) -> Any:
    checks = [
        one for one in pci.judge(facts, machine or sample.machine(), from_inventory(expect)) if one.id == check_id
    ]
    assert len(checks) == 1, checks
    return checks[0]


def with_ends(**bent: End) -> PciFacts:
    """The healthy facts, with the ends of HCA0, GPU0 or the uplink of their switch bent."""
    names = {"hca": HCA0, "gpu": GPU0, "uplink": UPSTREAM, "port": DOWNSTREAM}
    ends = {names[name]: one for name, one in bent.items()}
    return replace(sample.facts(), ends={**sample.facts().ends, **ends})


def test_a_path_has_a_link_at_every_other_step_from_its_end() -> None:
    assert links(("root", "up", "down", "device")) == (("down", "device"), ("root", "up"))
    assert links(("device",)) == links(()) == ()


class TestWidth:
    ID = "pci.link.width"

    def test_an_hca_that_lost_lanes(self) -> None:
        check = only(self.ID, with_ends(hca=end(width=8)))
        assert (check.subject, check.result) == (HCA0, "fail")
        assert (check.observed, check.expected, check.expected_from) == ("x8", "x16", "capability")
        assert DOWNSTREAM in check.cause
        assert "mlx5_0" in check.cause

    def test_an_nvswitch_that_lost_lanes(self) -> None:
        ends = {**sample.facts().ends, sample.SWITCH: end(speed=2.5, width=1)}
        facts = replace(sample.facts(), ends=ends)
        assert only(self.ID, facts).subject == sample.SWITCH
        assert only("pci.link.speed", facts).result == "pass"

    def test_an_uplink_that_lost_lanes_is_told_once_with_all_that_it_carries(self) -> None:
        check = only(self.ID, with_ends(uplink=end(width=4)))
        assert check.subject == UPSTREAM
        assert GPU0 in check.cause
        assert HCA0 in check.cause

    def test_a_narrow_gpu_is_a_fault_however_idle(self) -> None:
        assert only(self.ID, with_ends(gpu=end(width=8))).result == "fail"

    def test_a_slot_that_can_no_more_is_no_fault(self) -> None:
        narrow = end(max_width=Reading(8))
        assert only(self.ID, with_ends(hca=end(width=8), port=narrow)).result == "pass"

    @pytest.mark.parametrize(
        "bent",
        [
            {"hca": end(width=8, max_width=LOST)},
            {"hca": replace(end(), width=LOST)},
            {"port": end(max_width=LOST)},
        ],
    )
    def test_an_end_that_cannot_be_read_is_unknown(self, bent: Any) -> None:
        check = only(self.ID, with_ends(**bent))
        assert (check.subject, check.result) == (HCA0, "unknown")
        assert "no such file" in check.cause

    def test_in_a_virtual_machine_only_the_card_is_seen(self) -> None:
        # Root ports of hypervisors claim anything; a cloud's T4 has 8 of its 16 lanes.
        port = end(width=1, max_width=Reading(1))
        facts = with_ends(port=port, uplink=port, gpu=end(width=8))
        check = only(self.ID, facts, VM)
        assert (check.result, check.observed[:7]) == ("pass", "4 links")
        lost = {one: replace(end(), width=LOST) for one in facts.ends}
        assert only(self.ID, replace(facts, ends=lost), VM).result == "skip"

    def test_what_may_be_a_virtual_machine_is_unknown_only_where_it_matters(self) -> None:
        assert only(self.ID, sample.facts(), UNSURE).result == "pass"
        assert only(self.ID, with_ends(hca=end(width=8)), UNSURE).result == "unknown"

    def test_without_a_path_the_slot_is_unknown(self) -> None:
        machine = sample.machine(sample.hca(HCA0, 0, path=()), sample.gpu(GPU0, 0))
        check = only(self.ID, sample.facts(), machine)
        assert (check.subject, check.result) == (f"mlx5_0 ({HCA0})", "unknown")

    def test_a_function_on_the_root_bus_is_judged_by_itself(self) -> None:
        machine = sample.machine(sample.hca(HCA0, 0, path=(HCA0,)))
        assert only(self.ID, sample.facts(), machine).result == "pass"
        assert only(self.ID, with_ends(hca=end(width=8)), machine).result == "unknown"


def listed(*gpus: Any) -> Any:
    return Reading(Nvsmi(gpus=gpus))


class TestSpeed:
    ID = "pci.link.speed"

    def test_an_hca_at_an_older_generation(self) -> None:
        check = only(self.ID, with_ends(hca=end(speed=16.0)))
        assert (check.subject, check.result) == (HCA0, "fail")
        assert (check.observed, check.expected) == ("16 GT/s", "32 GT/s")

    def test_a_switch_s_uplink_never_sleeps(self) -> None:
        assert only(self.ID, with_ends(uplink=end(speed=2.5))).subject == UPSTREAM

    def test_a_slot_of_an_older_generation_is_no_fault(self) -> None:
        old = end(max_speed=Reading(16.0))
        assert only(self.ID, with_ends(hca=end(speed=16.0), port=old)).result == "pass"

    @pytest.mark.parametrize(
        ("speed", "gpu", "result"),
        [
            pytest.param(2.5, smi(GPU0, gen=1), "pass", id="idle, all others are judged"),
            pytest.param(2.5, smi(GPU0, gen=1, clocks_events={"gpu_idle": "Not Active"}), "fail", id="busy"),
            pytest.param(2.5, smi(GPU0, gen=5), "pass", id="awake by the time it was asked"),
            pytest.param(16.0, smi(GPU0, gen=4), "fail", id="an SXM module half way down"),
            pytest.param(2.5, smi(GPU0, gen=1, clocks_events=None), "unknown", id="nobody tells"),
        ],
    )
    def test_a_slow_gpu_is_a_fault_where_it_does_not_idle(self, speed: float, gpu: Any, result: str) -> None:
        facts = replace(with_ends(gpu=end(speed=speed)), smi_anyhow=listed(gpu))
        assert only(self.ID, facts).result == result

    def test_a_card_may_idle_at_any_speed(self) -> None:
        machine = sample.machine(sample.gpu(GPU0, 0, device="2331"))
        facts = replace(with_ends(gpu=end(speed=16.0)), smi_anyhow=listed(smi(GPU0, gen=4)))
        assert only(self.ID, facts, machine).result == "pass"

    @pytest.mark.parametrize("told", [Reading(None, "nvsmi_xml: not installed"), listed()])
    def test_without_nvidia_smi_a_slow_gpu_is_unknown(self, told: Any) -> None:
        facts = replace(with_ends(gpu=end(speed=2.5)), smi_anyhow=told)
        check = only(self.ID, facts)
        assert (check.subject, check.result) == (GPU0, "unknown")
        assert "idle" in check.cause


class TestGpuSlot:
    ID = "pci.gpu.slot"
    OLD = end(speed=16.0, max_speed=Reading(16.0))
    NARROW = end(width=8, max_width=Reading(8))

    def at(self, bent: Any, *addresses: str) -> PciFacts:
        return replace(sample.facts(), ends={**sample.facts().ends, **dict.fromkeys(addresses, bent)})

    @pytest.mark.parametrize(("bent", "seen"), [(OLD, "16 GT/s x16"), (NARROW, "32 GT/s x8")])
    def test_a_port_that_is_capped_below_the_gpu(self, bent: Any, seen: str) -> None:
        check = only(self.ID, self.at(bent, PORTS[GPU0][-1]))
        assert (check.subject, check.result, check.severity) == (GPU0, "fail", "warning")
        assert (check.observed, check.expected) == (seen, "32 GT/s x16")

    @pytest.mark.parametrize("bent", [OLD, NARROW])
    @pytest.mark.parametrize("port", PORTS[GPU0][:2])
    def test_an_uplink_that_can_do_less_than_its_equals(self, bent: Any, port: str) -> None:
        check = only(self.ID, self.at(bent, port))
        assert (check.subject, check.result) == (UPSTREAM, "fail")

    def test_a_board_whose_gpus_are_all_equal(self) -> None:
        slots = self.at(self.OLD, PORTS[GPU0][-1], PORTS[GPU1][-1])
        assert only(self.ID, slots).result == "pass"
        uplinks = [at for gpu in (GPU0, GPU1) for at in PORTS[gpu][:2]]
        assert only(self.ID, self.at(self.OLD, *uplinks)).result == "pass"
        alone = sample.machine(sample.gpu(GPU0, 0))
        assert only(self.ID, slots, alone).result == "fail"  # no equal that would excuse it

    def test_cards_and_virtual_machines_are_left_out(self) -> None:
        facts = self.at(self.OLD, PORTS[GPU0][-1], UPSTREAM)
        assert only(self.ID, facts, VM).result == "skip"
        assert only(self.ID, facts, UNSURE).result == "unknown"
        cards = [sample.gpu(GPU0, 0, device="2331"), sample.gpu(GPU1, 1, device="2331")]
        assert only(self.ID, facts, sample.machine(*cards)).result == "skip"

    @pytest.mark.parametrize("at", [GPU0, PORTS[GPU0][-1], UPSTREAM])
    def test_an_end_that_cannot_be_read_is_unknown(self, at: str) -> None:
        assert only(self.ID, self.at(end(max_speed=LOST), at)).result == "unknown"
        assert only(self.ID, self.at(end(max_width=LOST), at)).result == "unknown"

    def test_without_a_path_nobody_can_tell(self) -> None:
        machine = sample.machine(sample.gpu(GPU0, 0, path=()), sample.gpu(GPU1, 1))
        assert only(self.ID, sample.facts(), machine).result == "unknown"


class TestSlot:
    ID = "pci.hca.slot"

    def test_a_slot_that_cannot_carry_what_the_port_does(self) -> None:
        old = end(speed=16.0, max_speed=Reading(16.0))
        check = only(self.ID, with_ends(hca=old, port=old))
        assert (check.subject, check.result) == (HCA0, "fail")
        assert (check.observed, check.expected) == ("252 Gb/s", "400 Gb/s")

    def test_an_adapter_in_two_slots_has_both(self) -> None:
        old = end(max_speed=Reading(16.0))
        both = (
            Rdma("mlx5_0", HCA0, "same", 400.0),
            Rdma("mlx5_1", HCA1, "same", 400.0),
        )
        facts = sample.facts(ends=dict.fromkeys(sample.LIST, old), rdma=Reading(both))
        assert only(self.ID, facts).result == "pass"

    @pytest.mark.parametrize(
        ("rdma", "result"),
        [
            pytest.param((Rdma("mlx5_0", HCA0, "", 0.0),), "skip", id="no active port"),
            pytest.param((Rdma("mlx5_0", HCA0, "", None),), "unknown", id="no rate"),
        ],
    )
    def test_a_port_without_a_rate(self, rdma: Any, result: str) -> None:
        assert only(self.ID, sample.facts(rdma=Reading(rdma))).result == result

    def test_what_cannot_be_read_is_unknown(self) -> None:
        assert only(self.ID, sample.facts(rdma=Reading(None, "denied"))).result == "unknown"
        vague = (Rdma("mlx5_0", None, "", 400.0), Rdma("mlx5_1", HCA1, "", 400.0))
        check = only(self.ID, sample.facts(rdma=Reading(vague)))
        assert (check.subject, check.result) == (HCA0, "unknown")
        assert only(self.ID, with_ends(port=end(max_speed=LOST))).result == "unknown"
        machine = sample.machine(sample.hca(HCA0, 0, path=()))
        assert only(self.ID, sample.facts(), machine).result == "unknown"

    def test_a_virtual_machine_does_not_see_its_slots(self) -> None:
        assert only(self.ID, sample.facts(), VM).result == "skip"


class TestNuma:
    ID = "pci.hca.numa"

    def far(self, **bent: Any) -> PciFacts:
        return sample.facts(distances={1: Reading((21, 10))}, **bent)

    def machine(self, numa: int = 1, **bent: Any) -> Machine:
        return sample.machine(sample.gpu(GPU0, 0), sample.hca(HCA0, 0), sample.hca(HCA1, numa, **bent))

    def test_a_rail_on_a_socket_without_gpus(self) -> None:
        check = only(self.ID, self.far(), self.machine())
        assert (check.subject, check.result) == (HCA1, "fail")
        assert (check.observed, check.expected) == ("NUMA node 1", "NUMA node 0")

    def test_a_node_of_the_same_socket_is_near(self) -> None:
        near = replace(self.far(), distances={1: Reading((12, 10))})
        assert only(self.ID, near, self.machine()).result == "pass"
        # The firmware's least distance to another socket.
        far = replace(self.far(), distances={1: Reading((20, 10))})
        assert only(self.ID, far, self.machine()).result == "fail"

    def test_a_node_that_devices_name_and_nobody_lists(self) -> None:
        for nodes in ((0, 2), (0,)):
            check = only(self.ID, self.far(nodes=Reading(nodes)), self.machine())
            assert check.result == "unknown"
            assert "NUMA node 1" in check.cause

    @pytest.mark.parametrize("key", ["hcas", "hcas_min"])
    def test_an_hca_beyond_the_expected_rails_may_lie_anywhere(self, key: str) -> None:
        assert only(self.ID, self.far(), self.machine(), **{key: 1}).result == "pass"
        assert only(self.ID, self.far(), self.machine(), **{key: 2}).result == "fail"

    def test_an_ethernet_port_is_no_rail_unless_the_fabric_is(self) -> None:
        machine = self.machine(class_code="020000")
        assert only(self.ID, self.far(), machine).result == "pass"
        assert only(self.ID, self.far(), machine, link_layer="Ethernet").subject == HCA1

    def test_a_firmware_that_does_not_tell(self) -> None:
        check = only(self.ID, self.far(), self.machine(numa=-1))
        assert check.result == "unknown"
        assert "numa_node -1" in check.cause

    @pytest.mark.parametrize(
        ("nodes", "result"),
        [
            pytest.param(Reading((1,)), "skip", id="one node"),
            pytest.param(Reading(None, "no such directory", True), "skip", id="no such thing"),
            pytest.param(Reading(None, "not in the bundle"), "unknown", id="nobody looked"),
        ],
    )
    def test_the_host_s_nodes(self, nodes: Any, result: str) -> None:
        machine = sample.machine(sample.gpu(GPU0, 1), sample.hca(HCA1, 1))
        assert only(self.ID, self.far(nodes=nodes), machine).result == result

    def test_virtual_machines_are_laid_out_by_others(self) -> None:
        machine = replace(self.machine(), virtual=Reading(True))
        assert only(self.ID, self.far(), machine).result == "skip"
        machine = replace(self.machine(), virtual=Reading(None, "no DMI"))
        assert only(self.ID, self.far(), machine).result == "unknown"

    def test_a_rail_that_contradicts_the_gpu_beside_it(self) -> None:
        swapped = sample.machine(
            sample.gpu(GPU0, 0), sample.hca(HCA0, 1), sample.gpu(GPU1, 1), sample.hca(HCA1, 0), sample.nvswitch()
        )
        checks = [one for one in pci.judge(sample.facts(), swapped, from_inventory({})) if one.id == self.ID]
        assert [(one.subject, one.observed, one.expected) for one in checks] == [
            (HCA0, "NUMA node 1", "NUMA node 0"),
            (HCA1, "NUMA node 0", "NUMA node 1"),
        ]
        assert GPU0 in checks[0].cause

    def test_below_another_root_port_any_socket_with_a_gpu_will_do(self) -> None:
        path = ("0000:a0:01.0", HCA1)
        apart = sample.machine(sample.gpu(GPU0, 0), sample.gpu(GPU1, 1), sample.hca(HCA1, 0, path=path))
        assert only(self.ID, sample.facts(), apart).result == "pass"
        silent = sample.machine(sample.gpu(GPU0, -1), sample.gpu(GPU1, 1), sample.hca(HCA0, 1))
        assert only(self.ID, sample.facts(), silent).result == "pass"


class TestEqualGpus:
    """Four equal modules or cards, each below a port of its own."""

    AT = tuple(f"0000:{bus:02x}:00.0" for bus in (0x21, 0x31, 0x41, 0x51))

    def checks(self, device: str, pcie: dict[int, Pcie], **bent: Any) -> dict[str, list[Any]]:
        ports = {at: f"0000:{int(at[5:7], 16) - 1:02x}:01.0" for at in self.AT}
        functions = [sample.gpu(GPU0, 0, device=device, address=at, path=(ports[at], at)) for at in self.AT]
        gpus = [self.gpu(at, pcie.get(index, Pcie(5, 5, width_max=16, width=16))) for index, at in enumerate(self.AT)]
        known = [replace(gpu, **bent.get(f"gpu{index}", {})) for index, gpu in enumerate(gpus)]
        ends = {at: bent.get("ends", {}).get(at, end()) for at in (*self.AT, *ports.values())}
        facts = sample.facts(ends=ends, smi_anyhow=Reading(Nvsmi(gpus=tuple(known))))
        virtual = Reading(bent.get("virtual", False))
        found = pci.judge(facts, sample.machine(*functions, virtual=virtual), from_inventory({}))
        ids = ("pci.link.speed", "pci.link.width", "pci.gpu.slot")
        return {name: [one for one in found if one.id == name] for name in ids}

    @staticmethod
    def gpu(at: str, pcie: Pcie) -> Gpu:
        return smi(at, pcie=pcie, performance="P0")

    @pytest.mark.parametrize("device", ["2330", "2331"])
    @pytest.mark.parametrize(
        ("pcie", "check_id", "seen"),
        [
            (Pcie(5, 1, width_max=16, width=16), "pci.link.speed", "generation 1"),
            (Pcie(5, 5, width_max=16, width=8), "pci.link.width", "lanes 8"),
            (Pcie(4, 4, width_max=16, width=16), "pci.gpu.slot", "at most generation 4"),
            (Pcie(5, 5, width_max=8, width=8), "pci.gpu.slot", "at most lanes 8"),
        ],
    )
    def test_the_odd_one_out_is_found_once(self, device: str, pcie: Pcie, check_id: str, seen: str) -> None:
        for virtual in (False, True):
            found = self.checks(device, {2: pcie}, virtual=virtual)
            bad = [one for checks in found.values() for one in checks if one.result in ("fail", "unknown")]
            assert [(one.id, one.subject, one.observed) for one in bad] == [(check_id, self.AT[2], seen)]
            assert bad[0].expected_from == "equals 3/4"

    def test_a_gpu_in_another_state_is_compared_with_no_other(self) -> None:
        asleep = Pcie(5, 1, width_max=16, width=16)
        found = self.checks("2331", {1: asleep}, gpu1={"performance": "P8"})
        assert [one.result for one in found["pci.link.speed"]] == ["pass"]
        busy = {f"gpu{index}": {"clocks_events": {"gpu_idle": "Not Active"}} for index in (0, 2, 3)}
        assert [one.result for one in self.checks("2331", {1: asleep}, **busy)["pci.link.speed"]] == ["pass"]

    def test_a_slot_of_one_card_that_can_do_less(self) -> None:
        port = "0000:40:01.0"
        narrow = end(max_width=Reading(8))
        (check,) = self.checks("2331", {}, ends={port: narrow})["pci.gpu.slot"]
        assert (check.subject, check.result, check.observed) == (self.AT[2], "fail", "32 GT/s x8")
        wide = {f"0000:{bus}:01.0": narrow for bus in (20, 30, 50)}
        assert [one.result for one in self.checks("2331", {}, ends=wide)["pci.gpu.slot"]] == ["skip"]
