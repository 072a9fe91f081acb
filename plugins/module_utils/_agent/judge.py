# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the host now, bounded in time and never twice at once; or take a fresh verdict."""

# Of a program, not of a module: it prints and exits.
# pylint: disable=ansible-bad-function

from __future__ import annotations

import contextlib
import datetime
import json
import os
import sys
import time
from typing import Any

from .._ground import check as _model, strict, whole
from .._ground.command import Unavailable, decode
from .._ground.paths import read_regular
from . import bounded, look, memory
from .look import Look
from .settings import Settings

# Commands that take an HCA seconds of a processor, and the checks of theirs: nothing for every minute.
SLOW = {"mstconfig": "roce.spectrum.firmware"}


def current(settings: Settings, age: float, seconds: float | None = None) -> Look:
    """The last verdict where it is younger than ``age`` seconds, else a new one."""
    limit = settings.seconds if seconds is None else seconds
    begun, wall = time.monotonic(), time.time()
    known = look.last(settings)
    if known is not None and 0 <= wall - known.looked_at < age:
        return known
    try:
        with bounded.locked(os.path.join(settings.run, "look.lock"), limit):
            known = look.last(settings)
            if known is not None and wall <= known.looked_at <= time.time():
                return known
            made = _made(settings, max(1.0, limit - (time.monotonic() - begun)))
    except bounded.Busy:
        return Look(
            settings.host,
            settings.areas,
            looked_at=time.time(),
            seconds=time.monotonic() - begun,
            why=f"another look has not ended for {limit:g} s",
        )
    return made


def _made(settings: Settings, limit: float) -> Look:
    """A new look, remembered."""
    begun, own = time.monotonic(), time.process_time()
    done = bounded.run(lambda: json.dumps(_judged(settings)).encode(), limit)
    reported: dict[str, Any] = {"error": done.why} if done.said is None else json.loads(done.said)
    made = Look(
        settings.host,
        settings.areas,
        tuple(_model.from_dict(check) for check in reported.get("checks", ())),
        time.time(),
        time.monotonic() - begun,
        done.cpu_seconds + time.process_time() - own,
        done.peak_bytes,
        reported.get("simulated", ""),
        reported.get("error", ""),
        _boot(),
        look.uptime(),
    )
    try:
        look.save(settings, made)
    except OSError as exc:
        print(f"ibready: {look.path(settings)} was not written: {exc}", file=sys.stderr)
        # What was seen before this look no longer holds; a full disk lets a file go all the same.
        with contextlib.suppress(OSError):
            whole.remove(look.path(settings))
    try:
        memory.remember(settings, reported.get("ports", {}), made.looked_at)
    except OSError as exc:
        print(f"ibready: {memory.path(settings)} was not written: {exc}", file=sys.stderr)
    return made


def _boot() -> str:
    """This boot's id; "" where nobody can tell, and then the verdict is none for later."""
    try:
        return look.boot_id()
    except look.NoVerdict:
        return ""


def _judged(settings: Settings) -> dict[str, Any]:
    """What is wrong, or why nobody can tell."""
    from .._evidence.sources import Live
    from .._expect import expectations, waivers as _waivers
    from .._verify import verify as _verify
    from .._verify.catalog import CATALOG

    try:
        # A look at containers starts some, which is nothing for every minute.
        known = [area for area in _verify.AREAS if area != "container"]
        unknown = [area for area in settings.areas if area not in known]
        if unknown:
            raise ValueError(f"there is no area {unknown[0]!r}; known are {', '.join(known)}")
        expect = expectations.from_inventory(_json(settings.expect, {}))
        waivers = _waivers.parse(_json(settings.waivers, []), CATALOG)
    except (Unavailable, ValueError) as exc:
        return {"error": str(exc)}
    here = Live(settings.root, questions=_verify.QUESTIONS, unasked=SLOW)
    judged = _verify.verify(here, expect, settings.areas)
    asked = [check for check in judged.checks if check.id not in SLOW.values()]
    checks = _waivers.apply(asked, waivers, settings.host, datetime.date.today())
    return {
        "checks": [check.to_dict() for check in checks],
        "simulated": judged.facts["machine"]["simulated"],
        "ports": memory.counters(judged.facts),
    }


def _json(path: str, otherwise: Any) -> Any:
    if not path:
        return otherwise
    try:
        return strict.loads(decode(read_regular(path, path)))
    except ValueError as exc:
        raise ValueError(f"{path}: not JSON: {exc}") from None
