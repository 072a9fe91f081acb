# SPDX-License-Identifier: GPL-3.0-or-later
"""Run all_reduce_perf of nccl-tests on this node's GPUs, as one process, for so long at most."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict
from typing import Any

from ..._data.bench import NCCL_PROGRAM, NCCL_TESTS
from ..._ground import unit as _unit
from ..._ground.command import Unavailable
from ..._ground.text import ParseError
from ..._parse import nccl_tests
from . import unit

UNIT = "ibready-nccl-tests.service"
_PATH = ("/usr/local/bin", "/usr/bin", "/bin", *NCCL_TESTS)


def program(given: str = "") -> str:
    """Where all_reduce_perf is; Unavailable where it is not."""
    found = shutil.which(given or NCCL_PROGRAM, path=os.pathsep.join(_PATH))
    if found is None:
        where = "" if given else f" in {', '.join(_PATH)}"
        raise Unavailable(
            given or NCCL_PROGRAM,
            f"there is none{where}; next: build nccl-tests on the host and name the program "
            "(bench_nccl_program), or leave it out (bench_what)",
        )
    return found


def alone(run: _unit.Run, path: str, gpus: int, sizes: tuple[str, str], seconds: int) -> dict[str, Any]:
    """All-reduce between this node's GPUs; see ``told``."""
    argv = [path, "-b", sizes[0], "-e", sizes[1], "-f", "2", "-g", str(gpus)]
    try:
        ended = unit.wait(run, UNIT, argv, seconds)
    except (Unavailable, _unit.UnitError) as exc:
        return {"untested": str(exc)}
    finally:
        _unit.stop(run, _unit.running(run, UNIT))
    if ended.result != "success":
        answer = told("\n".join((ended.stdout, ended.stderr)))
        # A wrong sum ends it with an error, too, and has its numbers; else the end is the reason.
        if answer["untested"] or not answer.get("wrong"):
            return {"untested": f"{NCCL_PROGRAM}: {ended.why(seconds)}"}
        return answer
    return told(ended.stdout)


def told(text: str) -> dict[str, Any]:
    """``untested``: why the text has no numbers, "" where it has; what the run measured, GB/s."""
    try:
        parsed = nccl_tests.parse(text)
    except ParseError as exc:
        said = exc.line if exc.error_lines else str(exc)
        return {"untested": f"{NCCL_PROGRAM}: {said}"}
    if parsed.average is None:
        return {"untested": f"{NCCL_PROGRAM}: it has no '# Avg bus bandwidth': cut short"}
    return {
        "untested": "",
        "busbw": parsed.peak,
        "average": parsed.average,
        "wrong": parsed.wrong,
        "ranks": len(parsed.ranks),
        "hosts": len({rank.host for rank in parsed.ranks}),
        "rows": [asdict(row) for row in parsed.rows],
    }
