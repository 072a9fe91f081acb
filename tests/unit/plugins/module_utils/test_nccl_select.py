# SPDX-License-Identifier: GPL-3.0-or-later
"""NCCL_IB_HCA and NCCL_SOCKET_IFNAME. Tried with the real libraries."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._nccl import select
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import Release, release
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.select import Entry, Interface, Port

RELEASES = ("2.18.3", "2.23.4", "2.26.2", "2.29.7", "2.30.3", "2.32.3")
PORTS = (
    Port("mlx5_0"),
    Port("mlx5_1"),
    Port("mlx5_10"),
    Port("mlx5_2", 1),
    Port("mlx5_2", 2),
    Port("mlx5_bond_0"),
    Port("bnxt_re0"),
)
ALL = "mlx5_0 mlx5_1 mlx5_10 mlx5_2 mlx5_2:2 mlx5_bond_0 bnxt_re0"


def taken(value: str | None, version: str) -> str:
    """As one line: mlx5_2:2 for the second port."""
    found = select.hca_ports(value, PORTS, release(version))
    return " ".join(one.name if one.port == 1 else f"{one.name}:{one.port}" for one in found)


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(
    ("value", "devices"),
    [
        ("mlx5_1", "mlx5_1 mlx5_10"),
        ("mlx5_1:1", "mlx5_1 mlx5_10"),
        ("=mlx5_1", "mlx5_1"),
        ("=mlx5_2", "mlx5_2 mlx5_2:2"),
        ("=mlx5_2:2", "mlx5_2:2"),
        ("=mlx5_0,=mlx5_1", "mlx5_0"),
        ("=mlx5_0,mlx5_1", "mlx5_0 mlx5_1"),
        ("=mlx5_1,mlx5_0", "mlx5_0 mlx5_1"),
        ("^=mlx5_1,^=mlx5_2", "mlx5_0 mlx5_10 mlx5_2 mlx5_2:2 mlx5_bond_0 bnxt_re0"),
        ("^=mlx5_1,mlx5_2", "mlx5_0 mlx5_10 mlx5_bond_0 bnxt_re0"),
        ("^mlx5_1", "mlx5_0 mlx5_2 mlx5_2:2 mlx5_bond_0 bnxt_re0"),
        ("=^mlx5_1", ""),
        ("^", ""),
        ('"mlx5_0"', ""),
        ("mlx5_0 mlx5_1", ""),
        ("mlx5_0:0", ""),
        ("mlx5_7", ""),
        ("mlx5_0, mlx5_2", "mlx5_0"),
        ("mlx5_0,,bnxt", "mlx5_0 bnxt_re0"),
        ("=mlx5_0:1:0:0,bnxt_re0:1:1:0", "mlx5_0 bnxt_re0"),
        ("m", "mlx5_0 mlx5_1 mlx5_10 mlx5_2 mlx5_2:2 mlx5_bond_0"),
        ("=", ALL),
        (",", ALL),
        (":1", ALL),
        ("", ALL),
        (None, ALL),
    ],
)
def test_which_hcas_a_value_takes(value: str | None, devices: str, version: str) -> None:
    assert taken(value, version) == devices


@pytest.mark.parametrize("version", RELEASES)
def test_an_empty_port_is_port_0_before_2_30_7(version: str) -> None:
    assert taken("mlx5_0:", version) == ("mlx5_0" if release(version) >= (2, 30, 7) else "")


def test_rail_and_plane_are_read_from_2_30_7_on() -> None:
    old = select.parse("=mlx5_0:1:2:3,mlx5_1:2", release("2.30.4"), 32)
    new = select.parse("=mlx5_0:1:2:3,mlx5_1::4", release("2.30.7"), 32)
    assert old.entries == (Entry("mlx5_0", 1), Entry("mlx5_1", 2))
    assert new.entries == (Entry("mlx5_0", 1, 2, 3), Entry("mlx5_1", select.ANY, 4))


@pytest.mark.parametrize(
    ("port", "number"),
    [("2", 2), (" 2", 2), ("2x", 2), ("-1", -1), ("x", 0), ("4294967298", 2), ("9" * 30, -1)],
)
def test_a_port_is_read_as_the_c_library_reads_it(port: str, number: int) -> None:
    assert select.parse(f"m:{port}", release("2.32.3"), 32).entries[0].port == number


@pytest.mark.parametrize(("version", "most"), [("2.18.6", 16), ("2.19.3", 32), ("2.32.3", 32)])
def test_there_is_room_for_so_many_hcas(version: str, most: int) -> None:
    ports = [Port(f"mlx5_{number}") for number in range(40)]
    assert select.hca_ports(None, ports, release(version)) == tuple(ports[:most])
    every = "=" + ",".join(one.name for one in reversed(ports))
    assert len(select.hca_ports(every, ports, release(version))) == most
    assert select.hca_ports(every, ports, release(version))[-1] == ports[-1]
    assert select.parse(every, release(version), most).left == 40 - most


def test_a_name_is_cut_after_63_bytes_from_2_30_7_on() -> None:
    long = "m" * 70
    assert select.parse(long, release("2.30.7"), 32).entries == (Entry("m" * 63),)
    assert select.parse(long, release("2.29.7"), 32).entries == (Entry(long),)


HOST = (
    Interface("lo", "127.0.0.1"),
    Interface("eth0", "10.0.0.1"),
    Interface("ib0", "10.1.0.1"),
    Interface("docker0", "172.17.0.1"),
    Interface("virbr0", "192.168.122.1"),
    Interface("eth10", "10.2.0.1"),
    Interface("lo", "::1"),
    Interface("eth0", "fe80::1"),
    Interface("eth6", "fd00::6"),
)
NO_IB = tuple(one for one in HOST if one.name != "ib0")


def first(value: str | None, version: str, present: tuple[Interface, ...] = NO_IB) -> str:
    return " ".join(select.interfaces(value, present, release(version))[:1])


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(
    ("value", "interfaces"),
    [
        (None, "ib0"),
        ("", "ib0"),
        ("e", "ib0"),
        ("^", "ib0"),
        ("eth", "eth0 eth10 eth6"),
        ("eth1", "eth10"),
        ("=eth10,eth0", "eth0 eth10"),
        ("=eth0,=eth10", "eth0"),
        ("^ib", "lo eth0 docker0 virbr0 eth10 eth6"),
        ("^ib,^docker,^lo", "lo eth0 docker0 virbr0 eth10 eth6"),
        ("^ib,docker,lo,virbr,veth", "eth0 eth10 eth6"),
        ("^=lo", "eth0 ib0 docker0 virbr0 eth10 eth6"),
        ("lo", "lo"),
        ("eth0:1", "eth0"),
        ("nonesuch", ""),
        ("eth0 ", ""),
        ('"eth0"', ""),
        ("=^eth0", ""),
    ],
)
def test_which_interfaces_a_value_takes(value: str | None, interfaces: str, version: str) -> None:
    assert " ".join(select.interfaces(value, HOST, release(version))) == interfaces


def test_without_a_list_infiniband_goes_first_and_loopback_last() -> None:
    old, new = "2.27.7", "2.28.3"
    lone = (HOST[0], HOST[3], HOST[4])
    assert first(None, old, HOST) == first(None, new, HOST) == "ib0"
    assert first(None, old) == first(None, new) == "eth0"
    # virbr is one of the last from 2.28 on.
    assert first(None, old, lone) == "virbr0"
    assert first(None, new, lone) == "docker0"
    assert first(None, new, (HOST[0], HOST[4])) == "lo"
    assert first(None, new, (HOST[4],)) == "virbr0"
    assert first(None, old, (HOST[0],)) == "lo"
    assert first(None, old, ()) == ""


def test_the_socket_transport_takes_all_of_a_class() -> None:
    assert select.interfaces(None, NO_IB, release("2.32.3")) == ("eth0", "eth10", "eth6")


def test_with_a_communicator_id_its_subnet_goes_before_the_others() -> None:
    near = select.interfaces(None, NO_IB, release("2.32.3"), near_comm_id={"eth10"})
    assert near == ("eth10",)
    assert select.interfaces(None, HOST, release("2.32.3"), near_comm_id={"eth10"}) == ("ib0",)


@pytest.mark.parametrize(
    ("family", "interfaces"),
    [
        ("AF_INET", ("eth0", "eth10")),
        ("AF_INET6", ("eth0", "eth6")),
        ("IPv6", ("eth0", "eth10", "eth6")),
        (None, ("eth0", "eth10", "eth6")),
    ],
)
def test_only_two_words_are_a_family(family: str | None, interfaces: tuple[str, ...]) -> None:
    assert select.interfaces("eth", HOST, release("2.32.3"), family) == interfaces


def test_the_loopback_address_of_ipv6_is_never_taken() -> None:
    assert select.interfaces("lo", HOST, release("2.32.3"), "AF_INET6") == ()
    assert select.interfaces("^eth", HOST, release("2.32.3"), "AF_INET6") == ()


def test_from_2_28_an_interface_has_to_run() -> None:
    down = (Interface("eth0", "10.0.0.1", running=False), Interface("eth1", "10.0.0.2"))
    assert first(None, "2.27.7", down) == "eth0"
    assert first(None, "2.28.3", down) == "eth1"
    assert select.interfaces("eth0", down, release("2.28.3")) == ()


def test_an_address_that_is_none_is_passed_over() -> None:
    assert first("eth0", "2.32.3", (Interface("eth0", "00:11:22:33:44:55"),)) == ""


@pytest.mark.parametrize("version", RELEASES)
def test_there_is_room_for_16_interfaces(version: str) -> None:
    many = tuple(Interface(f"eth{number}", f"10.0.0.{number}") for number in range(20))
    assert len(select.interfaces("eth", many, release(version))) == 16
    last = ",".join(one.name for one in many)
    assert select.interfaces(f"={last}", many, release(version))[-1] == "eth15"


VALUES = st.one_of(
    st.text(alphabet='^=,: "mlx5_012ethib', max_size=30),
    st.text(max_size=20),
    st.none(),
)


@settings(max_examples=200, deadline=None, database=None)
@given(value=VALUES, version=st.sampled_from([release(one) for one in RELEASES]))
def test_a_list_and_its_exclusion_part_the_devices(value: str | None, version: Release) -> None:
    ports = select.hca_ports(value, PORTS, version)
    assert set(ports) <= set(PORTS)
    if value and not value.startswith("^"):
        rest = select.hca_ports(f"^{value}", PORTS, version)
        assert sorted((*ports, *rest), key=str) == sorted(PORTS, key=str)
    assert set(select.interfaces(value, HOST, version)) <= {one.name for one in HOST}
