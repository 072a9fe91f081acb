# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_equal import (
    Alike,
    judge,
)

LINKS = {"0000:15:00.0": "32 GT/s x16", "0000:13:00.0": "x16", "0000:25:00.0": "32 GT/s x16"}
ONE = Alike("580.105.08", "doca 25.10", "2.28.7", "8x H100", "SYS hgx-h100-8", LINKS)
IDS = ("driver.version", "rdma.version", "nccl.version", "gpu.model", "pci.link")


def results(*hosts: Alike, size: int = 0) -> dict[str, dict[str, str]]:
    """By host, what became of each check."""
    named = {f"n{at}": one for at, one in enumerate(hosts)}
    return {
        host: {one.id.removeprefix("fleet."): one.result for one in checks}
        for host, checks in judge(named, size or len(hosts)).items()
    }


def test_equal_hosts_pass_every_comparison() -> None:
    assert results(ONE, ONE, ONE) == {f"n{at}": dict.fromkeys(IDS, "pass") for at in range(3)}


@pytest.mark.parametrize(
    ("bent", "check"),
    [
        ({"driver": "580.95.05"}, "driver.version"),
        ({"rdma": "inbox 50.0"}, "rdma.version"),
        ({"nccl": "not installed"}, "nccl.version"),
        ({"gpus": "7x H100"}, "gpu.model"),
        ({"links": {**LINKS, "0000:15:00.0": "16 GT/s x16"}}, "pci.link"),
        ({"links": {**LINKS, "0000:13:00.0": "x8"}}, "pci.link"),
    ],
)
def test_the_one_that_differs_is_named_and_the_others_are_not(
    bent: dict[str, Any], check: str
) -> None:
    found = results(ONE, replace(ONE, **bent), ONE)
    assert found["n1"] == {**dict.fromkeys(IDS, "pass"), check: "fail"}
    assert found["n0"] == found["n2"] == dict.fromkeys(IDS, "pass")


def test_two_that_differ_are_unknown_for_nobody_knows_who_is_right() -> None:
    other = replace(ONE, driver="580.95.05", links={**LINKS, "0000:13:00.0": "x8"})
    for one in results(ONE, other).values():
        assert (one["driver.version"], one["pci.link"]) == ("unknown", "unknown")
        assert one["nccl.version"] == "pass"


def test_a_host_that_did_not_tell_is_unknown_and_one_that_has_none_is_left_out() -> None:
    found = results(ONE, replace(ONE, driver=""), replace(ONE, driver=None, gpus=None, links={}))
    assert found["n1"]["driver.version"] == "unknown"
    assert set(found["n2"]) == {"rdma.version", "nccl.version"}


def test_links_are_compared_among_hosts_of_one_kind_alone() -> None:
    other = replace(ONE, kind="another", links={"0000:15:00.0": "16 GT/s x8"})
    found = results(ONE, ONE, other)
    assert found["n2"]["pci.link"] == "unknown"
    assert found["n0"]["pci.link"] == "pass"


def test_a_host_that_is_alone_has_nothing_to_be_compared_with() -> None:
    assert set(results(ONE)["n0"].values()) == {"skip"}
    assert set(results(ONE, size=3)["n0"].values()) == {"unknown"}


def test_what_differs_is_told_with_what_the_others_have() -> None:
    odd = replace(ONE, links={**LINKS, "0000:15:00.0": "16 GT/s x8"})
    named = {"n0": ONE, "n1": odd, "n2": ONE}
    check = next(one for one in judge(named, 3)["n1"] if one.id == "fleet.pci.link")
    assert check.observed == "0000:15:00.0 16 GT/s x8 instead of 32 GT/s x16"
    assert check.expected_from == "fleet 2/3"
