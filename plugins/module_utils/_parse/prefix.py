# SPDX-License-Identifier: GPL-3.0-or-later
"""Take off what launchers, loggers, mail and Markdown put before a tool's lines, and tell hosts apart.

What pdsh, clush, mpirun, srun, kubectl, docker, syslog and Ray put first names who said a line; the
lines of each are a text of its own, for two hosts' outputs are never one. A kind counts only where
every line has it, so that nothing of a tool's own is taken for it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Callable

_STEPS = 6
_FENCE = re.compile(r" {0,3}(?:`{3,6}|~{3,6})[\w+-]{0,20}")
# Markdown writes `mlx5\_0`, so that no line is set in italics.
_ESCAPED = re.compile(r"\\([_*<>\[\]#`~])")
# Where somebody left lines out.
_ELIDED = ("...", "\u2026", "[...]", "(...)", "[\u2026]")
_RULE = re.compile(r"-{4,}")
_NODES = re.compile(r"[A-Za-z0-9][\w.,\[\]-]{0,253}(?: \(\d{1,6}\))?")
# What tools themselves begin lines with: devices and interfaces, not hosts.
_DEVICE = re.compile(
    r"(?:mlx[45]|hfi\d|irdma|bnxt_re|efa|rxe|siw|qedr|roce\w*|rdma\w*|ib\w*|en\w+|eth|bond|nvme|sd[a-z]|nvidia|gpu|usb|md"
    r"|nvidia-nvswitch|cpu|node_guid|port)[\d_]*\d\w*|lo|docker0",
    re.IGNORECASE,
)
# C3's cexec says of whom the lines below are.
_CEXEC = re.compile(r"-{9} ?([A-Za-z0-9][\w.-]{0,253}) ?-{9}")
_CEXEC_CLUSTER = re.compile(r"\*{10,40} ?\w[\w.-]{0,60} ?\*{10,40}")
_MAC_OR_GUID = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{4,}")


@dataclass(frozen=True)
class Part:
    """``who``: the host, rank or pod that said it; "" where nothing tells."""

    who: str
    text: str


@dataclass(frozen=True)
class _Kind:
    """``head``: all that comes before a line; its first group names who. ``least``: lines that there
    have to be. ``is_who``: whether it may be such a name. ``recurs``: two lines each, on average."""

    head: re.Pattern[str]
    least: int = 1
    is_who: Callable[[str], bool] | None = None
    recurs: bool = False


def _is_host(name: str) -> bool:
    """Names of hosts in clusters have numbers; so have devices, and they are none."""
    return bool(re.search(r"[0-9.-]", name)) and not _DEVICE.fullmatch(name) and not _MAC_OR_GUID.fullmatch(name)


_MAIL = re.compile(r"() {0,3}>(?: |$)")
_TIME = re.compile(r"()\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)(?: |$)")
_MPIRUN = re.compile(r" {0,8}\[(\d{1,6},\d{1,6})\]<[a-z]{1,10}>:? ?")
_KUBECTL = re.compile(r"\[(pod/[\w./-]{1,253})\](?: |$)")
_RAY = re.compile(r"\((?:[\w.]{1,60} )?(?:pid=\d{1,9}, )?(?:ip|pid)=([\w.:]{1,45})\)(?: |$)")
_COMPOSE = re.compile(r"([\w.-]{1,253}?) {0,60}\|(?: |$)")
_SYSLOG = re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ([\w.-]{1,253}) [\w./-]{1,60}(?:\[\d{1,9}\])?:(?: |$)")
# Without the name of the program, which is needed where nobody knows the text.
_SYSLOG_SAID = re.compile(_SYSLOG.pattern.replace(r" [\w./-]{1,60}(?:", r" (?=[\w./-]{1,60}(?:") + ")")
_PDSH = re.compile(r"([A-Za-z0-9][\w.-]{0,253}):(?: |$)")
_SRUN = re.compile(r" {0,6}(\d{1,6}):(?: |$)")
# A kernel's log has hosts and words with colons of its own; whoever else put a name first put it before a time.
_PDSH_OF_KERNEL = re.compile(r"([A-Za-z0-9][\w.-]{0,253}): (?=\[ {0,6}[\dA-Z])")
_SRUN_OF_KERNEL = re.compile(r" {0,6}(\d{1,6}): (?=\[ {0,6}[\dA-Z])")

_NAMED = (_Kind(_PDSH, least=3, is_who=_is_host, recurs=True), _Kind(_SRUN, least=3, recurs=True))
_TAGGED = (_Kind(_MAIL), _Kind(_MPIRUN), _Kind(_KUBECTL), _Kind(_RAY), _Kind(_COMPOSE, least=2, recurs=True))
_KINDS = (
    *_TAGGED,
    _Kind(_TIME),
    _Kind(_SYSLOG),
    *_NAMED,
)
# An editor's or grep's numbers of lines; srun's are of ranks, and have a colon and a blank.
_NUMBERED = re.compile(r"() {0,6}\d{1,7}(?: |:)?(?=\[ {0,6}\d{1,8}\.\d{6}\])")
_TIME_OF_KERNEL = re.compile(_TIME.pattern + r"(?=\[ {0,8}\d)")
_OF = {
    "": (*_TAGGED, _Kind(_TIME), _Kind(_SYSLOG_SAID), *_NAMED),
    "dmesg": (
        *_TAGGED,
        _Kind(_NUMBERED, least=2),
        _Kind(_TIME_OF_KERNEL, least=2),
        _Kind(_PDSH_OF_KERNEL, least=2, is_who=_is_host),
        _Kind(_SRUN_OF_KERNEL, least=2),
    ),
    # Its parser reads the heads of syslog, which have its times.
    "opensm_log": (*_TAGGED, *_NAMED),
    # Its parser knows who said a line, and reads all of a job together.
    "nccl_log": (_Kind(_MAIL),),
    # Numbers of srun are ranks, and failures of all of them are in one order.
    "job_end": (*_TAGGED, _Kind(_TIME), _Kind(_SYSLOG), _NAMED[0]),
}


def parts(name: str, text: str) -> tuple[Part, ...]:
    """The text of this tool as it was printed, one for each who said it, in the order in which they spoke."""
    return _parts(name if name in _OF else "*", text)


# A text is asked for by each tool that may have printed it, and by each several times.
@lru_cache(maxsize=8)
def _parts(name: str, text: str) -> tuple[Part, ...]:
    ended = text.endswith(("\n", "\r"))
    lines = _unfenced(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    if lines and not lines[-1]:
        lines.pop()
    if name != "nccl_log":
        blocks = _blocks(lines)
        if blocks:
            return tuple(Part(who, "".join(f"{line}\n" for line in mine)) for who, mine in blocks)
    whose: list[tuple[str, str]] = [("", line) for line in lines]
    taken = False
    for _step in range(_STEPS):
        kind = next((kind for kind in _OF.get(name, _KINDS) if _fits(kind, whose)), None)
        if kind is None:
            break
        whose, taken = [_without(kind, who, line) for who, line in whose], True
    if not taken and lines == text.split("\n")[: len(lines)]:
        return (Part("", text),)
    said: dict[str, list[str]] = {}
    last = next((who for who, line in whose if line), "")
    for who, line in whose:
        # An empty line without a name belongs to who spoke before.
        last = who if who or (line and line.strip() not in _ELIDED) else last
        said.setdefault(last, []).append(line)
    texts = [(who, "\n".join(mine) + "\n") for who, mine in said.items()]
    return tuple(Part(who, mine if ended or who != last else mine[:-1]) for who, mine in texts)


def _unfenced(lines: list[str]) -> list[str]:
    """Without the lines that open and close a block of Markdown, and what it escapes."""
    if any(_FENCE.fullmatch(line.rstrip()) for line in lines):
        lines = [line for line in lines if not _FENCE.fullmatch(line.rstrip())]
    if any("\\_" in line for line in lines):
        lines = [_ESCAPED.sub(r"\1", line) for line in lines]
    return lines


def _fits(kind: _Kind, whose: list[tuple[str, str]]) -> bool:
    """Whether every line that is not empty has it."""
    names: dict[str, int] = {}
    for _who, line in whose:
        if not line.strip() or line.strip() in _ELIDED:
            continue
        found = kind.head.match(line)
        if found is None or (kind.is_who is not None and not kind.is_who(found.group(1))):
            return False
        names[found.group(1)] = names.get(found.group(1), 0) + 1
    count = sum(names.values())
    return count >= kind.least and (not kind.recurs or count >= 2 * len(names))


def _without(kind: _Kind, who: str, line: str) -> tuple[str, str]:
    found = kind.head.match(line)
    if found is None:
        return who, line
    return " ".join(word for word in (who, found.group(1)) if word), line[found.end() :]


def _blocks(lines: list[str]) -> list[tuple[str, list[str]]]:
    """What clush -b and dshbak gather: a rule, the hosts, a rule, and what all of them said."""
    found: list[tuple[str, list[str]]] = []
    at = 0
    while at < len(lines):
        head = lines[at : at + 3]
        if len(head) == 3 and _RULE.fullmatch(head[0]) and _RULE.fullmatch(head[2]) and _NODES.fullmatch(head[1]):
            found.append((head[1], []))
            at += 3
            continue
        told = _CEXEC.fullmatch(lines[at].rstrip())
        if told is not None:
            found.append((told.group(1), []))
            at += 1
            continue
        if not found and _CEXEC_CLUSTER.fullmatch(lines[at].rstrip()):
            at += 1
            continue
        if not found:
            return []
        found[-1][1].append(lines[at])
        at += 1
    return found
