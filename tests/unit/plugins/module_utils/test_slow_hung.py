# SPDX-License-Identifier: GPL-3.0-or-later
"""Who waits for whom in a job that hangs. Records as flight recorders tell them; made up, nothing was recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import Collective, Times, Waiting
from ansible_collections.ibready.cluster.plugins.module_utils._slow import hung as module
from ansible_collections.ibready.cluster.plugins.module_utils._slow.hung import Hung, hung


def waits(rank: int, sequence: int, operation: str = "all_reduce", size: int = 1 << 26, **more: Any) -> Waiting:
    told = {"state": "started", "group": "0", "host": f"node{rank // 4 + 1}", **more}
    return Waiting(str(rank), sequence=sequence, operation=operation, size=size, **told)


def done(rank: int, sequence: int, operation: str = "all_reduce", **more: Any) -> Waiting:
    return waits(rank, sequence, operation, state="completed", **more)


def of(*records: Waiting) -> Hung:
    return hung(Times(waiting=records))


def test_a_rank_that_is_behind() -> None:
    found = of(*(waits(rank, 41) for rank in range(7)), done(7, 40, "all_gather"))
    assert (found.guilty, found.hosts) == (("7",), ("node2",))
    assert found.groups[0].kind == module.BEHIND
    assert found.because == (
        "Ranks 0, 1, 2, 3, 4, 5 and 1 more (node1 and node2) wait in all_reduce of 64 MiB (number 41); "
        "rank 7 (node2) is done with all_gather of 64 MiB (number 40).",
    )


def test_a_rank_that_never_came() -> None:
    found = of(*(waits(rank, 12, missing=("3",)) for rank in range(3)))
    assert (found.guilty, found.groups[0].kind) == (("3",), module.MISSING)
    assert found.because[0].endswith("(number 12); rank 3 never came, and tells nothing.")


def test_of_those_behind_the_last_is_guilty() -> None:
    """Rank 2 waits for rank 3, and both hold up the others."""
    found = of(waits(0, 9), waits(1, 9), waits(2, 8), done(3, 7))
    assert found.guilty == ("3",)
    assert "rank 2 (node1) is still in all_reduce of 64 MiB (number 8)" in found.because[0]


def test_a_rank_that_others_miss_though_it_tells() -> None:
    found = of(waits(0, 9, missing=("2",)), waits(1, 9, missing=("2",)), done(2, 9))
    assert found.guilty == ("2",)


def test_another_operation_at_the_same_place() -> None:
    found = of(*(waits(rank, 5) for rank in range(3)), waits(3, 5, "broadcast"))
    assert (found.guilty, found.groups[0].kind) == (("3",), module.MISMATCH)
    assert found.because[0].startswith(
        "Rank 3 (node1) began broadcast of 64 MiB where ranks 0, 1 and 2 (node1) began all_reduce of 64 MiB (number 5)"
    )


def test_another_size_at_the_same_place() -> None:
    found = of(*(waits(rank, 5) for rank in range(3)), waits(3, 5, size=1 << 20))
    assert (found.guilty, found.groups[0].kind) == (("3",), module.MISMATCH)


def test_sizes_of_all_to_all_may_differ() -> None:
    found = of(*(waits(rank, 5, "alltoall_base", size=100 + rank) for rank in range(4)))
    assert found.groups[0].kind == module.TOGETHER


def test_all_wait_in_the_same() -> None:
    found = of(*(waits(rank, 77) for rank in range(8)))
    assert (found.guilty, found.groups[0].kind) == ((), module.TOGETHER)
    assert "All 8 ranks that tell of it wait" in found.because[0]
    assert "the network between them, or a peer that died" in found.because[0]


def test_some_are_done_and_one_is_not() -> None:
    found = of(done(0, 7), done(1, 7), done(2, 7), waits(3, 7))
    assert (found.guilty, found.groups[0].kind) == (("3",), module.PARTLY)


def test_a_gpu_that_has_not_begun() -> None:
    found = of(*(waits(rank, 7) for rank in range(3)), waits(3, 7, state="scheduled"))
    assert (found.guilty, found.groups[0].kind) == (("3",), module.NOT_BEGUN)
    assert "the GPU has not begun it" in found.because[0]


def test_from_group_to_group_to_the_root() -> None:
    """Ranks 0 and 1 wait for 2, which waits for 3 in another communicator."""
    found = of(
        *(waits(rank, 20, group="data") for rank in (0, 1)),
        done(2, 19, group="data"),
        waits(2, 5, "all_gather", group="tensor"),
        done(3, 4, "all_gather", group="tensor"),
    )
    assert found.guilty == ("3",)
    assert found.groups[0].name == "tensor"
    assert "Communicator data waits for communicator tensor." in found.because


def test_a_circle() -> None:
    """Ranks 0 and 1 began the operations of two communicators in a different order."""
    found = of(waits(0, 3, group="a"), done(1, 2, group="a"), waits(1, 8, group="b"), done(0, 7, group="b"))
    assert set(found.guilty) == {"0", "1"}
    assert found.because[0].startswith("Ranks wait for each other in a circle")


def test_two_roots() -> None:
    found = of(waits(0, 3, group="a"), done(1, 2, group="a"), waits(4, 8, group="b"), done(5, 7, group="b"))
    assert found.guilty == ("1", "5")
    assert found.hosts == ("node1", "node2")


def test_old_records_of_a_rank_do_not_count() -> None:
    found = of(done(0, 3), done(0, 4), waits(0, 5), done(1, 3), done(1, 4))
    assert (found.guilty, found.groups[0].sequence) == (("1",), 5)


def test_nobody_waits() -> None:
    found = of(*(done(rank, 7) for rank in range(4)))
    assert (found.groups, found.guilty) == ((), ())
    assert found.missing
    assert hung(Times()).because == ("No text tells what a rank waits in.",)


def test_counts_of_calls_where_that_is_all() -> None:
    def calls(rank: int, count: int) -> Collective:
        return Collective("all_reduce", 1 << 20, (0.01,) * count, rank=str(rank), host=f"node{rank}")

    found = hung(Times(collectives=tuple(calls(rank, 50 if rank != 2 else 49) for rank in range(4))))
    assert (found.guilty, found.hosts) == (("2",), ("node2",))
    assert found.missing


def test_ranks_without_numbers_wait_too() -> None:
    """RAS and watchdogs may tell no number."""
    found = of(*(Waiting(str(rank), operation="all_reduce", missing=("5",)) for rank in range(5)))
    assert found.guilty == ("5",)


def test_ras_tells_of_those_that_differ() -> None:
    silent = Waiting("", group="cf26", state="missing", missing=("21",))
    late = [waits(rank, 641, "all_gather", 0, group="cf26", state="behind") for rank in (12, 13)]
    found = of(*late, silent)
    assert (found.guilty, found.groups[0].kind) == (("21",), module.MISSING)
    assert found.because[0].startswith("Nothing came from rank 21. Ranks 12 and 13 (node4) are behind the other ranks")
    assert of(*late).guilty == ("12", "13")
    assert of(waits(0, 7, state="ahead")).guilty == ()


_WAITING = st.builds(
    Waiting,
    st.sampled_from(["", *"0123"]),
    st.sampled_from(["", "a", "b"]),
    st.sampled_from(["", "x", "y", "z"]),
    st.integers(-1, 4),
    st.sampled_from(["", "all_reduce", "send 0->1", "all_gather"]),
    st.integers(0, 3),
    st.sampled_from(["", "started", "scheduled", "completed", "behind", "ahead", "missing"]),
    st.lists(st.sampled_from("01234"), max_size=2).map(tuple),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_WAITING, max_size=12))
def test_strange_records_are_judged_too(records: list[Waiting]) -> None:
    found = of(*records)
    assert found.because
    assert all(text.endswith(".") for text in found.because)


@pytest.mark.parametrize(("size", "text"), [(17, "17 bytes"), (3 << 19, "1.5 MiB"), (1 << 34, "16 GiB")])
def test_sizes(size: int, text: str) -> None:
    assert text in of(*(waits(rank, 1, size=size) for rank in range(2))).because[0]


def test_of_ranks_whose_dumps_are_not_given_nothing_is_said() -> None:
    group = ("0", "1", "2", "3")
    alone = of(waits(1, 5, members=group))
    assert (alone.guilty, alone.groups[0].kind) == ((), module.TOGETHER)
    assert "Of 4 ranks 1 tells of it: give the texts (log, dump) of ranks 0, 2 and 3 as well." in alone.because[0]
    assert "network" not in alone.because[0]
    some = of(waits(0, 5, members=group), waits(1, 5, members=group), done(2, 4, members=group))
    assert some.guilty == ("2",)
    assert some.because[0].endswith("Of 4 ranks 3 tell of it: give the text (log, dump) of rank 3 as well.")
    assert "none is behind: the network" in of(*(waits(rank, 5, members=group) for rank in range(4))).because[0]


def test_a_rank_that_two_hosts_tell_of() -> None:
    found = of(waits(0, 5, host="a"), waits(1, 5, host="b"), done(1, 4, host="c"))
    assert "Rank 1 is told of by b and c: these are two jobs" in found.because[0]


def test_a_dump_without_its_rank() -> None:
    found = of(Waiting("", "", "0", 5, "all_reduce", 0, "started"))
    assert found.groups[0].kind == module.NAMELESS
    assert "1 text does not tell its rank" in found.because[0]
    assert (
        "1 text does not tell its rank" in of(*(waits(r, 5) for r in (0, 1)), replace(waits(0, 5), rank="")).because[0]
    )


def test_ranks_without_names_are_counted() -> None:
    found = of(Waiting("", group="cf26", state="missing", missing=("21", "")))
    assert found.guilty == ("21",)
    assert found.because[0] == "Nothing came from rank 21. Nothing came from 1 rank that no text names."
