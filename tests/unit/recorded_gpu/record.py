# SPDX-License-Identifier: GPL-3.0-or-later
"""Run real jobs of NCCL on one GPU, a slow one and one that hangs, and keep what they leave.

    python record.py OUT [IBREADY]

Four ranks share the GPU: each calls itself a host of its own (NCCL_HOSTID), so that they meet by TCP on loopback.
Needs PyTorch with CUDA. With IBREADY, the node program, what it says of each is kept as well.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

RANKS = 4
LATE = 2
STEPS = 30
HANGS_AT = 12
TIMEOUT_S = 30
RAS = ("127.0.0.1", 28028)


def rank(kind: str, out: Path) -> None:
    """One rank: computation, then the sum of the gradients, step by step."""
    import datetime

    import torch
    import torch.distributed as dist

    me = int(os.environ["RANK"])
    torch.cuda.set_device(0)
    dist.init_process_group("nccl", timeout=datetime.timedelta(seconds=TIMEOUT_S))
    weights = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
    gradients = torch.randn(8 * 2**20, device="cuda")
    table = (out / f"steps_rank{me}.csv").open("w")
    table.write("rank,step,step_ms,compute_ms,communication_ms,host\n")
    plan = torch.profiler.schedule(wait=5, warmup=2, active=5)
    kept = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]

    def write(found: torch.profiler.profile) -> None:
        found.export_chrome_trace(str(out / f"trace_rank{me}.json"))

    with torch.profiler.profile(activities=kept, schedule=plan, on_trace_ready=write) as profile:
        for step in range(STEPS):
            if kind == "hung" and me == LATE and step == HANGS_AT:
                time.sleep(600)
            begin = time.perf_counter()
            for _ in range(6):
                weights = torch.tanh(weights @ weights)
            torch.cuda.synchronize()
            if kind == "slow" and me == LATE:
                time.sleep(0.15)
            middle = time.perf_counter()
            dist.all_reduce(gradients)
            torch.cuda.synchronize()
            end = time.perf_counter()
            cells = (me, step, 1e3 * (end - begin), 1e3 * (middle - begin), 1e3 * (end - middle), f"node{me}")
            table.write(",".join(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in cells) + "\n")
            table.flush()
            profile.step()
    dist.destroy_process_group()


def asked(words: str) -> str:
    """What NCCL's RAS answers."""
    found, failed = b"", ""
    try:
        with socket.create_connection(RAS, 10) as link:
            link.settimeout(15)
            link.sendall(words.encode())
            while piece := link.recv(65536):
                found += piece
    except OSError as exc:
        failed = f"\n{exc}"
    return found.decode(errors="replace") + failed


def job(kind: str, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    started = []
    for number in range(RANKS):
        environment = {
            **os.environ,
            "RANK": str(number),
            "WORLD_SIZE": str(RANKS),
            "LOCAL_RANK": "0",
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": "29517",
            "NCCL_HOSTID": f"node{number}",
            "NCCL_SOCKET_IFNAME": "lo",
            "NCCL_DEBUG": "INFO",
            "TORCH_NCCL_TRACE_BUFFER_SIZE": "2000",
            "TORCH_FR_BUFFER_SIZE": "2000",
            "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
            "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": str(out / "nccl_trace_rank_"),
            "TORCH_FR_DUMP_TEMP_FILE": str(out / "nccl_trace_rank_"),
        }
        log = (out / f"log_rank{number}.txt").open("w")
        argv = [sys.executable, __file__, "rank", kind, str(out)]
        started.append(subprocess.Popen(argv, env=environment, stdout=log, stderr=subprocess.STDOUT))
    if kind == "hung":
        table = out / "steps_rank0.csv"
        limit = time.time() + 90
        while time.time() < limit and not (table.exists() and len(table.read_text().splitlines()) > HANGS_AT):
            time.sleep(1)
        time.sleep(6)
        for name, words in (
            ("ras_1.txt", "verbose status\n"),
            ("ras_json.txt", "set format json\nverbose status\n"),
        ):
            (out / name).write_text(asked(words))
        with (out / "dmon.txt").open("w") as file:
            subprocess.run(["nvidia-smi", "dmon", "-s", "pucm", "-o", "DT", "-c", "3"], stdout=file, check=False)
        (out / "ras_2.txt").write_text(asked("verbose status\n"))
    limit = time.time() + 100
    for process in started:
        try:
            process.wait(max(1.0, limit - time.time()))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()


def main() -> int:
    if sys.argv[1] == "rank":
        rank(sys.argv[2], Path(sys.argv[3]))
        return 0
    out = Path(sys.argv[1])
    for kind in ("slow", "hung"):
        begin = time.time()
        job(kind, out / kind)
        print(kind, f"{time.time() - begin:.0f} s", sorted(path.name for path in (out / kind).iterdir()))
        if len(sys.argv) > 2:
            files = [str(path) for path in sorted((out / kind).iterdir())]
            said = subprocess.run(
                [sys.executable, sys.argv[2], "why", *files], capture_output=True, text=True, check=False
            )
            (out / f"{kind}.said").write_text(f"{said.stdout}\n{said.stderr}\nstatus {said.returncode}\n")
            print(said.stdout, said.stderr, said.returncode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
