# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask one fabric through one port of this host; what the answers mean is for the controller.

A fabric of thousands of ports is asked by one host and never by each of them.
"""

from __future__ import annotations

import re
import time
from typing import Any, Mapping, NamedTuple, Sequence

from ..._data.ib_counters import PAUSE_S
from ..._evidence.sources import Evidence, Unavailable
from ..._ground import packed, strict
from ..._ground.bound import Bound


class Question(NamedTuple):
    """One tool, by its evidence name, with options beside those of the port."""

    name: str
    options: tuple[str, ...] = ()


# Every counter above 0 is wanted, whatever thresholds the host's own file has: what counts is how
# fast they rise.
_COUNTERS = Question("ibqueryerrors", ("--threshold-file=/dev/null",))
# Counters first, so that the pause before their second look is spent on the others.
QUESTIONS = (
    _COUNTERS,
    Question("sminfo"),
    Question("saquery_sm"),
    Question("ibnetdiscover"),
    Question("iblinkinfo", ("-l",)),
)
# Where flows go, which only a search for a slow part asks.
ROUTES = Question("dump_fts")
# The second look at the counters.
AGAIN = "ibqueryerrors_again"
# Of all looks of a host together, unpacked, in bytes; and how many there are: one for each of its ports at most.
_MOST: Bound = 512 * 1024 * 1024
_LOOKS: Bound = 64
# Whoever has it may take the fabric over.
_SM_KEY = re.compile(r"(SM_Key\.+)\S+")


def _options(question: Question, device: str, port: int) -> tuple[str, ...]:
    """What follows the command of this name (_evidence.COMMANDS).

    A bundle may hold what was asked of no port in particular: ``device`` is "" then.
    """
    if not device:
        return ()
    return (*question.options, "-C", device, "-P", str(port))


def look(evidence: Evidence, device: str, port: int, pause: float = PAUSE_S, routes: bool = False) -> dict[str, Any]:
    """All that the fabric says to ``device``/``port``.

    ``answers`` maps names to ``{rc, stdout, stderr}``, or to ``{unavailable: why}``; ``seconds``
    lie between the two looks at the counters, 0 where there was one. ``routes``: the switches' forwarding tables, too.
    """
    answers: dict[str, dict[str, Any]] = {}
    begun = time.monotonic()
    for question in (*QUESTIONS, ROUTES) if routes else QUESTIONS:
        answers[question.name] = _ask(evidence, question, device, port)
    seconds = 0.0
    try:
        later, after = evidence.again(max(0.0, pause - (time.monotonic() - begun)))
    except Unavailable as exc:
        answers[AGAIN] = {"unavailable": str(exc)}
    else:
        seconds = after if evidence.recorded else time.monotonic() - begun
        answers[AGAIN] = _ask(later, _COUNTERS, device, port)
    return {"device": device, "port": port, "seconds": round(seconds, 3), "answers": answers}


def pack(answers: Mapping[str, Any]) -> str:
    """The answers as they travel."""
    return packed.pack(answers)


def unpack(texts: Sequence[str]) -> list[dict[str, Any]]:
    """What `pack` was given each time; ValueError on what is not its work, too much or too large."""
    if len(texts) > _LOOKS:
        raise ValueError(f"{len(texts)} looks, and {_LOOKS} are taken")
    found, left = [], _MOST
    for text in texts:
        opened = packed.opened(text, left, "fabric_look")
        left -= len(opened.encode())
        found.append(strict.loads(opened))
    return found


def _ask(evidence: Evidence, question: Question, device: str, port: int) -> dict[str, Any]:
    try:
        output = evidence.run(question.name, *_options(question, device, port))
    except Unavailable as exc:
        return {"unavailable": str(exc)}
    said = output.stdout
    if question.name == "saquery_sm":
        said = _SM_KEY.sub(r"\1[masked]", said)
    return {"rc": output.rc, "stdout": said, "stderr": output.stderr}
