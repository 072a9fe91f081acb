# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a run object back from a file; what is damaged, or of another release, is refused."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from ...module_utils._ground.version import VERSION
from .._answers import clean
from . import folded, shape, valid

_AGAIN = "next: name another run (its folder's history has the last ones), or run verify.yml again"
_FAMILY = "ibready/report/"
# A parser that stops so near the end was missing the rest.
_NEAR_END = 3
_HOSTS = "hosts"
_KEPT = ("verdict", "checks", "settled")
_BLANK = re.compile(r"[ \t\n\r]*")

Value = Callable[[str, int], tuple[Any, int]]


class RunError(ValueError):
    """The file cannot be used; the message names it, the cause and the next step."""


def read(path: Path) -> dict[str, Any]:
    """The run object of a file, gzipped where it ends in ``.gz``; raises RunError."""
    return _read(path, _whole, shape.RUN)


def standing(path: Path) -> dict[str, Any]:
    """What another run is compared with: the same without the facts of hosts; raises RunError."""
    return _read(path, thin, shape.STANDING)


def _whole(text: str) -> Any:
    return json.loads(text, parse_constant=_no_number)


def _read(path: Path, parse: Callable[[str], Any], wanted: shape.Shape) -> dict[str, Any]:
    text = _text(path)
    found = _parsed(path, text, parse)
    _refuse_other_release(path, found)
    said = next(valid.wrong(found, wanted), "")
    if not said:
        try:
            found = folded.unfold(found)
            said = next(valid.misjudged(found), "")
        except ValueError as exc:
            said = str(exc)
    if said:
        raise RunError(f"{path} is damaged: {said}; {_AGAIN}")
    return clean.clean(found, text)


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode()
    except FileNotFoundError:
        raise RunError(
            f"{path} is not there; next: run playbooks/verify.yml, which writes it, or name another file"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as exc:
        raise RunError(f"{path} is damaged or was cut short ({exc}); {_AGAIN}") from exc
    except OSError as exc:
        raise RunError(f"{path} cannot be read ({exc.strerror}); next: fix that") from exc
    except UnicodeDecodeError as exc:
        raise RunError(f"{path} is no run object, for it is no UTF-8 ({exc}); {_AGAIN}") from exc


def _parsed(path: Path, text: str, parse: Callable[[str], Any]) -> Any:
    if not text.strip():
        raise RunError(f"{path} is empty; {_AGAIN}")
    try:
        return parse(text)
    except json.JSONDecodeError as exc:
        cut = exc.pos >= len(text.rstrip()) - _NEAR_END or exc.msg.startswith("Unterminated")
        said = "was cut short" if cut else "is damaged"
        raise RunError(f"{path} {said} ({exc}); {_AGAIN}") from exc
    except (RecursionError, ValueError) as exc:
        raise RunError(f"{path} is damaged ({exc}); {_AGAIN}") from exc


def _refuse_other_release(path: Path, found: Any) -> None:
    """Before anything else is asked: the other release may mean something else by it."""
    schema = found.get("schema") if isinstance(found, dict) else None
    if not isinstance(schema, str) or not schema.startswith(_FAMILY):
        raise RunError(
            f"{path} is no run object of ibready: its schema is {valid.shown(schema)}, not "
            f"{shape.SCHEMA}; next: name an ibready-report.json"
        )
    revision = found.get("revision", 1)
    if (schema, revision) == (shape.SCHEMA, shape.REVISION):
        return
    number = schema.removeprefix(_FAMILY)
    layout = int(number) if number.isascii() and number.isdigit() and len(number) < 9 else 0
    if not layout or not isinstance(revision, int) or isinstance(revision, bool):
        raise RunError(f"{path} is damaged: schema {valid.shown(schema)}, revision {valid.shown(revision)}; {_AGAIN}")
    by = f"ibready {valid.shown(found.get('ibready'))}"
    reported = f"{schema} revision {revision}, written by {by}"
    mine = f"{shape.SCHEMA} revision {shape.REVISION}, which ibready {VERSION} reads"
    if (layout, revision) > (int(shape.SCHEMA.removeprefix(_FAMILY)), shape.REVISION):
        raise RunError(f"{path} is newer than {mine}: {reported}; next: use that release of ibready, or a newer one")
    raise RunError(
        f"{path} is older than {mine}: {reported}; next: run verify.yml again, or render it with the "
        "release that wrote it"
    )


def _no_number(word: str) -> NoReturn:
    """What JSON has no number for, and Python's json takes all the same."""
    raise ValueError(f"{word} is no number of JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def thin(text: str) -> Any:
    """As json.loads, but of every host only verdict and checks; raises JSONDecodeError."""

    def host(_name: str, at: int) -> tuple[Any, int]:
        whole, end = _DECODER.raw_decode(text, at)
        if not isinstance(whole, dict):
            return whole, end
        return {key: whole[key] for key in _KEPT if key in whole}, end

    def member(name: str, at: int) -> tuple[Any, int]:
        if name == _HOSTS and text[at : at + 1] == "{":
            return _object(text, at, host)
        return _DECODER.raw_decode(text, at)

    at = _after(text, 0)
    is_object = text[at : at + 1] == "{"
    found, end = _object(text, at, member) if is_object else _DECODER.raw_decode(text, at)
    if _after(text, end) != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return found


def _object(text: str, at: int, value: Value) -> tuple[dict[str, Any], int]:
    """The object that begins here, each of its values by ``value``, and where it ends."""
    found: dict[str, Any] = {}
    at = _after(text, at + 1)
    if text[at : at + 1] == "}":
        return found, at + 1
    while True:
        if text[at : at + 1] != '"':
            raise json.JSONDecodeError("Expecting property name", text, at)
        name, at = _DECODER.raw_decode(text, at)
        at = _expected(text, _after(text, at), ":")
        found[name], at = value(name, at)
        at = _after(text, at)
        if text[at : at + 1] == "}":
            return found, at + 1
        at = _expected(text, at, ",")


def _after(text: str, at: int) -> int:
    """Where blanks end."""
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _expected(text: str, at: int, mark: str) -> int:
    """Where what follows the mark begins."""
    if text[at : at + 1] != mark:
        raise json.JSONDecodeError(f"Expecting '{mark}' delimiter", text, at)
    return _after(text, at + 1)
