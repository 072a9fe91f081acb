# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/nccl-threads.md: public threads with lines of NCCL, what came out there, and what ibready says of the lines."""

from __future__ import annotations

from tests.unit.nccl_threads import read

_WHO = {"maintainer": "the maintainers", "reporter": "who asked", "both": "both"}


def render(note: str) -> str:
    """The page, with what is told today."""
    rows = [(thread, read.told(thread)) for thread in read.THREADS]
    right = sum(read.right(thread, first) for thread, first in rows)
    text = [
        "# NCCL in public threads",
        "",
        note,
        "Source: `tests/unit/nccl_threads/`, the lines as they were posted there. What stands first in the",
        "answer of `ibready why FILE` is held against the thread's outcome, which the maintainers named or who",
        "asked confirmed. What a failure's code means and how it is mended tells the answer itself;",
        "[nccl-logs.md](nccl-logs.md) has how to get a log that tells more.",
        "",
        f"{right} of {len(rows)} threads end with their outcome's cause in the first place. The rules were mended",
        "for them; sets that nobody had seen were measured once, before that:",
        "",
        "| measured | threads | right |",
        "|---|---:|---:|",
        *(f"| {fresh['when']} | {fresh['threads']} | {fresh['right']} |" for fresh in read.FRESH),
        "",
        "| thread | told first | agrees | outcome, by whom |",
        "|---|---|---|---|",
    ]
    for thread, first in rows:
        agrees = "yes" if read.right(thread, first) else "no"
        cannot = " (the lines cannot show it)" if thread["cause"] == read.CANNOT_TELL else ""
        outcome = f"{thread['outcome']}{cannot} ({_WHO[thread['by']]})".replace("|", "\\|")
        code = f"`{first}`" if first else "nothing"
        text.append(f"| [{thread['thread']}]({thread['url']}) | {code} | {agrees} | {outcome} |")
    return "\n".join(text) + "\n"
