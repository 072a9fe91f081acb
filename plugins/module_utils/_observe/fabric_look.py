# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask one fabric through one port of this host; what the answers mean is for the controller.

A fabric of thousands of ports is asked by one host and never by each of them.
"""

from __future__ import annotations

import re
import time
from typing import Any, NamedTuple

from ansible_collections.ibready.cluster.plugins.module_utils._data.ib_counters import PAUSE_S
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    COMMANDS,
    Evidence,
    Unavailable,
)


class Question(NamedTuple):
    """One tool, by its evidence name, with options beside those of the port.

    ``twice``: it is asked again at the end; what it says then has the name AGAIN.
    """

    name: str
    options: tuple[str, ...] = ()
    twice: bool = False


# Counters first, so that the pause before their second look is spent on the others. Every counter
# above 0 is wanted, whatever thresholds the host's own file has: what counts is how fast they rise.
QUESTIONS = (
    Question("ibqueryerrors", ("--threshold-file=/dev/null",), twice=True),
    Question("sminfo"),
    Question("saquery_sm"),
    Question("ibnetdiscover"),
    Question("iblinkinfo", ("-l",)),
)
AGAIN = "ibqueryerrors_again"
# Whoever has it may take the fabric over.
_SM_KEY = re.compile(r"(SM_Key\.+)\S+")


def options(question: Question, device: str, port: int) -> tuple[str, ...]:
    """What follows the command of this name (_evidence.COMMANDS)."""
    return (*question.options, "-C", device, "-P", str(port))


def argv(question: Question, device: str, port: int) -> tuple[str, ...]:
    """The whole command line, as it runs on a live host."""
    return (*COMMANDS[question.name].argv, *options(question, device, port))


def look(evidence: Evidence, device: str, port: int, pause: float = PAUSE_S) -> dict[str, Any]:
    """All that the fabric says to ``device``/``port``.

    ``answers`` maps names to ``{rc, stdout, stderr}``, or to ``{unavailable: why}``; ``seconds``
    lie between the two looks at the counters, 0 where there was one.
    """
    answers: dict[str, dict[str, Any]] = {}
    begun = time.monotonic()
    for question in QUESTIONS:
        answers[question.name] = _ask(evidence, question, device, port)
    seconds = 0.0
    for question in QUESTIONS:
        if not question.twice:
            continue
        try:
            later, after = evidence.again(max(0.0, pause - (time.monotonic() - begun)))
        except Unavailable as exc:
            answers[AGAIN] = {"unavailable": str(exc)}
        else:
            seconds = after if evidence.recorded else time.monotonic() - begun
            answers[AGAIN] = _ask(later, question, device, port)
    return {"device": device, "port": port, "seconds": round(seconds, 3), "answers": answers}


def _ask(evidence: Evidence, question: Question, device: str, port: int) -> dict[str, Any]:
    try:
        output = evidence.run(question.name, *options(question, device, port))
    except Unavailable as exc:
        return {"unavailable": str(exc)}
    said = output.stdout
    if question.name == "saquery_sm":
        said = _SM_KEY.sub(r"\1[masked]", said)
    return {"rc": output.rc, "stdout": said, "stderr": output.stderr}
