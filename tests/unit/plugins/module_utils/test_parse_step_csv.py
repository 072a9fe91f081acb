# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of steps: whatever names and units the columns have."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import step_csv
from ansible_collections.ibready.cluster.plugins.module_utils._parse._times import Step


def steps(text: str) -> list[Step]:
    return list(step_csv.times(step_csv.parse(text)).steps)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rank,step,seconds\n0,1,0.5\n3,2,0.25\n", [Step(1, 0.5, "0"), Step(2, 0.25, "3")]),
        ("step\trank\tstep_ms\n7\t1\t250\n", [Step(7, 0.25, "1")]),
        ("iteration;time (us)\n7;500000\n", [Step(7, 0.5)]),
        ('"step","hostname","duration"\n"1","n-01.site","2"\n', [Step(1, 2.0, host="n-01.site")]),
        (
            "# a job\nstep,ms,compute,input_s\n1,500,250,0.125\n",
            [Step(1, 0.5, parts={"compute": 0.25, "input": 0.125})],
        ),
        ("step,s,host,host_s,loss\n1,2,n1,0.5,3.25\n", [Step(1, 2.0, host="n1", parts={"host": 0.5})]),
        ("step,seconds,comm\n1,2,\n2,2,1e-1\n", [Step(1, 2.0), Step(2, 2.0, parts={"communication": 0.1})]),
    ],
)
def test_columns(text: str, expected: list[Step]) -> None:
    assert steps(text) == expected


def test_rows_that_cannot_be_read_are_counted() -> None:
    told = step_csv.parse("step,seconds\n1,0.5\n2,nan\n3,-1\n4\nx,1\n5,1,2\n6,0.5\n")
    assert ([row.step for row in told.rows], told.unread) == ([1, 6], 5)


def test_the_end_of_a_cut_table_is_left_out() -> None:
    assert [step.step for step in steps("step,seconds\n1,0.5\n2,0.")] == [1]
    assert [step.step for step in steps("step,seconds\n1,0.5")] == [1]


@pytest.mark.parametrize(
    "text",
    [
        *("", "# nothing\n", "step,seconds\n", "rank,seconds\n1,2\n", "step,loss\n1,2\n", "step,seconds,ms\n1,2,3\n"),
        *("index, utilization.gpu [%]\n0, 5 %\n", "step seconds\n1 2\n", "step" + ",seconds" * 100 + "\n"),
    ],
)
def test_what_is_no_table_of_steps(text: str) -> None:
    with pytest.raises(ParseError):
        step_csv.parse(text)


def test_a_clock_tells_steps_by_its_differences() -> None:
    clock = "rank,step,elapsed\n" + "".join(f"{rank},{n},{1.25 * (n + 1)}\n" for n in range(30) for rank in (0, 1))
    assert {(step.rank, step.seconds) for step in steps(clock)} == {("0", 1.25), ("1", 1.25)}
    assert sorted({step.step for step in steps(clock)}) == list(range(1, 30))
    # The first step compiles, and only every tenth is told.
    late = "step,time\n" + "".join(f"{n},{60 + 2 * n}\n" for n in range(0, 400, 10))
    assert {step.seconds for step in steps(late)} == {2.0}
    assert {step.seconds for step in steps("step,seconds\n" + "".join(f"{n},0.5\n" for n in range(30)))} == {0.5}
    slower = "step,seconds\n" + "".join(f"{n},{1 + 0.01 * n + 0.02 * (n % 2)}\n" for n in range(30))
    assert steps(slower)[0].seconds == 1.0


@pytest.mark.parametrize("head", ["epoch,batch,time", "loss,batch,time"])
def test_steps_that_begin_again_are_numbered_on(head: str) -> None:
    rows = "".join(f"{epoch},{n},{0.5 + n % 2}\n" for epoch in range(3) for n in range(10))
    assert [step.step for step in steps(f"{head}\n{rows}")] == list(range(30))
    whole = "".join(f"{n // 10},{n},0.5\n" for n in range(30))
    assert [step.step for step in steps(f"{head}\n{whole}")] == list(range(30))
    clock = "".join(f"{epoch},{n},{2.0 * (n + 1)}\n" for epoch in range(3) for n in range(10))
    assert {step.seconds for step in steps(f"{head}\n{clock}")} == {2.0}
    assert len(steps(f"{head}\n{clock}")) == 27
