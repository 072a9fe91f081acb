# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the GPU driver wrote into the kernel's log (Xids): facts in, checks out, no I/O."""

from __future__ import annotations

import re
from typing import Iterator

from ..._data import xids as data
from ..._data.xids import Meaning
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Check, failed, passed, unknown
from ..._parse._nvsmi import address
from ..._parse.dmesg import Xid
from .facts import GpuFacts

_FATAL = "gpu.xid.fatal"
_EARLY = "gpu.xid.early"
_IDS = {data.FATAL: _FATAL, data.EARLY: _EARLY}
_UNLISTED = Meaning(data.EARLY, "an Xid that is not in the table", data.WATCH)
# Xid 45 names the error for which a program was cleared away.
_PREVIOUS = re.compile(r"(?:caused by|due to) previous Xid (\d{1,5})")
_TEXT_SHOWN = 160
_LOST = "; the log no longer reaches back to the boot"


def judge(facts: GpuFacts, expect: Expectations) -> Iterator[Check]:
    """gpu.xid.fatal and gpu.xid.early; a program's own faults are told in their passes."""
    if facts.xids.value is None:
        for check_id in _IDS.values():
            yield unknown(check_id, "dmesg", facts.xids.why or "nobody looked")
        return
    seen = [xid for xid in _standing(facts.xids.value) if not expect.ignores(where(xid))]
    for kind, check_id in _IDS.items():
        mine: dict[str, list[Xid]] = {}
        for xid in seen:
            if meaning(xid).kind == kind:
                mine.setdefault(where(xid), []).append(xid)
        for subject, found in mine.items():
            yield _failure(check_id, subject, found)
        if mine:
            continue
        if facts.log_cut:
            yield unknown(check_id, "dmesg", "the output ends within a line: the rest is missing")
            continue
        reported = _told(seen) + (_LOST if facts.log_lost else "")
        yield passed(check_id, "host", reported, "no Xid of that kind", CAPABILITY)


def where(xid: Xid) -> str:
    """The GPU's address; the driver leaves its function out."""
    return address(xid.bus_id)


def meaning(xid: Xid) -> Meaning:
    """What this Xid means, by its number or, for some, by its own words."""
    before = _PREVIOUS.search(xid.text)
    if before is not None and int(before.group(1)) != xid.xid:
        return meaning(Xid(xid.bus_id, int(before.group(1)), ""))
    known = data.XIDS.get(xid.xid, _UNLISTED)
    if known.kind != data.BY_TEXT:
        return known
    return Meaning(_kind_by_text(xid), known.means, known.remedy, known.confidence)


def _kind_by_text(xid: Xid) -> str:
    small = xid.text.lower()
    if xid.xid != data.RECOVERY:
        harmless = any(word in small for word in data.SAYS_HARMLESS)
        fatal = any(word in small for word in data.SAYS_FATAL)
        return data.FATAL if fatal and not harmless else data.EARLY
    action = _action(xid)
    if action in data.NEEDS_NOTHING:
        return data.APPLICATION
    return data.FATAL if action in (*data.NEEDS_RESET, *data.NEEDS_REBOOT) else data.EARLY


def _action(xid: Xid) -> str:
    """What stands in the last brackets: the state that the GPU changed to."""
    begin, end = xid.text.rfind("("), xid.text.rfind(")")
    return xid.text[begin + 1 : end].lower() if 0 <= begin < end else ""


def _standing(found: tuple[Xid, ...]) -> list[Xid]:
    """Without what came before the driver said that the GPU needs nothing any more."""
    standing: list[Xid] = []
    for xid in found:
        if xid.xid == data.RECOVERY and _action(xid) in data.NEEDS_NOTHING:
            standing = [other for other in standing if other.bus_id != xid.bus_id]
        else:
            standing.append(xid)
    return standing


def _failure(check_id: str, subject: str, found: list[Xid]) -> Check:
    # 154 only sums up what the others mean.
    first = next((xid for xid in found if xid.xid != data.RECOVERY), found[0])
    known = meaning(first)
    # The driver's own word on what the GPU needs goes before what its first Xid mostly needs.
    needed = [data.ACTIONS[_action(xid)] for xid in found if xid.xid == data.RECOVERY and _action(xid) in data.ACTIONS]
    text = first.text[:_TEXT_SHOWN]
    return failed(
        check_id,
        subject,
        ", ".join(f"Xid {xid.xid}" for xid in found),
        "no Xid of that kind",
        CAPABILITY,
        cause=f"Xid {first.xid}: {known.means}" + (f" ({text})" if text else ""),
        remedy=(needed[-1] if needed else known.remedy).replace("BUS-ID", subject),
    )


def _told(seen: list[Xid]) -> str:
    reported = [xid for xid in seen if meaning(xid).kind == data.APPLICATION]
    if not reported:
        return "none"
    names = ", ".join(f"{xid.xid} at {where(xid)}" for xid in reported[:8])
    return f"only of programs: Xid {names}"
