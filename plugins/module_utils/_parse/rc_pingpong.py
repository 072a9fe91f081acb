# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ibv_rc_pingpong prints, at either end; its text has been the same since 2005."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import ParseError, clean_lines

_TOOL = "ibv_rc_pingpong"
NOTHING: dict[str, Any] = {
    "bytes": None,
    "iterations": None,
    "seconds": None,
    "usec": None,
    "local_gid": None,
    "remote_gid": None,
    "bad_pages": [],
}
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,6})?"
_BYTES = re.compile(rf"([0-9]{{1,18}}) bytes in ({_NUMBER}) seconds = (?:{_NUMBER}|inf) Mbit/sec")
_ITERATIONS = re.compile(rf"([0-9]{{1,10}}) iters in ({_NUMBER}) seconds = ({_NUMBER}|-nan|inf) usec/iter")
_END = re.compile(
    r"(local|remote) address: +LID 0x([0-9a-fA-F]{1,4}), QPN 0x[0-9a-fA-F]{1,8}, "
    r"PSN 0x[0-9a-fA-F]{1,8}(?:, GID ([0-9a-fA-F:.]{2,45}))?"
)
_BAD = re.compile(r"invalid data in page ([0-9]{1,9})")


@dataclass(frozen=True)
class Pingpong:
    """``moved``: bytes, both ways together. ``usec``: of one exchange. ``gids``: own and other's,
    "" where none was used. ``bad_pages``: pages of the buffer that hold something else than what
    was sent; only the server looks.
    """

    moved: int
    iterations: int
    seconds: float
    usec: float
    gids: tuple[str, str] = ("", "")
    bad_pages: tuple[int, ...] = ()


def parse(text: str) -> Pingpong:
    """The result; ParseError without one, with what the program said of its failure."""
    moved: tuple[int, float] | None = None
    done: tuple[int, float] | None = None
    gids = {"local": "", "remote": ""}
    bad: list[int] = []
    said: list[str] = []
    for number, raw in enumerate(clean_lines(text), 1):
        line = " ".join(raw.split())
        if not line:
            continue
        if found := _BYTES.fullmatch(line):
            if moved is not None:
                raise ParseError(_TOOL, number, raw, "a second result")
            moved = int(found[1]), float(found[2])
        elif found := _ITERATIONS.fullmatch(line):
            if done is not None:
                raise ParseError(_TOOL, number, raw, "a second result")
            done = int(found[1]), _usec(found)
        elif found := _END.fullmatch(line):
            gids[found[1]] = found[3] or ""
        elif found := _BAD.fullmatch(line):
            bad.append(int(found[1]))
        else:
            said.append(line)
    if moved is None or done is None:
        why = said[-1] if said else "it ended without a result"
        raise ParseError(_TOOL, 0, "", why, tuple(said))
    if moved[0] == 0 or done[0] == 0:
        raise ParseError(_TOOL, 0, "", "it says that it moved nothing", tuple(said))
    return Pingpong(moved[0], done[0], moved[1], done[1], (gids["local"], gids["remote"]), tuple(bad))


def _usec(found: re.Match[str]) -> float:
    """Microseconds of one exchange; 0.0 where it was too short for the program's clock."""
    return 0.0 if found[3] in ("-nan", "inf") else float(found[3])


def facts(parsed: Pingpong) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    local, remote = parsed.gids
    return {
        "bytes": parsed.moved,
        "iterations": parsed.iterations,
        "seconds": parsed.seconds,
        "usec": parsed.usec,
        "local_gid": local or None,
        "remote_gid": remote or None,
        "bad_pages": list(parsed.bad_pages),
    }


def wrong(parsed: Pingpong) -> tuple[str, ...]:
    """Data that came as something else than it was sent."""
    count = len(parsed.bad_pages)
    return (f"the buffer holds other data than what was sent (pages: {count})",) if count else ()
