# SPDX-License-Identifier: GPL-3.0-or-later
"""What one program told of one test: moved, failed or untested, with its numbers and its words."""

from __future__ import annotations

import re
from typing import Any, Callable

from ..._data.rdma_tests import (
    BANDWIDTH,
    CM,
    DAMAGED,
    FAILED,
    LATENCY,
    LOST,
    MOVED,
    NO_DEVICE,
    NO_PROVIDER,
    NO_SERVER,
    PROGRAMS,
    UNTESTED,
    VERBS,
    WORDS,
)
from ..._ground.text import ParseError, clean_lines, printable
from ..._parse import perftest, rc_pingpong, rping
from .ends import End
from .script import Ran

_KINDS = tuple((kind, re.compile(words)) for kind, words in WORDS)
# What a program says of itself when all is well.
_PLAIN = re.compile(
    r"(?:local|remote) address:|-{5}|\*{5}|.*Waiting for client|.* : |#bytes|WARNING: BW peak|"
    r"RDMA_|Send Latency|GID:|CQ Moderation|initial|child|server DISCONNECT|wait for \S+ state"
)

_WARNING = re.compile(r"libibverbs: Warning: |\s*This will severely limit memory registrations")
_LEFT = "not tried: two tests before it waited in vain on this rail"
_DIED = ("Aborted", "Segmentation fault", "Killed", "Terminated")


def of_client(end: End, ran: Ran | None, otherwise: str) -> dict[str, Any]:
    """The client's answer. ``otherwise``: why there is nothing of it, where there is not."""
    program = PROGRAMS[end.test].name
    if ran is not None and ran.left:
        return _untested(_LEFT)
    if ran is None or (ran.rc is None and not ran.missing):
        return _untested(otherwise or f"{program} was not started")
    if ran.missing:
        return _untested(_missing(end), kind="missing")
    try:
        numbers = _PARSE[end.test](ran.text)
    except ParseError as exc:
        return _failed(ran, program, exc, otherwise)
    if numbers.pop("damaged", False):
        return {"state": FAILED, "kind": DAMAGED, "said": word(ran.text), **numbers}
    short = _short(end, numbers)
    if short and not ran.rc:
        # rping ends well where the other end hangs up in the middle.
        return {"state": FAILED, "kind": kind_of(ran.text), "said": short, **numbers}
    if ran.rc:
        kind, said = kind_of(ran.text), word(ran.text) or f"{program} ended with status {ran.rc}"
        return {"state": FAILED, "kind": LOST if ran.timed_out else kind, "said": said, **numbers}
    return {"state": MOVED, "kind": "", "said": "", **numbers}


def of_server(end: End, ran: Ran | None) -> dict[str, Any]:
    """The server's own words: ``kind`` and ``said`` are empty where it has none to say."""
    if ran is None:
        return {"kind": "", "said": "", "rc": None}
    if ran.missing:
        return {"kind": "missing", "said": _missing(end), "rc": None}
    kind = kind_of(ran.text)
    failed = bool(kind) or (ran.rc not in (None, 0) and not ran.timed_out and ran.rc != 143)
    return {"kind": kind, "said": word(ran.text) if failed else "", "rc": ran.rc}


def kind_of(text: str) -> str:
    """The surest kind of failure that the words tell; "" where they tell none.

    What libibverbs warns of may be another device: it counts where none was found, too.
    """
    own = _first("\n".join(line for line in clean_lines(text) if not _WARNING.match(line)))
    return _first(text) if own == NO_DEVICE else own


def _first(text: str) -> str:
    return next((kind for kind, words in _KINDS if words.search(text)), "")


def word(text: str) -> str:
    """The words that tell most of a failure, in one line."""
    lines = [" ".join(line.split()) for line in clean_lines(text) if line.strip()]
    if kind_of(text) != NO_PROVIDER:
        lines = [line for line in lines if not _WARNING.match(line)]
    for _kind, words in _KINDS:
        for line in lines:
            if words.search(line):
                return printable(line)
    reported = [line for line in lines if not _PLAIN.match(line)]
    # The shell's word on a program that died, where that has said something itself.
    reported = [line for line in reported if line not in _DIED] or reported
    return printable(reported[-1]) if reported else ""


def _failed(ran: Ran, program: str, exc: ParseError, otherwise: str) -> dict[str, Any]:
    kind, said = kind_of(ran.text), word(ran.text)
    if ran.timed_out:
        # It met the other end and waited for data that did not come.
        return {"state": FAILED, "kind": kind or LOST, "said": said or f"{program} waited in vain and was ended"}
    if kind == NO_SERVER:
        return _untested(f"{program}: {said}", kind=NO_SERVER)
    if not kind and not said:
        said = otherwise or str(exc)
    return {"state": FAILED, "kind": kind, "said": f"{program}: {said}"}


def _short(end: End, numbers: dict[str, Any]) -> str:
    """What is missing of the pings that were asked for; "" where none is."""
    pings = numbers.get("pings", end.amount.count)
    if pings >= end.amount.count:
        return ""
    return f"{PROGRAMS[end.test].name} ended after {pings} of {end.amount.count} pings"


def _missing(end: End) -> str:
    program = PROGRAMS[end.test]
    packages = program.package if program.package == program.el_package else f"{program.package} (Debian, Ubuntu)"
    if program.package != program.el_package:
        packages += f" or {program.el_package} (EL)"
    return f"no program {program.name}: install {packages}"


def _untested(why: str, kind: str = "") -> dict[str, Any]:
    return {"state": UNTESTED, "kind": kind, "said": why}


def _verbs(text: str) -> dict[str, Any]:
    found = rc_pingpong.parse(text)
    return {"bytes": found.moved, "damaged": bool(found.bad_pages)}


def _cm(text: str) -> dict[str, Any]:
    found = rping.parse(text)
    return {"pings": found.pings, "damaged": found.damaged}


def _bandwidth(text: str) -> dict[str, Any]:
    found = perftest.parse(text)
    if not found.bandwidth:
        raise ParseError("ib_write_bw", 0, "", "it printed the table of another test")
    last = found.bandwidth[-1]
    return {"gbps": round(last.gbps, 4), "bytes": last.size * last.iterations}


def _latency(text: str) -> dict[str, Any]:
    found = perftest.parse(text)
    if not found.latency:
        raise ParseError("ib_send_lat", 0, "", "it printed the table of another test")
    last = found.latency[-1]
    return {"usec": last.typical, "bytes": 2 * last.size * last.iterations}


_PARSE: dict[str, Callable[[str], dict[str, Any]]] = {
    VERBS: _verbs,
    LATENCY: _latency,
    BANDWIDTH: _bandwidth,
    CM: _cm,
}
