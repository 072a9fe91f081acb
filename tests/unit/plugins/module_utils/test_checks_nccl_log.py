# SPDX-License-Identifier: GPL-3.0-or-later
"""What the checks make of NCCL's logs: recorded ones against their labels, and made-up jobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl import LOG, check_log as checks
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl.facts import NcclFacts
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse import nccl_log
from tests.gauntlet import render
from tests.gauntlet.nodes import nccl
from tests.unit.corpus import sidecars, text_of

IDS = [one.id for one in LOG]
HCA = PciFunction("0000:1a:00.0", "020700", "15b3", "1021")
MANAGEMENT = PciFunction("0000:02:00.0", "020000", "8086", "1572")
GOOD = nccl.log(render.node("hgx-h100-8"))
RAILS = {"hcas": 8, "link_layer": "InfiniBand"}
# What ends a job, in the corpus's words.
ENDS = ("wc_status", "modify_qp", "create_cq", "ifname_not_found", "socket_wrong_type")


def machine(*functions: PciFunction) -> Machine:
    return Machine(pci=Reading(functions))


def judge(text: str, host: Machine | None = None, expect: dict[str, object] | None = None) -> dict[str, Check]:
    log = Reading(nccl_log.parse(text))
    found = list(checks.judge(log, host or Machine(), from_inventory(expect or {})))
    assert [one.id for one in found] == IDS
    return {one.id.rpartition(".")[2]: one for one in found}


def results(found: dict[str, Check]) -> dict[str, str]:
    return {name: one.result for name, one in found.items()}


@pytest.mark.parametrize(("tool", "sidecar"), sidecars("nccl_log"))
def test_a_recorded_log_is_judged_as_its_label_says(tool: str, sidecar: Path) -> None:
    expected = json.loads(sidecar.read_text())["expected"]
    found = judge(text_of(sidecar), machine(HCA))
    assert (found["errors"].result == FAIL) == any(one.startswith(ENDS) for one in expected["errors"])
    network = {"IB": {PASS, UNKNOWN}, "RoCE": {PASS, UNKNOWN}, "none": {FAIL}, None: {UNKNOWN}}
    # Where the log tells that the job had one host, TCP is no fault.
    assert found["network"].result in network.get(expected["network"], {FAIL, SKIP})
    rdma = expected["network"] in ("IB", "RoCE")
    assert (found["gdr"].result == FAIL) == (rdma and expected["gdr"] is False)
    if found["gdr"].result == PASS:
        assert expected["gdr"] is True
    assert (found["mixed"].result == FAIL) == expected.get("network_mixed", False)
    assert (found["bootstrap"].result == FAIL) == ("ifname_not_found" in expected["errors"])
    assert found["version"].result in (PASS, UNKNOWN)
    assert found["hcas"].result == SKIP
    known = judge(text_of(sidecar), expect={"hcas": max(1, len(expected["hcas"]))})["hcas"]
    assert known.result in ({PASS, UNKNOWN} if expected["hcas"] else {FAIL, UNKNOWN})


def test_a_good_job_passes_as_far_as_somebody_expects_something() -> None:
    good = results(judge(GOOD, expect=RAILS))
    assert good.pop("collnet") == SKIP  # nobody asked for it
    assert set(good.values()) == {PASS}
    assert results(judge(GOOD))["hcas"] == SKIP
    wrong = judge(GOOD, expect={"hcas": 4, "link_layer": "Ethernet"})
    assert (wrong["hcas"].result, wrong["network"].result) == (FAIL, FAIL)
    assert wrong["network"].expected_from == "inventory"


def test_what_the_inventory_ignores_is_no_rail() -> None:
    text = GOOD.replace(" [RO]", " [8]mlx5_9:1/IB [RO]")
    assert judge(text, expect=RAILS)["hcas"].result == FAIL
    assert judge(text, expect={**RAILS, "ignore": ["mlx5_9"]})["hcas"].result == PASS


def test_a_rail_that_one_process_of_a_host_lacks_is_missing() -> None:
    text = GOOD.replace("node-b", "node-a").replace("nNodes 2", "nNodes 1")
    assert judge(text, expect=RAILS)["hcas"].result == PASS
    at = text.rindex(" [5]mlx5_5:1/IB")
    text = text[:at] + text[at + len(" [5]mlx5_5:1/IB") :]
    assert "7 (mlx5_0" in judge(text, expect=RAILS)["hcas"].observed


@pytest.mark.parametrize(
    ("host", "expect", "result", "severity"),
    [
        (machine(HCA), {}, FAIL, "error"),
        (machine(), {}, SKIP, "error"),
        (machine(), {"link_layer": "Ethernet"}, FAIL, "error"),
        # The host's own management port may do RDMA, or not.
        (machine(MANAGEMENT), {}, UNKNOWN, "error"),
        (Machine(), {}, FAIL, "warning"),
        (Machine(), {"hcas": 8}, FAIL, "error"),
    ],
)
def test_tcp_is_a_fault_where_the_host_has_rdma_and_a_warning_where_nobody_knows(
    host: Machine, expect: dict[str, object], result: str, severity: str
) -> None:
    text = "".join(
        f"node-{n}:1:2 [0] NCCL INFO {said}\n"
        for n in "ab"
        for said in ("NET/IB : No device found.", "Using network Socket")
    )
    found = judge(text, host, expect)
    assert (found["network"].result, found["network"].severity) == (result, severity)
    assert (found["gdr"].result, found["mixed"].result) == (SKIP, SKIP)
    # The log's own reason is told whatever is known of the host.
    assert "/dev/infiniband is missing" in found["network"].cause


def test_on_one_host_nothing_crosses_a_network() -> None:
    text = GOOD.replace("nNodes 2", "nNodes 1").replace("Using eth0", "Using lo")
    found = judge(text.replace("Using network IB", "Using network Socket"), machine(HCA))
    assert results(found)["network"] == SKIP
    assert results(found)["gdr"] == SKIP
    assert results(found)["bootstrap"] == SKIP


@pytest.mark.parametrize("name", ["lo", "docker0", "virbr0", "veth1f2", "tailscale0", "wg0", "tun0", "cni0"])
def test_an_interface_that_leads_nowhere_is_found(name: str) -> None:
    found = judge(GOOD.replace("Bootstrap: Using eth0", f"Bootstrap: Using {name}"))["bootstrap"]
    assert (found.result, name in found.observed) == (FAIL, True)


def test_an_interface_whose_name_only_begins_like_the_loopback_is_fine() -> None:
    text = GOOD.replace("Bootstrap: Using eth0", "Bootstrap: Using lom1")
    assert judge(text)["bootstrap"].result == PASS


def test_ranks_that_tell_no_release_are_trusted_where_nccl_compares() -> None:
    lines = [line for line in GOOD.splitlines() if "node-b" not in line or "version" not in line]
    new = "\n".join(lines) + "\n"
    assert judge(new)["version"].result == PASS
    old = new.replace("2.27.7", "2.18.3")
    assert judge(old)["version"].result == UNKNOWN
    assert judge(old.replace("node-b", "node-a"))["version"].result == UNKNOWN
    never_up = "\n".join(line for line in lines if "COMPLETE" not in line) + "\n"
    assert judge(never_up)["version"].result == UNKNOWN


def test_a_mismatch_that_nccl_found_is_one() -> None:
    text = "Mismatched NCCL version detected : rank 0 version 22707 rank 1 version 22602"
    found = judge(GOOD + f"node-a:800:820 [0] init.cc:900 NCCL WARN {text}\n")
    assert (found["version"].result, found["errors"].result) == (FAIL, FAIL)


def test_the_first_cause_is_told_with_meaning_remedy_and_its_line() -> None:
    flush, first = (
        f"node-b:801:9 [0] transport/net_ib.cc:1 NCCL WARN NET/IB: Got completion from peer "
        f"192.0.2.10<4> with status={status} opcode=0 len=0 vendor err {vendor} (Send) hca mlx5_1\n"
        for status, vendor in ((5, 249), (4, 81))
    )
    found = judge(GOOD + flush + first)["errors"]
    assert found.result == FAIL
    assert "wc_status_4_vendor_81 in node-b:801 GPU 0, over mlx5_1" in found.observed
    assert "ACS" in found.cause
    assert "iommu=pt" in found.remedy
    assert "status=4" in found.evidence["line"]


def test_the_line_of_a_failure_is_shown_without_its_secrets() -> None:
    text = "misc/socket.cc:5 NCCL WARN socketProgress: Connection closed by remote peer node-b<4>"
    found = judge(GOOD + f"node-a:800:820 [0] {text} token=hunter2\n")
    assert "Connection closed" in found["errors"].evidence["line"]
    assert "hunter2" not in found["errors"].evidence["line"]


def test_a_rank_that_was_left_alone_is_no_good_job() -> None:
    text = "misc/socket.cc:5 NCCL WARN socketProgress: Connection closed by remote peer node-b<4>"
    found = judge(GOOD + f"node-a:800:820 [0] {text}\n")["errors"]
    assert (found.result, "another rank went away" in found.cause) == (FAIL, True)


def test_tcp_beside_hcas_that_are_listed_is_not_laid_to_missing_ones() -> None:
    found = judge(
        GOOD.replace("NET/IB", "NET/Socket")
        .replace("NET/Socket :", "NET/IB :", 8)
        .replace("Using network IB", "Using network Socket"),
        expect=RAILS,
    )["network"]
    assert found.result == FAIL
    assert "as usable, and no line says why it took TCP" in found.cause


def test_a_release_that_lost_its_cuda_is_no_other_release() -> None:
    line = next(line for line in GOOD.splitlines() if "NCCL version" in line)
    release = line.split("NCCL version ")[1]
    short = line.replace(release, release.partition("+")[0])
    assert judge(f"{GOOD}{short}\n")["version"].result == PASS
    assert judge(f"{GOOD}{line.replace(release, '2.9.9')}\n")["version"].result == FAIL


NEW = "node-a:800:820 [0] x.cc:1 NCCL WARN Something that nobody has seen until now, token=hunter2\n"


def test_a_warning_that_nobody_can_read_is_no_good_job() -> None:
    found = judge(GOOD + NEW)["errors"]
    assert found.result == UNKNOWN
    assert "nobody has seen until now" in found.cause
    assert "node-a:800 GPU 0" in found.cause
    assert "hunter2" not in f"{found}"
    started = "\n".join(line for line in GOOD.splitlines() if "Init COMPLETE" not in line)
    found = judge(f"{started}\n{NEW}")["errors"]
    assert (found.result, "nobody has seen until now" in found.cause) == (FAIL, True)


def test_the_other_end_is_named_that_went_away() -> None:
    text = "misc/socket.cc:5 NCCL WARN socketProgress: Connection closed by remote peer node-b<4>"
    found = judge(GOOD + f"node-a:800:820 [0] {text}\n")["errors"]
    assert "with node-b" in found.observed
    assert "node-b is the other end" in found.remedy


def test_a_log_that_ends_within_a_line_passes_nothing() -> None:
    found = judge(GOOD + "node-a:800:820 [0] NCCL INFO comm 0x", expect=RAILS)
    assert {result for name, result in results(found).items() if name != "collnet"} == {UNKNOWN}


def test_a_rank_of_which_no_line_tells_the_network_is_unknown() -> None:
    more = "node-c:7:8 [0] NCCL INFO cudaDriverVersion 13000\n"
    found = judge(GOOD + more, expect=RAILS)
    assert {result for name, result in results(found).items() if name != "collnet"} == {UNKNOWN}
    assert "node-c:7" in found["network"].cause


def test_another_vendors_network_is_not_judged_as_rdma() -> None:
    found = judge(GOOD.replace("Using network IB", "Using network AWS Libfabric"))
    assert found["network"].result == UNKNOWN
    assert "AWS Libfabric" in found["network"].cause


def test_a_rank_that_speaks_with_its_own_host_alone_needs_no_gpudirect() -> None:
    more = "".join(
        f"node-a:900:901 [1] NCCL INFO {said}\n"
        for said in (
            "Using network IB",
            "Channel 00/0 : 2[1] -> 0[0] via P2P/CUMEM",
            "comm 0x7 rank 2 nranks 3 cudaDev 1 - Init COMPLETE",
        )
    )
    assert judge(GOOD + more)["gdr"].result == PASS
    assert judge(GOOD + more.replace("COMPLETE", "START"))["gdr"].result == UNKNOWN


def test_no_channel_at_all_is_no_gpudirect_in_use() -> None:
    text = "".join(
        f"node-{n}:1:2 [0] NCCL INFO {said}\n"
        for n in "ab"
        for said in (
            "Using network IB",
            "Channel 00/0 : 2[1] -> 0[0] via P2P/CUMEM",
            "comm 0x7 rank 0 nranks 4 cudaDev 1 - Init COMPLETE",
        )
    )
    assert judge(text)["gdr"].result == UNKNOWN


def test_the_report_of_a_host_holds_what_a_job_did_and_not_every_rank() -> None:
    log = nccl_log.parse(GOOD)
    reported = NcclFacts(Reading(log)).to_dict()["log"]
    assert (reported["network"], reported["ranks"], reported["first_cause"]) == ("IB", 2, None)
    assert NcclFacts().to_dict() == {}
    assert NcclFacts(Reading(None, "too long")).to_dict() == {"log": {"unknown": "too long"}}
    json.dumps(reported)


LINES = GOOD.splitlines(keepends=True)


@settings(max_examples=200, deadline=None, database=None)
@given(st.lists(st.sampled_from(LINES), max_size=len(LINES), unique=True), st.booleans())
def test_some_lines_of_a_good_job_never_fail_and_pass_only_what_they_show(lines: list[str], cut: bool) -> None:
    text = "".join(lines)
    if not text:
        return
    found = judge(text[: len(text) - 3 * cut], machine(HCA))
    assert FAIL not in results(found).values()
    for name, needs in (
        ("network", ("Using network", "Assigned NET", "NET/IB : Using", "via NET/IB")),
        ("gdr", ("/GDRDMA", "GDR 1")),
        ("mixed", ("NET/IB : Using",)),
        ("bootstrap", ("eth0:",)),
        ("version", ("NCCL version",)),
        ("errors", ("Init COMPLETE",)),
    ):
        if found[name].result == PASS:
            assert not cut
            assert any(one in text for one in needs)


def test_an_hca_that_nobody_may_open_is_a_rail_that_nobody_uses() -> None:
    # NVIDIA/nccl issue 2428: the container may open one of two HCAs.
    text = GOOD + "node-a:800:820 [0] net_ib.cc:1 NCCL WARN NET/IB : Unable to open device mlx5_9\n"
    found = judge(text)["hcas"]
    assert (found.result, "mlx5_9 cannot be opened" in found.observed) == (FAIL, True)
    assert "/dev/infiniband" in found.remedy
    assert judge(text)["errors"].result == PASS
    assert judge(text, expect={"ignore": ["mlx5_9"]})["hcas"].result == SKIP
    assert judge(text, expect=RAILS)["hcas"].result == PASS


def test_gpudirect_that_every_hca_lacks_is_told_before_any_channel_is() -> None:
    # NVIDIA/nccl issue 1939.
    found = judge("INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n")["gdr"]
    assert (found.result, "neither peer memory nor DMA-BUF" in found.cause) == (FAIL, True)
    assert judge("INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'\n")["gdr"].result == UNKNOWN


def test_libfabric_over_tcp_is_tcp() -> None:
    plain = GOOD.replace("Using network IB", "Using network AWS Libfabric").replace("NET/IB", "NET/AWS Libfabric")
    provider = "".join(
        f"{line.split(' NCCL ')[0]} NCCL INFO NET/OFI Selected provider is tcp, fabric is 192.0.2.0/24 (found 1 nics)\n"
        for line in plain.splitlines()
        if "Using network" in line
    )
    found = judge(plain + provider, machine(HCA))["network"]
    assert (found.result, "libfabric goes over TCP" in found.cause) == (FAIL, True)
    assert judge(plain + provider.replace("is tcp", "is efa"), machine(HCA))["network"].result == UNKNOWN
    # The plugin alone tells that a device was meant to be there, but for a host that is known to have none.
    for name in ("tcp", "tcp;ofi_rxm"):
        over = plain + provider.replace("is tcp", f"is {name}")
        assert judge(over)["network"].result == judge(over, machine(MANAGEMENT))["network"].result == FAIL
        assert judge(over, machine())["network"].result == SKIP


def test_what_somebody_asked_for_and_did_not_get_is_told() -> None:
    text = GOOD + "node-a:10:11 [0] sharp_plugin.c:302 NCCL WARN SHARP group create: Streaming Tree lock failed (-18)\n"
    found = judge(text)["errors"]
    assert (found.result, found.observed.split()[0]) == (FAIL, "collnet_unavailable")
    assert "aggregation manager" in found.cause


def test_omni_path_s_missing_gpudirect_is_not_laid_to_distance() -> None:
    text = GOOD.replace("mlx5_", "hfi1_").replace("/GDRDMA", "")
    found = judge(text)["gdr"]
    assert (found.result, "Omni-Path" in found.cause) == (FAIL, True)
