# SPDX-License-Identifier: GPL-3.0-or-later
"""How gradients go together, and how seldom: each launcher's own word for it, or whose word it is instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .options import Options

# Megatron-LM counts parameters, whose gradients it sums in 32 bits (--accumulate-allreduce-grads-in-fp32, which bf16
# has by default); its buckets are one where nothing overlaps (megatron/core/distributed/distributed_data_parallel.py).
_MEGATRON_BYTES = 4
_MEGATRON = "--ddp-bucket-size"
_ACCELERATE = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"

_TORCH = "the program's own: bucket_cap_mb of torch's DistributedDataParallel"
_BUCKET = {
    "deepspeed": "its configuration's: zero_optimization.reduce_bucket_size, in elements",
    "accelerate": "the program's own: bucket_cap_mb of Accelerate's DistributedDataParallelKwargs",
    "oneflow": "the program's own: nn.parallel.DistributedDataParallel, or flow.boxing.nccl.set_fusion_threshold_mbs",
}
_STEPS = {
    "deepspeed": "its configuration's: gradient_accumulation_steps",
    "megatron": "that of --global-batch-size over --micro-batch-size and the data parallel ranks",
    "horovod": "the program's own: backward_passes_per_step of Horovod's DistributedOptimizer",
}


@dataclass(frozen=True)
class Gradients:
    """What a script has of them. ``launcher``: options of the launcher. ``program``: arguments behind
    those of the site. ``environment``: of the processes. ``notes``: what no launcher can say."""

    launcher: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


def of(kind: str, options: Options) -> Gradients:
    """Of one kind of launcher."""
    launcher: tuple[str, ...] = ()
    program: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    notes = []
    if options.bucket_mb:
        if kind == "horovod":
            launcher = ("--fusion-threshold-mb", str(options.bucket_mb))
        elif kind == "megatron":
            program = _megatron(options)
        else:
            notes.append(f"launch_bucket_mb is not set by this script, for it is {_BUCKET.get(kind, _TORCH)}")
    if options.accumulation:
        if kind == "accelerate":
            environment = ((_ACCELERATE, str(options.accumulation)),)
        else:
            own = "the program's own: steps under torch's no_sync()"
            notes.append(f"launch_accumulation is not set by this script, for it is {_STEPS.get(kind, own)}")
    return Gradients(launcher, program, environment, tuple(notes))


def _megatron(options: Options) -> tuple[str, ...]:
    """Its arguments, less those that the site gave itself."""
    size = options.bucket_mb * 1024 * 1024 // _MEGATRON_BYTES
    wanted: Sequence[tuple[str, ...]] = (("--overlap-grad-reduce",), (_MEGATRON, str(size)))
    given = {argument.partition("=")[0] for argument in options.arguments}
    return tuple(word for words in wanted if words[0] not in given for word in words)
