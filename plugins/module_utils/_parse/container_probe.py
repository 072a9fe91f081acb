# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what _ask/container/query tells: lines of who, a key and what was seen, parted by tabs."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any, Callable, NamedTuple

from .._ground.text import ParseError, clean_lines, is_whole
from . import _container_desired as wish, _container_facts as facts_of, _container_inside as inside
from ._container_facts import ContainerProbe, Engine, Run

_TOOL = "container_probe"
NOTHING: dict[str, Any] = asdict(ContainerProbe())
_HOST = "host"
_WHO = ("root", "user")
_HOW = (facts_of.RAN, facts_of.FAILED, facts_of.NO_SHELL)
_ORIGINS = (facts_of.BUILT, facts_of.LOCAL, facts_of.PULLED)
# What is told of a host: no engine, one that does not work, no image, or containers.
_SHAPES = (
    {"wish", "no_engine"},
    {"wish", "engine", "unusable"},
    {"wish", "engine", "image", "no_image"},
    {"wish", "engine", "image", "origin"},
)
_NUMBER = re.compile(r"[0-9]{1,10}")


class _Line(NamedTuple):
    number: int
    text: str
    who: str
    key: str
    words: list[str]

    def wrong(self, why: str) -> ParseError:
        return ParseError(_TOOL, self.number, self.text, why)


def parse(text: str) -> ContainerProbe:
    """Read every line; ParseError where one cannot be read, and where the end is not there."""
    lines = [(no, line) for no, line in enumerate(clean_lines(text), 1) if line.strip()]
    if not lines or not is_whole(text):
        raise ParseError(_TOOL, 0, "", "cut off")
    read = [_line(number, line) for number, line in lines]
    last = read.pop()
    if (last.who, last.key, last.words) != (_HOST, "end", [str(len(read))]):
        raise last.wrong(f"not the end of {len(read)} lines")
    if not read or (read[0].who, read[0].key, read[0].words) != (_HOST, "format", ["1"]):
        raise ParseError(_TOOL, 1, lines[0][1], "not of a known format")
    reported = _host([entry for entry in read[1:] if entry.who == _HOST])
    runs = reported.pop("runs")
    if {run["who"] for run in runs} != (set(_WHO) if "origin" in reported else set()):
        raise ParseError(_TOOL, 0, "", "it does not tell of the containers that were started")
    for who in _WHO:
        seen = [entry for entry in read if entry.who == who]
        ran = [run for run in runs if run["who"] == who and run["how"] == facts_of.RAN]
        if seen and not ran:
            raise seen[0].wrong("of a container that did not run")
        if ran:
            ran[0]["inside"] = _seen(who, seen)
    return ContainerProbe(**reported, runs=tuple(Run(**run) for run in runs))


def facts(parsed: ContainerProbe) -> dict[str, Any]:
    """As JSON."""
    return asdict(parsed)


def _line(number: int, text: str) -> _Line:
    who, _mark, rest = text.partition("\t")
    key, *words = rest.split("\t")
    if who not in (_HOST, *_WHO) or not key:
        raise ParseError(_TOOL, number, text, "not a line of a known kind")
    return _Line(number, text, who, key, words)


def _host(lines: list[_Line]) -> dict[str, Any]:
    reported: dict[str, Any] = {"runs": []}
    for line in lines:
        if line.key not in _KEYS:
            raise line.wrong("not a key of the host's")
        least, most, read = _KEYS[line.key]
        if not least <= len(line.words) <= most:
            raise line.wrong("not as many words as it should have")
        new = read(line)
        for key, value in new.items():
            if key == "runs":
                if any(run["who"] == value["who"] for run in reported["runs"]):
                    raise line.wrong("told twice")
                reported["runs"].append(value)
            elif key in reported:
                raise line.wrong("told twice")
            else:
                reported[key] = value
    if reported.keys() - {"runs"} not in _SHAPES:
        raise ParseError(_TOOL, 0, "", "it does not tell what was asked for and how far it came")
    return reported


def _wish(line: _Line) -> dict[str, Any]:
    try:
        return {"wish": wish.from_text(line.words[0])}
    except ValueError as exc:
        raise line.wrong(str(exc)) from exc


def _engine(line: _Line) -> dict[str, Any]:
    return {"engine": Engine(*line.words)}


def _unusable(line: _Line) -> dict[str, Any]:
    return {"engine": Engine(line.words[0], "", ""), "unusable": line.words[1]}


def _image(line: _Line) -> dict[str, Any]:
    name, origin = line.words
    if origin not in _ORIGINS:
        raise line.wrong("not where an image comes from")
    return {"image": name, "origin": origin}


def _no_image(line: _Line) -> dict[str, Any]:
    return {"image": line.words[0], "no_image": line.words[1]}


def _run(line: _Line) -> dict[str, Any]:
    who, user, how, *said = line.words
    if who not in _WHO or how not in _HOW or _NUMBER.fullmatch(user) is None:
        raise line.wrong("not how a container ended")
    run = {"who": who, "user": int(user), "how": how, "said": "".join(said)}
    return {"runs": run}


_KEYS: dict[str, tuple[int, int, Callable[[_Line], dict[str, Any]]]] = {
    "wish": (1, 1, _wish),
    "engine": (3, 3, _engine),
    "no_engine": (1, 1, lambda line: {"no_engine": line.words[0]}),
    "unusable": (2, 2, _unusable),
    "image": (2, 2, _image),
    "no_image": (2, 2, _no_image),
    # The last word may be empty, and blanks at the end of a line are nothing.
    "run": (3, 4, _run),
}


def _seen(who: str, lines: list[_Line]) -> facts_of.Inside:
    marks = [(line.key, line.words) for line in lines[:1] + lines[-1:]]
    if len(lines) < 2 or marks != [("begin", ["1"]), ("end", ["1"])]:
        raise ParseError(_TOOL, 0, "", f"what {who} saw is cut off")
    build = inside.Builder()
    for line in lines[1:-1]:
        try:
            build.take(line.key, line.words)
        except ValueError as exc:
            raise line.wrong(str(exc)) from exc
    try:
        return build.done()
    except ValueError as exc:
        raise ParseError(_TOOL, 0, "", f"{who}: {exc}") from exc
