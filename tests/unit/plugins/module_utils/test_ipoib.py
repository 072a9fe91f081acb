# SPDX-License-Identifier: GPL-3.0-or-later
"""What the site says of IPoIB, and what each service is told."""

from __future__ import annotations

import configparser
import ipaddress
from fnmatch import fnmatchcase
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.ipoib import desired, persist
from ansible_collections.ibready.cluster.plugins.module_utils._act.ipoib.desired import IpoibError, Link
from ansible_collections.ibready.cluster.plugins.module_utils._data import ipoib as data
from ansible_collections.ibready.cluster.plugins.module_utils._data.managed_files import MANAGED

PARENTS = {"mlx5_0/1": "ib0", "mlx5_1/1": "ibp9s0"}
TWO: list[dict[str, Any]] = [
    {
        "port": "mlx5_0/1",
        "networks": ["10.1.0.0/16", "fd00:1::/64"],
        "pkeys": [{"pkey": "0x0001", "addresses": ["10.101.0.11/16"], "mtu": 2044}],
    },
    {"port": "mlx5_1/1", "addresses": ["10.2.0.11/16"], "mode": "connected"},
]


def links(given: list[dict[str, Any]] = TWO, index: int | None = 11) -> tuple[Link, ...]:
    return desired.read(given, data.DATAGRAM, "auto", index)


def ini(text: str) -> configparser.ConfigParser:
    read = configparser.ConfigParser(interpolation=None, strict=False)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(text)
    return read


def test_addresses_are_said_or_counted() -> None:
    own, child, other = links()
    assert own.addresses == ("10.1.0.11/16", "fd00:1::b/64")
    assert (child.pkey, child.addresses, child.mode) == (0x8001, ("10.101.0.11/16",), "datagram")
    assert child.name("ib0") == "ib0.8001"
    assert (own.mtu, child.mtu, other.mtu) == (0, 2044, 65520)


@given(st.integers(2, 30), st.integers(1, 1 << 40))
def test_a_counted_address_is_a_hosts_own(length: int, index: int) -> None:
    network = ipaddress.ip_network(f"10.0.0.0/{max(length, 8)}")
    try:
        (only,) = links([{"port": "mlx5_0/1", "networks": [str(network)]}], index)
    except IpoibError:
        assert index >= network.num_addresses - 1
        return
    found = ipaddress.ip_interface(only.addresses[0])
    assert found.network == network
    assert int(found.ip) - int(network.network_address) == index


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"port": "mlx5_0"}, "name one like mlx5_0/1"),
        ({"port": "mlx5_1/1"}, "two entries for this port"),
        ({"mode": "ud"}, "neither datagram nor connected"),
        ({"mtu": 4096}, "not between 1280 and 4092"),
        ({"mtu": 65520}, "usual: 2044, 4092"),
        ({"mode": "connected", "mtu": 65521}, "not between 1280 and 65520"),
        ({"mtu": "big"}, "neither auto nor a number"),
        ({"addresses": ["10.3.0.1"]}, "has no length"),
        ({"addresses": ["10.3.0.0/16"]}, "no address of a host"),
        ({"addresses": ["10.3.255.255/16"]}, "no address of a host"),
        ({"addresses": ["127.0.0.1/8"]}, "no address of a host"),
        ({"addresses": ["ib0"]}, "address 'ib0'"),
        ({"networks": ["10.3.0.1/16"]}, "has host bits set"),
        ({"networks": ["10.3.0.0/29"]}, "number 11 is not in"),
        ({"addresses": ["10.2.0.11/16"]}, "is both of mlx5_1/1"),
        ({"addresses": ["10.2.0.12/16"]}, "are both in 10.2.0.0/16"),
        ({"pkeys": [{"pkey": 0x7FFF}]}, "that of the port itself"),
        ({"pkeys": [{"pkey": 0x8000}]}, "that of the port itself"),
        ({"pkeys": [{"pkey": 1}, {"pkey": 0x8001}]}, "named twice"),
        ({"pkeys": [{"pkey": 70000}]}, "not between 0x0001"),
        ({"pkeys": ["0x8001"]}, "Next: say {pkey"),
        ({"name": "ib 0"}, "no short word"),
        ({"name": "ib0.8001"}, "no short word"),
        ({"adresses": []}, "'adresses' is not one of"),
    ],
)
def test_what_could_not_work_is_refused(more: dict[str, Any], said: str) -> None:
    given = [TWO[1], {"port": "mlx5_0/1", **more}]
    with pytest.raises(IpoibError) as caught:
        links(given)
    assert said in str(caught.value)


def test_a_number_has_to_be_said_where_it_is_needed() -> None:
    assert links([TWO[1]], None)[0].addresses == ("10.2.0.11/16",)
    with pytest.raises(IpoibError, match="has no number"):
        links(TWO, None)


def test_networkd_has_a_device_for_each_partition() -> None:
    texts = persist.render(data.NETWORKD, links(), PARENTS)
    folder = "/etc/systemd/network/60-ibready-"
    assert {path.replace(folder, "") for path in texts} == {
        "ib0.network",
        "ib0.8001.network",
        "ib0.8001.netdev",
        "ibp9s0.network",
    }
    made = ini(texts[f"{folder}ib0.8001.netdev"])
    assert dict(made["NetDev"]) == {"Name": "ib0.8001", "Kind": "ipoib"}
    assert dict(made["IPoIB"]) == {"PartitionKey": "0x8001", "Mode": "datagram"}
    own = texts[f"{folder}ib0.network"]
    assert "IPoIB=ib0.8001\n" in own
    assert "Address=10.1.0.11/16\nAddress=fd00:1::b/64\n" in own
    assert ini(texts[f"{folder}ibp9s0.network"])["Link"]["MTUBytes"] == "65520"


def test_networkd_is_not_asked_for_what_it_leaves_aside() -> None:
    persist.refuse_backend(data.NETWORKD, links([{"port": "mlx5_0/1"}]), 249)
    with pytest.raises(IpoibError, match="systemd 249 knows no partitions"):
        persist.refuse_backend(data.NETPLAN, links(TWO[:1]), 249)
    persist.refuse_backend(data.NETPLAN, links(TWO[:1]), 250)
    with pytest.raises(IpoibError, match="leaves a port's mode as it is"):
        persist.refuse_backend(data.NETPLAN, links(TWO[1:]), 257)
    persist.refuse_backend(data.MANAGER, links(TWO), 239)


def test_netplan_is_told_of_ports_and_networkd_of_partitions() -> None:
    texts = persist.render(data.NETPLAN, links(), PARENTS)
    said = yaml.safe_load(texts.pop(data.NETPLAN_FILE))["network"]
    assert said["version"] == 2
    assert said["ethernets"]["ib0"] == {
        "optional": True,
        "dhcp4": False,
        "accept-ra": False,
        "addresses": ["10.1.0.11/16", "fd00:1::b/64"],
    }
    assert said["ethernets"]["ibp9s0"]["mtu"] == 65520
    # Where netplan generates 10-netplan-ib0.network.
    beside = texts.pop("/etc/systemd/network/10-netplan-ib0.network.d/ibready.conf")
    assert ini(beside)["Network"]["IPoIB"] == "ib0.8001"
    assert sorted(texts) == [
        "/etc/systemd/network/60-ibready-ib0.8001.netdev",
        "/etc/systemd/network/60-ibready-ib0.8001.network",
    ]


def test_networkmanager_has_a_profile_for_each_interface() -> None:
    texts = persist.render(data.MANAGER, links(), PARENTS)
    path = "/etc/NetworkManager/system-connections/ibready-ib0.8001.nmconnection"
    child = ini(texts[path])
    assert dict(child["infiniband"]) == {
        "transport-mode": "datagram",
        "mtu": "2044",
        "p-key": str(0x8001),
        "parent": "ib0",
    }
    assert child["ipv4"]["address1"] == "10.101.0.11/16"
    assert child["ipv6"]["method"] == "link-local"
    own = ini(texts[path.replace(".8001", "")])
    assert (own["ipv4"]["method"], own["ipv6"]["address1"]) == ("manual", "fd00:1::b/64")
    assert len({ini(text)["connection"]["uuid"] for text in texts.values()}) == 3
    assert persist.file_mode(path) == 0o600, "NetworkManager leaves others aside"


def test_udev_names_the_port_and_not_its_partitions() -> None:
    given = [{"port": "mlx5_0/1", "name": "ib0", "pkeys": [{"pkey": 2}]}]
    ((path, text),) = persist.naming(links(given), {"mlx5_0/1": "0000:18:00.0"}).items()
    rule = ini(text)
    assert dict(rule["Match"]) == {
        "Path": "pci-0000:18:00.0",
        "Type": "infiniband",
        "OriginalName": "!*.*",
    }
    assert rule["Link"]["Name"] == "ib0"
    assert path < "/etc/systemd/network/10-netplan-ib0.link"


@pytest.mark.parametrize("backend", data.BACKENDS)
def test_every_file_is_found_again_and_managed(backend: str) -> None:
    named = [{**TWO[0], "name": "ib0"}, TWO[1]]
    texts = persist.render(backend, links(named), PARENTS)
    texts |= persist.naming(links(named), {"mlx5_0/1": "0000:18:00.0"})
    for path in texts:
        assert any(fnmatchcase(path, pattern) for pattern in persist.file_globs(backend)), path
        assert any(fnmatchcase(path, one.glob) for one in MANAGED), path
