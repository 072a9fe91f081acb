# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import mlxlink

TEXT = """
Operational Info
----------------
State                              : Active
Physical state                     : LinkUp
Speed                              : IB-NDR
Width                              : 4x

Troubleshooting Info
--------------------
Recommendation                     : \x1b[32mNo issue was observed\x1b[0m

Module Info
-----------
Temperature [C]                    : 54 [-5..75]
Voltage [mV]                       : N/A
Rx Power Current [dBm]             : 1.886,-14.2 [-10.41..6]
Tx Fault [per lane]                : 0,1
Rx LOS [per lane]                  : 0,0
Cable Type                         : Optical Module (separated)

Physical Counters and BER Info
------------------------------
Time Since Last Clear [Min]        : 348349.5
Symbol BER                         : 15E-255
Effective Physical BER             : 1E-13
Raw Physical BER                   : 2E-9
Link Down Counter                  : 3
"""


def test_the_link_its_errors_and_its_module_are_read() -> None:
    seen = mlxlink.parse(TEXT)
    assert (seen.state, seen.speed, seen.width) == ("Active", "IB-NDR", "4x")
    assert seen.recommendation == "No issue was observed"
    assert (seen.symbol_ber, seen.effective_ber, seen.raw_ber) == (15e-255, 1e-13, 2e-9)
    assert (seen.link_down, seen.minutes) == (3, 348349.5)
    temperature, light = seen.module
    assert (temperature.values, temperature.low, temperature.high) == ((54.0,), -5.0, 75.0)
    assert (light.name, light.values) == ("Rx power", (1.886, -14.2))
    assert seen.faults == ("Tx Fault [per lane] 0,1",)


def test_copper_has_no_module_values() -> None:
    seen = mlxlink.parse("State : Active\nTemperature [C] : N/A\nCable Type : Passive copper cable")
    assert (seen.module, seen.faults, seen.cable) == ((), (), "Passive copper cable")


def as_json(lanes: Any) -> str:
    return json.dumps(
        {
            "result": {
                "output": {
                    "Operational Info": {"State": "Active", "Physical state": "LinkUp"},
                    "Module Info": {"Temperature [C]": "54 [-5..75]"},
                    "Physical Counters and BER Info": {
                        "Raw Physical BER": "2E-9",
                        "Raw Physical Errors Per Lane": lanes,
                    },
                }
            }
        }
    )


@pytest.mark.parametrize("lanes", [["1", "2"], {"values": [1, 2]}, "1,2"])
def test_json_says_the_same(lanes: Any) -> None:
    seen = mlxlink.parse(as_json(lanes))
    assert (seen.state, seen.raw_ber, seen.module[0].high) == ("Active", 2e-9, 75.0)


@pytest.mark.parametrize("value", ["N/A", "fast", "9E9", "1E", ""])
def test_what_is_no_bit_error_rate_is_none(value: str) -> None:
    assert mlxlink.parse(f"State : Active\nRaw Physical BER : {value}").raw_ber is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "empty", id="nothing"),
        pytest.param("-E- Unsupported device", "nothing of a link", id="an error"),
        pytest.param('{"result": ', "JSON", id="cut JSON"),
        pytest.param('{"result": {"output": 3}}', "nothing of a link", id="other JSON"),
        pytest.param('{"a": ' * 5000, "JSON", id="deep JSON"),
    ],
)
def test_what_gives_no_facts_says_why(text: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason):
        mlxlink.parse(text)
