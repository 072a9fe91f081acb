# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci import area as pci
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci.facts import PciFacts, Rdma
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    Expectations,
    from_inventory,
    with_profile,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect.profiles import board_by_name
from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as _model
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvsmi_xml import Nvsmi
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.unit import pci_samples as sample
from tests.unit.pci_samples import GPU0, GPU1, HCA0, HCA1, SWITCH

IDS = sorted(one for one in CATALOG if one.startswith("pci."))


def judge(facts: PciFacts | None = None, machine: Machine | None = None, **expect: Any) -> list[Check]:
    return pci.judge(facts or sample.facts(), machine or sample.machine(), from_inventory(expect))


def found(
    check_id: str, facts: PciFacts | None = None, machine: Machine | None = None, **expect: Any
) -> list[tuple[str, str, str]]:
    """Subject, result, and what was said, of one check."""
    return [
        (one.subject, one.result, f"{one.observed} {one.cause}")
        for one in judge(facts, machine, **expect)
        if one.id == check_id
    ]


def only(check_id: str, *args: Any, **expect: Any) -> tuple[str, str, str]:
    checks = found(check_id, *args, **expect)
    assert len(checks) == 1, checks
    return checks[0]


def test_a_healthy_host_is_ready_and_every_check_has_its_say() -> None:
    checks = judge()
    assert sorted(one.id for one in checks) == IDS
    assert {one.result for one in checks} == {"pass", "skip"}
    assert {one.id for one in checks if one.result == "skip"} == {"pci.gpu.rail", "pci.nvswitch.count"}
    assert _model.verdict(checks) == "ready"


@pytest.mark.parametrize(
    ("machine", "result", "why"),
    [
        pytest.param(
            Machine(pci=Reading(None, "/sys/bus/pci/devices: not in the bundle")),
            "unknown",
            "not in the bundle",
            id="a bundle of command outputs",
        ),
        pytest.param(Machine(pci=Reading(None, "no such directory", True)), "skip", "no PCI bus", id="no bus"),
        pytest.param(
            replace(sample.machine(), simulated="InfiniBand fabric (ibsim)"),
            "skip",
            "simulated node",
            id="a node of the sandbox",
        ),
    ],
)
def test_without_a_bus_nothing_passes(machine: Machine, result: str, why: str) -> None:
    checks = judge(machine=machine)
    assert sorted(one.id for one in checks) == IDS
    assert {one.result for one in checks} == {result}
    assert all(why in one.cause for one in checks)


def test_without_facts_nothing_of_a_real_host_passes() -> None:
    passes = {one.id for one in judge(PciFacts()) if one.result == "pass"}
    # What the bus itself tells.
    assert passes == {"pci.gpu.driver", "pci.hca.driver", "pci.nvswitch.driver"}


def test_a_host_without_gpus_and_hcas_skips_all_of_them() -> None:
    machine = sample.machine(sample.nvswitch(class_code="060400"))
    checks = judge(sample.facts(rdma=Reading(())), machine)
    assert {one.result for one in checks} == {"skip"}


def test_another_vendors_port_is_an_hca_only_where_it_does_rdma() -> None:
    nic = sample.hca(HCA0, 0, class_code="020000", vendor="8086", driver="")
    machine = sample.machine(sample.gpu(GPU0, 0), sample.hca(HCA1, 1), nic)
    none = sample.facts(rdma=Reading((Rdma("mlx5_1", HCA1, "", 400.0),)))
    assert only("pci.hca.driver", none, machine)[1:] == ("pass", "1 HCAs ")
    assert only("pci.hca.driver", None, machine)[:2] == (HCA0, "fail")


@pytest.mark.parametrize("name", [HCA0, "mlx5_0"])
def test_what_the_inventory_ignores_is_left_out(name: str) -> None:
    machine = sample.machine(sample.gpu(GPU0, 0), sample.hca(HCA0, 0, driver=""))
    facts = sample.facts(rdma=Reading((Rdma("mlx5_0", HCA0),)))
    assert only("pci.hca.driver", facts, machine)[1] == "fail"
    assert only("pci.hca.driver", facts, machine, ignore=[name])[1] == "skip"


def test_a_function_that_reads_as_ones_fell_off_the_bus() -> None:
    dead = Reading(sample.config(vendor=0xFFFF))
    facts = sample.facts(configs={**sample.facts().configs, GPU1: dead})
    assert only("pci.device.answers", facts)[:2] == (GPU1, "fail")


@pytest.mark.parametrize("off", ["bus mastering", "memory decode"])
def test_a_function_switched_off_under_its_driver(off: str) -> None:
    reset = Reading(sample.config(off=(off,)))
    facts = sample.facts(configs={**sample.facts().configs, HCA1: reset, SWITCH: reset})
    subject, result, said = only("pci.device.answers", facts)
    assert (subject, result) == (HCA1, "fail")
    assert off in said
    for driver in ("", "vfio-pci"):  # nobody here needs it
        machine = sample.machine(sample.hca(HCA0, 0), sample.hca(HCA1, 1, driver=driver))
        assert only("pci.device.answers", facts, machine)[1] == "pass"


def test_a_function_whose_registers_cannot_be_read_is_unknown() -> None:
    denied = Reading(None, "config: permission denied")
    facts = sample.facts(configs={**sample.facts().configs, GPU1: denied})
    subject, result, said = only("pci.device.answers", facts)
    assert (subject, result) == (GPU1, "unknown")
    assert "permission denied" in said


DRIVERS = [
    ("pci.gpu.driver", sample.gpu(GPU0, 0), "", "fail", "not loaded"),
    ("pci.gpu.driver", sample.gpu(GPU0, 0), "nouveau", "fail", "nouveau"),
    ("pci.gpu.driver", sample.gpu(GPU0, 0), "vfio-pci", "fail", "virtual machine"),
    ("pci.gpu.driver", sample.gpu(GPU0, 0), None, "unknown", "does not tell"),
    ("pci.hca.driver", sample.hca(HCA0, 0), "", "fail", "mlx5_core"),
    ("pci.hca.driver", sample.hca(HCA0, 0), "vfio-pci", "fail", "vfio-pci"),
    ("pci.hca.driver", sample.hca(HCA0, 0), None, "unknown", "does not tell"),
    ("pci.nvswitch.driver", sample.nvswitch(), "", "fail", "not loaded"),
    ("pci.nvswitch.driver", sample.nvswitch(), None, "unknown", "does not tell"),
]


@pytest.mark.parametrize(("check_id", "function", "driver", "result", "said"), DRIVERS)
def test_a_function_without_its_driver(
    check_id: str, function: Any, driver: str | None, result: str, said: str
) -> None:
    machine = sample.machine(
        replace(function, driver=driver),
        sample.gpu(GPU1, 1),
        sample.hca(HCA1, 1),
    )
    checks = found(check_id, None, machine)
    assert [one[1] for one in checks] == [result]
    assert said in checks[0][2]


def test_a_hypervisor_that_hands_over_all_gpus_is_no_broken_host() -> None:
    machine = sample.machine(sample.gpu(GPU0, 0, driver="vfio-pci"), sample.gpu(GPU1, 1, driver="vfio-pci"))
    checks = [one for one in judge(machine=machine) if one.id.startswith("pci.gpu.")]
    assert {one.result for one in checks} == {"skip"}
    assert "handed to virtual machines" in checks[0].cause


class TestListed:
    ID = "pci.gpu.listed"

    def test_a_gpu_that_nvidia_smi_leaves_out(self) -> None:
        one = Reading(Nvsmi(gpus=(sample.smi(GPU0),)))
        assert only(self.ID, sample.facts(smi=one, smi_anyhow=one))[:2] == (GPU1, "fail")

    def test_nvidia_smi_s_own_words_are_the_cause(self) -> None:
        words = f"Unable to determine the device handle for GPU{GPU1}: Unknown Error"
        lost = Reading(Nvsmi(gpus=(sample.smi(GPU0),), unreachable=((f"0000{GPU1.upper()}", words),)))
        denied = Reading(None, "nvsmi_xml ended with status 15")
        checks = found(self.ID, sample.facts(smi=denied, smi_anyhow=lost))
        assert checks[0][:2] == (GPU1, "fail")
        assert words in checks[0][2]
        assert checks[1][:2] == ("nvidia-smi", "unknown")

    def test_a_gpu_that_is_gone_from_the_bus(self) -> None:
        gone = "0000:a3:00.0"
        one = Reading(Nvsmi(gpus=(sample.smi(GPU0), sample.smi(GPU1), sample.smi(gone))))
        assert only(self.ID, sample.facts(smi=one))[:2] == (gone, "fail")

    @pytest.mark.parametrize("why", ["nvsmi_xml: not installed", "nvsmi_xml: no end in 90 s"])
    def test_no_nvidia_smi_is_unknown(self, why: str) -> None:
        facts = sample.facts(smi=Reading(None, why), smi_anyhow=Reading(None, why))
        assert only(self.ID, facts) == ("host", "unknown", f" {why}")

    def test_an_error_status_is_unknown_even_with_every_gpu_listed(self) -> None:
        facts = sample.facts(smi=Reading(None, "nvsmi_xml ended with status 14"))
        assert only(self.ID, facts)[1] == "unknown"

    def test_a_gpu_without_a_driver_is_told_once(self) -> None:
        machine = sample.machine(sample.gpu(GPU0, 0, driver=""), sample.gpu(GPU1, 1))
        one = Reading(Nvsmi(gpus=(sample.smi(GPU1),)))
        assert only(self.ID, sample.facts(smi=one), machine)[1] == "unknown"

    def test_a_container_may_have_some_of_the_gpus_only(self) -> None:
        one = Reading(Nvsmi(gpus=(sample.smi(GPU0),)))
        facts, machine = sample.facts(smi=one), sample.machine(container="docker")
        assert only(self.ID, facts, machine)[1] == "pass"


class TestRdma:
    ID = "pci.hca.rdma"
    ONE = Rdma("mlx5_0", HCA0, "", 400.0)

    def test_an_hca_without_an_rdma_device(self) -> None:
        subject, result, said = only(self.ID, sample.facts(rdma=Reading((self.ONE,))))
        assert (subject, result) == (HCA1, "fail")
        assert "mlx5_ib" in said

    def test_no_rdma_core_at_all(self) -> None:
        facts = sample.facts(rdma=Reading(None, "no such directory", True))
        checks = found(self.ID, facts)
        assert [one[:2] for one in checks] == [(HCA0, "fail"), (HCA1, "fail")]
        assert "RDMA core" in checks[0][2]

    def test_an_rdma_device_whose_function_is_gone(self) -> None:
        gone = Rdma("mlx5_7", "0000:c5:00.0")
        rdma = Reading((*(sample.facts().rdma.value or ()), gone))
        assert only(self.ID, sample.facts(rdma=rdma))[:2] == ("mlx5_7", "fail")

    def test_software_devices_are_no_functions(self) -> None:
        rdma = Reading((*(sample.facts().rdma.value or ()), Rdma("rxe0", "")))
        assert only(self.ID, sample.facts(rdma=rdma))[1] == "pass"

    @pytest.mark.parametrize(
        "rdma",
        [
            pytest.param(Reading(None, "permission denied"), id="cannot be listed"),
            pytest.param(Reading((ONE, Rdma("mlx5_1", None))), id="a link is no link"),
        ],
    )
    def test_what_cannot_be_matched_is_unknown(self, rdma: Any) -> None:
        assert only(self.ID, sample.facts(rdma=rdma))[1] == "unknown"

    def test_two_bonded_ports_are_one_device(self) -> None:
        ports = [
            sample.hca(HCA0, 0, class_code="020000"),
            sample.hca(HCA0, 0, class_code="020000", address=HCA0[:-1] + "1"),
        ]
        bonds = dict.fromkeys((HCA0, HCA0[:-1] + "1"), Reading("bond0"))
        facts = sample.facts(rdma=Reading((Rdma("mlx5_bond_0", HCA0),)), bonds=bonds)
        assert only(self.ID, facts, sample.machine(*ports))[1] == "pass"
        ports[1] = replace(ports[1], class_code="020700")
        assert only(self.ID, facts, sample.machine(*ports))[1] == "fail"

    @pytest.mark.parametrize(
        ("mine", "theirs", "result"),
        [
            (Reading(""), Reading("bond0"), "fail"),
            (Reading("bond1"), Reading("bond0"), "fail"),
            (Reading("bond0"), Reading(""), "fail"),
            (Reading(None, "permission denied"), Reading("bond0"), "unknown"),
            (Reading("bond0"), Reading(None, "permission denied"), "unknown"),
        ],
    )
    def test_a_second_port_that_is_in_no_bond_with_the_first(self, mine: Any, theirs: Any, result: str) -> None:
        second = HCA0[:-1] + "1"
        ports = [
            sample.hca(HCA0, 0, class_code="020000"),
            sample.hca(HCA0, 0, class_code="020000", address=second),
        ]
        facts = sample.facts(rdma=Reading((Rdma("mlx5_0", HCA0),)), bonds={HCA0: theirs, second: mine})
        assert only(self.ID, facts, sample.machine(*ports))[:2] == (second, result)

    def test_a_container_may_have_some_of_the_devices_only(self) -> None:
        facts = sample.facts(rdma=Reading((self.ONE,)))
        assert only(self.ID, facts, sample.machine(container="podman"))[1] == "pass"

    def test_a_function_without_a_driver_is_told_once(self) -> None:
        machine = sample.machine(sample.hca(HCA0, 0), sample.hca(HCA1, 1, driver=""))
        assert only(self.ID, sample.facts(rdma=Reading((self.ONE,))), machine)[1] == "unknown"


class TestVirtualFunctions:
    ID = "pci.hca.vfs"

    def machine(self, count: int, **bent: Any) -> Machine:
        made = [
            sample.hca(HCA0, 0, address=f"0000:15:00.{1 + one}", device="101e", virtual=True, driver="")
            for one in range(count)
        ]
        made = [replace(one, **{"physical": HCA0, **bent}) for one in made]
        return sample.machine(sample.hca(HCA0, 0), *made)

    def judged(self, told: Any, machine: Machine) -> tuple[str, str, str]:
        return only(self.ID, sample.facts(vfs={HCA0: told}), machine)

    def test_all_are_there_bound_or_not(self) -> None:
        machine = self.machine(2)
        assert self.judged(Reading(2), machine)[1] == "pass"
        assert only("pci.hca.driver", None, machine)[2].strip() == "1 HCAs"
        assert only("pci.hca.rdma", None, self.machine(2))[1] == "fail"  # mlx5_1 has no function

    def test_one_is_gone(self) -> None:
        subject, result, said = self.judged(Reading(2), self.machine(1))
        assert (subject, result) == (HCA0, "fail")
        assert "1 virtual functions" in said

    def test_whose_they_are_cannot_be_told(self) -> None:
        assert self.judged(Reading(2), self.machine(2, physical=""))[1] == "unknown"

    def test_no_sr_iov_and_no_look(self) -> None:
        assert self.judged(Reading(None, "no such file", True), self.machine(0))[1] == "skip"
        assert self.judged(Reading(None, "not in the bundle"), self.machine(0))[1] == "unknown"


class TestSwitchCount:
    ID = "pci.nvswitch.count"

    def judged(self, switches: int, virtual: Any) -> Check:
        machine = sample.machine(
            sample.gpu(GPU0, 0),
            *[sample.nvswitch(f"0000:e{one}:00.0") for one in range(switches)],
            board=board_by_name("hgx-h100-8"),
            virtual=virtual,
        )
        checks = pci.judge(sample.facts(), machine, with_profile(Expectations(), machine.board))
        return next(one for one in checks if one.id == self.ID)

    def test_as_many_as_the_board_has(self) -> None:
        check = self.judged(4, Reading(False))
        assert (check.result, check.expected_from) == ("pass", "profile hgx-h100-8")

    @pytest.mark.parametrize("switches", [0, 3])
    def test_one_or_all_are_missing(self, switches: int) -> None:
        check = self.judged(switches, Reading(False))
        assert (check.result, check.observed, check.expected) == ("fail", str(switches), "4")

    def test_a_virtual_machine_need_not_see_them(self) -> None:
        assert self.judged(0, Reading(True)).result == "skip"
        assert self.judged(3, Reading(True)).result == "fail"
        assert self.judged(0, Reading(None, "no DMI")).result == "unknown"


def test_functions_that_are_no_nvswitches_are_not_counted() -> None:
    assert only("pci.nvswitch.driver")[2].startswith("1 NVSwitches")
    machine = sample.machine(sample.gpu(GPU0, 0), sample.nvswitch(SWITCH, vendor="8086"))
    assert only("pci.nvswitch.driver", None, machine)[1] == "skip"
