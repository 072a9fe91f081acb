# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._fleet.fleet_same import Consistency, Kind, judge

LINKS = {"0000:15:00.0": "32 GT/s x16", "0000:13:00.0": "x16", "0000:25:00.0": "32 GT/s x16"}
SETTINGS = "NCCL_IB_TC=106\nNCCL_NET_PLUGIN=none"
FACTS = {
    "fleet.driver.version": {"host": "580.105.08 open"},
    "fleet.nccl.settings": {"host": SETTINGS},
    "fleet.port.mtu": {"mlx5_0/1": "4096", "mlx5_1/1": "4096"},
    "fleet.pci.link": LINKS,
}
ONE = Consistency(Kind("SYS"), FACTS)
HEALTHY = {
    "driver.version host": "pass",
    "nccl.settings host": "pass",
    "port.mtu mlx5_0/1": "pass",
    "port.mtu mlx5_1/1": "pass",
    **{f"pci.link {address}": "pass" for address in LINKS},
}


def bent(check: str, subject: str, value: str | None) -> Consistency:
    """A host of which this fact is another; None: it has none of it."""
    mine = {name: one for name, one in FACTS[check].items() if name != subject}
    return replace(ONE, facts={**FACTS, check: mine if value is None else {**mine, subject: value}})


def results(*hosts: Consistency, size: int = 0) -> dict[str, dict[str, str]]:
    """By host, what became of each check."""
    named = {f"n{at}": one for at, one in enumerate(hosts)}
    size = size or len(hosts)
    return {
        host: {f"{one.id.removeprefix('fleet.')} {one.subject}": one.result for one in checks}
        for host, checks in judge(named, size).items()
    }


def test_equal_hosts_pass_every_comparison() -> None:
    assert results(ONE, ONE, ONE) == {f"n{at}": HEALTHY for at in range(3)}


@pytest.mark.parametrize(
    ("odd", "check"),
    [
        (bent("fleet.driver.version", "host", "580.95.05 open"), "driver.version host"),
        (bent("fleet.nccl.settings", "host", "NCCL_IB_TC=0"), "nccl.settings host"),
        (bent("fleet.port.mtu", "mlx5_1/1", "2048"), "port.mtu mlx5_1/1"),
        (bent("fleet.pci.link", "0000:15:00.0", "16 GT/s x16"), "pci.link 0000:15:00.0"),
        (bent("fleet.pci.link", "0000:13:00.0", "x8"), "pci.link 0000:13:00.0"),
    ],
)
def test_the_one_that_differs_is_named_and_the_others_are_not(odd: Consistency, check: str) -> None:
    found = results(ONE, odd, ONE)
    assert found["n1"] == {**HEALTHY, check: "fail"}
    assert found["n0"] == found["n2"] == HEALTHY


def test_two_that_differ_are_unknown_for_nobody_knows_who_is_right() -> None:
    driver = bent("fleet.driver.version", "host", "580.95.05").facts
    other = replace(ONE, facts={**driver, "fleet.pci.link": {**LINKS, "0000:13:00.0": "x8"}})
    for one in results(ONE, other).values():
        assert (one["driver.version host"], one["pci.link 0000:13:00.0"]) == ("unknown", "unknown")
        assert one["pci.link 0000:15:00.0"] == "pass"
        assert one["nccl.settings host"] == "pass"


def test_a_host_that_did_not_tell_is_unknown_and_one_that_has_none_is_left_out() -> None:
    silent = bent("fleet.driver.version", "host", "")
    without = replace(ONE, facts={**bent("fleet.driver.version", "host", None).facts, "fleet.pci.link": {}})
    found = results(ONE, silent, without)
    assert found["n0"]["driver.version host"] == "unknown"
    assert found["n1"]["driver.version host"] == "unknown"
    assert set(found["n2"]) == {name for name in HEALTHY if not name.startswith(("driver", "pci.link"))}


def test_hosts_of_another_product_are_compared_apart() -> None:
    other = replace(bent("fleet.driver.version", "host", "535.1"), kind=Kind("another"))
    found = results(ONE, ONE, other)
    assert set(found["n2"].values()) == {"skip"}
    assert found["n0"] == HEALTHY


def test_a_host_that_is_alone_has_nothing_to_be_compared_with() -> None:
    assert set(results(ONE)["n0"].values()) == {"skip"}
    assert set(results(ONE, size=3)["n0"].values()) == {"unknown"}


def test_what_differs_is_told_with_what_the_others_have() -> None:
    odd = bent("fleet.pci.link", "0000:15:00.0", "16 GT/s x8")
    (check,) = (one for one in judge({"n0": ONE, "n1": odd, "n2": ONE}, 3)["n1"] if one.result == "fail")
    assert (check.observed, check.expected, check.expected_from) == ("16 GT/s x8", "32 GT/s x16", "fleet 2/3")


def test_a_link_that_the_host_lacks_is_another_checks() -> None:
    """A GPU that is gone is counted."""
    assert "fail" not in results(ONE, bent("fleet.pci.link", "0000:13:00.0", None), ONE)["n1"].values()


def test_of_many_settings_those_are_shown_that_differ() -> None:
    odd = bent("fleet.nccl.settings", "host", "NCCL_ALGO=Ring\nNCCL_IB_TC=106")
    found = judge({"n0": ONE, "n1": odd, "n2": ONE}, 3)
    check = next(one for one in found["n1"] if one.id == "fleet.nccl.settings")
    assert check.observed.startswith("2 lines, digest ")
    assert check.observed.endswith(": NCCL_ALGO=Ring")
    assert check.expected.endswith(": NCCL_NET_PLUGIN=none")
    assert "NCCL_IB_TC" not in check.observed + check.expected


def test_what_nobody_installed_is_not_compared() -> None:
    none = bent("fleet.driver.version", "host", "not installed")
    assert "driver.version host" not in results(none, none, none)["n0"]
    assert results(ONE, none, ONE)["n1"]["driver.version host"] == "fail"
