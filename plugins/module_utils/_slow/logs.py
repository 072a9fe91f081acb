# SPDX-License-Identifier: GPL-3.0-or-later
"""What to switch on where a log does not tell enough. Names and switches are those of the tools' own sources."""

from __future__ import annotations

# All parts of a step, of every rank.
TRACE = "a PyTorch profiler (Kineto) trace of some steps, from every rank"
MEGATRON = "Megatron-LM: --timing-log-level 2 --timing-log-option all"
DEEPSPEED = 'DeepSpeed: "wall_clock_breakdown": true'
TABLE = "a CSV of rank, step, seconds, compute, communication, input"
# Communication alone, of every rank.
INSPECTOR = (
    "NCCL Inspector (NCCL_PROFILER_PLUGIN=libnccl-profiler-inspector.so NCCL_INSPECTOR_ENABLE=1), from every rank"
)
# Whether a GPU has work.
DMON = "nvidia-smi dmon -s pucm -o DT -d 1 -c 60, on every host"
# A job that hangs.
RECORDER = "PyTorch's flight recorder (TORCH_NCCL_TRACE_BUFFER_SIZE=2000 TORCH_NCCL_DUMP_ON_TIMEOUT=1), from every rank"
RAS = "NCCL's RAS (ncclras -v on a host of the job, while it hangs)"

PARTS = (TRACE, MEGATRON, DEEPSPEED, TABLE)
RANKS = (TRACE, "Megatron-LM: --timing-log-option all", TABLE, INSPECTOR)
HANGS = (RECORDER, RAS)
