# SPDX-License-Identifier: GPL-3.0-or-later
"""Where other hosts reach a host: what the inventory says, and its address on IPoIB by a single word."""

from __future__ import annotations

import ipaddress
from typing import Any

import pytest
from ansible.errors import AnsibleError
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._ground.address import of

PORTS = [{"port": "mlx5_0/1", "networks": ["10.1.0.0/16"]}, {"port": "mlx5_1/1", "networks": ["10.2.0.0/16"]}]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({}, "n1", id="its name"),
        pytest.param({"ansible_host": "192.0.2.1"}, "192.0.2.1", id="where Ansible reaches it"),
        pytest.param({"ansible_host": "192.0.2.1", "ibready_address": "10.2.0.11"}, "10.2.0.11", id="the site"),
    ],
)
def test_the_site_s_word_counts_first(variables: dict[str, Any], expected: str) -> None:
    assert of("n1", {"ipoib_interfaces": PORTS, "ipoib_index": 11, **variables}) == expected


@given(st.integers(1, 65534), st.booleans())
def test_one_word_gives_every_host_its_address_on_ipoib(index: int, as_text: bool) -> None:
    number: Any = str(index) if as_text else index
    variables = {"ansible_host": "192.0.2.1", "ibready_address": "ipoib", "ipoib_interfaces": PORTS}
    found = of("n1", {**variables, "ipoib_index": number})
    assert int(ipaddress.ip_address(found)) - int(ipaddress.ip_address("10.1.0.0")) == index


@pytest.mark.parametrize(
    ("interfaces", "expected"),
    [
        pytest.param([{"port": "mlx5_0/1", "addresses": ["fd00::b/64"]}], "fd00::b", id="an address outright"),
        pytest.param(
            [{"port": "mlx5_0/1"}, {"port": "mlx5_1/1", "addresses": ["10.2.0.11/16"]}],
            "10.2.0.11",
            id="the first port that has one",
        ),
        pytest.param(
            [{"port": "mlx5_0/1", "pkeys": [{"pkey": "0x8001", "networks": ["10.101.0.0/16"]}]}],
            "10.101.0.7",
            id="a partition's",
        ),
    ],
)
def test_the_first_address_is_taken(interfaces: list[dict[str, Any]], expected: str) -> None:
    said = {"ibready_address": "ipoib", "ipoib_interfaces": interfaces, "ipoib_index": 7, "ipoib_mtu": "auto"}
    assert of("n1", said) == expected


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        pytest.param({}, "ipoib_interfaces is empty", id="no interface"),
        pytest.param({"ipoib_interfaces": PORTS}, "set ipoib_index of the host", id="no number"),
        pytest.param({"ipoib_interfaces": PORTS, "ipoib_index": "eleven"}, "is ipoib, and", id="no integer"),
        pytest.param({"ipoib_interfaces": PORTS, "ipoib_index": 65536}, "is not in 10.1.0.0/16", id="outside"),
        pytest.param({"ipoib_interfaces": [{"port": "mlx5_0/1"}]}, "gives the host no address", id="no address"),
        pytest.param({"ipoib_interfaces": ["mlx5_0/1"]}, "ibready_address is ipoib, and", id="another shape"),
        pytest.param({"ipoib_interfaces": {"port": "mlx5_0/1"}}, "ibready_address is ipoib, and", id="no list"),
    ],
)
def test_no_other_address_takes_its_place(variables: dict[str, Any], why: str) -> None:
    with pytest.raises(AnsibleError) as raised:
        of("n1", {"ansible_host": "192.0.2.1", "ibready_address": "ipoib", **variables})
    assert why in str(raised.value)
    assert str(raised.value).startswith("n1: ")
