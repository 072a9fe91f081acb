# SPDX-License-Identifier: GPL-3.0-or-later
"""Each host apart: one whose answers cannot be used is named with the cause, and costs no other.

Types are looked at by typed.py. What else our code gives up on, whatever it raises, is caught here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ansible.errors import AnsibleError

from ...module_utils._expect.expectations import ExpectationError
from ...module_utils._expect.waivers import WaiverError
from .typed import AnswerError, shown

T = TypeVar("T")
H = TypeVar("H")

NEXT = (
    "see what answers there in place of ibready's modules (`ansible HOST -m "
    "ibready.cluster.node_facts -b -vvv`), then run again"
)
IT, ALL = "what it answered", "what the hosts answered, held against each other,"
# The operator's own word, which no host can change: it stops the run.
OPERATOR = (AnsibleError, ExpectationError, WaiverError)


class Absent(Exception):
    """There is nothing of a host that could be used; the message says why."""


def why(exc: Exception, what: str = IT) -> str:
    """The cause in a sentence: which field, or where our code gave up."""
    if isinstance(exc, Absent):
        return str(exc)
    if isinstance(exc, AnswerError):
        return f"{what} cannot be read: {exc}"
    at = exc.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    place = f" in {at.tb_frame.f_code.co_name}, line {at.tb_lineno}" if at is not None else ""
    return f"{what} cannot be used: {type(exc).__name__} {shown(str(exc))}{place}"


def each(
    names: Iterable[str],
    look: Callable[[str], T],
    own: tuple[type[Exception], ...] = OPERATOR,
) -> tuple[dict[str, T], dict[str, str]]:
    """What ``look`` makes of every host; and of those with which it raised, why.

    ``own``: exceptions that are nobody's answer, and go on.
    """
    found: dict[str, T] = {}
    refused: dict[str, str] = {}
    for name in names:
        try:
            found[name] = look(name)
        except own:
            raise
        except Exception as exc:
            refused[name] = why(exc)
    return found, refused


def together(hosts: Sequence[H], make: Callable[[Sequence[H]], T], lost: Callable[[H, str], H]) -> T:
    """What ``make`` makes of all hosts together.

    Where it raises, it is made again without those with which it raises alone; where that does not
    help, without all. ``lost``: a host of which nothing is known, and why; ``make`` can use it.
    """
    try:
        return make(hosts)
    except OPERATOR:
        raise
    except Exception as exc:
        said = why(exc, ALL)
    alone = [_alone(host, make) for host in hosts]
    left = [lost(entry, reported) if reported else entry for entry, reported in zip(hosts, alone, strict=True)]
    if any(alone):
        try:
            return make(left)
        except Exception as exc:
            said = why(exc, ALL)
    return make([lost(entry, reported or said) for entry, reported in zip(hosts, alone, strict=True)])


def _alone(host: H, make: Callable[[Sequence[H]], T]) -> str:
    """Why it cannot be made of this host; "" where it can."""
    try:
        make([host])
    except Exception as exc:
        return why(exc)
    return ""
