# SPDX-License-Identifier: GPL-3.0-or-later
"""Public threads with lines of an NCCL log: `ibready why` tells the cause that was found there in the end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.nccl_threads.read import CANNOT_TELL, HERE, THREADS, right, told

WANTED = 0.9


def test_the_first_cause_is_the_thread_s_outcome() -> None:
    firsts = [(thread, told(thread)) for thread in THREADS]
    wrong = [
        f"{thread['thread']}: told {first or 'nothing'}, not {thread['cause']}: {thread['outcome']}"
        for thread, first in firsts
        if not right(thread, first)
    ]
    share = 1 - len(wrong) / len(THREADS)
    assert share >= WANTED, f"{share:.0%} of {len(THREADS)} right\n" + "\n".join(wrong)


def test_there_are_a_hundred_threads_each_once() -> None:
    assert len(THREADS) >= 109
    for key in ("thread", "url", "text"):
        assert len({thread[key] for thread in THREADS}) == len(THREADS)
    assert {thread["text"] for thread in THREADS} == {path.name for path in HERE.glob("*.txt")}
    assert sum(thread["cause"] == CANNOT_TELL for thread in THREADS) <= 5


@pytest.mark.parametrize("thread", THREADS, ids=lambda thread: thread["thread"])
def test_each_thread_has_its_lines_and_its_outcome(thread: dict[str, Any]) -> None:
    owner, _hash, number = thread["thread"].rpartition("#")
    assert thread["url"] == f"https://github.com/{owner}/{thread['url'].split('/')[-2]}/{number}"
    assert thread["by"] in ("maintainer", "reporter", "both")
    assert thread["outcome"]
    assert thread["cause"] == CANNOT_TELL or (isinstance(thread["cause"], list) and thread["cause"])
    lines = (HERE / thread["text"]).read_text().splitlines()
    assert 0 < len(lines) <= 60
