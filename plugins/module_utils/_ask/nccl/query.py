# SPDX-License-Identifier: GPL-3.0-or-later
"""What this host's NCCL library says of itself and does with its files, as one text.

The text is evidence like a command's output (`nccl_proof`): a bundle can hold it, and be judged by
it where there is no library.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import Any, Sequence

from ..._evidence.sources import Live
from ..._ground.command import Output, Unavailable
from ..._ground.reading import Reading, rebuilt
from ..._ground.text import ParseError
from ..._nccl.conf import as_bytes, as_text
from . import library
from .library import Library
from .proof import Listener, Proof, prove

_TOOL = "nccl_proof"
_MOST_LINES = 60


@dataclass(frozen=True)
class Query:
    """``library``: the one that a process loads by its name; missing where there is none.
    ``proof``: what it did with the files of root; missing where there is no library."""

    library: Reading[Library] = field(default_factory=Reading)
    proof: Reading[Proof] = field(default_factory=Reading)


def ask() -> Output:
    """Find the library of this host, read it, and let it take its configuration."""
    found = library.find(Live(), machine=os.uname().machine)
    if found.value is None:
        nothing: Reading[Any] = Reading(None, found.why, found.missing)
        return Output(0, to_text(Query(nothing, nothing)), "")
    path = found.value[0].path
    try:
        read = Reading(library.inspect(path))
    except Unavailable as exc:
        read = Reading(None, str(exc))
    return Output(0, to_text(Query(read, prove(path))), "")


def to_text(asked: Query) -> str:
    """One JSON object, and a newline that says that it is whole."""
    return json.dumps({"library": _library(asked.library), "proof": _proof(asked.proof)}) + "\n"


def parse(text: str) -> Query:
    """Read what `to_text` wrote; ParseError on anything else."""
    try:
        raw = json.loads(text)
        return Query(rebuilt(raw["library"], _to_library), rebuilt(raw["proof"], _to_proof))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        why = f"not what ibready writes ({type(exc).__name__})"
        raise ParseError(_TOOL, 0, "", why) from exc


def _library(reading: Reading[Library]) -> dict[str, Any]:
    raw = asdict(reading)
    if reading.value is not None:
        raw["value"]["names"] = sorted(reading.value.names)
    return raw


def _to_library(raw: dict[str, Any]) -> Library:
    return Library(
        path=_text(raw["path"]),
        real=_text(raw["real"]),
        version=_text(raw["version"]),
        cuda=_text(raw["cuda"]),
        machine=_text(raw["machine"]),
        names=frozenset(_text(name) for name in raw["names"]),
    )


def _proof(reading: Reading[Proof]) -> dict[str, Any]:
    raw: dict[str, Any] = {**vars(reading), "value": None}
    done = reading.value
    if done is not None:
        raw["value"] = {
            **{key: getattr(done, key) for key in _TOLD},
            "taken": {name: as_text(value) for name, value in done.taken.items()},
            "listener": asdict(done.listener) if done.listener is not None else None,
            "log": _last(done.log),
        }
    return raw


def _last(log: Sequence[str]) -> list[str]:
    """The last lines, and how many stand before them."""
    before = len(log) - _MOST_LINES
    return [f"... {before} lines before", *log[-_MOST_LINES:]] if before > 0 else list(log)


_TOLD = ("version", "result", "meaning", "interface", "network")


def _to_proof(raw: dict[str, Any]) -> Proof:
    listens = raw["listener"]
    return Proof(
        version=_text(raw["version"]),
        result=int(raw["result"]),
        meaning=_text(raw["meaning"]),
        values={},
        taken={_text(name): as_bytes(_text(value)) for name, value in raw["taken"].items()},
        listener=None if listens is None else _to_listener(listens),
        interface=_text(raw["interface"]),
        network=_text(raw["network"]),
        log=tuple(_text(entry) for entry in raw["log"]),
    )


def _to_listener(raw: dict[str, Any]) -> Listener:
    return Listener(_text(raw["address"]), int(raw["port"]), int(raw["scope"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value
