# SPDX-License-Identifier: GPL-3.0-or-later
"""What our modules answer, as far as the controller reads it: the schema at its door (typed.py).

Where an answer holds the fields of a dataclass, that is its type here; what a report shows of facts
is typed where they are (facts.py of the areas), so that mypy holds it against what nodes make.
"""

from __future__ import annotations

from typing import Annotated, TypedDict

from ...module_utils._areas.gpu.facts import GpuReported
from ...module_utils._areas.host.facts import HostFacts
from ...module_utils._areas.machine.facts import MachineReported
from ...module_utils._areas.nccl.facts import NcclReported
from ...module_utils._areas.nvlink.facts import NvlinkReported
from ...module_utils._areas.pci.facts import PciReported
from ...module_utils._areas.stack.contact_facts import NodeReported
from ...module_utils._areas.stack.facts import StackFacts
from ...module_utils._expect.nccl import Desired
from ...module_utils._ground.check import Check
from ...module_utils._ground.reading import Reading
from ...module_utils._nccl.host import NcclHost
from ...module_utils._rails.ib_ports import IbFacts
from ...module_utils._rails.roce_ports import RoceReported
from . import typed

Texts = dict[str, str]


class OfHost(TypedDict):
    """What an nccl.conf is derived from, and what it holds."""

    host: NcclHost
    wish: Desired
    settings: Reading[Texts]


class Looked(TypedDict):
    """``facts`` of ncclverify."""

    nccl: OfHost


class _Rails(TypedDict):
    ib: IbFacts


class Equals(TypedDict):
    """Of one kind of part: what most of a host's have, who has something else, and by which names (_equals/summary)."""

    usual: Texts
    differs: dict[str, Texts]
    names: dict[str, list[str]]


class Facts(_Rails, total=False):
    """``facts`` of ibverify; those that stay on the host (_verify/brief) may be away."""

    machine: MachineReported
    host: Annotated[HostFacts, typed.PARTLY]
    pci: PciReported
    roce: RoceReported
    gpu: GpuReported
    nvlink: NvlinkReported
    stack: Annotated[StackFacts, typed.PARTLY]
    nccl: NcclReported
    node: NodeReported
    equals: dict[str, Equals]
    own: dict[str, Texts]


class Clock(TypedDict, total=False):
    """What a visit told of the host's clock, and the controller of the visit: seconds."""

    asked: float
    answered: float
    began: float
    ended: float


class _Judged(TypedDict):
    checks: list[Check]
    facts: Facts


class Judged(_Judged, total=False):
    """What ibverify returns."""

    clock: Clock | None


class Reported(TypedDict):
    """What nccl_host returns."""

    nccl_host: NcclHost
    wish: Desired


class _Pair(TypedDict):
    server: str
    rail: str


class _Differs(TypedDict):
    role: str
    task: str
    state: str
    why: str
    diff: list[Texts]


class Differs(_Differs, total=False):
    """Of what host_desired returns: a thing that is not as wanted. ``looked``: what a look found that other tasks go
    by."""

    looked: dict[str, list[str]]


class Compared(TypedDict):
    """What host_desired returns."""

    told: list[Differs]


class Ping(_Pair, total=False):
    """An answer of ibping; counts that cannot be true are told of their pair (_answers/ping)."""

    untested: str | None
    sent: object
    received: object
    rtt_avg: float | None
    rtt_max: float | None


class Held(TypedDict):
    """A port that another program has."""

    port: int
    by: str


class Span(TypedDict):
    """The range of local ports."""

    low: int
    high: int
    ports: list[int]
    why: str


class Listening(TypedDict):
    """What tcp_listen returns."""

    ports: list[int]
    held: list[Held]
    range: Span
    look: str


class Reached(TypedDict):
    """An answer of tcp_reach."""

    server: str
    port: int
    outcome: str
    ms: float | None
    said: str


class Query(TypedDict, total=False):
    """What tcp_reach returns."""

    answers: list[Reached]


class _Test(TypedDict):
    test: str
    server: str
    rail: str


class Speed(_Test, total=False):
    """An answer of perftest."""

    untested: str | None
    lost: bool
    at: str
    gbps: float | None
    usec: float | None
    p99_usec: float | None


class Counters(TypedDict):
    """The counters of a port as perftest saw them."""

    driver: str
    values: dict[str, int]
    why: str


class _Round(TypedDict):
    number: int


class Loaded(_Round, total=False):
    """A host's part of one round of incasts: why it was left out, or what it counted, saw come in and reached."""

    left: str
    counted: dict[str, Counters]
    received: list[list[float]]
    answers: list[Speed]


class Row(TypedDict, total=False):
    """A message size; a number may be one that a program prints as nan or inf."""

    size: int
    out_of_place: dict[str, object] | None
    in_place: dict[str, object]


class NcclPerf(TypedDict, total=False):
    """What nccl_perf returns."""

    untested: str
    busbw: float
    average: float
    wrong: object
    ranks: int
    hosts: int
    rows: list[Row]
    log: typed.Long
    msg: typed.Long


class Size(TypedDict):
    """What a job of mpi_smoke measured with messages of one size."""

    ranks: int
    bytes: int
    median: float
    mad: float
    right: bool


class Smoke(TypedDict, total=False):
    """What mpi_smoke returns."""

    result: str
    why: str
    transports: list[str]
    measured: list[Size]
    log: typed.Long
    msg: typed.Long


class Switched(TypedDict, total=False):
    """What one host told of a job over several with one thing switched off."""

    name: str
    error: str
    nodes: NcclPerf
    mpi: Smoke


class Switch(TypedDict, total=False):
    """What was planned of it; ``untested``: why it does not run."""

    name: str
    means: str
    job: str
    untested: str


class Look(TypedDict):
    """What fabric_look heard through one port; device and port are empty for a bundle."""

    device: str
    port: int
    seconds: float
    packed: typed.Long


class Moved(TypedDict, total=False):
    """An answer of rdma_data, or of a server of it; _fleet/rdma/tries looks at the numbers."""

    client: str
    server: str
    rail: str
    where: str
    test: str
    run: str
    tcp_port: int
    at: str
    state: str
    kind: str
    said: str
    bytes: object
    gbps: object
    usec: object
    pings: object
    rc: int | None
    waits: bool
    memlock: str
    devices: list[str] | None


class Inside(TypedDict, total=False):
    """What a shell of rdma_data saw."""

    memlock: str
    devices: list[str] | None
    why: str
