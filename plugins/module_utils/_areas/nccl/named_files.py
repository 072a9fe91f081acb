# SPDX-License-Identifier: GPL-3.0-or-later
"""The files and plugins that settings of NCCL name: whether they are there, and what follows."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import Iterator, Mapping

from ..._data import nccl_files as data, nccl_words as words
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._nccl.problem import ERROR, WARNING, Problem, short
from ..._parse import ldconfig

_NET = "NCCL_NET"
_LONGEST = 4096  # PATH_MAX
_TAKE_OUT = "install it there, or take the line out"


@dataclass(frozen=True)
class Named:
    """``there``: by absolute path whether something is there. ``linked``: what the linker knows by name."""

    there: dict[str, Reading[bool]] = field(default_factory=dict)
    linked: Reading[frozenset[str]] = field(default_factory=Reading)


def look(evidence: Evidence, settings: Mapping[str, str]) -> Named:
    """Look for what the settings name; a host without such settings is asked nothing."""
    paths = {path for name, value in settings.items() for path in _paths(name, value)}
    there = {path: ask.there(evidence, path) for path in sorted(paths)}
    if not {*data.PLUGINS, _NET} & set(settings):
        return Named(there)
    cache = ask.command(evidence, "ldconfig", ldconfig.parse)
    return Named(there, cache.map(lambda found: frozenset(entry.name for entry in found)))


def unlooked(says: Mapping[str, tuple[int, str]], named: Named, severity: str) -> Iterator[tuple[int, str]]:
    """Lines that name what nobody could look for, and why: those whose problem would have ``severity``."""
    for name, (line, value) in says.items():
        if not value or severity != (ERROR if "ends" in data.READ.get(name, "") else WARNING):
            continue
        places = [named.there.get(path, Reading(None, "nobody looked")) for path in _paths(name, value)]
        if name in data.PLUGINS:
            words_of = [word for word in value.split(",") if word not in data.NO_PLUGIN]
            places = [_place(word, named) for word in words_of if word.startswith("/") or "/" not in word]
        elif name == _NET and _of_plugin(value):
            places = [_known(named)]
        for place in places:
            if place.value is None:
                yield line, f"{name}={short(value)}: {place.why or 'nobody looked'}"


def _place(word: str, named: Named) -> Reading[bool]:
    if word.startswith("/"):
        return named.there.get(word, Reading(None, "nobody looked"))
    return _known(named)


def _known(named: Named) -> Reading[bool]:
    """Whether the linker's own list was read."""
    return named.linked.map(bool)


def _paths(name: str, value: str) -> list[str]:
    if len(value) > _LONGEST or "\0" in value:
        return []
    if name in data.PLUGINS:
        return [word for word in value.split(",") if word.startswith("/")]
    if not value.startswith("/"):
        return []
    if name in data.WRITTEN:
        return [posixpath.dirname(value) or "/"]
    return [value] if name in data.READ else []


def problems(says: Mapping[str, tuple[int, str]], named: Named) -> Iterator[Problem]:
    """``says``: by name the line and the value of each setting."""
    for name, (line, value) in says.items():
        if not value:
            continue
        if name in data.READ or name in data.WRITTEN:
            yield from _file(line, name, value, named)
        elif name in data.PLUGINS:
            for word in value.split(","):
                yield from _plugin(line, name, word, named)
        elif name == _NET:
            yield from _network(line, value, named)


def _file(line: int, name: str, value: str, named: Named) -> Iterator[Problem]:
    for path in _paths(name, value):
        if named.there.get(path, Reading()).value is False:
            found = f"there is no {short(path)}"
            stops = "ends" in data.READ.get(name, "")
            makes = data.READ.get(name) or data.WRITTEN[name]
            yield Problem(line, name, found, makes, _TAKE_OUT, ERROR if stops else WARNING, "no-file")
    if not value.startswith("/") and name != "NCCL_DEBUG_FILE":
        makes = "NCCL looks for it in the folder in which each job starts"
        yield Problem(
            line, name, f"{short(value)} is no whole path", makes, "write the whole path", WARNING, "relative"
        )
    alone = value.startswith("/dev/") or any(mark in value for mark in data.OF_ONE_PROCESS)
    if name == "NCCL_DEBUG_FILE" and not alone:
        makes = "all processes write over each other's log"
        step = f"write {name}={short(value)}.%h.%p"
        yield Problem(line, name, "one file for all processes", makes, step, WARNING, "one-file")


def _plugin(line: int, name: str, word: str, named: Named) -> Iterator[Problem]:
    if word in data.NO_PLUGIN:
        return
    if "/" in word and not word.startswith("/"):
        makes = "the linker looks for it in the folder in which each job starts"
        yield Problem(line, name, f"{short(word)} is no whole path", makes, "write the whole path", WARNING, "relative")
        return
    if word.startswith("/"):
        missing = named.there.get(word, Reading()).value is False
    else:
        missing = named.linked.value is not None and not _linked(word, data.PLUGINS[name], named.linked.value)
    if missing:
        found = f"no library {short(word)!r} is there"
        yield Problem(line, name, found, data.WITHOUT_PLUGIN, _TAKE_OUT, WARNING, "no-plugin")


def _linked(word: str, beginnings: tuple[str, ...], linked: frozenset[str]) -> bool:
    wanted = {word, *(f"{beginning}-{word}.so" for beginning in beginnings)}
    return any(known == want or known.startswith(f"{want}.") for known in linked for want in wanted)


def _network(line: int, value: str, named: Named) -> Iterator[Problem]:
    """A network of a plugin, and no plugin that the linker knows."""
    if not _of_plugin(value) or named.linked.value is None:
        return
    if not any(known.startswith(data.NETWORK_PLUGIN) for known in named.linked.value):
        found = f"the network {short(value)!r}, and no {data.NETWORK_PLUGIN}.so"
        yield Problem(line, _NET, found, words.BY_PLUGIN, _TAKE_OUT, WARNING, "no-plugin")


def _of_plugin(network: str) -> bool:
    lower = network.lower()
    return any(lower.startswith(word.lower()) for word in words.PLUGIN_NETWORKS)
