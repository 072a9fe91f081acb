# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of a job's steps in one form, whatever log, trace or recorder they were read from. No I/O."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Mapping

# The parts of a step. COMMUNICATION is what the step waited for and no computation hid; INPUT the loader of data;
# HOST what the processor spent between kernels; IDLE what a GPU stood still for no told reason.
COMPUTE, COMMUNICATION, INPUT, OPTIMIZER, CHECKPOINT, HOST, IDLE = (
    "compute",
    "communication",
    "input",
    "optimizer",
    "checkpoint",
    "host",
    "idle",
)
PARTS = (COMPUTE, COMMUNICATION, INPUT, OPTIMIZER, CHECKPOINT, HOST, IDLE)
# What a timer of computation may hold besides, for Step.hides.
LOADING, STAGES, TENSORS, EXPERTS, CONTEXT, GATHERING = (
    "the loading of data",
    "traffic between pipeline stages",
    "traffic of tensor parallelism",
    "traffic of experts",
    "traffic of context parallelism",
    "gathering of parameters (ZeRO stage 3)",
)
# The name in Times.settings by which a log shows that the job is a pipeline, where it tells of no number of stages.
PIPELINE_SEEN = "pipeline_seen"


@dataclass(frozen=True)
class Step:
    """One step as one rank saw it, or as the job told it.

    ``rank``, ``host``: "" where the log is of the job as a whole. ``seconds``: of the whole step.
    ``parts``: seconds by words of PARTS, those that were told; they may overlap, and need not add up.
    ``slowest``: by part the number of the rank that took longest, where the log tells every rank's time.
    ``least``: by part the seconds of the rank that took shortest, where the log tells the spread over ranks; ``parts``
    are then those of the rank that took longest.
    ``hides``: what else the timer of COMPUTE may hold, which is an upper bound then. ``summed``: ``seconds`` is the sum
    of the parts that are told, and what lies between them is in no log. ``stage``: of a pipeline, "" where not told.
    """

    step: int
    seconds: float
    rank: str = ""
    host: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    slowest: Mapping[str, float] = field(default_factory=dict)
    least: Mapping[str, float] = field(default_factory=dict)
    hides: tuple[str, ...] = ()
    summed: bool = False
    stage: str = ""


@dataclass(frozen=True)
class Collective:
    """What is known of one kind of collective operation on one communicator.

    ``size``: bytes, 0 where not told. ``seconds``: of each call, in order. ``busbw``: GB/s as told.
    ``rank``: who measured it. ``ranks``: how many take part, 0 where not told. ``group``: which communicator.
    """

    name: str
    size: int = 0
    seconds: tuple[float, ...] = ()
    busbw: tuple[float, ...] = ()
    rank: str = ""
    host: str = ""
    ranks: int = 0
    group: str = ""


@dataclass(frozen=True)
class Waiting:
    """A rank of a hung job: the last operation that it began, and whether it is still in it.

    ``sequence``: the number of the operation on its communicator. ``group``: which communicator.
    ``missing``: ranks that others say have not come. ``members``: all ranks of the group, where the text tells them.
    ``elements``: what it sends, where no text tells the ``size`` in bytes.
    """

    rank: str
    host: str = ""
    group: str = ""
    sequence: int = -1
    operation: str = ""
    size: int = 0
    state: str = ""
    missing: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    elements: int = 0


@dataclass(frozen=True)
class Busy:
    """How busy a GPU was in one look: percent of time that any kernel ran, 0 to 100. ``clock``: of its processors, in
    MHz, 0 where not told."""

    host: str
    gpu: int
    percent: float
    clock: int = 0


@dataclass(frozen=True)
class End:
    """How a rank (or Slurm's task, which is one) ended by its own failure. ``what``: in the words of who tells it.

    ``rank``, ``host``: "" where not told. ``line``: where it stands. ``bare``: that it ended is all that is told.
    """

    rank: str
    host: str
    what: str
    line: str = ""
    bare: bool = False


@dataclass(frozen=True)
class Times:
    """Everything that was read. ``settings``: what the job says of itself, in its own words. ``ends``: failures that
    ended it, the first of them first."""

    steps: tuple[Step, ...] = ()
    collectives: tuple[Collective, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    busy: tuple[Busy, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    ends: tuple[End, ...] = ()
