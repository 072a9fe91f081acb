# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job is bound by, over synthetic jobs of known bottleneck and by each rule."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import (
    CHECKPOINT,
    COMMUNICATION,
    COMPUTE,
    HOST,
    INPUT,
    LOADING,
    OPTIMIZER,
    PARTS,
    PIPELINE_SEEN,
    TENSORS,
    Busy,
    Collective,
    Step,
    Times,
)
from ansible_collections.ibready.cluster.plugins.module_utils._slow import kinds, words
from ansible_collections.ibready.cluster.plugins.module_utils._slow.advice import advised
from ansible_collections.ibready.cluster.plugins.module_utils._slow.bound import Bound, judged
from ansible_collections.ibready.cluster.plugins.module_utils._slow.compare import compared
from ansible_collections.ibready.cluster.plugins.module_utils._slow.numbers import period
from tests.unit import slow_jobs
from tests.unit.slow_jobs import Job, Plan, steps

JOBS, HEALTHY = 300, 60
# Seeds that no threshold was chosen by.
FIRST = 100_000


def of(plan: Plan, seed: int = 1) -> Times:
    return Times(tuple(steps(plan, random.Random(seed))))


def named(found: Bound) -> frozenset[str]:
    return frozenset(rank for each in found.guilty for rank in each.ranks)


def exact(job: Job, found: Bound) -> bool:
    """Names the guilty, all of them and nobody else; a host as a host."""
    if job.host:
        return [(each.host, each.rank) for each in found.guilty] == [(job.host, "")]
    return named(found) == job.ranks


def only(times: Times, *parts: str, rank: str = "") -> Times:
    kept = [
        Step(s.step, s.seconds, s.rank, s.host, {name: value for name, value in s.parts.items() if name in parts})
        for s in times.steps
        if not rank or s.rank == rank
    ]
    return Times(tuple(kept), times.collectives, times.waiting, times.busy, times.settings)


@pytest.mark.thorough
def test_jobs_of_known_bottleneck() -> None:
    right, wrong, late, guilty = 0, [], 0, 0
    for seed in range(FIRST, FIRST + JOBS):
        job = slow_jobs.job(seed)
        found = judged(job.times)
        right += found.kind in job.right
        if found.kind not in job.right and found.sure in (kinds.SURE, kinds.LIKELY):
            wrong.append((seed, job.bottleneck, job.told, found.kind))
        if found.kind == kinds.STRAGGLER and job.bottleneck in slow_jobs.LATE:
            late += 1
            guilty += exact(job, found)
    assert right >= 0.95 * JOBS
    assert len(wrong) <= 0.01 * JOBS, wrong
    assert late >= JOBS // 3
    assert guilty == late


@pytest.mark.thorough
def test_no_straggler_in_healthy_jobs() -> None:
    counts: Counter[str] = Counter()
    for seed in range(FIRST, FIRST + HEALTHY):
        found = judged(slow_jobs.healthy(seed).times)
        assert found.guilty == ()
        counts[found.kind] += 1
    assert counts[kinds.STRAGGLER] == counts[kinds.UNEVEN] == 0
    assert counts[kinds.COMPUTATION] >= 0.95 * HEALTHY


@pytest.mark.parametrize(
    "kind", [kinds.STRAGGLER, kinds.COMMUNICATION_BOUND, kinds.INPUT, kinds.COMPUTATION], ids=lambda kind: str(kind)
)
def test_jobs_that_meet_many_times_a_step(kind: str) -> None:
    for seed in range(15):
        times, late = slow_jobs.synced(seed, kind)
        found = judged(times)
        assert (found.kind, named(found)) == (kind, {late} if late else set())


def test_shares_of_transfer_and_waiting_are_told_apart() -> None:
    found = judged(of(Plan(ranks=8, noise=0.02, transfer=0.1, more={"5": 0.5})))
    assert found.kind == kinds.STRAGGLER
    assert found.sure == kinds.SURE
    # Of 1.5 seconds a tenth of a second is the network's, and about half a second is waiting for rank 5.
    assert found.shares[COMMUNICATION] == pytest.approx(0.1 / 1.5, abs=0.02)
    assert found.shares["waiting"] == pytest.approx(0.5 * 7 / 8 / 1.5, abs=0.04)
    assert found.gain == pytest.approx(0.5 / 1.5, abs=0.04)
    assert found.head == "the job waits for rank 5 (node2)"


@pytest.mark.parametrize(
    ("part", "word"), [(COMPUTE, "most of it computation"), (INPUT, "loading data"), (HOST, "the host")]
)
def test_what_makes_a_straggler_late_is_named(part: str, word: str) -> None:
    found = judged(of(Plan(more={"3": 0.4}, part=part)))
    assert found.guilty[0].part == part
    assert word in found.because[0]
    assert "the others wait" in found.because[0]


def test_a_host_is_named_where_all_its_ranks_are_late() -> None:
    found = judged(of(Plan(ranks=16, per_host=4, more={str(rank): 0.4 for rank in range(4, 8)})))
    assert [(each.host, each.rank, each.ranks) for each in found.guilty] == [("node2", "", ("4", "5", "6", "7"))]
    assert found.head == "the job waits for host node2"


def test_one_of_two_hosts_may_be_late() -> None:
    found = judged(of(Plan(ranks=8, per_host=4, more={str(rank): 0.3 for rank in range(4, 8)})))
    assert [each.host for each in found.guilty] == ["node2"]


def test_a_host_is_late_together_though_none_of_its_ranks_stands_out() -> None:
    plan = Plan(ranks=64, per_host=8, steps=24, noise=0.16, lottery=0, more={str(rank): 0.16 for rank in range(8, 16)})
    found = judged(of(plan, 5))
    assert [(each.host, each.rank) for each in found.guilty] == [("node2", "")]


def test_two_stragglers() -> None:
    found = judged(of(Plan(ranks=16, more={"2": 0.5, "11": 0.45})))
    assert named(found) == {"2", "11"}


def test_a_straggler_now_and_then_has_its_period() -> None:
    found = judged(of(Plan(steps=80, more={"6": 1.2}, every=5, warm=3)))
    assert found.kind == kinds.STRAGGLER
    assert (found.guilty[0].rank, found.guilty[0].every, found.guilty[0].now_and_then) == ("6", 5, True)
    assert "in every 5th step" in found.because[0]
    assert not any("checkpoint" in note for note in found.notes)


def test_many_that_differ_are_no_stragglers() -> None:
    """Half of the stages of a pipeline have more to do."""
    found = judged(of(Plan(ranks=32, per_host=8, more={str(rank): 0.3 for rank in range(0, 32, 2)})))
    assert found.kind == kinds.UNEVEN
    assert found.guilty == ()
    assert "too many for a broken part" in found.because[1]


def test_a_late_stage_of_a_pipeline_is_no_straggler() -> None:
    times = of(Plan(ranks=16, per_host=4, more={str(rank): 0.4 for rank in range(4, 8)}))
    found = judged(Times(times.steps, settings={"pipeline_model_parallel_size": "4"}))
    assert (found.kind, found.sure, found.guilty) == (kinds.UNEVEN, kinds.LIKELY, ())
    assert "The job is a pipeline of 4 stages: who is late may have a stage with more work." in found.notes
    seen = judged(Times(times.steps, settings={PIPELINE_SEEN: "True"}))
    assert (seen.kind, seen.sure, seen.guilty) == (kinds.UNEVEN, kinds.LIKELY, ())


def test_ranks_of_a_pipeline_are_held_against_their_own_stage() -> None:
    def told_stages(plan: Plan) -> Times:
        rows = tuple(replace(step, stage=str(int(step.rank) // 4)) for step in of(plan).steps)
        return Times(rows, settings={"pipeline_model_parallel_size": "4"})

    late = judged(told_stages(Plan(ranks=16, per_host=4, more={"6": 0.4})))
    assert (late.kind, late.sure, named(late)) == (kinds.STRAGGLER, kinds.SURE, {"6"})
    whole = judged(told_stages(Plan(ranks=16, per_host=4, more={str(rank): 0.4 for rank in range(12, 16)})))
    assert (whole.kind, whole.guilty) == (kinds.UNEVEN, ())


@pytest.mark.parametrize(
    ("hides", "sure"), [((), kinds.SURE), ((TENSORS,), kinds.LIKELY), ((LOADING, TENSORS), kinds.POSSIBLE)]
)
def test_an_upper_bound_of_computation_is_never_sure(hides: tuple[str, ...], sure: str) -> None:
    parts = {COMPUTE: 0.95, COMMUNICATION: 0.02}
    times = Times(tuple(Step(n, 1.0, parts=parts, hides=hides) for n in range(20)))
    found = judged(times)
    assert (found.kind, found.sure) == (kinds.COMPUTATION, sure)
    assert all(any(what in sentence for sentence in found.because) for what in hides)
    changes = [change.words() for change in advised(times, found)]
    assert any("do not help here" in words_ for words_ in changes) == (not hides)


def test_of_the_sum_of_clocks_nothing_is_more_than_possible() -> None:
    times = Times(tuple(Step(n, 1.0, parts={COMPUTE: 0.98, COMMUNICATION: 0.02}, summed=True) for n in range(20)))
    found = judged(times)
    assert (found.kind, found.sure) == (kinds.COMPUTATION, kinds.POSSIBLE)
    assert not any("do not help here" in change.words() for change in advised(times, found))


def test_what_is_outside_of_all_clocks_is_the_loader_or_the_host() -> None:
    parts = {COMPUTE: 0.16, COMMUNICATION: 0.01, OPTIMIZER: 0.02}
    found = judged(Times(tuple(Step(n, 1.0, parts=parts) for n in range(20))))
    assert (found.kind, found.sure) == (kinds.CANNOT_TELL, "")
    assert "the loader of data or the host" in found.because[1]


def test_a_different_rank_each_time_is_no_straggler() -> None:
    found = judged(of(Plan(ranks=64, noise=0.25, steps=40)))
    assert found.kind == kinds.UNEVEN
    assert found.guilty == ()


def test_a_small_straggler_of_a_job_bound_by_the_network_is_told_beside() -> None:
    found = judged(of(Plan(parts={COMPUTE: 0.4}, transfer=0.6, more={"3": 0.1}, noise=0.01, part=COMPUTE)))
    assert found.kind == kinds.COMMUNICATION_BOUND
    assert named(found) == {"3"}
    assert any("Rank 3" in note for note in found.notes)


def test_checkpoints_and_warm_up_are_told_apart() -> None:
    found = judged(of(Plan(steps=60, warm=3, checkpoint=10, pause=2.0), 3))
    assert found.kind == kinds.COMPUTATION
    assert any(
        note.startswith("Every 10th step takes 3.0 times as long (a checkpoint is written)") for note in found.notes
    )
    assert any("warm-up" in note for note in found.notes)
    assert found.seconds == pytest.approx(1.05, abs=0.1)


def test_pauses_can_be_what_holds_a_job_up() -> None:
    found = judged(of(Plan(steps=60, checkpoint=5, pause=4.0)))
    assert (found.kind, found.sure) == (kinds.PAUSED, kinds.LIKELY)
    assert found.gain == pytest.approx(0.8 / 1.8, abs=0.05)
    untold = judged(only(of(Plan(steps=100, checkpoint=20, pause=16.0))))
    assert (untold.kind, untold.sure) == (kinds.PAUSED, kinds.POSSIBLE)


def test_a_short_period_is_gradient_accumulation() -> None:
    found = judged(only(of(Plan(steps=60, checkpoint=5, pause=4.0))))
    assert (found.kind, found.gain) == (kinds.CANNOT_TELL, 0.0)
    assert any("(most likely gradient accumulation, else a checkpoint" in note for note in found.notes)


def test_gpus_that_nobody_uses_are_no_stragglers() -> None:
    busy = tuple(Busy("", gpu, 0.0 if gpu > 5 else 97.0) for gpu in range(8) for _ in range(4))
    found = judged(Times(busy=busy))
    assert (found.kind, found.guilty) == (kinds.CANNOT_TELL, ())
    assert "GPU 6, GPU 7: 0 % busy, so they are not used by the job, or dead." in found.notes
    assert judged(Times(busy=(*busy, *[Busy("", 5, 20.0)] * 9))).guilty[0].name == "GPU 5"


def test_communication_is_more_than_possible_only_where_two_ranks_tell() -> None:
    times = of(Plan(parts={COMPUTE: 0.5, HOST: 0.05}, transfer=0.45))
    both, one = judged(times), judged(only(times, *PARTS, rank="2"))
    assert (both.kind, both.sure) == (kinds.COMMUNICATION_BOUND, kinds.SURE)
    assert (one.kind, one.sure) == (kinds.COMMUNICATION_BOUND, kinds.POSSIBLE)
    assert both.gain == pytest.approx(0.45, abs=0.03)
    assert one.missing


@pytest.mark.parametrize("part", [INPUT, HOST])
def test_input_and_host(part: str) -> None:
    found = judged(of(Plan(parts={COMPUTE: 0.5, INPUT: 0.02, HOST: 0.03, part: 0.4}, transfer=0.05)))
    assert (found.kind, found.sure) == (part, kinds.SURE)
    assert found.because[0].startswith("4")


def test_totals_of_a_synchronous_job_tell_no_class() -> None:
    found = judged(only(of(Plan(more={"5": 0.8}))))
    assert (found.kind, found.sure, found.guilty) == (kinds.CANNOT_TELL, "", ())
    assert any("All 8 ranks take equally long" in sentence for sentence in found.because)
    assert any("timing-log-level" in name for name in found.missing)


def test_totals_that_differ_name_the_straggler() -> None:
    rng = random.Random(2)
    rows = [
        Step(number, rng.gauss(1.3 if rank == 6 else 1.0, 0.03), str(rank)) for number in range(40) for rank in range(8)
    ]
    found = judged(Times(tuple(rows)))
    assert (found.kind, found.sure, named(found)) == (kinds.STRAGGLER, kinds.LIKELY, {"6"})


def test_a_single_series_tells_drift_and_jitter_alone() -> None:
    rng = random.Random(3)
    rising = judged(Times(tuple(Step(n, (1 + n / 400) * rng.gauss(1, 0.02)) for n in range(100))))
    assert rising.kind == kinds.CANNOT_TELL
    assert any(note.startswith("Steps grow longer: from 1.0") for note in rising.notes)
    unsteady = judged(Times(tuple(Step(n, rng.uniform(0.6, 1.4)) for n in range(100))))
    assert any("unsteady" in note for note in unsteady.notes)
    steady = judged(Times(tuple(Step(n, rng.gauss(1, 0.03)) for n in range(100))))
    assert steady.notes == ()


@pytest.mark.parametrize(
    ("parts", "percent", "kind"),
    [
        ({COMMUNICATION: 0.05, INPUT: 0.02}, 40, kinds.HOST),
        ({COMMUNICATION: 0.05}, 98, kinds.COMPUTATION),
        ({COMMUNICATION: 0.05}, 40, kinds.CANNOT_TELL),
        ({COMPUTE: 0.5}, 99, kinds.COMMUNICATION_BOUND),
        ({COMPUTE: 0.5}, 50, kinds.CANNOT_TELL),
        ({}, 99, kinds.CANNOT_TELL),
        ({}, 30, kinds.CANNOT_TELL),
    ],
)
def test_how_busy_gpus_are_tells_the_rest(parts: dict[str, float], percent: float, kind: str) -> None:
    rows = [Step(n, 1.0, str(rank), "node1", parts) for n in range(20) for rank in range(4)]
    busy = [Busy("node1", gpu, percent) for gpu in range(4) for _ in range(5)]
    found = judged(Times(tuple(rows), busy=tuple(busy)))
    assert found.kind == kind
    assert found.sure != kinds.SURE
    if kind == kinds.CANNOT_TELL:
        assert found.missing


def test_busy_gpus_alone() -> None:
    found = judged(Times(busy=tuple(Busy("node1", gpu, 35.0) for gpu in range(8) for _ in range(4))))
    assert found.kind == kinds.CANNOT_TELL
    assert "wait for data or for the host" in found.because[1]


def test_the_only_idle_gpu_is_the_one_that_all_wait_for() -> None:
    busy = [Busy("node1", gpu, 35.0 if gpu == 3 else 99.0) for gpu in range(8) for _ in range(4)]
    found = judged(Times(busy=tuple(busy)))
    assert (found.kind, found.sure) == (kinds.STRAGGLER, kinds.LIKELY)
    assert found.guilty[0].name == "GPU 3 (node1)"
    host = [Busy(f"node{at}", gpu, 20.0 if at == 2 else 97.0) for at in range(1, 5) for gpu in range(4) for _ in "abc"]
    assert judged(Times(busy=tuple(host))).guilty[0].name == "host node2"


def test_the_last_to_come_has_the_shortest_calls() -> None:
    def calls(rank: int) -> Collective:
        rng = random.Random(rank)
        length = 0.01 if rank == 2 else 0.05
        return Collective("all_reduce", 1 << 26, tuple(rng.gauss(length, 0.002) for _ in range(20)), rank=str(rank))

    found = judged(Times(collectives=tuple(calls(rank) for rank in range(8))))
    assert (found.kind, named(found)) == (kinds.STRAGGLER, {"2"})
    alike = [Collective("all_reduce", 1 << 26, (0.05,) * 20, rank=str(rank)) for rank in range(8)]
    assert judged(Times(collectives=tuple(alike))).kind == kinds.CANNOT_TELL


def test_least_and_most_of_ranks_tell_waiting_from_transfer() -> None:
    """Megatron-LM's minmax: of communication the least is the last rank's."""
    parts, least = {COMPUTE: 0.85, COMMUNICATION: 0.5}, {COMPUTE: 0.5, COMMUNICATION: 0.1}
    found = judged(Times(tuple(Step(n, 1.0, parts=parts, least=least) for n in range(20))))
    assert (found.kind, found.sure) == (kinds.UNEVEN, kinds.POSSIBLE)
    assert found.shares["waiting"] == pytest.approx(0.4)
    even = {COMPUTE: 0.5, COMMUNICATION: 0.48}
    found = judged(Times(tuple(Step(n, 1.0, parts={COMPUTE: 0.5, COMMUNICATION: 0.5}, least=even) for n in range(20))))
    assert (found.kind, found.sure) == (kinds.COMMUNICATION_BOUND, kinds.SURE)


def test_the_rank_that_the_log_always_calls_slowest() -> None:
    rows = [Step(n, 1.0, parts={COMPUTE: 0.5, COMMUNICATION: 0.45}, slowest={COMPUTE: 3.0}) for n in range(20)]
    found = judged(Times(tuple(rows)))
    assert (found.kind, found.sure, named(found)) == (kinds.STRAGGLER, kinds.POSSIBLE, {"3"})


def test_records_of_ranks_stand_before_those_of_the_job() -> None:
    times = of(Plan(more={"3": 0.4}))
    whole = [Step(n, 1.5, parts={COMPUTE: 1.4}) for n in range(1, 51)]
    found = judged(Times((*whole, *times.steps)))
    assert (found.ranks, named(found)) == (8, {"3"})


def test_nothing_told_is_no_class() -> None:
    found = judged(Times())
    assert (found.kind, found.sure) == (kinds.CANNOT_TELL, "")
    assert found.missing


def test_of_few_steps_nothing_is_more_than_possible() -> None:
    few = judged(Times(tuple(Step(n, 1.0, parts={COMMUNICATION: 0.1, INPUT: 0.6, COMPUTE: 0.3}) for n in range(3))))
    assert (few.kind, few.sure) == (kinds.INPUT, kinds.POSSIBLE)
    assert few.because[-1].startswith("Only 3 steps of the job are told")
    total = judged(Times((Step(1, 1.0),)))
    assert total.kind == kinds.CANNOT_TELL


def test_sentences_read_well() -> None:
    found = judged(of(Plan(ranks=16, per_host=4, more={str(rank): 0.4 for rank in range(4, 8)})))
    assert found.head == "the job waits for host node2"
    assert found.because[0].startswith("Host node2 takes 379 ms (27 % of a step) more")
    assert all(line.endswith(".") for line in (*found.because, *found.notes))


@pytest.mark.parametrize(
    ("steps_", "every"),
    [((5, 10, 15, 20), 5), ((5, 10, 20, 25), 5), ((3, 4, 9, 31), 0), ((7, 14), 0), ((1, 2, 3), 0), ((), 0)],
)
def test_period(steps_: tuple[int, ...], every: int) -> None:
    assert period(steps_) == every


def test_words() -> None:
    assert words.ranks(["10", "9"], ["b", "a"]) == "ranks 9 and 10 (a and b)"
    assert words.listed(map(str, range(9))) == "0, 1, 2, 3, 4, 5 and 3 more"
    assert [words.nth(number) for number in (1, 2, 3, 4, 11, 12, 21, 112)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "112th")
    ]
    assert [words.span(seconds) for seconds in (1.268, 0.0853, 0.000012)] == ["1.27 s", "85 ms", "12 us"]


_PARTS = st.dictionaries(st.sampled_from(PARTS), st.floats(allow_nan=True, allow_infinity=True), max_size=4)
_STEPS = st.lists(
    st.builds(
        Step,
        st.integers(-5, 30),
        st.floats(allow_nan=True, allow_infinity=True),
        st.sampled_from(["", "0", "1", "2", "x"]),
        st.sampled_from(["", "a", "b"]),
        _PARTS,
        st.dictionaries(st.sampled_from(PARTS), st.floats(), max_size=2),
        _PARTS,
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(_STEPS, st.lists(st.builds(Busy, st.sampled_from("ab"), st.integers(0, 2), st.floats()), max_size=20))
def test_strange_times_are_judged_too(rows: list[Step], busy: list[Busy]) -> None:
    found = judged(Times(tuple(rows), busy=tuple(busy)))
    assert found.kind in kinds.KINDS
    assert (found.sure == "") == (found.kind == kinds.CANNOT_TELL)
    assert all(math.isfinite(share) for share in found.shares.values())
    assert found.head


def test_a_pause_of_a_checkpoint_of_one_rank_is_a_checkpoint() -> None:
    rows: list[Any] = []
    for n in range(1, 61):
        saved = 3.0 if n % 10 == 0 else 0.0
        for rank in range(4):
            parts = {COMPUTE: 0.9, COMMUNICATION: 0.1 + (saved if rank else 0.0)}
            rows.append(Step(n, 1.0 + saved, str(rank), "", {**parts, CHECKPOINT: saved} if rank == 0 else parts))
    found = judged(Times(tuple(rows)))
    assert found.guilty == ()
    assert any("a checkpoint is written" in text for text in (*found.notes, *found.because))


def test_two_runs_that_differ_in_what_no_part_tells() -> None:
    def run(seconds: float) -> Times:
        return Times(tuple(Step(n, seconds + 0.001 * (n % 3), "0", "", {COMPUTE: 0.5}) for n in range(30)))

    assert compared(run(1.0), run(1.5)).because[-1] == (
        "No told part (compute) grew: the difference is in what no part tells."
    )
    assert compared(only(run(1.0)), run(1.5)).because[-1].startswith("No part is told in both")
