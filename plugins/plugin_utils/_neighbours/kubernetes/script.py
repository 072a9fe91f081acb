# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs inside of the pods: a look at what RDMA needs there, and a small job."""

from __future__ import annotations

from pathlib import Path

# The one argument is a folder that stands for /, for tests.
CHECK = Path(__file__).with_name("check.sh").read_text(encoding="utf-8")

ALLREDUCE = r'''"""All-reduces of 1 GiB over NCCL; every rank has to agree, or the job fails."""

import os
import time

import torch
import torch.distributed as dist

local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
dist.init_process_group("nccl")
ranks = dist.get_world_size()
data = torch.ones(256 * 1024 * 1024, dtype=torch.float32, device="cuda")
dist.all_reduce(data)
if data[0].item() != ranks or data[-1].item() != ranks:
    raise SystemExit(f"rank {dist.get_rank()}: the sum is {data[0].item()}, not {ranks}")
torch.cuda.synchronize()
dist.barrier()
rounds = 20
begun = time.perf_counter()
for _ in range(rounds):
    dist.all_reduce(data)
torch.cuda.synchronize()
seconds = (time.perf_counter() - begun) / rounds
if dist.get_rank() == 0:
    bus = data.numel() * 4 * 2 * (ranks - 1) / ranks / seconds / 1e9
    print(f"{ranks} ranks: {bus:.1f} GB/s bus bandwidth of all-reduce", flush=True)
dist.destroy_process_group()
'''

# The node's own sshd may have port 22, where workers live in its network.
SSH_PORT = 2222
SSH_CONFIG = f"""\
Host *
  Port {SSH_PORT}
  StrictHostKeyChecking accept-new
  UserKnownHostsFile /dev/null
"""
