# SPDX-License-Identifier: GPL-3.0-or-later
"""Many programs under one shell, on the host or in a container, each with a limit of its own.

Every line that comes out is who (a number, or ``-`` for the shell), a tab, a key, a tab and the
rest. Words come from `ends.End`, which has checked them, and are quoted besides.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from typing import Iterable

from ..._ground.text import clean_lines

_HEAD = r"""
LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin
export LC_ALL PATH
trap 'exit 143' TERM
say() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
say - memlock "$(ulimit -l)"
for f in /dev/infiniband/*; do [ -e "$f" ] && say - device "${f##*/}"; done
if command -v timeout >/dev/null; then limit() { timeout -k 2 "$@"; }
else limit() { shift; "$@"; }; fi
soh=$(printf '\001')
vain=' '
one() {
  g=$1; n=$2; s=$3; shift 3
  case $vain in *" $g "*" $g "*) say "$n" left "$g"; return ;; esac
  command -v "$1" >/dev/null || { say "$n" missing "$1"; return; }
  { limit "$s" "$@" </dev/null 2>&1; printf '\n\001%s\n' "$?"; } | {
    ended=
    while IFS= read -r line || [ -n "$line" ]; do
      case $line in '') ;; *) say "$n" out "$line"; ended=$line ;; esac
    done
    case $ended in "$soh"124|"$soh"137) false ;; esac
  } || vain="$vain $g "
}
"""
_STATUS = re.compile(r"\x01([0-9]{1,3})")
_MOST_LINES = 400
# What timeout(1) ends with where it had to end the program.
TIMED_OUT = (124, 137)


@dataclass(frozen=True)
class Job:
    """``seconds``: after which it is ended. ``group``: where two of one group were, the others of
    it are left."""

    words: tuple[str, ...]
    seconds: int
    group: int = 0


@dataclass(frozen=True)
class Ran:
    """``rc``: None where it had not ended yet. ``missing``: there is no such program. ``left``: it
    was not started, for others of its group had waited in vain."""

    text: str = ""
    rc: int | None = None
    missing: str = ""
    left: bool = False

    @property
    def timed_out(self) -> bool:
        return self.rc in TIMED_OUT


@dataclass(frozen=True)
class Reported:
    """``memlock``: as `ulimit -l` says it, kilobytes or ``unlimited``. ``devices``: names below
    /dev/infiniband. ``ended``: the shell came to its end. ``other``: what is not of our making."""

    ran: dict[int, Ran] = field(default_factory=dict)
    memlock: str = ""
    devices: tuple[str, ...] = ()
    ended: bool = False
    other: tuple[str, ...] = ()


def one_by_one(jobs: Iterable[Job]) -> str:
    """A script that runs them one after the other."""
    return "\n".join((_HEAD, *_lines(jobs, ""), "say - end 1", ""))


def together(jobs: Iterable[Job]) -> str:
    """A script that runs them all at once, and ends with the last."""
    return "\n".join((_HEAD, *_lines(jobs, " &"), "wait", "say - end 1", ""))


def _lines(jobs: Iterable[Job], end: str) -> list[str]:
    return [
        f"one {job.group} {number} {job.seconds} {' '.join(map(shlex.quote, job.words))}{end}"
        for number, job in enumerate(jobs)
    ]


def _most(lines: list[str]) -> list[str]:
    """The first of the lines, and how many more there are."""
    more = [f"... and {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return [*lines[:_MOST_LINES], *more]


def read(text: str) -> Reported:
    """What a script printed, by the place of its jobs; never raises."""
    texts: dict[int, list[str]] = {}
    statuses: dict[int, int] = {}
    missing: dict[int, str] = {}
    left: set[int] = set()
    own: dict[str, list[str]] = {}
    other: list[str] = []
    for line in clean_lines(text):
        who, _mark, rest = line.partition("\t")
        key, _mark, said = rest.partition("\t")
        if who == "-" and key in ("memlock", "device", "end"):
            own.setdefault(key, []).append(said)
            continue
        if not re.fullmatch(r"[0-9]{1,4}", who) or key not in ("out", "missing", "left"):
            other += [line] if line.strip() else []
            continue
        number = int(who)
        status = _STATUS.fullmatch(said)
        if key == "missing":
            missing[number] = said
        elif key == "left":
            left.add(number)
        elif status is not None:
            statuses[number] = int(status.group(1))
        else:
            texts.setdefault(number, []).append(said)
    ran = {
        number: Ran(
            "\n".join(_most(texts.get(number, []))),
            statuses.get(number),
            missing.get(number, ""),
            number in left,
        )
        for number in sorted({*texts, *statuses, *missing, *left})
    }
    return Reported(
        ran,
        memlock=(own.get("memlock") or [""])[0],
        devices=tuple(own.get("device", ())),
        ended="end" in own,
        other=tuple(_most(other)),
    )
