# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import Expected
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.fleet import HostFacts, expectations, judge
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.fleet_same import Kind
from ansible_collections.ibready.cluster.plugins.module_utils._rails.ib_ports import Details, Device, IbFacts, SmAnswer
from tests.unit.samples import facts, hca, master, node, port

KERNEL = "6.8.0-48-generic"
NAMES = ("n0", "n1", "n2")


def fleet(*hosts: IbFacts, kernels: tuple[str, ...] = ()) -> dict[str, HostFacts]:
    return {f"n{index}": HostFacts(kernels[index] if kernels else KERNEL, one) for index, one in enumerate(hosts)}


def bad(hosts: dict[str, HostFacts]) -> dict[str, str]:
    return {
        f"{host} {check.id} {check.subject}": check.result
        for host, checks in judge(hosts, len(hosts)).items()
        for check in checks
        if check.result in ("fail", "unknown")
    }


def test_equal_hosts_pass() -> None:
    assert bad(fleet(node(1), node(2), node(3))) == {}


def test_the_one_with_another_firmware_is_named() -> None:
    assert bad(fleet(node(1), node(2, fw="28.36.1010"), node(3))) == {
        "n1 fleet.hca.firmware mlx5_0": "fail",
        "n1 fleet.hca.firmware mlx5_1": "fail",
    }


def test_two_hosts_that_differ_have_no_majority() -> None:
    found = bad(fleet(node(1), node(2, fw="28.36.1010")))
    assert set(found.values()) == {"unknown"}
    assert len(found) == 4


def test_half_of_the_hosts_are_no_majority() -> None:
    other = "28.36.1010"
    hosts = fleet(node(1), node(2), node(3, fw=other), node(4, fw=other))
    assert bad(hosts) == {
        f"n{index} fleet.hca.firmware mlx5_{rail}": "unknown" for index in range(4) for rail in (0, 1)
    }


def test_a_firmware_that_was_not_shown_is_unknown() -> None:
    assert bad(fleet(node(1), node(2, fw=""), node(3))) == {
        "n1 fleet.hca.firmware mlx5_0": "unknown",
        "n1 fleet.hca.firmware mlx5_1": "unknown",
    }


def test_the_one_with_another_kernel_or_model_is_named() -> None:
    hosts = fleet(node(1), node(2), node(3), kernels=(KERNEL, KERNEL, "6.1.0-32-amd64"))
    assert bad(hosts) == {"n2 fleet.host.kernel host": "fail"}
    assert "n0 fleet.hca.model host" in bad(fleet(node(1, type="MT4123"), node(2), node(3)))


def test_a_guid_on_two_hosts_is_named_on_both() -> None:
    twins = fleet(node(1), replace(node(2), cas=(node(1).cas[0], node(2).cas[1])), node(3))
    assert {key for key in bad(twins) if "guid" in key} == {
        f"{host} fleet.hca.guid_unique {subject}"
        for host in ("n0", "n1")
        for subject in ("mlx5_0", "mlx5_0/1")  # the port's GUID was copied with the HCA's
    }


def test_a_lid_on_two_hosts_of_one_subnet_is_named_and_in_two_subnets_is_not() -> None:
    two = node(2)
    clash = replace(two, cas=(hca("mlx5_0", port(lid=10), node_guid="0x2f"), two.cas[1]))
    assert bad(fleet(node(1), clash, node(3))) == {
        "n0 fleet.port.lid_unique mlx5_0/1": "unknown",
        "n1 fleet.port.lid_unique mlx5_0/1": "unknown",
    }
    apart = replace(clash, sm={"mlx5_0/1": master(guid="0x99"), "mlx5_1/1": master()})
    assert "n0 fleet.port.lid_unique mlx5_0/1" not in bad(fleet(node(1), apart, node(3)))


def test_a_second_master_is_named_where_it_is_seen() -> None:
    other = replace(node(2), sm={"mlx5_0/1": master(guid="0x99", lid=9), "mlx5_1/1": master()})
    assert bad(fleet(node(1), other, node(3))) == {"n1 fleet.sm.single mlx5_0/1": "fail"}


def planes(index: int, *, crossed: bool = False) -> IbFacts:
    """A host whose two rails are fabrics of their own, with the cables of the two exchanged or not."""
    guids = ("0xb", "0xa") if crossed else ("0xa", "0xb")
    return replace(node(index), sm={f"mlx5_{rail}/1": master(guid=guid) for rail, guid in enumerate(guids)})


def causes(hosts: dict[str, HostFacts]) -> dict[str, str]:
    return {
        f"{host} {check.subject}": check.cause
        for host, checks in judge(hosts, len(hosts)).items()
        for check in checks
        if check.id == "fleet.sm.single" and check.result == "fail"
    }


def test_a_rail_alone_on_another_fabric_is_a_cable_and_no_second_manager() -> None:
    other = replace(node(2), sm={"mlx5_0/1": master(guid="0x99", lid=9), "mlx5_1/1": master()})
    said = causes(fleet(node(1), other, node(3), node(4), node(5)))
    assert list(said) == ["n1 mlx5_0/1"]
    assert "this rail alone is on another fabric than the same rail of 4 hosts" in said["n1 mlx5_0/1"]


def test_cables_of_two_planes_that_were_exchanged_name_each_other() -> None:
    said = causes(fleet(planes(1), planes(2, crossed=True), planes(3)))
    assert "this rail is on the fabric of mlx5_1/1" in said["n1 mlx5_0/1"]
    assert "this rail is on the fabric of mlx5_0/1" in said["n1 mlx5_1/1"]
    assert len(said) == 2


def test_planes_that_are_fabrics_of_their_own_on_every_host_are_well() -> None:
    assert causes(fleet(planes(1), planes(2), planes(3))) == {}


def test_a_host_whose_every_rail_hears_another_master_may_be_behind_a_split() -> None:
    away = replace(node(2), sm={name: master(guid="0x99", lid=9) for name in ("mlx5_0/1", "mlx5_1/1")})
    assert {cause.split(",")[0] for cause in causes(fleet(node(1), away, node(3))).values()} == {"the fabric is split"}


def test_the_subnets_prefix_tells_another_fabric_where_its_manager_is_silent() -> None:
    def one(index: int, prefix: str) -> IbFacts:
        silent = {"mlx5_0/1": SmAnswer(error="no answer"), "mlx5_1/1": master()}
        return replace(node(index), sm=silent, details={"mlx5_0/1": Details(prefix=prefix)})

    usual = "fe80:0000:0000:0000"
    said = causes(fleet(one(1, usual), one(2, usual), one(3, "fec0:0000:0000:0a01")))
    assert list(said) == ["n2 mlx5_0/1"]
    assert "another fabric" in said["n2 mlx5_0/1"]


def test_a_port_that_is_down_is_on_no_subnet() -> None:
    def one(index: int, state: str, prefix: str) -> IbFacts:
        mine = node(index)
        first = replace(mine.cas[0], ports=(replace(mine.cas[0].ports[0], state=state),))
        prefixes = {"mlx5_0/1": Details(prefix=prefix)}
        return replace(mine, cas=(first, mine.cas[1]), sm={"mlx5_1/1": master()}, details=prefixes)

    usual, unset = "fec0:0000:0000:0a01", "fe80:0000:0000:0000"
    assert causes(fleet(one(1, "Active", usual), one(2, "Active", usual), one(3, "Down", unset))) == {}
    # Nor do those that are down outvote one that is not.
    assert causes(fleet(one(1, "Down", unset), one(2, "Down", unset), one(3, "Active", usual))) == {}


def test_a_rail_of_several_hosts_may_be_cabled_elsewhere_or_behind_a_split() -> None:
    away = {"mlx5_0/1": master(guid="0x99", lid=9), "mlx5_1/1": master()}
    said = causes(fleet(*(node(index) for index in (1, 2, 3)), *(replace(node(index), sm=away) for index in (4, 5))))
    assert list(said) == ["n3 mlx5_0/1", "n4 mlx5_0/1"]
    assert {"this rail of 2 hosts is on another fabric than that of 3" in cause for cause in said.values()} == {True}


def test_another_prefix_below_the_same_master_is_no_cable() -> None:
    odd = replace(node(3), details={"mlx5_0/1": Details(prefix="fec0:0000:0000:0a01")})
    usual = {"mlx5_0/1": Details(prefix="fe80:0000:0000:0000")}
    said = causes(fleet(*(replace(node(index), details=usual) for index in (1, 2)), odd))
    assert "has not set it up anew" in said["n2 mlx5_0/1"]


def test_a_kernel_of_another_distribution_is_told_as_that() -> None:
    def kernel(system: str) -> str:
        hosts = fleet(node(1), node(2), node(3), kernels=(KERNEL, KERNEL, "5.14.0-427"))
        systems = {"n0": "ubuntu 24.04", "n1": "ubuntu 24.04", "n2": system}
        hosts = {name: replace(one, kind=Kind("SYS", systems[name])) for name, one in hosts.items()}
        (check,) = [one for one in judge(hosts, 3)["n2"] if one.result == "fail"]
        assert check.id == "fleet.host.kernel"
        return check.cause

    assert kernel("rocky 9.4") == "it runs rocky 9.4, and its equals ubuntu 24.04 (/etc/os-release)"
    assert kernel("ubuntu 24.04") == "an update or a reboot was missed"


def test_two_masters_that_serve_as_many_hosts_each_are_named_on_all() -> None:
    other = {name: master(guid="0x99", lid=9) for name in ("mlx5_0/1", "mlx5_1/1")}
    halves = (node(1), node(2), replace(node(3), sm=other), replace(node(4), sm=other))
    assert bad(fleet(*halves)) == {
        f"n{index} fleet.sm.single mlx5_{rail}/1": "fail" for index in range(4) for rail in (0, 1)
    }


def test_a_master_without_a_readable_guid_names_no_subnet() -> None:
    masked = {name: master(guid="0xe89e4903003xxxxx") for name in ("mlx5_0/1", "mlx5_1/1")}
    hosts = fleet(*(replace(node(index), sm=masked) for index in (1, 2, 3)))
    assert bad(hosts) == {
        f"n{index} fleet.port.lid_unique mlx5_{rail}/1": "unknown" for index in range(3) for rail in (0, 1)
    }


def test_a_silent_subnet_manager_leaves_uniqueness_unknown() -> None:
    dead = {name: SmAnswer(error="no answer") for name in ("mlx5_0/1", "mlx5_1/1")}
    hosts = fleet(*(replace(node(index), sm=dead) for index in (1, 2, 3)))
    assert bad(hosts) == {
        f"n{index} {check_id} mlx5_{rail}/1": "unknown"
        for index in range(3)
        for rail in (0, 1)
        for check_id in ("fleet.port.lid_unique", "fleet.sm.single")
    }


def test_one_host_alone_is_not_compared() -> None:
    assert bad(fleet(node(1))) == {}
    skipped = {check.id for check in judge(fleet(node(1)), 1)["n0"] if check.result == "skip"}
    assert skipped == {"fleet.host.kernel", "fleet.hca.model", "fleet.hca.firmware"}


def test_a_host_whose_peers_told_nothing_is_unknown() -> None:
    unknown = {check.id for check in judge(fleet(node(1)), 3)["n0"] if check.result == "unknown"}
    assert unknown == {"fleet.host.kernel", "fleet.hca.model", "fleet.hca.firmware"}


def test_a_model_that_is_not_shown_is_unknown_never_equal() -> None:
    hosts = fleet(node(1, type=""), node(2, type=""), node(3, type=""))
    assert bad(hosts) == {f"n{index} fleet.hca.model host": "unknown" for index in range(3)}


def soft(index: int) -> IbFacts:
    """A host whose one RDMA device is software."""
    kind = Device(kind="software RDMA device")
    return facts(hca("rxe0", port(port_guid=f"0x{index:016x}")), devices={"rxe0": kind})


def test_hosts_whose_devices_are_all_software_are_alike() -> None:
    assert bad(fleet(soft(1), soft(2))) == {}


def test_a_host_with_software_in_place_of_its_hcas_is_not_like_the_others() -> None:
    assert bad(fleet(soft(1), node(2), node(3)))["n0 fleet.hca.model host"] == "fail"


def test_a_port_guid_on_two_hosts_is_named_on_both() -> None:
    two = node(2)
    clone = replace(two.cas[0], ports=(port(lid=20, port_guid="0x0000000100000000"),))
    hosts = fleet(node(1), replace(two, cas=(clone, two.cas[1])), node(3))
    assert bad(hosts) == {
        "n0 fleet.hca.guid_unique mlx5_0/1": "unknown",
        "n1 fleet.hca.guid_unique mlx5_0/1": "unknown",
    }


def test_a_guid_that_is_not_shown_is_unknown_never_unique() -> None:
    one = node(1)
    bare = replace(one.cas[0], node_guid="", ports=(port(lid=10, port_guid=""),))
    assert bad(fleet(replace(one, cas=(bare, one.cas[1])), node(2), node(3))) == {
        "n0 fleet.hca.guid_unique mlx5_0": "unknown",
        "n0 fleet.hca.guid_unique mlx5_0/1": "unknown",
    }


@pytest.mark.parametrize(
    "bent",
    [
        pytest.param({"state": "Down"}, id="a Down port keeps its old LID"),
        pytest.param({"link_layer": "Ethernet"}, id="Ethernet has no LIDs"),
        pytest.param({"lid": 0}, id="zero is no LID"),
    ],
)
def test_only_the_lid_of_a_live_infiniband_port_is_compared(bent: dict[str, Any]) -> None:
    two = node(2)
    old = replace(two.cas[0], ports=(port(**{"lid": 10, "port_guid": "0x99", **bent}),))
    hosts = fleet(node(1), replace(two, cas=(old, two.cas[1])), node(3))
    assert bad(hosts) == {}
    judged = {check.subject for check in judge(hosts, 3)["n1"] if "lid" in check.id}
    assert judged == {"mlx5_1/1"}


def test_lids_that_overlap_by_their_lmc_are_named() -> None:
    two = node(2)
    near = replace(two.cas[0], ports=(port(lid=8, lmc=2, port_guid="0x99"),))
    hosts = fleet(node(1), replace(two, cas=(near, two.cas[1])), node(3))
    assert {key for key in bad(hosts) if "lid" in key} == {
        "n0 fleet.port.lid_unique mlx5_0/1",
        "n0 fleet.port.lid_unique mlx5_1/1",
        "n1 fleet.port.lid_unique mlx5_0/1",
    }


def test_one_master_written_in_two_ways_is_one_master() -> None:
    other = {name: master(guid="0x10000D") for name in ("mlx5_0/1", "mlx5_1/1")}
    assert bad(fleet(node(1), replace(node(2), sm=other), node(3))) == {}


def test_a_fleet_in_the_wrong_port_mode_does_not_expect_itself() -> None:
    flipped = [
        replace(one, cas=tuple(replace(ca, ports=(port(link_layer="Ethernet"),)) for ca in one.cas))
        for one in (node(1), node(2), node(3))
    ]
    assert "link_layer" not in expectations(fleet(*flipped))["n0"]


def test_the_fleet_expects_only_from_three_hosts_on() -> None:
    assert expectations(fleet(node(1), node(2))) == {"n0": {}, "n1": {}}
    usual = {
        "hcas": Expected(2, "fleet 3/3"),
        "link_layer": Expected("InfiniBand", "fleet 3/3"),
        "rate_gbps": Expected(400.0, "fleet 3/3"),
    }
    assert expectations(fleet(node(1), node(2), node(3))) == dict.fromkeys(NAMES, usual)


def test_a_host_of_another_platform_is_expected_nothing_by_the_others() -> None:
    hosts = fleet(node(1), node(2), node(3), node(4))
    hosts["n3"] = replace(hosts["n3"], kind=Kind("a storage server"))
    found = expectations(hosts)
    assert found["n3"] == {}
    assert found["n0"]["rate_gbps"] == Expected(400.0, "fleet 3/3")
    reported = {one.id: one for one in judge(hosts, 4)["n3"]}
    assert reported["fleet.hca.model"].result == "skip"
    assert "a storage server" in reported["fleet.hca.model"].cause
    # Others of its kind may be among those that were left out.
    limited = {one.id: one.result for one in judge(hosts, 5)["n3"]}
    assert limited["fleet.hca.model"] == "unknown"


def test_firmware_is_compared_among_hcas_of_one_model_and_board() -> None:
    oem = replace(node(4, fw="28.36.1010"), devices={"mlx5_0": Device(board="DEL0000000031")})
    found = bad(fleet(node(1), node(2), node(3), oem))
    assert found == {"n3 fleet.hca.firmware mlx5_1": "fail"}


def test_the_only_hca_whose_board_was_not_told_is_unknown() -> None:
    boards = {f"mlx5_{rail}": Device(board="MT_0000000838") for rail in (0, 1)}
    reported = [replace(node(index), devices=boards) for index in (1, 2, 3)]
    mute = replace(node(4), devices={"mlx5_0": boards["mlx5_0"]})
    assert bad(fleet(*reported, mute)) == {"n3 fleet.hca.firmware mlx5_1": "unknown"}


def test_thousands_with_one_guid_name_a_few_others() -> None:
    hosts = {f"n{at}": HostFacts(KERNEL, node(1)) for at in range(2000)}
    found = judge(hosts, 2000)["n7"]
    twice = next(one for one in found if one.id == "fleet.hca.guid_unique")
    assert twice.result == "unknown"
    assert len(twice.observed) < 200
    assert len(twice.cause) < 400


def test_the_rates_of_down_ports_are_nobody_s_expectation() -> None:
    down = {"state": "Down", "rate": 10.0}
    hosts = fleet(*(facts(hca("mlx5_0", port(), port(2, **down), port(3, **down))) for _ in "123"))
    assert expectations(hosts)["n0"]["rate_gbps"] == Expected(400.0, "fleet 3/3")


def test_ports_that_lead_to_the_nvlink_switches_are_no_part_of_the_fleet() -> None:
    # Each host has a subnet manager of its own there, with the same LIDs.
    def host(index: int) -> HostFacts:
        seen = node(index)
        manager = hca("mlx5_9", port(lid=1, port_guid=f"0x{index}9"), node_guid=f"0x{index}8")
        return HostFacts(
            "6.1",
            replace(
                seen,
                cas=(*seen.cas, manager),
                sm={**seen.sm, "mlx5_9/1": master(guid=f"0x{index}")},
                devices={"mlx5_9": Device(manages_switches=True)},
            ),
        )

    hosts = {f"n{index}": host(index) for index in (1, 2, 3)}
    checks = [one for mine in judge(hosts, 3).values() for one in mine]
    assert [one for one in checks if one.result != "pass"] == []
    assert not any("mlx5_9" in one.subject for one in checks)
    assert expectations(hosts)["n1"]["hcas"].value == 2
