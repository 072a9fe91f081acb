# SPDX-License-Identifier: GPL-3.0-or-later
"""Causes planted in one node of three: the right one is ranked first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify import collect
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import bundles, job_log
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.diagnosis import Diagnosis, diagnose
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from tests import cases
from tests.gauntlet import fault, render
from tests.gauntlet.node import Node
from tests.gauntlet.nodes.nccl import PEER
from tests.gauntlet.tree import Tree
from tests.unit import corpus, fleets
from tests.unit.harmless import mentions, touches

H100 = "hgx-h100-8"
ROCE = "hgx-h200-8-roce"
# Of a check, faults on boards of both fabrics: what the cause is goes by what its evidence is of.
FAULTS = cases.some(fault.load(), cases.area)


def planted(
    node: list[dict[str, Any]] | None = None,
    evidence: list[dict[str, Any]] | None = None,
    *,
    board: str = H100,
    expect: dict[str, Any] | None = None,
) -> Diagnosis:
    """The diagnosis of three nodes of which the last has these changes."""
    odd = fleets.bent(board, 7, node=node or [], evidence=evidence or [], expect=expect)
    return diagnose(fleets.report([*fleets.equals(board), fleets.host(fleets.ODD, *odd)]))


def ids(diagnosis: Diagnosis) -> list[str]:
    return [one.id for one in diagnosis.causes]


@pytest.mark.parametrize("board", cases.daily(sorted(render.boards()), 4))
def test_a_healthy_fleet_has_no_cause(board: str) -> None:
    node = fleets.described(board, 7)
    third = fleets.host(fleets.ODD, node, render.render(node))
    found = diagnose(fleets.report([*fleets.equals(board), third]))
    assert ids(found) == []
    assert all("a bundle holds no pings" in one.why or "RoCE" in one.why for one in found.unknown)
    assert "not an all-clear" in found.answer


@pytest.mark.parametrize("one", FAULTS, ids=lambda one: f"{one.area}: {one.name}")
def test_every_fault_of_the_gauntlet_is_the_first_cause_of_its_fleet(one: fault.Fault) -> None:
    odd = fleets.host(fleets.ODD, *fleets.broken(one))
    causes = diagnose(fleets.report([*fleets.equals(one.board), odd])).causes
    first = causes[0]
    # A deeper cause may stand for the check that the gauntlet names.
    reported = {finding.check.id for finding in (*first.evidence, *first.explains)}
    assert one.check in reported or (one.check == "ib.port.idle" and first.id == "rail.down")
    assert list(first.hosts) == [fleets.ODD]
    assert first.id != "other"
    # No cause touches a part that its own findings leave alone.
    for cause in causes:
        alike = any(mentions(finding.check.remedy) for finding in cause.evidence)
        assert alike or not touches(cause.note), (cause.id, cause.note)


# What happened, in the gauntlet's words or as changes of a node: the cause that has to be first.
# fmt: off
PLANTED = [
    ("driver.differs", {"node": [{"driver": "580.95.05"}]}, "fleet.driver"),
    ("kernel.differs", {"node": [{"kernel": "6.8.0-71-generic"}]}, "fleet.kernel"),
    ("rdma.differs", {"node": [{"ofed": "24.10-1.1.4.0"}]}, "fleet.rdma"),
    ("hca.firmware", {"node": [{"hca": "mlx5_3", "firmware": "28.39.1002"}]}, "hca.firmware"),
    ("rail.down", "the cable of a rail is pulled", "rail.down"),
    ("rail.disabled", "somebody switched a rail's port off", "rail.disabled"),
    ("roce.off", "the interface of a RoCE rail was switched off", "rail.disabled"),
    ("roce.pulled", "the cable of a RoCE rail is pulled, and its driver calls that Disabled", "rail.down"),
    ("rail.slow", "a rail trained at a quarter of its rate", "rail.slow"),
    ("rail.errors", "symbol errors rise on a rail", "rail.errors"),
    ("rail.flaps", "a rail flaps while it is watched", "rail.flaps"),
    ("pcie.width", "a rail's HCA lost half of its lanes", "pcie.link"),
    ("pcie.speed", "the uplink of a PCIe switch trained two generations lower", "pcie.link"),
    ("pcie.slot", "the firmware limits an HCA's slot, and both ends agree on it", "pcie.slot"),
    ("numa", "a rail lies on the socket without GPUs", "path.numa"),
    ("acs", "the kernel switched on ACS on one switch port", "path.acs"),
    ("iommu", "the IOMMU is on and translates", "path.iommu"),
    ("peermem", "nvidia_peermem is not loaded below the proprietary modules", "gdr.no_path"),
    ("log.socket", "a job fell back to TCP because RDMA was switched off", "job.rdma_off"),
    ("log.no_device", "a job found no RDMA device in its container", "job.no_device"),
    ("log.no_gdr", "a job copies everything through host memory", "job.no_gdr"),
    ("manager", "the fabric manager was stopped", "nvlink.manager"),
    ("manager.version", "the driver was updated, and the fabric manager was not",
     "nvlink.manager_version"),
    ("memlock", "services get systemd's own small limit for locked memory", "host.memlock"),
    ("memlock.service", "slurmd was started before the limits were raised", "host.memlock_service"),
    ("device.missing", "udev made no device file for one HCA", "rdma.no_device_file"),
    ("device.mode", "a site's udev rule keeps jobs from the HCAs", "rdma.device_mode"),
    ("roce.pfc", "flow control is off on a rail", "roce.pfc"),
    ("roce.trust", "the DSCP is not trusted any more since the reboot", "roce.trust"),
    ("roce.gid", "a rail's interface has no IP address", "roce.gid"),
    ("roce.mtu", "a rail's interface was left at MTU 1500", "roce.mtu"),
    ("ib.mtu", "the partition limits the MTU to 2048", "rail.mtu"),
    ("sm", "no subnet manager runs on the fabric of a login node", "sm.not_swept"),
    ("throttled", "the power supplies hold one GPU back", "gpu.throttled"),
    ("power", "a forgotten power limit", "gpu.power_limit"),
    ("nvlink", "one link of a GPU is down behind NVSwitches", "nvlink.link"),
    ("xid", "the GPU's system processor hangs", "gpu.xid"),
    ("gpu.gone", "a GPU fell off the PCI bus before the last boot", "gpu.off_bus"),
    ("hca.gone", "an HCA fell off the bus", "hca.missing"),
    ("mode", "a VPI HCA came back in Ethernet mode", "rail.link_layer"),
    ("conf.off", "nccl.conf switches RDMA off", "nccl.rdma_off"),
    ("conf.socket", "nccl.conf names TCP as the network", "nccl.rdma_off"),
    ("conf.p2p", "nccl.conf keeps GPUs from NVLink", "nccl.p2p_off"),
    ("conf.line", "a setting of nccl.conf has blanks around its =", "nccl.conf_lines"),
    ("conf.number", "a number of nccl.conf stands in quotes", "nccl.conf_lines"),
    ("conf.rail", "nccl.conf leaves a rail out", "nccl.conf_derived"),
    ("conf.gone", "there is no nccl.conf", "nccl.conf_derived"),
    ("conf.gdr", "NCCL may not use GPUDirect RDMA beyond the GPU", "gdr.level"),
    ("conf.lo", "NCCL listens on the loopback interface", "nccl.bootstrap"),
]
# fmt: on


@pytest.mark.parametrize(("how", "cause"), [pytest.param(how, cause, id=name) for name, how, cause in PLANTED])
def test_a_planted_cause_is_ranked_first_and_alone(how: str | dict[str, Any], cause: str) -> None:
    if isinstance(how, str):
        one = fleets.named(how)
        found = planted(list(one.node), list(one.evidence), board=one.board, expect=one.expect)
    else:
        found = planted(**how)
    assert ids(found) == [cause]
    assert list(found.causes[0].hosts) == [fleets.ODD]
    assert found.causes[0].command


@pytest.fixture(scope="module")
def equals(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[_hosts.Host]]:
    """The healthy nodes of a board, by bundles on disk."""

    @cache
    def made(board: str) -> list[_hosts.Host]:
        place = tmp_path_factory.mktemp("equals")
        return [judged(place, name, fleets.described(board, int(name[4:]))) for name in fleets.EQUALS]

    return made


def judged(place: Path, name: str, node: Node, tree: Tree | None = None) -> _hosts.Host:
    """What is known of a node by the bundle that collect writes of it."""
    tree = tree or render.render(node)
    collect.collect(tree, str(place), name, "today", {"nccl": {"peers": [PEER]}})
    if "nccl_log" in tree.commands:
        # A job's log is put there by hand.
        log = place / name / "commands/nccl_log"
        log.mkdir()
        (log / "stdout").write_text(tree.commands["nccl_log"].stdout)
        (log / "rc").write_text("0\n")
    expect = {key: value for key, value in node.expect.items() if key != "nccl"}
    (found,) = bundles.judge(bundles.find(place / name), lambda _: (from_inventory(expect), ()))
    return found


@pytest.mark.parametrize(
    ("how", "cause"),
    [
        pytest.param(how, cause, id=name)
        for name, how, cause in cases.some(PLANTED, lambda row: row[2].split(".")[0])[:: 1 if cases.ALL else 8]
    ],
)
def test_a_planted_cause_is_ranked_first_by_bundles_on_disk(
    how: str | dict[str, Any], cause: str, equals: Callable[[str], list[_hosts.Host]], tmp_path: Path
) -> None:
    one = fleets.named(how) if isinstance(how, str) else None
    if one is not None:
        board, odd = one.board, fleets.broken(one)
    else:
        assert isinstance(how, dict)
        board, odd = H100, fleets.bent(H100, 7, **how)
    host = judged(tmp_path, fleets.ODD, *odd)
    found = diagnose(fleets.report([*equals(board), host]))
    assert ids(found)[:1] == [cause]
    assert list(found.causes[0].hosts) == [fleets.ODD]


def test_two_causes_at_once_are_both_told_by_what_they_cost() -> None:
    found = planted(
        [
            {"hca": "mlx5_5", "state": "Down", "physical": "Polling", "rate": 10},
            {"more": {"pci": {"0000:52:04.0": {"acs": 29}}}},
        ]
    )
    assert ids(found) == ["path.acs", "rail.down"]
    assert [one.rank for one in found.causes] == [1, 2]


def test_a_slow_rail_costs_more_than_a_lost_one_for_all_wait_for_it() -> None:
    found = planted(
        [
            {"hca": "mlx5_5", "state": "Down", "physical": "Polling", "rate": 10},
            {"hca": "mlx5_3", "rate": 100},
            {"more": {"governor": "powersave"}},
        ]
    )
    assert ids(found) == ["rail.slow", "rail.down", "host.governor"]
    assert [(round(one.loss, 3), one.computed) for one in found.causes] == [(0.75, True), (0.125, True), (0.08, False)]


def test_two_rails_of_one_host_are_one_cause_and_cost_twice() -> None:
    down = {"state": "Down", "physical": "Polling", "rate": 10}
    found = planted([{"hca": "mlx5_5", **down}, {"hca": "mlx5_6", **down}])
    assert ids(found) == ["rail.down"]
    assert list(found.causes[0].subjects) == ["mlx5_5/1", "mlx5_6/1"]
    assert found.causes[0].loss == 0.25


def test_without_any_device_file_the_job_s_tcp_follows_from_it() -> None:
    one = fleets.named("a job found no RDMA device in its container")
    files = {f"uverbs{number}": "" for number in range(10)}
    found = planted([*one.node, {"more": {"modes": files, "nccl_log": True}}], list(one.evidence))
    assert ids(found) == ["rdma.no_device_file"]
    assert {finding.check.id for finding in found.causes[0].explains} >= {"nccl.log.network", "nccl.log.hcas"}
    assert found.causes[0].loss == 1.0


def test_one_device_file_of_ten_does_not_explain_a_job_s_tcp() -> None:
    one = fleets.named("a job found no RDMA device in its container")
    found = planted(
        [*one.node, {"more": {"modes": {"uverbs3": ""}, "nccl_log": True}}], list(one.evidence), board=one.board
    )
    assert ids(found) == ["job.no_device", "rdma.no_device_file"]


def test_a_lost_rail_explains_what_the_job_s_log_and_the_port_say_of_it() -> None:
    one = fleets.named("a rail was down when a job started")
    down = {"hca": "mlx5_3", "state": "Down", "physical": "Polling", "rate": 10, "lid": 65535}
    found = planted([*one.node, down], list(one.evidence))
    assert ids(found) == ["rail.down"]
    cause = found.causes[0]
    assert "nccl.log.hcas" in {finding.check.id for finding in cause.explains}
    assert {"ib.port.rate", "fabric.sm.answers"} <= {one.check.id for one in cause.hides}


def test_missing_modules_explain_all_that_is_missing_for_want_of_them() -> None:
    one = fleets.named("no driver took over any HCA")
    found = planted([*one.node, {"more": {"missing": ["mlx5_ib"], "unbound": ["mlx5_0", "mlx5_1"]}}], board=one.board)
    assert ids(found) == ["rdma.driver_module"]
    assert found.causes[0].effect == "tcp"


def test_a_driver_that_differs_on_one_of_two_hosts_is_told_though_nobody_is_right() -> None:
    odd = fleets.host(fleets.ODD, *fleets.bent("l40s-8", 7, node=[{"driver": "580.95.05"}]))
    found = diagnose(fleets.report([fleets.equals("l40s-8")[0], odd]))
    assert ids(found) == ["fleet.driver"]
    assert set(found.causes[0].hosts) == {"node1", fleets.ODD}


LOGS = {
    "07-ib-roce-mixed-wc4": (H100, "job.mixed"),
    "08-roce-gdr-wc4": (ROCE, "job.gpu_memory"),
    "10-roce-irdma-ibext-modify-qp-timeout": (ROCE, "job.roce_connect"),
    "13-socket-cloud-no-ib": (H100, "job.no_device"),
    "16-ibext-wc12-ipv6-gid": (ROCE, "job.peer_silent"),
    "18-ifname-not-found": (H100, "job.interface"),
    "19-ib-disabled-two-socket-if": (H100, "job.rdma_off"),
    "25-no-libibverbs-socket": (H100, "job.no_library"),
    "26-roce-create-cq-failed": (ROCE, "job.memlock"),
    "28-socket-two-if-one-used": (H100, "job.tcp"),
    "42-live-2.32.3-filtered": (H100, "job.no_device"),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_log_of_the_corpus_names_its_cause_where_the_hosts_are_well(name: str) -> None:
    path = corpus.CORPUS / "nccl_log" / f"{name}.log"
    if not path.exists():
        pytest.skip(f"no corpus at {path} (set IBREADY_CORPUS)")
    board, cause = LOGS[name]
    hosts = fleets.equals(board)
    reported = job_log.judge(job_log.read(str(path)), hosts, fleets.NOW.date())
    found = diagnose(fleets.report(hosts), reported)
    assert found.causes[0].id == cause
    assert list(found.causes[0].hosts) == ["the job"]
    assert "node1,node2" in found.causes[0].command


def synthetic(host: str, *checks: Check) -> dict[str, Any]:
    """The report of three healthy hosts, of which one has these checks, too."""
    node = fleets.described(H100, 7)
    third = fleets.host(fleets.ODD, node, render.render(node))
    report = fleets.report([*fleets.equals(H100), third])
    report["hosts"][host]["checks"] += [one.to_dict() for one in checks]
    return report


def failing(check_id: str, subject: str, observed: str, cause: str = "") -> Check:
    return Check(check_id, subject, "fail", "error", observed, "well", "capability", cause, "do it")


@pytest.mark.parametrize(
    ("check", "cause", "effect"),
    [
        pytest.param(failing("nccl.conf.harm", "NCCL_IB_DISABLE", "1"), "nccl.rdma_off", "tcp", id="harm"),
        pytest.param(failing("nccl.conf.harm", "NCCL_NET", "Socket"), "nccl.rdma_off", "tcp"),
        pytest.param(failing("nccl.conf.harm", "NCCL_P2P_DISABLE", "1"), "nccl.p2p_off", "nvlink", id="p2p"),
        pytest.param(failing("nccl.conf.harm", "NCCL_NET_GDR_LEVEL", "LOC"), "nccl.gdr_off", "no_gdr"),
        pytest.param(
            failing("fabric.tcp.rendezvous", "host", "node1 does not get through to port 29500"),
            "net.firewall",
            "stops",
            id="firewall",
        ),
        pytest.param(failing("new.area.check", "host", "odd"), "other", "risk", id="not known"),
    ],
)
def test_a_check_that_is_to_come_has_its_row(check: Check, cause: str, effect: str) -> None:
    found = diagnose(synthetic(fleets.ODD, check))
    assert [(one.id, one.effect) for one in found.causes] == [(cause, effect)]


def test_a_setting_that_switches_rdma_off_explains_the_job_s_tcp() -> None:
    report = synthetic(fleets.ODD, failing("nccl.conf.harm", "NCCL_IB_DISABLE", "1"))
    tcp = failing("nccl.log.network", "nccl_log", "TCP: rank 0", "RDMA was switched off by a setting")
    found = diagnose(report, {"node1": [tcp], fleets.ODD: [tcp]})
    assert ids(found) == ["nccl.rdma_off"]
    assert [finding.host for finding in found.causes[0].explains] == ["node1", fleets.ODD]


def test_a_blocked_port_explains_the_job_that_could_not_connect() -> None:
    report = synthetic(fleets.ODD, failing("fabric.tcp.range", "host", "2 of 5 ports"))
    found = diagnose(report, {"the job": [failing("nccl.log.errors", "nccl_log", "connect_failed in node1:5")]})
    assert ids(found) == ["net.firewall"]
    assert found.causes[0].explains


def test_what_is_waived_is_no_cause_and_is_shown() -> None:
    check = replace(failing("host.limit.memlock", "slurmd.service", "64 KiB"), waived="until 2027")
    found = diagnose(synthetic(fleets.ODD, check))
    assert ids(found) == []
    assert [one.check.id for one in found.waived] == ["host.limit.memlock"]


def test_an_expected_failure_of_the_same_row_on_all_hosts_is_one_cause() -> None:
    report = synthetic(fleets.ODD, failing("host.limit.memlock", "systemd's default", "64 KiB"))
    for name in fleets.EQUALS:
        one = failing("host.limit.memlock", "systemd's default", "64 KiB")
        report["hosts"][name]["checks"].append(one.to_dict())
    found = diagnose(report)
    assert [(one.id, list(one.hosts)) for one in found.causes] == [("host.memlock", [*fleets.EQUALS, fleets.ODD])]


def test_what_a_cause_costs_is_told_in_its_own_words() -> None:
    one = fleets.named("a job found no RDMA device in its container")
    found = planted(list(one.node), list(one.evidence), board=one.board)
    assert "TCP" in found.causes[0].costs
    assert "nccl.log.hcas" in {finding.check.id for finding in found.causes[0].explains}
