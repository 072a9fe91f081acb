# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ip_addr, ip_route
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ip_addr import Address, Interface
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ip_route import Route
from tests.unit.parsers import SAMPLES

SAMPLE = (SAMPLES / "ip_addr.txt").read_text()
ETH = '{"ifname":"e","flags":["UP"],"mtu":1500,"link_type":"ether","addr_info":[%s]}'


def addressed(**record: object) -> str:
    return f"[{ETH % json.dumps(record)}]"


def test_interfaces_are_told_with_kind_state_master_and_addresses() -> None:
    found = {one.name: one for one in ip_addr.parse(SAMPLE)}
    assert {name: one.kind for name, one in found.items()} == {
        "lo": "loopback",
        "eno1": "",
        "bond0": "bond",
        "docker0": "bridge",
        "ib0": "ipoib",
    }
    assert found["eno1"] == Interface("eno1", "", True, True, 1500, "bond0")
    assert not found["docker0"].running
    assert found["bond0"].addresses == (
        Address(4, "10.0.0.11", 24, "global"),
        Address(6, "fd00::b", 64, "global", usable=False),
    )


def test_details_that_nobody_reads_may_be_there_twice() -> None:
    text = ETH.replace('"mtu"', '"linkinfo":{"a":1,"a":2},"mtu"') % ""
    assert ip_addr.parse(f"[{text}]")[0].name == "e"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "empty"),
        ("[]", "not even lo"),
        ("[{}]", "not even lo"),
        ("{}", "no array"),
        ("[1]", "no array"),
        ("[{", "no JSON"),
        ("[" * 100_000, "deep"),
        ("[" + "9" * 5000 + "]", "digits"),
        ("[NaN]", "NaN"),
        ('[{"ifname":"a","ifname":"b"}]', "twice"),
        (f"[{ETH % ''},{ETH % ''}]", "told of twice"),
        (f"[{ETH.replace('1500', 'true') % ''}]", "mtu is no number"),
        (f"[{ETH.replace('ether', '') % ''}]", "without link_type"),
        (f"[{ETH % 7}]", "no object"),
        (addressed(family="inet", local="x"), "that is none"),
        (addressed(family="inet6", local="1.2.3.4", prefixlen=8, scope="x"), "wrong"),
        (addressed(family="inet", local="1.2.3.4", prefixlen=33, scope="x"), "wrong"),
        (addressed(family="inet", local="1.2.3.4", prefixlen=8), "without a scope"),
    ],
)
def test_what_is_no_list_of_interfaces_is_an_error(text: str, word: str) -> None:
    with pytest.raises(ParseError, match=word):
        ip_addr.parse(text)


@pytest.mark.parametrize(
    ("text", "route"),
    [
        (
            '[{"dst":"192.0.2.9","dev":"eth0","prefsrc":"192.0.2.2","flags":[],"cache":[]}]',
            Route("192.0.2.9", "eth0", "192.0.2.2"),
        ),
        (
            '[{"dst":"2001:db8::1","from":"::","gateway":"fd00::1","dev":"eth0","prefsrc":"fd00::2"}]',
            Route("2001:db8::1", "eth0", "fd00::2", "fd00::1"),
        ),
        (
            '[{"dst":"10.9.0.1","via":{"family":"inet6","host":"fe80::1"},"dev":"swp1","prefsrc":"10.0.0.2"}]',
            Route("10.9.0.1", "swp1", "10.0.0.2", "fe80::1"),
        ),
        (
            '[{"type":"local","dst":"192.0.2.2","dev":"lo","prefsrc":"192.0.2.2"}]',
            Route("192.0.2.2", "lo", "192.0.2.2", local=True),
        ),
    ],
)
def test_a_route_names_interface_and_source(text: str, route: Route) -> None:
    assert ip_route.parse(text) == route


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[]", "0 routes"),
        ('[{"dst":"1.2.3.4"},{"dst":"1.2.3.4"}]', "2 routes"),
        ('[{"type":"unreachable","dst":"1.2.3.4","dev":"lo"}]', "is unreachable"),
        ('[{"dst":"1.2.3.4","prefsrc":"1.2.3.5"}]', "names no interface"),
        ('[{"dst":"1.2.3.4","dev":"eth0"}]', "prefsrc"),
        ('[{"dst":"x","dev":"eth0","prefsrc":"1.2.3.4"}]', "dst"),
    ],
)
def test_what_carries_no_packets_is_an_error(text: str, word: str) -> None:
    with pytest.raises(ParseError, match=word):
        ip_route.parse(text)


def test_a_strange_word_cannot_break_a_message_into_lines() -> None:
    with pytest.raises(ParseError) as caught:
        ip_route.parse('[{"type":"a\\nb\\u001b[31m","dst":"10.0.0.1"}]')
    assert str(caught.value).isprintable()
    assert "a\\nb" in str(caught.value)
