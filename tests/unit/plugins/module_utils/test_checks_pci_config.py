# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci import area as pci
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci.facts import PciFacts
from ansible_collections.ibready.cluster.plugins.module_utils._expect import profiles
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse.nvsmi_xml import Nvsmi
from ansible_collections.ibready.cluster.plugins.module_utils._parse.pci_resource import Bar
from tests.unit import pci_samples as sample
from tests.unit.pci_samples import GPU0, GPU1, HCA0, PORTS, bars, config, end, errors

ROOT, UPSTREAM, DOWNSTREAM = PORTS[HCA0]
DENIED = Reading(None, "permission denied")
VM = sample.machine(virtual=Reading(True))
UNSURE = sample.machine(virtual=Reading(None, "no DMI"))


def found(check_id: str, facts: PciFacts, machine: Machine | None = None) -> list[Check]:
    checks = pci.judge(facts, machine or sample.machine(), Expectations())
    return [one for one in checks if one.id == check_id]


def only(check_id: str, facts: PciFacts, machine: Machine | None = None) -> Check:
    checks = found(check_id, facts, machine)
    assert len(checks) == 1, checks
    return checks[0]


def configs(**bent: Any) -> PciFacts:
    """The healthy facts; HCA0, GPU0, its port or the root port have another configuration."""
    names = {"hca": HCA0, "gpu": GPU0, "port": DOWNSTREAM, "root": ROOT}
    changed = {names[name]: one for name, one in bent.items()}
    return replace(sample.facts(), configs={**sample.facts().configs, **changed})


HEADER = Reading(config(size=64, max_payload=None, max_read_request=None, acs=None, aspm=None))
SHORT = Reading(config(size=256, acs=None))


class TestReadRequest:
    ID = "pci.hca.read_request"

    def test_the_kernel_s_default_is_too_small(self) -> None:
        check = only(self.ID, configs(hca=Reading(config(max_read_request=512))))
        assert (check.subject, check.result, check.severity) == (HCA0, "fail", "warning")
        assert (check.observed, check.expected) == ("512 bytes", "4096 bytes")
        assert f"setpci -s {HCA0}" in check.remedy

    @pytest.mark.parametrize(
        ("told", "why"),
        [
            (DENIED, "permission denied"),
            (HEADER, "root"),
            (Reading(config(max_read_request=None)), "no PCI Express capability"),
            (Reading(config(vendor=0xFFFF)), "does not answer"),
        ],
    )
    def test_what_cannot_be_read_is_unknown(self, told: Any, why: str) -> None:
        check = only(self.ID, configs(hca=told))
        assert check.result == "unknown"
        assert why in check.cause

    def test_virtual_machines_and_other_vendors_are_left_alone(self) -> None:
        small = configs(hca=Reading(config(max_read_request=512)))
        assert only(self.ID, small, VM).result == "skip"
        assert only(self.ID, small, UNSURE).result == "unknown"
        machine = sample.machine(sample.hca(HCA0, 0, vendor="14e4", class_code="020000"))
        assert only(self.ID, small, machine).result == "skip"


class TestSleep:
    ID = "pci.hca.aspm"

    @pytest.mark.parametrize(("states", "seen"), [(1, "L0s"), (2, "L1"), (3, "L0s and L1")])
    def test_a_link_that_may_sleep(self, states: int, seen: str) -> None:
        check = only(self.ID, configs(hca=Reading(config(aspm=states))))
        assert (check.subject, check.result, check.severity) == (HCA0, "fail", "warning")
        assert check.observed == f"ASPM {seen} enabled"
        # With pcie_aspm=off the kernel leaves the links as the BIOS has set them.
        assert "pcie_aspm.policy=performance, without pcie_aspm=force" in check.remedy
        assert "pcie_aspm from" not in check.remedy

    @pytest.mark.parametrize("told", [DENIED, HEADER, Reading(config(aspm=None))])
    def test_what_cannot_be_read_is_unknown(self, told: Any) -> None:
        assert only(self.ID, configs(hca=told)).result == "unknown"

    def test_a_virtual_machine_sees_other_registers(self) -> None:
        asleep = configs(hca=Reading(config(aspm=2)))
        assert only(self.ID, asleep, VM).result == "skip"
        assert only(self.ID, asleep, UNSURE).result == "unknown"


class TestPayload:
    ID = "pci.path.max_payload"

    def test_a_bridge_with_another_size(self) -> None:
        checks = found(self.ID, configs(port=Reading(config(max_payload=512))))
        assert [one.subject for one in checks] == [HCA0]
        assert f"{DOWNSTREAM} 512 bytes" in checks[0].observed

    def test_a_root_port_speaks_to_all_that_is_below(self) -> None:
        checks = found(self.ID, configs(root=Reading(config(max_payload=512))))
        assert {one.subject for one in checks} == {GPU0, HCA0}

    @pytest.mark.parametrize("told", [DENIED, HEADER])
    def test_what_cannot_be_read_is_unknown(self, told: Any) -> None:
        check = only(self.ID, configs(port=told))
        assert check.result == "unknown"
        assert DOWNSTREAM in check.cause

    def test_without_a_path_nobody_can_compare(self) -> None:
        machine = sample.machine(sample.hca(HCA0, 0, path=()))
        assert only(self.ID, sample.facts(), machine).result == "unknown"

    def test_virtual_machines_are_left_alone(self) -> None:
        other = configs(port=Reading(config(max_payload=512)))
        assert only(self.ID, other, VM).result == "skip"
        assert only(self.ID, other, UNSURE).result == "unknown"


class TestAcs:
    ID = "pci.bridge.acs"

    @pytest.mark.parametrize(
        ("acs", "names"),
        [(0x1D, "SrcValid+ ReqRedir+ CmpltRedir+ UpstreamFwd+"), (0x04, "ReqRedir+")],
    )
    def test_a_switch_port_that_sends_up_what_is_for_its_neighbour(self, acs: int, names: str) -> None:
        check = only(self.ID, configs(port=Reading(config(acs=acs))))
        assert (check.subject, check.result, check.severity) == (DOWNSTREAM, "fail", "error")
        assert check.observed == names
        assert HCA0 in check.cause

    def test_other_bits_redirect_nothing(self) -> None:
        assert only(self.ID, configs(port=Reading(config(acs=0x42)))).result == "pass"

    def test_a_port_without_the_capability_cannot_redirect(self) -> None:
        assert only(self.ID, configs(port=Reading(config(acs=None)))).result == "pass"

    def test_a_root_port_turns_nothing_around(self) -> None:
        assert only(self.ID, configs(root=Reading(config(acs=0x1D)))).result == "pass"

    @pytest.mark.parametrize("told", [DENIED, HEADER, SHORT])
    def test_what_cannot_be_read_is_unknown(self, told: Any) -> None:
        assert only(self.ID, configs(port=told)).result == "unknown"

    def test_a_virtual_machine_keeps_it(self) -> None:
        on = configs(port=Reading(config(acs=0x1D)))
        assert only(self.ID, on, VM).result == "skip"
        assert only(self.ID, on, UNSURE).result == "unknown"

    def test_grace_has_rules_of_its_own(self) -> None:
        machine = sample.machine(gpus=Reading((profiles.gpu_model("GB200"),)))
        assert only(self.ID, configs(port=Reading(config(acs=0x1D))), machine).result == "skip"

    def test_gpus_that_share_no_switch_have_nothing_to_lose(self) -> None:
        direct = [
            sample.gpu(GPU0, 0, path=("0000:10:01.0", GPU0)),
            sample.hca(HCA0, 0, path=("0000:10:02.0", HCA0)),
        ]
        check = only(self.ID, sample.facts(), sample.machine(*direct))
        assert (check.result, check.cause[:9]) == ("skip", "no GPU sh")

    def test_two_hcas_on_one_switch_are_no_gpu_s_business(self) -> None:
        other = sample.hca(HCA0, 0, address="0000:16:00.0", path=(*PORTS[HCA0][:2], "p", "0000:16:00.0"))
        machine = sample.machine(sample.hca(HCA0, 0), other, sample.gpu(GPU1, 1))
        on = configs(port=Reading(config(acs=0x1D)))
        assert only(self.ID, on, machine).result == "skip"

    def test_without_a_path_nobody_can_tell(self) -> None:
        machine = sample.machine(sample.gpu(GPU0, 0, path=()), sample.hca(HCA0, 0))
        assert only(self.ID, sample.facts(), machine).result == "unknown"


class TestBars:
    def results(self, told: Any, **bent: Any) -> dict[str, str]:
        facts = sample.facts(bars={GPU0: told, GPU1: bars()}, **bent)
        return {
            one.id.rpartition(".")[2]: one.result
            for one in pci.judge(facts, sample.machine(), Expectations())
            if one.id.startswith("pci.gpu.") and one.id.rpartition(".")[2] in self.IDS
        }

    IDS = ("bar", "above_4g", "bar_size")

    @pytest.mark.parametrize(
        ("told", "said"),
        [
            pytest.param(bars(assigned=False), "128 GiB has no address", id="kept its size"),
            pytest.param(Reading((Bar(0, 256 << 20, False),)), "256 MiB has no address", id="the smallest"),
            pytest.param(Reading((Bar(0xC5000000, 16 << 20, True),)), "largest is 16 MiB", id="emptied"),
            pytest.param(Reading(()), "largest is 0 MiB", id="nothing at all"),
        ],
    )
    def test_a_gpu_without_room_for_its_memory(self, told: Any, said: str) -> None:
        assert self.results(told) == {
            "bar": "fail",
            "above_4g": "unknown",
            "bar_size": "unknown",
        }
        facts = sample.facts(bars={GPU0: told, GPU1: bars()})
        assert said in only("pci.gpu.bar", facts).observed

    def test_one_large_bar_without_an_address_is_one_too_many(self) -> None:
        lost = Bar(0, 1 << 30, False)
        assert self.results(Reading((*bars().value, lost)))["bar"] == "fail"

    def test_memory_below_four_gib(self) -> None:
        low = bars(start=0xA0000000)
        assert self.results(low) == {"bar": "pass", "above_4g": "fail", "bar_size": "pass"}
        facts = sample.facts(bars={GPU0: low, GPU1: bars()})
        assert only("pci.gpu.above_4g", facts, VM).result == "skip"

    def test_a_bar_smaller_than_the_memory(self) -> None:
        assert self.results(bars(gib=64)) == {"bar": "pass", "above_4g": "pass", "bar_size": "fail"}

    def test_a_card_need_not_show_all_of_its_memory(self) -> None:
        machine = sample.machine(sample.gpu(GPU0, 0, device="26b9"))
        facts = sample.facts(bars={GPU0: bars(gib=1)})
        assert only("pci.gpu.bar_size", facts, machine).result == "skip"

    def test_what_cannot_be_read_is_unknown(self) -> None:
        assert set(self.results(DENIED).values()) == {"unknown"}
        lost = Reading(None, "nvsmi_xml: not installed")
        assert self.results(bars(), smi_anyhow=lost)["bar_size"] == "unknown"
        assert self.results(bars(), smi_anyhow=Reading(Nvsmi()))["bar_size"] == "unknown"

    def test_a_gpu_without_a_memory_size_is_left_out(self) -> None:
        silent = sample.smi(GPU0, memory_total_mib=None)
        facts = sample.facts(smi_anyhow=Reading(Nvsmi(gpus=(silent,))))
        machine = sample.machine(sample.gpu(GPU0, 0))
        assert only("pci.gpu.bar_size", facts, machine).result == "skip"


class TestErrors:
    def with_errors(self, **bent: Any) -> PciFacts:
        return replace(sample.facts(), errors={**sample.facts().errors, DOWNSTREAM: errors(**bent)})

    @pytest.mark.parametrize(
        ("kind", "check_id", "severity"),
        [("fatal", "pci.aer.fatal", "error"), ("nonfatal", "pci.aer.uncorrectable", "warning")],
    )
    def test_an_uncorrectable_error_names_the_bridge(self, kind: str, check_id: str, severity: str) -> None:
        counted = Reading({"CmpltTO": 2, f"TOTAL_ERR_{kind.upper()}": 2})
        check = only(check_id, self.with_errors(**{kind: counted}))
        assert (check.subject, check.result, check.severity) == (DOWNSTREAM, "fail", severity)
        assert check.observed == "CmpltTO 2"

    @pytest.mark.parametrize("at", [sample.SWITCH, sample.SWITCH_PORT])
    def test_nvswitches_and_their_ports_are_looked_at(self, at: str) -> None:
        fatal = errors(fatal=Reading({"DLP": 1, "TOTAL_ERR_FATAL": 1}))
        facts = replace(sample.facts(), errors={**sample.facts().errors, at: fatal})
        assert only("pci.aer.fatal", facts).subject == at

    def test_a_total_alone_counts(self) -> None:
        facts = self.with_errors(fatal=Reading({"DLP": 0, "TOTAL_ERR_FATAL": 1}))
        assert only("pci.aer.fatal", facts).result == "fail"

    @pytest.mark.parametrize("check_id", ["pci.aer.fatal", "pci.aer.uncorrectable", "pci.aer.correctable"])
    def test_counters_that_cannot_be_read(self, check_id: str) -> None:
        facts = self.with_errors(fatal=DENIED, nonfatal=DENIED, correctable=DENIED)
        assert only(check_id, facts).result == "unknown"

    @pytest.mark.parametrize("check_id", ["pci.aer.fatal", "pci.aer.uncorrectable", "pci.aer.correctable"])
    def test_a_kernel_without_counters(self, check_id: str) -> None:
        none = Reading(None, "no such file", True)
        facts = sample.facts(errors=dict.fromkeys(sample.LIST, errors(fatal=none, nonfatal=none, correctable=none)))
        assert only(check_id, facts).result == "skip"

    @pytest.mark.parametrize(
        ("counted", "result"),
        [
            # A link of 32 GT/s and 16 lanes may have one bit error in two seconds.
            pytest.param({"RxErr": 400000, "TOTAL_ERR_COR": 400000}, "pass", id="as specified"),
            pytest.param({"RxErr": 500000, "TOTAL_ERR_COR": 500000}, "fail", id="more"),
            pytest.param({"Bad TLP": 500000, "TOTAL_ERR_COR": 1}, "fail", id="an old kernel"),
            pytest.param({"NonFatalErr": 500000}, "pass", id="none of the link's doing"),
        ],
    )
    def test_correctable_errors_by_the_specification(self, counted: dict[str, int], result: str) -> None:
        facts = self.with_errors(correctable=Reading(counted))
        assert only("pci.aer.correctable", facts).result == result

    def test_what_the_link_mends_itself_or_just_began(self) -> None:
        many = self.with_errors(correctable=Reading({"RxErr": 10**9, "TOTAL_ERR_COR": 10**9}))
        assert only("pci.aer.correctable", many).result == "fail"
        mended = replace(many, ends={**many.ends, DOWNSTREAM: end(max_speed=Reading(64.0))})
        assert only("pci.aer.correctable", mended).result == "pass"
        young = replace(many, uptime_s=Reading(60.0))
        assert only("pci.aer.correctable", young).result == "skip"
        lost = replace(many, uptime_s=Reading(None, "/proc/uptime: not in the bundle"))
        assert only("pci.aer.correctable", lost).result == "unknown"
        unseen = replace(many, ends={**many.ends, DOWNSTREAM: end(max_speed=DENIED)})
        assert only("pci.aer.correctable", unseen).result == "unknown"
