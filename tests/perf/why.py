# SPDX-License-Identifier: GPL-3.0-or-later
"""What `ibready why` costs on a long job's log: NCCL's lines of 512 ranks, then steps of Megatron-LM among others'.

The log is simulated from the parsers' samples. Beside it stands grep, by which one would look for errors otherwise.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests/unit/parse_samples"
SIZE = 50_000_000
RANKS = 512
# Most of a log is steps; this much of it is NCCL's.
_NCCL = SIZE // 10
_STEP = (
    " [2026-04-06 03:{:02d}:{:02d}] iteration {:8d}/  500000 | consumed samples: {:12d} | elapsed time per iteration"
    " (ms): {:.1f} | throughput per GPU (TFLOP/s/GPU): 243.6 | learning rate: 1.420000E-05 | global batch size:   128 |"
    " lm loss: 2.{:05d}E+00 | loss scale: 1.0 | grad norm: 1.234 | number of skipped iterations:   0 |"
    " number of nan iterations:   0 |\n"
)
# Who says a line of the sample: mpirun's head, the host, its process and thread, and the GPU.
_RANK = re.compile(r"^\[1,\d+\]<stdout>:[\w-]+:\d+:\d+ \[\d\]")


def log() -> Iterator[str]:
    """The lines, without an end."""
    sample = (SAMPLES / "nccl_log.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    written = 0
    for rank in range(RANKS):
        for line in sample if written < _NCCL else ():
            told = _RANK.sub(f"node{rank // 8:03d}:{4000 + rank}:{9000 + rank} [{rank % 8}]", line)
            written += len(told)
            yield told
    step = 0
    while True:
        step += 1
        yield _STEP.format(step // 60 % 60, step % 60, step, step * 128, 5000 + step % 50, step % 99999)
        if step % 10 == 0:
            yield f"INFO:root:saved step {step} below /data/checkpoints/iter_{step:07d}\n"
        if step % 7 == 0:
            yield f"[rank{step % RANKS}]: UserWarning: use_reentrant should be passed explicitly ({step})\n"


def cost(argv: list[str]) -> tuple[float, int]:
    """Seconds of CPU, and the most memory in MB, of a program and its children."""
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _pid, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 // 10**6


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.log"
        written = 0
        with path.open("w", encoding="utf-8") as stream:
            for line in log():
                written += stream.write(line)
                if written >= SIZE:
                    break
        for words, argv in (
            ("ibready why", [sys.executable, str(ROOT / "dist/ibready.pyz"), "why", str(path)]),
            ("grep -ciE", ["grep", "-ciE", "error|fail|warn|timeout", str(path)]),
        ):
            seconds, megabytes = cost(argv)
            print(f"{words} of a log of {written / 1e6:.0f} MB: {seconds:.1f} s of CPU, {megabytes} MB")


if __name__ == "__main__":
    main()
