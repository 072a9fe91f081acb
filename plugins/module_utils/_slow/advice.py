# SPDX-License-Identifier: GPL-3.0-or-later
"""What to change in a slow job, what it buys, and when it does not help.

A gain is computed from the shares of a step that were measured (Amdahl): what takes a share s of a step
and becomes f times as fast saves s * (1 - 1/f) of it, and no more. It is a bound, and holds where the rest
of the step stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._parse._times import COMMUNICATION, COMPUTE, HOST as HOST_PART, IDLE, INPUT as INPUT_PART, Times
from . import words
from .bound import Bound
from .kinds import CANNOT_TELL, COMMUNICATION_BOUND, COMPUTATION, HOST, INPUT, PAUSED, STRAGGLER, UNEVEN
from .series import series
from .settings import DEEPSPEED, MEGATRON, Settings, merged, of

# A backward pass is two thirds of computation, twice the forward pass (Megatron-LM's and PaLM's count of
# operations: 2 of 6 a parameter and token forward, 4 backward). Reduction can hide beside that alone.
BACKWARD = 2 / 3
# A share below this is not worth a change.
WORTH = 0.05
# H100: NVLink 450 GB/s a direction (NVIDIA's data sheet: 900 GB/s both), a 400 Gb/s rail 50 GB/s.
NVLINK_TIMES = 9.0
# Elements of a bucket. DDP's default is 25 MiB; Megatron-LM's is 40 million elements or one million a rank;
# DeepSpeed's, 500 million, is larger than many models, which then have one bucket and nothing to overlap.
SMALL_BUCKET, LARGE_BUCKET = 10_000_000, 200_000_000


@dataclass(frozen=True)
class Advice:
    """``gain``: the share of the time of a sample that it saves at most, None where only a measurement tells.
    ``change``: what to do, in the framework's own words where it is known. ``because``: how the gain was
    computed. ``not_when``: when it does not help."""

    name: str
    change: str
    gain: float | None
    because: str
    not_when: str

    def words(self, *, short: bool = False) -> str:
        """In full, or what it is and what it buys."""
        gain = "gain not known before it is measured" if self.gain is None else _gain(self.gain)
        more = () if short else (self.because, self.not_when)
        return " ".join(part for part in (f"{self.change}: {gain}.", *more) if part)


def _gain(gain: float) -> str:
    faster = f", {1 / (1 - gain) - 1:.0%} more samples a second" if gain < 0.95 else ""
    return f"at most {words.percent(gain)} of the time{faster.replace('%', ' %')}"


def advised(times: Times, bound: Bound, told: Settings | None = None) -> tuple[Advice, ...]:
    """The largest gain first; what only a measurement tells last. ``told``: settings read from a file beside."""
    known = merged(told, of(times.settings)) if told else of(times.settings)
    found: list[Advice] = []
    if bound.kind == CANNOT_TELL:
        return ()
    if bound.kind == STRAGGLER or bound.guilty:
        found += _straggler(bound)
    if bound.kind in (COMMUNICATION_BOUND, UNEVEN) or bound.shares.get(COMMUNICATION, 0.0) >= WORTH:
        found += _communication(times, bound, known)
    if bound.shares.get(INPUT_PART, 0.0) >= WORTH or bound.kind == INPUT:
        found += _input(bound, known)
    if bound.kind == HOST or bound.shares.get(HOST_PART, 0.0) + bound.shares.get(IDLE, 0.0) >= 0.1:
        found += _host(bound, known)
    if bound.kind == PAUSED:
        found += _pauses(bound)
    if bound.kind == UNEVEN:
        found += _uneven(bound)
    if bound.kind == COMPUTATION:
        found += _computation(bound)
    kept = [each for each in found if each.gain is None or each.gain >= WORTH]
    return tuple(sorted(kept, key=lambda each: -1.0 if each.gain is None else -1 - each.gain))


def _share(bound: Bound) -> float:
    """Of the network's own: waiting for another rank is no matter of messages."""
    return bound.shares.get(COMMUNICATION, bound.gain if bound.kind == COMMUNICATION_BOUND else 0.0)


def _communication(times: Times, bound: Bound, known: Settings) -> list[Advice]:
    share = _share(bound)
    return [
        *_accumulation(share, known),
        *_micro_batch(share, known),
        *_overlap(share, bound, known),
        *_bucket(share, bound, known),
        *_tensor(times, share, known),
        *_order(times, share),
    ]


def _accumulation(share: float, known: Settings) -> list[Advice]:
    every = (known.zero or 0) >= 2
    if every:
        # DeepSpeed reduces gradients in each backward pass where it keeps them partitioned (stage 2 and 3), and gathers
        # parameters in each pass at stage 3.
        return []
    now = known.accumulation
    step = f" (from {now} to {2 * now})" if now else ""
    name = {DEEPSPEED: "gradient_accumulation_steps", MEGATRON: "--global-batch-size at the same --micro-batch-size"}
    return [
        Advice(
            "accumulation",
            f"Accumulate gradients over twice as many passes{step}, by {name.get(known.framework, 'no_sync() of DDP')}",
            share / 2,
            f"Gradients are then reduced half as often for each sample: half of the {words.percent(share)} of a step.",
            "It makes the batch twice as large, so the learning rate has to suit it. It does not help with ZeRO stage "
            "2 and 3 or FSDP without no_sync(), which communicate in every pass, nor with tensor parallel traffic.",
        )
    ]


def _micro_batch(share: float, known: Settings) -> list[Advice]:
    now = known.micro_batch
    step = f" (from {now} to {2 * now})" if now else ""
    name = {DEEPSPEED: "train_micro_batch_size_per_gpu", MEGATRON: "--micro-batch-size"}.get(known.framework, "")
    return [
        Advice(
            "batch",
            f"Take twice as many samples at a time{step}" + (f", by {name}" if name else ""),
            share / 2,
            f"A pass moves the same gradients and parameters for twice the samples: half of {words.percent(share)}.",
            "It needs memory for the activations; traffic of tensor and context parallel grows with the batch.",
        )
    ]


def _overlap(share: float, bound: Bound, known: Settings) -> list[Advice]:
    if known.overlap:
        return []
    compute = bound.shares.get(COMPUTE, max(0.0, 1 - share))
    hidden = min(share, BACKWARD * compute)
    name = {DEEPSPEED: '"overlap_comm": true', MEGATRON: "--overlap-grad-reduce (and --overlap-param-gather)"}
    off = "It is off. " if known.overlap is False else ""
    return [
        Advice(
            "overlap",
            f"Reduce gradients beside the backward pass, by {name.get(known.framework, 'the framework itself')}",
            hidden,
            f"{off}As much can hide as the backward pass takes, two thirds of computation: "
            f"{words.percent(hidden)} of a step.",
            "It does not help where it is on already (DDP and FSDP overlap by themselves), nor for communication "
            "that the next operation needs at once, as tensor parallel does; kernels of NCCL take some of the GPU.",
        )
    ]


def _bucket(share: float, bound: Bound, known: Settings) -> list[Advice]:
    if known.bucket is None or known.overlap is False:
        return []
    compute = bound.shares.get(COMPUTE, max(0.0, 1 - share))
    name = {DEEPSPEED: '"reduce_bucket_size"', MEGATRON: "--ddp-bucket-size"}.get(known.framework, "the bucket size")
    size = f"{known.bucket:,}".replace(",", " ")
    if known.bucket > LARGE_BUCKET:
        return [
            Advice(
                "bucket",
                f"Make buckets of gradients smaller, {name} from {size} to 50 000 000 elements",
                min(share, BACKWARD * compute),
                "Reduction starts when a bucket is full: a model of few buckets has nothing to run beside.",
                "It does not help a model of many such buckets, nor where overlap is off.",
            )
        ]
    if known.bucket < SMALL_BUCKET:
        return [
            Advice(
                "bucket",
                f"Make buckets of gradients larger, {name} from {size} to 50 000 000 elements",
                None,
                "Each bucket pays the latency of a collective, which grows with the ranks; large ones get bandwidth.",
                "It does not help where messages have tens of megabytes already.",
            )
        ]
    return []


def _per_host(times: Times) -> int:
    """The most ranks that any host has, 0 where it is not told."""
    found = series(times.steps)
    hosts = [host for host in found.hosts.values() if host]
    return max((hosts.count(host) for host in set(hosts)), default=0)


def _tensor(times: Times, share: float, known: Settings) -> list[Advice]:
    tensor, room = known.tensor or 1, _per_host(times)
    if tensor <= 1 or (room and tensor <= room) or (not room and tensor <= 8):
        return []
    size = room or 8
    name = "--tensor-model-parallel-size" if known.framework == MEGATRON else "tensor parallel"
    return [
        Advice(
            "tensor",
            f"Keep tensor parallel inside a host, {name} from {tensor} to {size} at most, other kinds beyond",
            share * (1 - 1 / NVLINK_TIMES),
            f"It speaks in every layer, and now between hosts: a GPU has {NVLINK_TIMES:.0f} times as much of NVLink as "
            "of its rail (450 and 50 GB/s, H100 with 400 Gb/s).",
            "It needs memory for the larger parts of the model. On an NVL72 rack NVLink reaches over hosts.",
        )
    ]


def _order(times: Times, share: float) -> list[Advice]:
    found = series(times.steps)
    if share < 0.1 or len({host for host in found.hosts.values() if host}) < 2 or _per_host(times) < 2:
        return []
    return [
        Advice(
            "order",
            "Number the ranks host by host, GPU i of every host on rail i, hosts of a leaf switch next to each other",
            None,
            "A ring then stays on one rail and crosses each leaf once; else it goes over the spine or the host.",
            "It does not help where the launcher does so (torchrun and srun number host by host), nor on one leaf.",
        )
    ]


def _input(bound: Bound, known: Settings) -> list[Advice]:
    share = bound.shares.get(INPUT_PART, bound.gain)
    now = known.workers
    change = "Load data with more processes, num_workers of DataLoader"
    if known.framework == MEGATRON:
        change = "Load data with more processes, --num-workers"
    if now:
        return [
            Advice(
                "workers",
                f"{change}, from {now} to {2 * now}",
                share / 2,
                f"Twice the processes halve the {words.percent(share)} of a step that waits for data.",
                "It does not help where the file system or the network is the limit, nor beyond the processor's cores.",
            ),
            _prefetch(share),
        ]
    none = " (now 0: the training process loads)" if now == 0 else ""
    return [
        Advice(
            "workers",
            f"{change}{none}, with pin_memory=True and persistent_workers=True",
            share,
            f"Loading then runs beside the step, and all of the {words.percent(share)} can hide.",
            "It does not help where the file system or the network is the limit, nor beyond the processor's cores.",
        )
    ]


def _prefetch(share: float) -> Advice:
    return Advice(
        "pinned",
        "Copy to the GPU from pinned memory (pin_memory=True, non_blocking=True), and prefetch more batches",
        None,
        f"Copies then run beside the step, a part of the {words.percent(share)}.",
        "It does not help where reading and decoding are slower than the step itself.",
    )


def _host(bound: Bound, known: Settings) -> list[Advice]:
    share = bound.shares.get(HOST_PART, 0.0) + bound.shares.get(IDLE, 0.0) or bound.gain
    found = [
        Advice(
            "launch",
            "Give the GPU more work for each launch with CUDA graphs, torch.compile, fused kernels and optimizer",
            share,
            f"The GPU stands still {words.percent(share)} of a step between kernels.",
            "It does not help where the host waits for something else: a lock, a disk, .item() in the loop.",
        ),
        Advice(
            "batch",
            "Take twice as many samples at a time",
            share / 2,
            "The same launches then serve twice the samples.",
            "It needs memory for the activations.",
        ),
        Advice(
            "binding",
            "Bind each rank to the cores and memory beside its GPU (numactl, or the launcher's own binding)",
            None,
            "A rank on the other socket launches more slowly, and ranks that share cores disturb each other.",
            "It does not help where ranks are bound already.",
        ),
    ]
    if known.offload:
        found.append(
            Advice(
                "offload",
                "Keep optimizer and parameters on the GPU, without offload_optimizer and offload_param",
                None,
                "Offloading runs the optimizer on the processor and copies over PCI Express in every step.",
                "It needs the memory that offloading saves.",
            )
        )
    return found


def _straggler(bound: Bound) -> list[Advice]:
    names = " and ".join(each.name for each in bound.guilty[:4])
    part = {each.part for each in bound.guilty}
    look = {
        COMPUTE: "look at its clocks, heat, power and other processes on the GPU",
        INPUT_PART: "look at its disk, its mounts and its loader processes",
        HOST_PART: "look at what else runs on its cores, and at the binding of its ranks",
    }
    words_of = ", ".join(look[each] for each in sorted(part) if each in look) or "verify its host"
    gain = bound.gain if bound.kind == STRAGGLER and bound.gain > 0 else None
    return [
        Advice(
            "straggler",
            f"Fix {names}, or run without it, and {words_of}",
            gain,
            "All ranks wait for it." if gain is None else "All ranks wait for it, so a step is so much shorter.",
            "It does not help where its work itself is more than the others'.",
        )
    ]


def _pauses(bound: Bound) -> list[Advice]:
    return [
        Advice(
            "checkpoint",
            "Write checkpoints beside the training (asynchronously), to local disks first, or more rarely",
            bound.gain,
            f"Pauses take {words.percent(bound.gain)} of all time.",
            "It does not help where the pause is an evaluation: then evaluate more rarely, or on other hosts.",
        )
    ]


def _uneven(bound: Bound) -> list[Advice]:
    return [
        Advice(
            "even",
            "Split the work evenly, sort or pack sequences by length, balance experts and pipeline stages",
            bound.gain,
            f"Ranks wait for each other {words.percent(bound.gain)} of a step.",
            "It does not help where the hosts are disturbed by something else.",
        )
    ]


def _computation(bound: Bound) -> list[Advice]:
    share = bound.shares.get(COMMUNICATION, 0.0)
    limit = f"Communication has {words.percent(share)} of a step: no change of the network buys more." if share else ""
    not_when = "Changes of network, buckets or loaders do not help here."
    if bound.hides or bound.summed:
        # What else may be in that time, or beside it, is not told.
        limit = ""
        not_when = f"It does not help as far as that time is {' or '.join(bound.hides)}." if bound.hides else ""
        if bound.summed:
            not_when = f"{not_when} It does not help with what lies outside of the clocks.".strip()
    return [
        Advice(
            "computation",
            "Make computation itself faster with bf16 or fp8, fused attention, less recomputation, GPUs at full clocks",
            None,
            limit or ("" if bound.hides or bound.summed else "Most of a step is computation."),
            not_when,
        )
    ]
