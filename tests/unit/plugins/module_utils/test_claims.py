# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose a GUID, LID or name is that several claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._fleet import fleet_names
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.claims import Claim, Claims, Sighting

KEY = ("node GUID", 0xA1)
GUIDS = "fleet.hca.guid_unique"
LABELLED = {"n1": 17, "n5": 23}


def saw(teller: str, host: str = "", lid: int = 0, twice: bool = False) -> Sighting:
    return Sighting(teller, host, frozenset({lid}), twice)


def results(*seen: Sighting, lids: Mapping[str, int] = LABELLED) -> dict[str, str]:
    """Of n1 and n5, who claim one GUID; by what others saw."""
    every = Claims(lambda key: seen if key == KEY else ())
    mine = [Claim(host, "mlx5_0", "0xa1", frozenset({lid})) for host, lid in lids.items()]
    for claim in mine:
        every.add(KEY, claim)
    return {claim.host: every.judged(GUIDS, [KEY], claim).result for claim in mine}


UNKNOWN = {"n1": "unknown", "n5": "unknown"}
FIRST = {"n1": "pass", "n5": "fail"}
BOTH = {"n1": "fail", "n5": "fail"}


@pytest.mark.parametrize(
    ("seen", "found"),
    [
        pytest.param([], UNKNOWN, id="nobody looked"),
        pytest.param([saw("n3", "n1")], FIRST, id="a third saw whose adapter it is"),
        pytest.param([saw("n3", lid=17)], FIRST, id="a third saw the LID beside it"),
        pytest.param([saw("n3", lid=99)], UNKNOWN, id="what a third saw fits neither"),
        pytest.param([saw("n3", "n2", lid=17)], UNKNOWN, id="a third saw it on one that does not claim it"),
        pytest.param([saw("n5", "n5")], UNKNOWN, id="its own look is no witness"),
        pytest.param([saw("n5", twice=True)], {"n1": "unknown", "n5": "fail"}, id="nor of two devices but against it"),
        pytest.param([saw("n5", "n1")], FIRST, id="its own look is one against it"),
        pytest.param([saw("n5", "n5"), saw("n3", "n1")], FIRST, id="nor is it against another's"),
        pytest.param([saw("n2", "n5"), saw("n3", "n1")], UNKNOWN, id="two that looked contradict each other"),
        pytest.param([saw("n2", "n1"), saw("n3", "n1")], FIRST, id="two that looked agree"),
        pytest.param([saw("n3", twice=True)], BOTH, id="a third saw two devices"),
        pytest.param([saw("n3", "n1"), saw("n3", "n5")], UNKNOWN, id="one told both"),
        pytest.param([saw("n1", twice=True), saw("n5", twice=True)], BOTH, id="each saw two devices itself"),
    ],
)
def test_a_claim_fails_by_what_its_own_host_or_a_third_saw_alone(
    seen: Sequence[Sighting], found: Mapping[str, str]
) -> None:
    assert results(*seen) == found


def test_who_copies_the_lid_as_well_cannot_be_told_apart_by_it() -> None:
    assert results(saw("n3", lid=17), lids={"n1": 17, "n5": 17}) == UNKNOWN


def test_a_host_that_has_it_twice_itself_fails_by_its_own_words() -> None:
    every = Claims()
    mine = [Claim("n1", f"mlx5_{at}", "0xa1") for at in (0, 1)] + [Claim("n2", "mlx5_0", "0xa1")]
    for claim in mine:
        every.add(KEY, claim)
    assert [every.judged(GUIDS, [KEY], claim).result for claim in mine] == ["fail", "fail", "unknown"]


def test_what_nobody_bears_out_is_told_in_both_words_with_a_next_step() -> None:
    every = Claims(lambda _key: [saw("n2", "n5"), saw("n3", "n1")])
    mine = [Claim(host, "mlx5_0", "0xa1") for host in ("n1", "n5")]
    for claim in mine:
        every.add(KEY, claim)
    check = every.judged(GUIDS, [KEY], mine[0])
    assert "n1 mlx5_0 has 0xa1 by its own word, and n5 mlx5_0 by theirs" in check.cause
    assert check.cause.endswith("n3 tells that it is n1's, n2 tells that it is n5's")
    assert "labels" in check.remedy
    assert (check.observed, check.expected) == ("0xa1, also on n5 mlx5_0", "on no other")


def named(names: Mapping[str, str], **called: Sequence[str]) -> dict[str, str]:
    owners = fleet_names.called({host: (host, *called.get(host, ())) for host in names})
    return {host: check.result for host, (check,) in fleet_names.judge(names, owners).items()}


def test_who_takes_the_name_of_another_in_the_inventory_fails_alone() -> None:
    assert named({"n1": "n1", "n2": "n2", "n5": "n1"}) == {"n1": "pass", "n2": "pass", "n5": "fail"}
    assert named({"n1": "N1.cluster.local", "n5": "N1.cluster.local"}) == FIRST
    assert named({"n1.cluster.local": "n1", "n5": "n1"}) == {"n1.cluster.local": "pass", "n5": "fail"}
    assert named({"n1": "gpu-a", "n5": "gpu-a"}, n1=["gpu-a.cluster.local"]) == FIRST


@pytest.mark.parametrize(
    ("names", "called"),
    [
        pytest.param({"n1": "vm", "n5": "vm"}, {}, id="nobody's by the inventory"),
        pytest.param({"n1": "vm", "n5": "vm"}, {"n1": ["vm"], "n5": ["vm"]}, id="both of them by the inventory"),
        pytest.param({"n1": "10", "n5": "10"}, {"n1": ["10.0.0.1"]}, id="an address has no short form"),
    ],
)
def test_a_name_that_the_inventory_gives_to_neither_is_unknown_on_both(
    names: Mapping[str, str], called: Mapping[str, Sequence[str]]
) -> None:
    assert named(names, **called) == UNKNOWN
