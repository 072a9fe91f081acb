# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._areas.roce import observe as roce
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._rails.roce_ports import UNSET, RocePort
from tests.gauntlet.tree import Tree

ADDRESS = "0000:18:00.0"
PLACE = f"/sys/devices/pci0000:10/{ADDRESS}"
IB = f"{PLACE}/infiniband/mlx5_0"
NET = f"{PLACE}/net/eth0"
HCA = PciFunction(ADDRESS, "020000", "15b3", "1021", driver="mlx5_core")
MACHINE = Machine(pci=Reading((HCA,)))
ZERO = ":".join(["0000"] * 8)
LOCAL = "fe80:0000:0000:0000:0ac0:ebff:fe00:0001"
MAPPED = "0000:0000:0000:0000:0000:ffff:0a00:0105"
CLASSES = "".join(f"tc: {n} ratelimit: unlimited\n\t priority:  {n}\n" for n in range(8))
QOS = f"Priority trust state: dscp\nPFC configuration:\n\tenabled 0 0 0 1 0 0 0 0\n{CLASSES}"
PFC = "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off\n"


def gids(tree: Tree, *used: str) -> None:
    for index in range(64):
        there = index < len(used)
        tree.file(f"{IB}/ports/1/gids/{index}", used[index] if there else ZERO)
        if there:
            kind = "RoCE v2" if index % 2 else "IB/RoCE v1"
            tree.file(f"{IB}/ports/1/gid_attrs/types/{index}", kind)
            tree.file(f"{IB}/ports/1/gid_attrs/ndevs/{index}", "eth0")


def host() -> Tree:
    """One 400 Gb/s RoCE port."""
    tree = Tree()
    tree.symlink("/sys/class/infiniband/mlx5_0", f"../..{IB[4:]}")
    tree.symlink("/sys/class/net/eth0", f"../..{NET[4:]}")
    tree.symlink(f"{IB}/device", f"../../../{ADDRESS}")
    for name, text in {
        "node_type": "1: CA",
        "hca_type": "MT4129",
        "ports/1/state": "4: ACTIVE",
        "ports/1/phys_state": "5: LinkUp",
        "ports/1/rate": "400 Gb/sec (4X NDR)",
        "ports/1/link_layer": "Ethernet",
        "tc/1/traffic_class": "Global tclass=106",
    }.items():
        tree.file(f"{IB}/{name}", text)
    gids(tree, LOCAL, LOCAL, MAPPED, MAPPED)
    for name, text in {"operstate": "up", "carrier": "1", "mtu": "9000", "dev_port": "0"}.items():
        tree.file(f"{NET}/{name}", text)
    for side in ("roce_np", "roce_rp"):
        for priority in range(8):
            tree.file(f"{NET}/ecn/{side}/enable/{priority}", "1")
    tree.command("mlnx_qos@eth0", QOS)
    return tree


def only_port(tree: Tree, machine: Machine = MACHINE) -> RocePort:
    ports = roce.observe(tree, machine).ports
    assert ports.value is not None, ports.why
    assert len(ports.value) == 1
    return ports.value[0]


def test_everything_of_a_port_is_told() -> None:
    port = only_port(host())
    assert (port.name, port.model, port.driver, port.protocol) == (
        "mlx5_0/1",
        "MT4129",
        "mlx5_core",
        "RoCE",
    )
    assert (port.state, port.physical_state, port.rate) == ("Active", "LinkUp", 400.0)
    assert (port.netdev.value, port.operstate.value, port.carrier.value) == ("eth0", "up", True)
    assert port.mtu.value == 9000
    assert [one.index for one in port.gids.value or ()] == [0, 1, 2, 3]
    assert port.gid_index == 3
    assert (port.qos.trust.value, port.qos.pfc.value) == ("dscp", (3,))
    assert dict(port.qos.ecn.value or ())["roce_np/3"] is True
    assert port.traffic_class.value == 106
    assert port.cm_tos.missing


def test_of_an_infiniband_port_nothing_is_asked() -> None:
    tree = host()
    tree.file(f"{IB}/ports/1/link_layer", "InfiniBand")
    tree.broken["mlnx_qos"] = "must not be asked"
    assert roce.observe(tree, MACHINE).ports.value == ()


def test_no_rdma_device_is_no_port_and_no_excuse() -> None:
    facts = roce.observe(Tree(), MACHINE)
    assert (facts.devices.missing, facts.ports.known) == (True, False)
    tree = host()
    tree.broken["/sys/class/infiniband"] = "permission denied"
    assert not roce.observe(tree, MACHINE).devices.missing


def test_a_port_without_a_link_layer_hides_nothing() -> None:
    tree = host()
    tree.remove(f"{IB}/ports/1/link_layer")
    assert "mlx5_0/1" in roce.observe(tree, MACHINE).ports.why


def test_the_table_is_read_on_while_no_usable_address_was_found() -> None:
    tree = host()
    gids(tree, LOCAL, LOCAL)
    tree.file(f"{IB}/ports/1/gids/60", MAPPED)
    tree.file(f"{IB}/ports/1/gid_attrs/types/60", "RoCE v2")
    assert only_port(tree).gid_index == 60
    assert only_port(tree).gids_read == 64
    assert only_port(host()).gids_read == 36


@pytest.mark.parametrize("name", ["gids/2", "gid_attrs/types/2"])
def test_an_entry_that_cannot_be_read_makes_the_table_unknown(name: str) -> None:
    tree = host()
    tree.broken[f"/sys/class/infiniband/mlx5_0/ports/1/{name}"] = "permission denied"
    assert "permission denied" in only_port(tree).gids.why


def test_without_mlnx_qos_dcb_is_asked() -> None:
    tree = host()
    del tree.commands["mlnx_qos@eth0"]
    qos = only_port(tree).qos
    assert not qos.trust.known
    assert "mlnx_qos" in qos.pfc.why
    assert "dcb" in qos.pfc.why
    tree.command("dcb@pfc-show-dev-eth0", PFC)
    tree.command("dcb@app-show-dev-eth0", "dscp-prio AF31:3\n")
    qos = only_port(tree).qos
    assert (qos.trust.value, qos.pfc.value, qos.priority.value) == ("dscp", (3,), ((26, 3),))
    tree.command("dcb@app-show-dev-eth0", "")
    assert only_port(tree).qos.trust.value == "pcp"


@pytest.mark.parametrize("output", [("", 1), (QOS[:60], 0)])
def test_an_mlnx_qos_that_did_not_end_well_is_not_believed(output: tuple[str, int]) -> None:
    tree = host()
    tree.command("mlnx_qos@eth0", *output)
    assert not only_port(tree).qos.pfc.known


def test_an_interface_that_is_switched_off_tells_no_carrier_and_one_without_a_cable_that_it_has_none() -> None:
    tree = host()
    tree.file(f"{NET}/operstate", "down")
    tree.file(f"{NET}/carrier", "0")
    assert only_port(tree).carrier.value is False
    tree.broken["/sys/class/net/eth0/carrier"] = "invalid argument"
    assert not only_port(tree).carrier.known


def test_without_gids_the_interface_is_the_functions_own() -> None:
    tree = host()
    gids(tree)
    tree.file(f"{PLACE}/net/a_rep/phys_port_name", "pf0vf3")
    tree.symlink("/sys/class/net/a_rep", f"../..{PLACE[4:]}/net/a_rep")
    assert only_port(tree).netdev.value == "eth0"


def two_ports(tree: Tree, *dev_ports: str) -> None:
    """A second port and interface of the function; the interfaces have these numbers, "" none that can be read."""
    for name in ("state", "phys_state", "rate", "link_layer"):
        tree.symlink(f"{IB}/ports/2/{name}", f"../1/{name}")
    for name, number in zip(("eth0", "eth1"), dev_ports, strict=True):
        tree.symlink(f"/sys/class/net/{name}", f"../../{PLACE[5:]}/net/{name}")
        tree.file(f"{PLACE}/net/{name}/operstate", "up")
        tree.remove(f"{PLACE}/net/{name}/dev_port") if not number and name == "eth0" else None
        tree.file(f"{PLACE}/net/{name}/dev_port", number) if number else None


@pytest.mark.parametrize(
    ("dev_ports", "told"),
    [
        (("0", "1"), ["eth0", "eth1"]),
        (("1", "0"), ["eth1", "eth0"]),
        (("", ""), [None, None]),
        (("0", "0"), [None, None]),
        (("0", ""), ["eth0", None]),
    ],
)
def test_of_several_interfaces_none_is_taken_for_a_port_by_guess(
    dev_ports: tuple[str, str], told: list[str | None]
) -> None:
    tree = host()
    gids(tree)  # No address says whose it is.
    two_ports(tree, *dev_ports)
    ports = roce.observe(tree, MACHINE).ports.value or ()
    assert [port.netdev.value for port in ports] == told
    for port, name in zip(ports, told, strict=True):
        if name is None:
            assert "which of eth0, eth1 is port" in port.netdev.why
            assert (port.uplink, port.counters.first.known) == ("", False)


def test_the_only_interface_of_two_ports_is_not_both_of_them() -> None:
    tree = host()
    gids(tree)
    for name in ("state", "phys_state", "rate", "link_layer"):
        tree.symlink(f"{IB}/ports/2/{name}", f"../1/{name}")
    assert [port.netdev.value for port in roce.observe(tree, MACHINE).ports.value or ()] == ["eth0", None]


def test_a_bond_carries_the_addresses_and_the_function_the_priorities() -> None:
    tree = host()
    for index in range(4):
        tree.file(f"{IB}/ports/1/gid_attrs/ndevs/{index}", "bond0")
    for name, text in {"operstate": "up", "carrier": "1", "mtu": "4200"}.items():
        tree.file(f"/sys/class/net/bond0/{name}", text)
    port = only_port(tree)
    assert (port.netdev.value, port.mtu.value) == ("bond0", 4200)
    assert port.qos.pfc.value == (3,)


@pytest.mark.parametrize(("node_type", "protocol"), [("1: CA", "software RDMA"), ("4: RNIC", "iWARP")])
def test_software_devices_are_told_by_having_no_function(node_type: str, protocol: str) -> None:
    tree = host()
    tree.remove(f"{IB}/device")
    tree.file(f"{IB}/node_type", node_type)
    tree.file(f"{IB}/parent", "eth0")
    gids(tree)
    port = only_port(tree)
    assert (port.protocol, port.address, port.netdev.value) == (protocol, "", "eth0")


def test_a_function_that_cannot_be_told_is_no_software() -> None:
    tree = host()
    tree.broken["/sys/class/infiniband/mlx5_0/device"] = "permission denied"
    assert only_port(tree).protocol == ""


def test_the_driver_is_asked_where_the_bus_was_not() -> None:
    tree = host()
    tree.symlink(f"{PLACE}/driver", "../../../bus/pci/drivers/bnxt_en")
    assert only_port(tree, Machine()).protocol == "RoCE"
    tree.symlink(f"{PLACE}/driver", "../../../bus/pci/drivers/brand_new")
    assert only_port(tree, Machine()).protocol == ""


@pytest.mark.parametrize(
    ("text", "value"),
    [("Global tclass=96\nmask=0x0", 96), ("", UNSET), ("nonsense", None)],
)
def test_the_drivers_traffic_class(text: str, value: int | None) -> None:
    tree = host()
    tree.file(f"{IB}/tc/1/traffic_class", text)
    assert only_port(tree).traffic_class.value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NCCL_IB_TC=106\n", 106),
        ("# NCCL_IB_TC=1\nNCCL_DEBUG=INFO\nNCCL_IB_TC= 0x6a\n", 106),
        # A blank before the = is part of the name, and the first line counts.
        (" NCCL_IB_TC=106\n", UNSET),
        ("NCCL_IB_TC =106\n", UNSET),
        ("NCCL_IB_TC=106\nNCCL_IB_TC=0\n", 106),
        ("NCCL_IB_TC=0152\r\n", 106),
        ("NCCL_DEBUG=INFO\n", UNSET),
        ("NCCL_IB_TC=-\n", 0),
        (f"NCCL_IB_TC={'9' * 40}\n", None),
    ],
)
def test_what_nccl_is_told(text: str, value: int | None) -> None:
    tree = host()
    tree.file("/etc/nccl.conf", text)
    assert roce.observe(tree, MACHINE).nccl_tc.value == value


def test_ecn_switches_that_a_driver_has_not_are_missing() -> None:
    tree = host()
    tree.remove(f"{NET}/ecn")
    assert only_port(tree).qos.ecn.missing
    broken = host()
    broken.broken["/sys/class/net/eth0/ecn/roce_rp/enable/5"] = "permission denied"
    assert (only_port(broken).qos.ecn.known, only_port(broken).qos.ecn.missing) == (False, False)


def test_a_device_whose_ports_cannot_be_listed_makes_them_unknown() -> None:
    tree = host()
    tree.broken["/sys/class/infiniband/mlx5_0/ports"] = "permission denied"
    ports = roce.observe(tree, MACHINE).ports
    assert (ports.value, ports.missing) == (None, False)
    assert "mlx5_0" in ports.why
