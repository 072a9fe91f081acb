# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from resolvelib import Resolver
from resolvelib.resolvers import ResolutionTooDeep

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.model import Fact, Matrix
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.lock import shown
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve import rules_release, series
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.answer import (
    ALLOWED,
    KNOWN,
    Answer,
    resolve,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.candidates import Candidate
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.platform import (
    OTHER_HCA,
    Platform,
    merged,
    platform as from_node,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.policy import (
    Policy,
    PolicyError,
    from_variables,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.refuse import Refusal
from tests import cases
from tests.unit.plugins.plugin_utils.resolve.hosts import TODAY, platform


def answer(host: Platform, **wishes: str) -> Answer:
    found = resolve(host, Policy(**wishes), load.own(), TODAY)
    assert isinstance(found, Answer), found
    return found


def test_a_stack_that_somebody_shipped_for_this_system_is_known() -> None:
    shipped = {"driver": "580.105.08", "rdma_version": "3.2.1", "nccl": "2.28.9", "container_toolkit": "none"}
    found = answer(platform(system="rhel9.6", kernel="5.14.0-570.el9_6.x86_64"), **shipped)
    assert found.verdict == KNOWN
    assert found.stack["rdma"]["flavour"] == "doca"
    driver = found.stack["driver"]
    assert driver["modules"] == "open"
    assert found.stack["fabric_manager"]["version"] == driver["version"]
    assert found.stack["nscq"]["version"] == driver["version"]
    assert found.stack["peer_memory"] == {"method": "dmabuf"}
    assert not {"nvlsm", "imex", "dcgm", "gdrcopy"} & set(found.stack)
    assert {warning.rule for warning in found.warnings} == {"SECURITY"}


def test_where_nobody_shipped_a_stack_a_branch_comes_that_somebody_shipped_elsewhere(tmp_path: Path) -> None:
    host = platform(system="debian12")
    found = answer(host)
    assert (found.verdict, found.stack["driver"]["branch"]) == (ALLOWED, "580")
    assert answer(host, driver="620").stack["driver"]["branch"] == "620"
    (tmp_path / "stacks.yml").write_text(
        'stacks: {ours: {date: "2027-01-12", driver: "620.70.06", source: our lab, confidence: confirmed}}'
    )
    shipped = resolve(host, Policy(), load.load([tmp_path]), TODAY)
    assert isinstance(shipped, Answer)
    assert shipped.stack["driver"]["branch"] == "620", "long term support, and the newer of both"


def test_what_a_board_needs_comes_and_nothing_else() -> None:
    assert "nvlsm" in answer(platform("b200")).stack
    rack = answer(platform("gb200")).stack
    assert rack["imex"]["version"] == rack["driver"]["version"]
    assert "fabric_manager" not in rack
    cpu = answer(platform("cpu"))
    assert set(cpu.stack) == {"rdma"}
    assert cpu.verdict == KNOWN
    card = answer(platform(gpus=["L4 / L40 / L40S / L20"], board="", hcas=[])).stack
    assert not {"rdma", "fabric_manager", "nscq", "peer_memory"} & set(card)


def test_a_shipped_stack_is_known_only_as_it_was_shipped() -> None:
    wishes = {"driver": "580.173.02", "container_toolkit": "none", "nccl": "none"}
    shipped = answer(platform(), **wishes)
    assert shipped.because[0].startswith("shipped together: ")
    another = answer(platform(), **{**wishes, "container_toolkit": "1.19.1"})
    assert another.verdict == ALLOWED
    assert not [one for one in another.because if "shipped together" in one]
    assert another.because[1].startswith("rdma, driver, cuda as in Azure HPC images")
    assert another.because[1].endswith("container toolkit not of it")


def test_what_has_a_published_hole_is_taken_only_by_name() -> None:
    found = answer(platform())
    assert found.stack["driver"]["version"] == "580.178.04"
    assert not found.warnings
    named = answer(platform(), driver="580.173.02", container_toolkit="1.17.7")
    told = [str(warning) for warning in named.warnings if warning.rule == "SECURITY"]
    assert ["CVE-2026-47501" in told[0], "CVE-2025-23266" in told[1]] == [True, True]
    assert "mended in 580.178.04" in told[0]
    # Of a beginning the newest is meant, and of several the one without.
    assert not {warning.rule for warning in answer(platform(), container_toolkit="1.17").warnings} & {"SECURITY"}


def test_what_stands_in_for_a_release_has_only_what_both_neighbours_have() -> None:
    def fact(name: str, *systems: str) -> Fact:
        return Fact("x", name, {"version": name, "confidence": "confirmed", "systems": systems, "source": "a paper"})

    known = {name: fact(name, *systems.split()) for name, systems in {"1.2.1": "a b", "1.2.9": "b c"}.items()}
    stands, names = series.taken("doca", "1.2.5", known)
    assert stands is not None
    assert (stands.get("systems"), names) == (["b"], "1.2.1 and 1.2.9")


def test_each_hole_of_a_release_is_named() -> None:
    holes = {
        name: Fact(
            "x", name, {"part": "driver", "affected": ["<9"], "mended": "9", "what": "x", "confidence": "medium"}
        )
        for name in ("CVE-1", "CVE-2")
    }
    found = rules_release.hole(platform(), Candidate("driver", "8"), Matrix({"security.holes": holes}, ""))
    assert found is not None
    assert "CVE-1: x, and CVE-2: x" in found.one
    assert found.other == "mended in 9"


def test_a_release_that_the_matrix_lacks_goes_by_its_series_and_that_is_said() -> None:
    found = answer(platform(), rdma_version="2.9.7", nccl="2.28.5", container_toolkit="1.17.9", driver="580.181.02")
    assert found.stack["rdma"] == {"flavour": "doca", "version": "2.9.7"}
    assert found.stack["nccl"] == {"version": "2.28.5", "cuda": "13.0"}
    assert found.stack["driver"]["version"] == "580.181.02"
    told = {one.one.partition(" is")[0]: one.other for one in found.warnings if one.rule == "RELEASE_KNOWN"}
    assert told["rdma doca 2.9.7"] == "the matrix has doca-2.9.4"
    assert told["nccl 2.28.5 built with CUDA 13.0"] == "the matrix has 2.28.3 and 2.28.7"
    assert told["container_toolkit 1.17.9"] == "the matrix has 1.17.8"
    assert told["driver 580.181.02 open"] == "the matrix has branch 580"
    # What its neighbours do not have, it has not either.
    refused = resolve(platform(hcas=["ConnectX-8"]), Policy(rdma_version="2.9.7"), load.own(), TODAY)
    assert isinstance(refused, Refusal)
    assert refused.rule == "HCA_RDMA"
    named = answer(platform(), nccl="2.99.1+cuda13.0").stack["nccl"]
    assert named == {"version": "2.99.1", "cuda": "13.0"}


def test_what_the_host_would_not_have_stops_the_plan_unless_a_word_takes_it() -> None:
    host = platform("a100", kernel="6.17.0-1007-aws")
    refused = resolve(host, Policy(driver="550.163.01"), load.own(), TODAY)
    assert isinstance(refused, Refusal)
    assert (refused.rule, "stack_accept DRIVER_KERNEL" in str(refused)) == ("DRIVER_KERNEL", True)
    taken = answer(host, driver="550.163.01", accept="DRIVER_KERNEL")
    assert "DRIVER_KERNEL" in {one.rule for one in taken.warnings}
    other = resolve(host, Policy(driver="550.163.01", accept="RDMA_SYSTEM"), load.own(), TODAY)
    assert isinstance(other, Refusal)
    sure = resolve(platform("v100"), Policy(driver="595", accept="GPU_BRANCH"), load.own(), TODAY)
    assert isinstance(sure, Refusal)
    assert (
        "mind stack_accept GPU_BRANCH: no rule of this name takes a word" in answer(host, accept="GPU_BRANCH").because
    )
    assert not [line for line in taken.because if "takes a word" in line]


def test_an_unknown_model_is_planned_by_its_generation_and_that_is_said() -> None:
    found = answer(platform(gpus=["10de:26b3"], board=""))
    assert found.verdict == ALLOWED
    (told,) = (line for line in found.because if "goes by its generation" in line)
    assert told.startswith(
        "10de:26b3 goes by its generation, Ada: driver >=520.56.06, cuda >=11.8, open or proprietary"
    )
    assert not [line for line in answer(platform()).because if "goes by its generation" in line]
    geforce = answer(platform(gpus=["10de:2684"], board=""))
    assert "GPUDIRECT_GPU" in {one.rule for one in geforce.warnings}


def test_a_part_that_was_found_without_its_modules_is_shown() -> None:
    driver = Candidate("driver", "580.95.05", branch="580")
    assert driver.fields == {"branch": "580", "version": "580.95.05", "modules": ""}
    assert shown({**driver.fields, "found": "580.95.05"}).startswith("580.95.05")
    assert Candidate("rdma", flavour="inbox").fields == {"flavour": "inbox"}


def test_a_gpu_that_no_hca_reaches_is_planned_without_gpudirect_and_the_lock_says_why() -> None:
    found = answer(platform(gpus=["GB10"], board="", arch="aarch64"))
    assert found.stack["peer_memory"]["method"] == "none"
    assert "GB10 has no GPUDirect RDMA (" in found.stack["peer_memory"]["accepted"]


def test_secure_boot_is_asked_of_all_that_dkms_builds() -> None:
    def told(host: Platform, **wishes: str) -> list[str]:
        return [one.other for one in answer(host, **wishes).warnings if one.rule == "SECURE_BOOT"]

    host = platform(secure_boot=True, gpus=["A100 PCIe"], board="")
    wishes = {"driver_flavour": "distribution", "rdma_version": "3.2.3"}
    assert told(host, **wishes) == ["rdma doca 3.2.3 is built by DKMS"]
    assert told(host, **wishes, gdrcopy="2.6")[-1] == "gdrcopy 2.6 is built by DKMS"
    assert told(host, rdma_flavour="inbox", gds="newest")[0].startswith("driver 580.")
    el = platform(system="rhel9.4", kernel="5.14.0-427.el9_4.x86_64", secure_boot=True, gpus=[], board="")
    assert told(el, rdma_version="3.1.0") == []
    assert told(el, rdma_version="3.2.3") == ["rdma doca 3.2.3 is built by DKMS"]
    assert told(platform("cpu"), rdma_version="3.2.3") == []


def test_an_rdma_stack_alone_is_known_by_its_vendor_s_word() -> None:
    found = answer(platform("cpu", system="rhel9.4", kernel="5.14.0-427.el9_4.x86_64"))
    assert found.verdict == KNOWN
    assert found.because[0].startswith("its vendor tested ")
    shipped = answer(platform("cpu", system="rhel8.7", kernel="4.18.0-425.el8.x86_64"), rdma_version="2.7.0")
    assert shipped.because[0].startswith("shipped: ")
    inbox = answer(platform("cpu"), rdma_flavour="inbox")
    assert inbox.verdict == ALLOWED


def test_the_rdma_devices_of_other_vendors_keep_their_distribution_s_stack() -> None:
    other = {**NODE, "hcas": NODE["hcas"][1:], "rdma_devices": ["irdma0"]}
    host = from_node(other, load.own())
    assert host.hcas == (OTHER_HCA,)
    assert answer(host).stack["rdma"]["flavour"] == "inbox"
    refused = resolve(host, Policy(rdma_flavour="doca"), load.own(), TODAY)
    assert isinstance(refused, Refusal)
    assert refused.rule == "HCA_RDMA"
    # Beside soft RoCE the host is what it was without: the plan of its class stays.
    soft = {**other, "rdma_devices": ["rxe0"], "soft_rdma_devices": ["rxe0"]}
    assert from_node(soft, load.own()).hcas == ()
    simulated = from_node({**other, "simulated": True}, load.own())
    assert answer(simulated).stack["rdma"]["flavour"] == "doca"


def test_a_search_that_gives_up_is_a_refusal_that_names_a_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def deep(*_args: object, **_words: object) -> None:
        raise ResolutionTooDeep(1)

    monkeypatch.setattr(Resolver, "resolve", deep)
    refused = resolve(platform(), Policy(), load.own(), TODAY)
    assert isinstance(refused, Refusal)
    assert refused.rule
    assert refused.one
    assert refused.source


def test_volta_gets_its_own_modules_its_last_cuda_and_nvidia_peermem() -> None:
    found = answer(platform("v100")).stack
    assert found["driver"]["modules"] == "proprietary"
    assert found["cuda"]["version"].startswith("12.")
    assert found["nccl"]["cuda"].startswith("12.")
    assert found["peer_memory"] == {"method": "peermem"}


def test_an_old_kernel_takes_nvidia_peermem() -> None:
    host = platform(system="rhel8.10", kernel="4.18.0-553.el8_10.x86_64")
    assert answer(host).stack["peer_memory"] == {"method": "peermem"}


def test_a_site_may_do_without_gpudirect_rdma_and_its_lock_says_so() -> None:
    host = platform(system="rhel8.10", kernel="4.18.0-553.el8_10.x86_64")
    found = answer(host, rdma_flavour="inbox", peer_memory="none")
    assert found.stack["peer_memory"] == {"method": "none", "accepted": "stack_peer_memory"}


def test_an_old_engine_gets_the_newest_toolkit_that_it_can_read() -> None:
    found = answer(platform(engines={"containerd": "1.7.10"})).stack
    assert found["container_toolkit"]["version"].startswith("1.18")


def test_what_is_asked_for_comes_and_what_is_not_wanted_stays_away() -> None:
    found = answer(platform(), dcgm="newest", gdrcopy="2.5.1", container_toolkit="none").stack
    assert found["gdrcopy"] == {"version": "2.5.1"}
    assert "dcgm" in found
    assert "container_toolkit" not in found


def test_a_driver_that_somebody_else_brings_is_left_alone() -> None:
    found = answer(platform(), driver="none", container_toolkit="none").stack
    assert set(found) == {"rdma"}
    assert set(answer(platform("b200"), driver="none").stack) == {"rdma"}


def test_a_wish_of_which_nothing_comes_is_told() -> None:
    def minded(host: Platform, **wishes: str) -> list[str]:
        return [line for line in answer(host, **wishes).because if "comes to nothing" in line]

    wishes = {"nccl": "2.27", "driver_modules": "open", "dcgm": "newest", "imex": "none"}
    assert minded(platform(), driver="none", **wishes) == [
        f"mind stack_{name} {wishes[name]} comes to nothing, because stack_driver is none"
        for name in ("driver_modules", "nccl", "dcgm")
    ]
    assert minded(platform("cpu", hcas=[]), rdma_flavour="none", rdma_version="3.1") == [
        "mind stack_rdma_version 3.1 comes to nothing, because stack_rdma_flavour is none"
    ]
    # A node without GPUs, in a cluster of others, and a toolkit that needs no driver.
    assert minded(platform("cpu"), **wishes) == []
    assert minded(platform(), driver="none", container_toolkit="newest") == []


def test_what_nobody_tested_is_no_better_than_what_was_tested_elsewhere() -> None:
    # A kernel that no release was tested with must not lead to the release that says least.
    found = answer(platform(kernel="7.9.1-mine"), driver="none", container_toolkit="none")
    assert found.stack["rdma"]["version"].startswith("3.2.")


def test_a_branch_and_the_beginning_of_a_version_are_wishes() -> None:
    found = answer(platform(), driver="595", rdma_flavour="mlnx_ofed", rdma_version="24.10").stack
    assert found["driver"]["branch"] == "595"
    assert found["rdma"]["version"].startswith("24.10-")


def test_an_exact_release_that_nobody_shipped_is_judged_by_its_branch() -> None:
    found = answer(platform(), driver="580.200.01")
    assert found.stack["driver"]["version"] == "580.200.01"
    assert found.stack["fabric_manager"]["version"] == "580.200.01"
    assert found.verdict != KNOWN


def test_what_ended_or_was_not_tested_is_told() -> None:
    reported = {one.rule for one in answer(platform(), driver="550").warnings}
    assert "DRIVER_EOL" in reported
    reported = {one.rule for one in answer(platform(kernel="7.9.1-mine")).warnings}
    assert "RDMA_TESTED" in reported
    patched = answer(platform(system="rhel9.8", kernel="5.14.0-611.el9"), rdma_version="3.2.2", accept="RDMA_PATCH")
    assert "RDMA_PATCH" in {one.rule for one in patched.warnings}
    assert "SECURE_BOOT" in {one.rule for one in answer(platform(secure_boot=True)).warnings}


def test_support_that_ends_this_month_has_not_ended() -> None:
    matrix = load.own()
    ends = matrix.all("drivers.branches")["595"].get("eol")
    for day, expected in ((f"{ends}-28", False), ("2099-01-01", True)):
        found = resolve(platform(), Policy(driver="595"), matrix, day)
        assert isinstance(found, Answer)
        assert ("DRIVER_EOL" in {one.rule for one in found.warnings}) is expected


@pytest.mark.parametrize(
    "given_",
    [
        {"stack_driver": 580.1},
        {"stack_driver": True},
        {"stack_nccl": ""},
        {"stack_rdma_flavour": "ofed"},
        {"stack_gds": "latest"},
        {"stack_gds": "2.28;x"},
        {"stack_gds": 2.28},
        {"stack_dcgm": "yes"},
        {"stack_gdrcopy": "-rf"},
        {"stack_container_toolkit": "1.17 4"},
        {"stack_accept": True},
        {"stack_accept": ["driver kernel"]},
    ],
)
def test_a_wish_that_cannot_be_meant_is_refused(given_: dict[str, object]) -> None:
    with pytest.raises(PolicyError, match=next(iter(given_))):
        from_variables(given_)


def test_the_rules_that_a_site_overrides_are_a_list_or_one() -> None:
    assert from_variables({"stack_accept": ["RDMA_PATCH", "DRIVER_KERNEL"]}).accept == "DRIVER_KERNEL RDMA_PATCH"
    assert from_variables({"stack_accept": "RDMA_PATCH"}).accept == "RDMA_PATCH"
    assert list(from_variables({"stack_accept": "RDMA_PATCH"}).pins()) == []


def test_a_number_is_taken_for_the_branch_that_it_is() -> None:
    assert from_variables({"stack_driver": 580}).driver == "580"


NODE: dict[str, Any] = {
    "os": {"id": "rocky", "version": "9.4"},
    "kernel": "5.14.0-427.13.1.el9_4.x86_64",
    "machine": "x86_64",
    "gpus": [{"vendor": "10de", "device": "2330"}] * 8,
    "nvswitches": ["22a3"] * 4,
    "hcas": [
        {"vendor": "15b3", "device": "1021"},
        {"vendor": "8086", "device": "1592"},
    ],
}


def test_a_platform_is_told_by_its_node_facts() -> None:
    host = from_node(NODE, load.own())
    assert (host.system, host.base, host.family) == ("rhel9.4", "rhel", "dnf")
    assert (host.gpus, host.hcas, host.board) == (("H100 SXM5",), ("ConnectX-7",), "hgx-h100-8")
    assert host.fabric_manager
    assert host.name == "rhel9.4-5.14-x86-64_hgx-h100-8_connectx-7"
    strange = {**NODE, "gpus": [{"vendor": "10de", "device": "ffff"}]}
    assert from_node(strange, load.own()).gpus == ("10de:ffff",)


def test_equal_hosts_are_as_old_as_the_oldest() -> None:
    new = platform(kernel="6.8.0-90-generic", engines={"docker": "28.0.1", "podman": "5.2"})
    old = platform(kernel="6.8.0-31-generic", engines={"docker": "25.0.3"})
    one = merged([new, replace(old, secure_boot=True)])
    assert one.kernel == "6.8.0-31-generic"
    assert one.engines == {"docker": "25.0.3", "podman": "5.2"}
    assert one.secure_boot is True


_WISHES = {
    "rdma_flavour": ["auto", "none", "inbox", "doca", "mlnx_ofed"],
    "rdma_version": ["auto", "3.2", "24.10", "1"],
    "driver": ["auto", "none", "535", "580", "580.126.20", "595", "620", "7"],
    "driver_modules": ["auto", "open", "proprietary"],
    "fabric_manager": ["auto", "none", "580.126.20"],
    "cuda": ["auto", "none", "12.4", "13.0", "14.0"],
    "nccl": ["auto", "none", "2.28", "2.30.7+cuda13.3", "9"],
    "peer_memory": ["auto", "none", "dmabuf", "peermem"],
    "container_toolkit": ["auto", "1.19", "none"],
}
_HOSTS = ["h100", "a100", "b200", "b300", "gb200", "v100", "cpu"]
_SYSTEMS = ["ubuntu24.04", "ubuntu20.04", "rhel9.4", "debian13", ""]


@settings(max_examples=150 if cases.ALL else 50, deadline=None)
@given(
    host=st.sampled_from(_HOSTS),
    system=st.sampled_from(_SYSTEMS),
    wishes=st.fixed_dictionaries({name: st.sampled_from(v) for name, v in _WISHES.items()}),
)
def test_every_request_is_answered_and_no_answer_breaks_a_rule(host: str, system: str, wishes: dict[str, str]) -> None:
    found = resolve(platform(host, system=system), Policy(**wishes), load.own(), TODAY)
    if isinstance(found, Refusal):
        assert found.rule in load.own().all("rules.rules")
        assert found.one != found.other
        return
    assert not any(one.blocks for one in found.warnings)
    version = found.stack.get("driver", {}).get("version")
    for part in ("fabric_manager", "nscq", "imex"):
        assert found.stack.get(part, {}).get("version", version) == version
