# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether every rail hangs where its own GPU is: hosts of a few lines each, made up."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._areas.machine.facts import Machine, PciFunction
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci.check_place import judge_places
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci.check_scope import scope
from ansible_collections.ibready.cluster.plugins.module_utils._areas.pci.facts import PciFacts
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, SKIP, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading


def _function(switch: int, at: int, *, gpu: bool, part: int = 0) -> PciFunction:
    """Below a switch of its own root port, or below a root port alone where ``switch`` is 0."""
    here = f"{switch or 9:02x}{at:02x}:03:00.{part}"
    above = (f"0000:{switch:02x}:01.0", f"0000:{switch:02x}:02.0", f"{switch:02x}{at:02x}:02:00.0") if switch else ()
    path = (*(above or (f"00f{at:x}:00:01.0",)), here)
    if gpu:
        return PciFunction(here, "030200", "10de", "2330", path=path)
    return PciFunction(here, "020700", "15b3", "1021", path=path)


def judged(gpus: Sequence[int], rails: Sequence[int], *, parts: int = 1, blind: bool = False, **expect: int) -> Check:
    """``gpus`` and ``rails``: the switch above each, 0 for a rail on the processor."""
    bus = [_function(switch, at, gpu=True) for at, switch in enumerate(gpus)]
    bus += [
        _function(switch, 64 + at, gpu=False, part=part) for at, switch in enumerate(rails) for part in range(parts)
    ]
    if blind:
        bus[0] = PciFunction(bus[0].address, "030200", "10de", "2330")
    machine = Machine(pci=Reading(tuple(bus)))
    expected = from_inventory(expect)
    return judge_places(scope(PciFacts(rdma=Reading(())), machine, expected), expected)


EACH = range(1, 9)


@pytest.mark.parametrize(
    ("gpus", "rails"),
    [
        (EACH, EACH),
        ([1, 1, 2, 2, 3, 3, 4, 4], [1, 2, 3, 4]),  # four rails for eight GPUs
        ([1, 1, 2, 2, 3, 3, 4, 4], [1, 1, 2, 2, 3, 3, 4, 4]),
        (EACH, [*EACH, *EACH]),  # two rails a GPU
        (EACH, [*EACH, 0, 0]),  # and storage on the processors
        (EACH, [*EACH, 4, 8]),  # or beside two of the GPUs
        ([1, 1, 1, 1, 2, 2, 2, 2], [1]),  # one rail for all
    ],
)
def test_a_host_that_is_laid_out_alike_passes(gpus: Sequence[int], rails: Sequence[int]) -> None:
    assert judged(gpus, rails).result in (PASS, SKIP)


@pytest.mark.parametrize(
    ("gpus", "rails", "subject"),
    [
        (EACH, [1, 2, 3, 4, 5, 6, 7, 1], "0807:03:00.0"),
        ([1, 1, 2, 2, 3, 3, 4, 4], [1, 2, 3, 3], "host"),  # both GPUs of a switch have none
        (EACH, [1, 2, 3, 4, 5, 6, 7, 0], "0807:03:00.0"),
        (EACH, [*EACH, 1, 2, 3, 4, 5, 6, 7, 7], "0807:03:00.0"),
    ],
)
def test_a_rail_in_the_wrong_place_is_told_with_the_gpu_that_lacks_it(
    gpus: Sequence[int], rails: Sequence[int], subject: str
) -> None:
    found = judged(gpus, rails)
    assert (found.result, found.subject) == (FAIL, subject)


def test_both_functions_of_a_card_are_one_rail() -> None:
    assert judged(EACH, EACH, parts=2).result == PASS


def test_half_of_the_gpus_tell_where_all_would_have_as_many() -> None:
    pairs = [1, 1, 2, 2, 3, 3, 4, 4]
    found = judged(pairs, [1, 1, 1, 2, 3, 3, 4, 4])
    assert (found.result, found.expected_from) == (FAIL, "equals 4/8")
    assert judged(pairs, [1, 1, 1, 2, 3, 3, 4, 4, 4, 4]).result == SKIP


def test_a_rail_that_is_gone_is_not_in_the_wrong_place() -> None:
    assert judged(EACH, [1, 2, 3, 4, 5, 6, 7]).result == PASS
    assert judged(EACH, [1, 2, 3, 4, 5, 6, 6], hcas=8).result == SKIP


def test_a_path_that_nobody_tells_is_unknown() -> None:
    assert judged(EACH, EACH, blind=True).result == UNKNOWN
