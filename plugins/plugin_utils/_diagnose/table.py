# SPDX-License-Identifier: GPL-3.0-or-later
"""All causes that are known, in one order, from the folder causes/; its table.yml tells how they are written."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import Any

import yaml

from .._ground import yaml as _yaml
from . import joins
from .command import VALUES
from .row import CONFIDENCE, ActKind, Effect, Fix, Row

FOLDER = Path(__file__).resolve().parents[3] / "causes"
TABLE = "table.yml"
_REBOOT = "ibready_reboot_ok=true"
_REBOOTS = "the host reboots: drain it first"
# The role reboot_gate has no tags of its own, so that a run with some neither drains nor reboots.
_TAGGED = "with tags nothing drains and reboots the host"

_Keys = Mapping[str, type]
_EXPLAINS: _Keys = dict.fromkeys(("same", "rail", "here", "far", "whole"), list)
_CAUSE: _Keys = {
    **dict.fromkeys(("title", "effect", "confidence", "source", "joins"), str),
    **dict.fromkeys(("fleet", "ratio", "share"), bool),
    **{"signs": list, "explains": dict, "fix": dict, "loss": float},
}
_CAUSE_HAS = ("title", "effect", "signs", "fix")
# By what a fix is: what else it may have.
_FIXES: Mapping[str, _Keys] = {
    "site": {"site": list, "variables": list, "reboot": bool, "note": str},
    "play": {"play": str, "note": str},
    "run": {"run": str, "act": str, "otherwise": str, "note": str},
    "look": {"look": str, "otherwise": str, "hands": str},
}
_FIX_HAS = {"run": ("run", "act"), "look": ("look", "hands")}
_EFFECT: _Keys = {"says": str, "loss": float, "source": str, "bandwidth": bool}
_EFFECT_HAS = ("says", "loss", "source")
_ACT: _Keys = {"says": str, "drains": bool, "undo": str}
_TABLE: _Keys = {"order": list, "effects": dict, "acts": dict, "shows_as": dict}
CONVERGE = "converge"
_FILE: _Keys = {"defaults": dict, "lists": dict, "causes": dict}
_WORDS = {str: "a text", bool: "true or false", list: "a list", dict: "a dictionary", float: "a number with a point"}


class CausesError(ValueError):
    """A file of the table is not as it should be: which, where in it, and what is wrong."""


@functools.cache
def effects() -> dict[str, Effect]:
    """What causes do to jobs, by name."""
    found = {}
    for name, raw in _table()["effects"].items():
        found[str(name)] = Effect(str(name), **_checked(raw, _EFFECT, _EFFECT_HAS, f"{TABLE}: effects.{name}"))
    return found


@functools.cache
def acts() -> dict[str, ActKind]:
    """What a repair may do, by name, in the order in which it does it on a host."""
    raw = _table()["acts"].items()
    return {str(name): ActKind(str(name), **_checked(told, _ACT, _ACT, f"{TABLE}: acts.{name}")) for name, told in raw}


@functools.cache
def rows() -> tuple[Row, ...]:
    """Every cause; the last one takes what no other does."""
    table = _table()
    files = [path.stem for path in FOLDER.glob("*.yml") if path.name != TABLE]
    order = list(_texts(table["order"], f"{TABLE}: order"))
    if sorted(order) != sorted(files):
        raise CausesError(f"{FOLDER}/{TABLE}: order has to name each of these files once: {', '.join(sorted(files))}")
    shows = {name: tuple(_texts(raw, f"{TABLE}: shows_as.{name}")) for name, raw in table["shows_as"].items()}
    return tuple(row for name in order for row in _of_file(f"{name}.yml", shows))


def _table() -> dict[str, Any]:
    return _checked(_read(TABLE), _TABLE, _TABLE, TABLE)


def _of_file(file: str, shows: Mapping[str, tuple[str, ...]]) -> Iterator[Row]:
    content = _checked(_read(file), _FILE, ("causes",), file)
    defaults = content.get("defaults", {})
    for name, raw in content["causes"].items():
        where = f"{file}: {name}"
        _typed(raw, dict, where)
        given = _checked({**defaults, **raw}, _CAUSE, _CAUSE_HAS, where)
        given["signs"] = tuple(_texts(given["signs"], f"{where}.signs"))
        yield _row(str(name), given, shows, where)


def _row(name: str, given: dict[str, Any], shows: Mapping[str, tuple[str, ...]], where: str) -> Row:
    """A cause, which explains as well how it shows beside equal hosts."""
    _known(given["effect"], effects(), f"{where}.effect")
    _known(given.get("confidence", Row.confidence), CONFIDENCE, f"{where}.confidence")
    if "joins" in given:
        _known(given["joins"], joins.BY, f"{where}.joins")
    explains = _checked(given.pop("explains", {}), _EXPLAINS, (), f"{where}.explains")
    given.update({key: tuple(_texts(signs, f"{where}.explains.{key}")) for key, signs in explains.items()})
    beside = [check for sign in given["signs"] for check, begins in shows.items() if sign.startswith(begins)]
    more = [check for check in dict.fromkeys(beside) if check not in given["signs"]]
    given["here"] = (*given.get("here", ()), *more)
    given["effect"] = effects()[given["effect"]]
    given["fix"] = _fix(given["fix"], f"{where}.fix")
    _fillable(given["fix"], given.get("fleet", False), f"{where}.fix")
    return Row(name, **given)


def _fillable(fix: Fix, fleet: bool, where: str) -> None:
    """What stands in {} is known of one host's finding, and not of each."""
    names = [part[1] for word in (*fix.play, *fix.words) for part in Formatter().parse(word) if part[1]]
    for name in names:
        _known(name, VALUES, where)
    if names and fleet:
        raise CausesError(f"{FOLDER}/{where}: {{{names[0]}}} is one host's, and fleet: true is one cause for all")
    if names and not fix.otherwise:
        raise CausesError(f"{FOLDER}/{where}: otherwise is missing, for where {{{names[0]}}} is not known")


def _fix(raw: dict[str, Any], where: str) -> Fix:
    kinds = [kind for kind in _FIXES if kind in raw]
    if len(kinds) != 1:
        raise CausesError(f"{FOLDER}/{where} has to have just one of {', '.join(_FIXES)}")
    given = _checked(raw, _FIXES[kinds[0]], _FIX_HAS.get(kinds[0], kinds), where)
    note = given.get("note", "")
    if "site" in given:
        tags = ",".join(_texts(given["site"], f"{where}.site"))
        variables = [*_texts(given.get("variables", []), f"{where}.variables")]
        if given.get("reboot"):
            if tags:
                raise CausesError(f"{FOLDER}/{where}: site has to be [] with reboot: {_TAGGED}")
            variables.append(_REBOOT)
            note = f"{_REBOOTS}; {note}" if note else _REBOOTS
        options = [word for variable in variables for word in ("-e", variable)]
        return Fix(play=("site.yml", *(("--tags", tags) if tags else ()), *options), act=CONVERGE, note=note)
    if "play" in given:
        return Fix(play=tuple(shlex.split(given["play"])), act=CONVERGE, note=note)
    if "act" in given:
        _known(given["act"], acts(), f"{where}.act")
    return Fix(
        words=tuple(shlex.split(given[kinds[0]])),
        otherwise=tuple(shlex.split(given.get("otherwise", ""))),
        mends="run" in given,
        act=given.get("act", ""),
        note=given.get("hands", note),
    )


@functools.cache
def _read(file: str) -> Any:
    try:
        return _yaml.load((FOLDER / file).read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as exc:
        raise CausesError(f"{FOLDER}/{file}: cannot be read as YAML: {exc}") from None


def _checked(raw: Any, keys: _Keys, needed: Iterable[str], where: str) -> dict[str, Any]:
    """What is told here, key by key of its type."""
    _typed(raw, dict, where)
    for key, value in raw.items():
        _known(key, keys, where)
        _typed(value, keys[key], f"{where}.{key}")
    for key in needed:
        if key not in raw:
            raise CausesError(f"{FOLDER}/{where}: {key} is missing")
    return dict(raw)


def _texts(raw: Any, where: str) -> Iterator[str]:
    """The texts of a list, and of lists in it."""
    _typed(raw, list, where)
    for item in raw:
        if isinstance(item, list):
            yield from _texts(item, where)
        else:
            _typed(item, str, where)
            yield item


def _typed(value: Any, kind: type, where: str) -> None:
    if value.__class__ is not kind:
        raise CausesError(f"{FOLDER}/{where}: must be {_WORDS[kind]}, not {value!r}")


def _known(name: Any, known: Iterable[str], where: str) -> None:
    if name not in known:
        raise CausesError(f"{FOLDER}/{where}: {name!r} is none of {', '.join(known)}")
