# SPDX-License-Identifier: GPL-3.0-or-later
"""Known messages in the lines of an NCCL log: codes, meanings, and what a completion error says."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Sequence, Tuple

from .._data import nccl_log as data
from .._ground import literal
from .._ground.text import printable
from . import gid
from ._nccl_facts import ROCE, Failure
from ._nccl_lines import BARE, Line

_KNOWN = [(known, re.compile(known.pattern)) for known in data.KNOWN]
_QUIET = [(known, pattern) for known, pattern in _KNOWN if not known.loud]
_ANYWHERE = [(known, pattern) for known, pattern in _KNOWN if known.anywhere]
# By class, and so for what NCCL itself gives as a warning.
_BY_CLASS = frozenset(data.WARNED)
_WITHOUT_PREFIX = [(known, pattern) for known, pattern in _KNOWN if known not in _BY_CLASS]
_Known = Tuple[data.Known, "re.Pattern[str]"]
_OF_ALL, _OF_QUIET, _OF_ANYWHERE, _OF_WITHOUT_PREFIX = (
    literal.sieve(some, lambda one: one[0].pattern) for some in (_KNOWN, _QUIET, _ANYWHERE, _WITHOUT_PREFIX)
)
# These words at a line's beginning are NCCL's wherever they stand.
_SURE = re.compile("|".join(data.SURE))
# Most of a long log, and no failure.
_ROUTINE = ("Channel ", "Ring ", "Tree", "Connected ", "Setting affinity ")
# `error 12,` `status=12 ` or `status=IBV_WC_RETRY_EXC_ERR(12)`; NET/IB, NET/IB/GIN, NET/IBP.
_COMPLETION = re.compile(
    r"Got completion (?:from peer (\S{1,120}) )?with (?:error |status=)(?:\w{1,60}\()?(\d{1,4})"
    r"(?=[ ,)])"
)
_VENDOR = re.compile(r"vendor[ _]err[ =](\d{1,10})")
_HCA = re.compile(r" hca (\S{1,64})$")
# NCCL prints it for Ethernet ports only.
_LOCAL_GID = re.compile(r"localGid ([0-9a-fA-F:.]{2,45})")
_QP_GID = re.compile(r"local GID ([0-9a-fA-F:.]{2,45})")
_QP = re.compile(r"Call to ibv_modify_qp failed with (?:error )?(.{1,200})")
# `group.cc:75 -> 6 [Async thread]`: what a program is told; deeper calls may fail, and NCCL goes on.
_RESULT = re.compile(r"(?:init|group|enqueue|collectives)\.(?:cc|cu):\d{1,6} -> (\d{1,3})\b")
# nccl-tests, PyTorch (`NCCL error in: FILE, WORDS`), vLLM (`NCCL error: WORDS`), Horovod (`ncclX failed: WORDS`).
_RESULT_NAME = re.compile(
    r"(?:Test NCCL failure \S{1,100}:\d{1,7} '|NCCL [Ee]rror(?: in)?(?: \d)?: ?(?:\S{1,300}, )?|nccl\w{3,40} failed: )"
    rf"({'|'.join(data.RESULT_NAMES)})"
)
_RESULT_ERROR = re.compile(rf"\bnccl({'|'.join(data.RESULT_ERRORS)}): [A-Z]")
RESULT = "result_"
# 2.32 has ATTN between WARN and INFO.
_LOUD = ("WARN", "ERROR", "FATAL", "ABORT", "ATTN")
_SHOWN = 200
_PORT = re.compile(r"<\d{1,5}>$")


def failure(line: Line) -> Failure | None:
    """The known message in this line, if there is one."""
    text = line.text
    if "retrying" in text:  # told again where it failed in the end
        return None
    completion = _COMPLETION.search(text)
    if completion is not None:
        return _completion(line, completion)
    if "ibv_modify_qp failed" in text:
        return _modify_qp(line)
    return _known(text, line.level, line.place, line.cut) or _unread(line)


# Ranks repeat what others said; a line is 4096 characters at most.
@lru_cache(maxsize=1024)
def _known(text: str, level: str, place: str, cut: bool) -> Failure | None:
    for known, pattern in _candidates(Line(text, level, cut=cut)):
        found = pattern.search(text)
        if found is not None and place.startswith(known.place):
            code = known.id.format(*(found.groups() or ("",))).lower()
            named = found.groupdict()
            hca = named.pop("hca", None) or ""
            peer = next((end for end in named.values() if end), "")
            shown = printable(text)
            return Failure(code, known.kind, known.means, known.why, known.remedy, shown, peer=peer, hca=hca)
    return None


def _candidates(line: Line) -> Sequence[_Known]:
    if line.level in _LOUD:
        return _OF_WITHOUT_PREFIX(line.text) if line.cut else _OF_ALL(line.text)
    if not line.level or line.level == BARE:
        if _SURE.match(line.text):
            return [] if _RESULT_ERROR.match(line.text) else _OF_WITHOUT_PREFIX(line.text)
        return (_OF_QUIET if line.level else _OF_ANYWHERE)(line.text)
    return [] if line.text.startswith(_ROUTINE) else _OF_QUIET(line.text)


def _unread(line: Line) -> Failure | None:
    """A warning that no pattern fits, or the number with which a call ended."""
    if line.cut:  # Nobody can tell what it would have said.
        return None
    if line.level in _LOUD and line.text:
        said = f"NCCL warns: {printable(line.text)[:_SHOWN]}"
        return Failure("unread_warning", data.UNREAD, said, data.UNREAD_CAUSE, data.UNREAD_REMEDY, printable(line.text))
    number = _number(line)
    if number not in data.RESULTS:
        return None
    kind = data.CONSEQUENCE if number == data.REMOTE else data.UNREAD
    means = data.RESULTS[number]
    cause = "no line before it says why"
    return Failure(f"{RESULT}{number}", kind, means, cause, data.UNREAD_REMEDY, printable(line.text))


def _number(line: Line) -> int:
    """The result that NCCL, or nccl-tests, tells in this line; else 0."""
    if line.level:
        ended = _RESULT.match(line.text)
        return int(ended.group(1)) if ended is not None else 0
    if "NCCL" not in line.text and "nccl" not in line.text:
        return 0
    named = _RESULT_NAME.search(line.text)
    if named is not None:
        return data.RESULT_NAMES[named.group(1)]
    error = _RESULT_ERROR.search(line.text)
    return data.RESULT_ERRORS[error.group(1)] if error is not None else 0


def link_told(line: Line) -> str:
    """RoCE where an error shows an address that only RoCE has, else ""."""
    if "Got completion" in line.text:
        found = _LOCAL_GID.search(line.text)
        return ROCE if found is not None and _kind(found.group(1)) != gid.EMPTY else ""
    found = _QP_GID.search(line.text)
    return ROCE if found is not None and _kind(found.group(1)) in gid.ROUTABLE else ""


def _kind(address: str) -> str:
    try:
        return gid.parse(address).kind
    except ValueError:
        return gid.EMPTY


def _completion(line: Line, found: re.Match[str]) -> Failure:
    status = int(found.group(2))
    vendor = _VENDOR.search(line.text)
    # The log may end within the number.
    number = int(vendor.group(1)) if vendor and not _ends(line, vendor) else None
    hca = _HCA.search(line.text) if not line.cut else None
    code = f"wc_status_{status}"
    if number is not None and status != data.FLUSHED:
        code += f"_vendor_{number}"
    known = data.COMPLETIONS.get(status)
    means = known.means if known else f"completion status {status}, which is not known here"
    if number in data.VENDOR_ERRORS:
        means += f" ({data.VENDOR_ERRORS[number]})"
    return Failure(
        code,
        known.kind if known else data.ERROR,
        means,
        data.UNSAID + known.cause if known else "not known",
        known.remedy if known else data.COMPLETIONS[20].remedy,
        printable(line.text),
        status=status,
        vendor=number,
        peer=_PORT.sub("", found.group(1) or ""),
        hca=hca.group(1) if hca else "",
    )


def _ends(line: Line, found: re.Match[str]) -> bool:
    return line.cut and found.end() == len(line.text)


def _modify_qp(line: Line) -> Failure | None:
    found = _QP.search(line.text)
    if found is None:
        return None
    said = found.group(1)
    known = next((reason for reason in data.MODIFY_QP if reason.reason in said), None)
    if known is None and line.cut:
        return None
    return Failure(
        f"modify_qp_{known.code if known else 'failed'}",
        data.ERROR,
        data.MODIFY_QP_MEANS,
        data.UNSAID + known.cause if known else f"the kernel says: {printable(said)}",
        data.MODIFY_QP_REMEDY,
        printable(line.text),
    )
