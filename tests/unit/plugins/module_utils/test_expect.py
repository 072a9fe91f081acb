# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import (
    ExpectationError,
    Expected,
    from_inventory,
    with_fleet,
)


def test_the_inventory_is_named_as_the_source() -> None:
    expect = from_inventory({"hcas": "8", "rate_gbps": 400})
    assert expect.get("hcas") == Expected(8, "inventory")
    assert expect.get("rate_gbps") == Expected(400.0, "inventory")
    assert expect.get("firmware") is None


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param({"rate": 400}, id="unknown key"),
        pytest.param({"hcas": "eight"}, id="not a number"),
        pytest.param({"hcas": True}, id="a boolean is no number"),
        pytest.param({"hcas": 0}, id="zero"),
        pytest.param({"hcas": 2.5}, id="half an HCA"),
        pytest.param({"rate_gbps": float("nan")}, id="not a number at all"),
        pytest.param({"rate_gbps": float("inf")}, id="endless"),
        pytest.param({"link_layer": "IB"}, id="unknown link layer"),
        pytest.param({"ignore": "mlx5_0"}, id="a text where a list is due"),
        pytest.param({"ignore": [1]}, id="a list of numbers"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_key(raw: dict[str, Any]) -> None:
    with pytest.raises(ExpectationError, match=f"expect.{next(iter(raw))}"):
        from_inventory(raw)


def test_the_operator_wins_over_the_fleet() -> None:
    fleet = {"hcas": Expected(8, "fleet 3/3"), "rate_gbps": Expected(400.0, "fleet 3/3")}
    expect = with_fleet(from_inventory({"hcas": 4}), fleet)
    assert expect.get("hcas") == Expected(4, "inventory")
    assert expect.get("rate_gbps") == Expected(400.0, "fleet 3/3")
