# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the output of a job under Open MPI: over what its processes spoke, and what they said.

Open MPI tells it with pml_base_verbose, btl_base_verbose and mtl_base_verbose, UCX with
UCX_LOG_LEVEL=info. Other lines are the job's own.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, clean_lines

_TOOL = "mpi_log"
NOTHING: dict[str, Any] = {
    "layers": [],
    "between": [],
    "ranks": [],
    "variables": [],
    "ucx": [],
    "unanswered": [],
}
_WHO = r"\[([A-Za-z0-9_.-]{1,255}):[0-9]{1,10}(?: ?:[a-z0-9]{1,8})?\]"
_LAYER = re.compile(rf"{_WHO} select: component ([a-z0-9_]{{1,32}}) selected")
_MTL = re.compile(rf"{_WHO} mca:base:select:\( ?mtl\) Selected component \[([a-z0-9_]{{1,32}})\]")
_BTL = re.compile(rf"{_WHO} mca: bml: Using ([a-z0-9_]{{1,32}}) btl for send to \S{{1,64}} on node (\S{{1,255}})")
# UCX 1.14 and later tell where the peer is; before that there is only ep_cfg.
_UCX = re.compile(
    rf"{_WHO} \S{{1,64}} UCX INFO "
    r"(?:(?:\S{1,64} )?(self|intra-node|inter-node) cfg#[0-9]{1,9}|"
    r"ep_cfg\[[0-9]{1,9}\]:) (.{1,4000})"
)
_VARIABLES = re.compile(rf"{_WHO} \S{{1,64}} UCX INFO UCX_\* env variables?: (.{{1,4000}})")
_SET = re.compile(r"(UCX_[A-Z0-9_]{1,60})=(\S{0,400})")
# With nothing but pml_base_verbose, a component of this name is the PML's.
_OFFERED = re.compile(rf"{_WHO} mca: base: components_open: found loaded component ucx$")
_REFUSED = re.compile(rf"{_WHO} select: init returned failure for component ucx$")
# UCX ends the process whose datagrams nobody acknowledged.
_SILENT = re.compile(
    r"\[([A-Za-z0-9_.-]{1,255}):[0-9]{1,10}[ :0-9a-z]{0,30}\] ud_ep\.c:[0-9]{1,6} "
    r"Fatal: UD endpoint .{1,200}: unhandled timeout error"
)
OFFERED, REFUSED = "offered", "refused"
_LANES = re.compile(r"\b(?:tag|am|rma|amo|stream)\(([^()]{1,1000})\)")
_RANK = re.compile(
    r"ibready-smoke rank=([0-9]{1,9}) size=([0-9]{1,9}) host=(\S{1,255}) "
    r"(right|wrong)(?: (.{1,400}))?"
)
_BY_NODE = "inter-node"
# Between processes of one host; and between the memories of one process.
LOCAL = frozenset(("self", "sm", "vader", "sysv", "posix", "cma", "knem", "xpmem"))
_COPIES = frozenset(("cuda_copy", "cuda_ipc", "gdr_copy", "rocm_copy", "rocm_ipc", "ze_copy", "ze_ipc", "gdaki"))


@dataclass(frozen=True)
class Transport:
    """``name``: as the software has it (tcp, rc_mlx5). ``device``: eth0, mlx5_0:1; "" where it is
    not told. ``host``: who said so. ``layer``: ucx, btl or mtl."""

    name: str
    device: str
    host: str
    layer: str


@dataclass(frozen=True)
class Rank:
    """What one process said of its sum."""

    rank: int
    size: int
    host: str
    right: bool
    said: str


@dataclass(frozen=True)
class MpiLog:
    """``layers``: the PML that each host chose. ``between``: what hosts spoke to each other by.

    ``variables``: host, name and value of what UCX took from the environment. ``ucx``: what became
    of Open MPI's component ucx on a host, OFFERED or REFUSED; a host without one left it out.
    ``unanswered``: hosts whose datagrams (UD) to another one were never acknowledged.
    """

    layers: tuple[tuple[str, str], ...]
    between: tuple[Transport, ...]
    ranks: tuple[Rank, ...]
    variables: tuple[tuple[str, str, str], ...] = ()
    ucx: tuple[tuple[str, str], ...] = ()
    unanswered: tuple[str, ...] = ()


def parse(text: str) -> MpiLog:
    """All that the lines tell; ParseError for a text without one such line."""
    layers: dict[tuple[str, str], None] = {}
    between: dict[Transport, None] = {}
    ranks: dict[Rank, None] = {}
    variables: dict[tuple[str, str, str], None] = {}
    ucx: dict[tuple[str, str], None] = {}
    unanswered: dict[str, None] = {}
    for shown in clean_lines(text):
        line = " ".join(shown.split())
        rank = _RANK.search(line)
        if rank is not None:
            ranks[_rank(rank)] = None
            continue
        layer = _LAYER.search(line)
        if layer is not None:
            layers[(layer[1], layer[2])] = None
        for transport in _transports(line):
            between[transport] = None
        given = _VARIABLES.search(line)
        if given is not None:
            variables.update({(given[1], *pair): None for pair in _SET.findall(given[2])})
        silent = _SILENT.search(line)
        if silent is not None:
            unanswered[silent[1]] = None
        for pattern, what in ((_OFFERED, OFFERED), (_REFUSED, REFUSED)):
            met = pattern.search(line)
            if met is not None:
                ucx[(met[1], what)] = None
    if not (layers or between or ranks or ucx):
        raise ParseError(_TOOL, 0, "", "no line of Open MPI, UCX or the job's own")
    # An MTL is chosen before the PML, and only the PML cm uses it.
    used = [entry for entry in between if entry.layer != "mtl" or (entry.host, "cm") in layers]
    more = (tuple(variables), tuple(ucx), tuple(unanswered))
    return MpiLog(tuple(layers), tuple(used), tuple(ranks), *more)


def _rank(match: re.Match[str]) -> Rank:
    return Rank(int(match[1]), int(match[2]), match[3], match[4] == "right", match[5] or "")


def _transports(line: str) -> list[Transport]:
    """What the line tells of the way to another host."""
    btl = _BTL.search(line)
    if btl is not None:
        away = btl[1].partition(".")[0] != btl[3].partition(".")[0]
        return [Transport(btl[2], "", btl[1], "btl")] if away and btl[2] not in LOCAL else []
    mtl = _MTL.search(line)
    if mtl is not None:
        return [Transport(mtl[2], "", mtl[1], "mtl")]
    ucx = _UCX.search(line)
    if ucx is None or ucx[2] not in (None, _BY_NODE):
        return []
    words = [word for lanes in _LANES.findall(ucx[3]) for word in lanes.split()]
    pairs = [word.partition("/")[::2] for word in words if "/" in word]
    if ucx[2] is None and any(name in LOCAL for name, _device in pairs):
        # Processes of one host may be offered the network besides.
        return []
    nearby = LOCAL | _COPIES
    return [Transport(name, device, ucx[1], "ucx") for name, device in pairs if name not in nearby]


def facts(parsed: MpiLog) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "layers": [{"host": host, "layer": layer} for host, layer in parsed.layers],
        "between": [asdict(transport) for transport in parsed.between],
        "ranks": [asdict(rank) for rank in parsed.ranks],
        "variables": [{"host": host, "name": name, "value": value} for host, name, value in parsed.variables],
        "ucx": [{"host": host, "component": became} for host, became in parsed.ucx],
        "unanswered": list(parsed.unanswered),
    }


def wrong(parsed: MpiLog) -> tuple[str, ...]:
    """Sums that are wrong, and hosts to which nobody answers."""
    sums = [f"rank {rank.rank} on {rank.host} got a wrong sum: {rank.said}" for rank in parsed.ranks if not rank.right]
    silent = [f"{host}: its datagrams to another host were never acknowledged" for host in parsed.unanswered]
    return (*sums, *silent)
