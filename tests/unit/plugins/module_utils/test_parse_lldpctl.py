# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import lldpctl
from ansible_collections.ibready.cluster.plugins.module_utils._parse.lldpctl import Neighbour
from tests.unit.parsers import SAMPLES

SAMPLE = (SAMPLES / "lldpctl.txt").read_text()
LEAF = Neighbour("eth0", "leaf1", "70:06:92:6e:33:18", "etp1", "Ethernet0", (3,))


def test_switch_port_and_flow_control_are_read() -> None:
    assert lldpctl.parse(SAMPLE) == (LEAF, Neighbour("eth1", "", "70:06:92:6e:34:5c", "swp1"))
    assert [str(one) for one in lldpctl.parse(SAMPLE)] == ["leaf1 etp1", "70:06:92:6e:34:5c swp1"]


def listed(value: Any) -> Any:
    """What lldpd writes as json0: everything is a list, and every text an object."""
    return [{"value": value}] if isinstance(value, str) else [value]


def test_the_other_form_of_lldpd_is_read_alike() -> None:
    body = json.loads(SAMPLE)["lldp"]["interface"][0]["eth0"]
    chassis = {"id": listed(None), "name": listed("leaf1")}
    chassis["id"] = [body["chassis"]["leaf1"]["id"]]
    port = {"id": [body["port"]["id"]], "descr": listed("Ethernet0")}
    tlvs = [{"unknown-tlv": body["unknown-tlvs"]["unknown-tlv"]}]
    entry = {"name": "eth0", "via": "LLDP", "chassis": [chassis], "port": [port], "unknown-tlvs": tlvs}
    assert lldpctl.parse(json.dumps({"lldp": [{"interface": [entry]}]})) == (LEAF,)


@pytest.mark.parametrize("text", ['{"lldp": {}}', '{"lldp": [{}]}', '{"lldp": {"interface": []}}'])
def test_nobody_is_heard(text: str) -> None:
    assert lldpctl.parse(text) == ()


def test_an_interface_that_stands_alone_is_no_list() -> None:
    one = json.loads(SAMPLE)["lldp"]["interface"][0]
    assert lldpctl.parse(json.dumps({"lldp": {"interface": one}})) == (LEAF,)


@pytest.mark.parametrize(
    ("value", "pfc"), [("88,00", ()), ("08,FF", tuple(range(8))), ("08,18", (3, 4)), ("08,08", (3,)), ("c8,80", (7,))]
)
def test_a_bit_a_priority(value: str, pfc: tuple[int, ...]) -> None:
    assert lldpctl.parse(SAMPLE.replace('"08,08"', f'"{value}"'))[0].pfc == pfc


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        pytest.param("", 0, "empty output", id="empty"),
        pytest.param(SAMPLE[:-40], SAMPLE[:-40].rstrip().count("\n") + 1, "no JSON from here on", id="cut"),
        pytest.param("[]", 0, "no object 'lldp'", id="array"),
        pytest.param('{"lldp": [1]}', 0, "is no object", id="number"),
        pytest.param('{"lldp": {"interface": {"eth0": 3}}}', 0, "is no object", id="interface"),
        pytest.param('{"lldp": {"interface": {"eth0": {}}}}', 0, "tells no port", id="nothing"),
        pytest.param(SAMPLE.replace('"08,08"', '"08"'), 0, "two bytes", id="short"),
        pytest.param('{"lldp": ' * 5000, 0, "nested too deep", id="deep"),
        pytest.param('{"lldp": %s}' % ("1" * 30), 0, "too many digits", id="digits"),
    ],
)
def test_what_is_not_understood_is_refused(text: str, line: int, why: str) -> None:
    with pytest.raises(ParseError, match=why) as refused:
        lldpctl.parse(text)
    assert refused.value.line_no == line


@pytest.mark.parametrize("end", range(0, len(SAMPLE) - 4, 37))
def test_a_text_that_was_cut_is_refused(end: int) -> None:
    with pytest.raises(ParseError):
        lldpctl.parse(SAMPLE[:end])
