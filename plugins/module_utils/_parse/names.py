# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse an output by its evidence name; what `ibready parse NAME` prints.

Every module of this package that is named here has three things: ``parse(text)`` (facts as a
dataclass, or ParseError), ``facts(parsed)`` (the same as a JSON-ready dictionary, in the field
names of docs/parsers.md) and ``NOTHING``, that dictionary for a text which gave no facts; where the
error tells something all the same, ``nothing(error)``.
"""

from __future__ import annotations

import dataclasses
import importlib
import re
from functools import lru_cache
from types import ModuleType
from typing import Any

from .._data.pasted_words import NOT_READ
from .._ground.text import ParseError
from . import prefix
from ._times import Times

# Of a long text so much is read at first; of one that is longer than the last nothing more.
_SIZES = (64 * 1024, 1024 * 1024)
_LONGEST = 16 * 1024 * 1024
_LINES_LOOKED_AT = 100
_SYSLOG = r"(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,253} )?"
_LEVEL = r"<\d{1,3}>|[a-z]{4,8} {0,4}:[a-z]{3,6} {0,3}: "
KERNEL = re.compile(rf"{_SYSLOG}(?:kernel: |(?:{_LEVEL})?\[ {{0,8}}\d{{1,9}}\.\d{{3,9}}\] )")
# How a subsystem begins what it says.
_SUBSYSTEM = re.compile(
    r"(?:\]|kernel:) (?:Linux version|\w[\w-]* [0-9a-f]{4}:[0-9a-f]{2}:|[\w/.#+-]{2,40}(?: \S+)?: )"
)
_WHOLE, _EXCERPT = "nvsmi_q", "nvsmi_q_fabric"
# What tells of the reading, and not of the host; complaints are worded alike by many tools.
_NO_FACTS = frozenset(("beginning_lost", "cut", "error", "error_lines", "unread"))
# The kernel and fabric-wide tools print bare sentences, which anybody may.
_LOOSE = frozenset(("dmesg", "ibhosts", "iblinkinfo", "ibnetdiscover", "ibqueryerrors"))
# What systemd says of a unit it says of any; whose text this is shows the name.
_NAMED = {"fabricmanager_status": re.compile(r"fabric ?manager", re.IGNORECASE)}
# Words that only infiniband-diags begin a complaint with.
_COMPLAINT = re.compile(r"^(?:ibpanic|ibwarn|iberror|src/\w+\.c):", re.MULTILINE)

# So many lines tell how a text begins.
_BEGINS = 4

NAMES = (
    "beegfs_log",
    "container_probe",
    "dcgmi",
    "deepspeed_log",
    "dkms_status",
    "dmesg",
    "dump_fts",
    "fabricmanager_log",
    "fabricmanager_status",
    "flight_recorder",
    "ibdev2netdev",
    "ibdiagnet",
    "ibhosts",
    "iblinkinfo",
    "ibnetdiscover",
    "ibping",
    "ibqueryerrors",
    "ibstat",
    "ibstatus",
    "ibv_devinfo",
    "imex_status",
    "job_end",
    "kineto",
    "lsmod",
    "lspci",
    "megatron_log",
    "mlnx_qos",
    "mlxlink",
    "mpi_log",
    "mst_status",
    "nccl_inspector",
    "nccl_log",
    "nccl_ras",
    "nccl_settings",
    "nccl_tests",
    "nvlink_caps",
    "nvlink_errors",
    "nvlink_status",
    "nvlink_throughput",
    "nvsmi_dmon",
    "nvsmi_error",
    "nvsmi_q",
    "nvsmi_q_fabric",
    "nvsmi_table",
    "nvsmi_xml",
    "ofed_info",
    "ompi_info",
    "opensm_log",
    "perfquery",
    "perftest",
    "progress_bar",
    "rc_pingpong",
    "rdma_link",
    "rping",
    "saquery_sm",
    "show_gids",
    "sminfo",
    "step_csv",
    "topo",
    "ucx_info",
)

# Parsers that give what they read without facts of their own; their texts are short or of any program's form, so that
# none is guessed to be theirs.
PLAIN = (
    "beegfs_net",
    "cufile_json",
    "df",
    "dpkg_status",
    "ethtool_stats",
    "gdscheck",
    "getent_ahosts",
    "ip_addr",
    "ip_link",
    "ip_route",
    "ipmi_sdr",
    "ipmi_sel",
    "ldconfig",
    "lldpctl",
    "meminfo",
    "mounts",
    "mstconfig",
    "mstreg",
    "proc_limits",
    "redfish",
    "rpm_qa",
    "scontrol_node",
    "spcx_cc",
    "systemctl_show",
    "unmet",
)
EVERY = tuple(sorted((*NAMES, *PLAIN)))


@dataclasses.dataclass(frozen=True)
class Read:
    """``facts``, ``error``: as facts() gives them. ``wrong``: what the tool itself calls wrong, or what is so beyond
    doubt, of texts that no check goes by. ``times``: of a job's steps; None of a tool that tells none."""

    facts: dict[str, Any]
    error: ParseError | None
    wrong: tuple[str, ...] = ()
    times: Times | None = None


def facts(name: str, text: str) -> tuple[dict[str, Any], ParseError | None]:
    """What the parser of this name makes of a text, and its error where it gave no facts.

    Raises KeyError for a name that is not in EVERY.
    """
    if name not in EVERY:
        raise KeyError(name)
    module = importlib.import_module(f"{__package__}.{name}")
    if name in PLAIN:
        return _plain(module, text)
    try:
        found: dict[str, Any] = module.facts(_parsed(module, text))
        return found, None
    except ParseError as exc:
        return _nothing(module, text, exc), exc


def _nothing(module: ModuleType, text: str, exc: ParseError) -> dict[str, Any]:
    """What is told of a text that gave no facts."""
    told: dict[str, Any] = dict(module.nothing(exc) if hasattr(module, "nothing") else module.NOTHING)
    if not text.strip():
        told["empty_output"] = True
    if exc.error_lines:
        told["error_lines"] = list(exc.error_lines)
    return told


def _plain(module: ModuleType, text: str) -> tuple[dict[str, Any], ParseError | None]:
    """What was read as it is; of several things below ``read``."""
    try:
        read = module.parse(text)
    except ParseError as exc:
        return {}, exc
    told = _as_json(read)
    return (told, None) if isinstance(told, dict) else ({"read": [_as_json(entry) for entry in told]}, None)


def _as_json(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return value


def read(name: str, text: str) -> Read:
    """All that the text says by the parser of this name, of NAMES. The text is parsed once."""
    module = importlib.import_module(f"{__package__}.{name}")
    try:
        parsed = _parsed(module, text)
        told: dict[str, Any] = module.facts(parsed)
    except ParseError as exc:
        return Read(_nothing(module, text, exc), exc)
    wrong = module.wrong(parsed) if hasattr(module, "wrong") else ()
    if not hasattr(module, "times"):
        return Read(told, None, wrong)
    return Read(told, None, wrong, times(name, text) if len(text) > _SIZES[1] else module.times(parsed))


def _parsed(module: ModuleType, text: str) -> Any:
    return _of_long(module, text) if len(text) > _SIZES[1] else module.parse(text)


# A long log is asked for many things by each tool that has lines in it, and read once.
@lru_cache(maxsize=8)
def _of_long(module: ModuleType, text: str) -> Any:
    return module.parse(text)


def times(name: str, text: str) -> Times | None:
    """The times of a job's steps in this text; None of a tool that tells none, and of a text that it did not print."""
    module = importlib.import_module(f"{__package__}.{name}")
    if not hasattr(module, "times"):
        return None
    try:
        return _times_of_long(module, text) if len(text) > _SIZES[1] else _times(module, text)
    except ParseError:
        return None


def _times(module: ModuleType, text: str) -> Times:
    found: Times = module.times(_parsed(module, text))
    return found


_times_of_long = lru_cache(maxsize=8)(_times)


def not_read(text: str) -> str:
    """Whose this text is where no parser is for it, and what to give in its place; "" of any other text."""
    begin = [line.strip() for line in prefix.parts("", text[: _SIZES[0]])[0].text.splitlines() if line.strip()][
        :_BEGINS
    ]
    for of in NOT_READ:
        if any(re.match(of.begin, line) for line in begin):
            return f"it is of {of.tool}, which is not read; next: {of.instead}"
    return ""


def guess(text: str) -> tuple[str, ...]:
    """The tools whose text this may be, the one first of whose facts the most are in it.

    A message that there is no device is the same from many. Of a long text the beginning is read,
    and all of it where that says nothing.
    """
    if not text.strip() or not_read(text):
        return ()
    for size in _SIZES:
        begun = guess(text[: text.rfind("\n", 0, size) + 1]) if len(text) > size else ()
        if begun:
            return begun
    if len(text) > _LONGEST:
        return ()
    counts: dict[str, int] = {}
    complaints: list[str] = []
    for name in (name for name in NAMES if name not in _NAMED or _NAMED[name].search(text)):
        told, error = facts(name, prefix.parts(name, text)[0].text)
        if error is None:
            counts[name] = _count(told)
            complaints += [name] if told and not counts[name] else []
    names = [name for name in sorted(counts, key=lambda name: -counts[name]) if counts[name]]
    if not names and _is_kernels(prefix.parts("dmesg", text)[0].text):
        return ("dmesg",)
    if not names and complaints:
        # Only a complaint, which many tools make alike: whoever is named made it.
        named = [name for name in complaints if re.search(rf"\b{name}\b", text)]
        known = complaints if _COMPLAINT.search(text) else [name for name in complaints if name not in _LOOSE]
        names = named or known
    if _WHOLE in names and _EXCERPT in names:
        # The whole output shows what the excerpt does, and its parser tells it more briefly.
        whole = any(gpu.get("name") for gpu in facts(_WHOLE, text)[0]["gpus"])
        first, second = (_WHOLE, _EXCERPT) if whole else (_EXCERPT, _WHOLE)
        names.remove(first)
        names.insert(names.index(second), first)
    return tuple(names)


def weight(name: str, text: str) -> int:
    """How many facts of this tool the text holds."""
    return _count(facts(name, text)[0])


def _is_kernels(text: str) -> bool:
    """Whether it is the kernel's log, of which nothing is to tell."""
    lines = [line for line in text.splitlines()[:_LINES_LOOKED_AT] if line.strip()]
    return (
        any(map(_SUBSYSTEM.search, lines))
        and len(lines) > 1
        and sum(KERNEL.match(line) is not None for line in lines) > len(lines) // 2
    )


def _count(told: Any) -> int:
    """How many values are told."""
    if isinstance(told, dict):
        return sum(_count(value) for key, value in told.items() if key not in _NO_FACTS)
    if isinstance(told, (list, tuple)):
        return sum(map(_count, told))
    return 0 if told in (None, "", False) else 1
