# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse ``gdscheck -p`` of GPUDirect Storage: which file system is reached by which way.

Up to 1.15 each has ``Supported`` or ``Unsupported``, since 1.16 the ways themselves (``nvfs, compat``). The text is
whole where it ends with the tool's word on the platform.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .._data.gds import MODES, SUPPORTED, UNSUPPORTED
from .._ground.text import ParseError, clean_lines

_TOOL = "gdscheck"
_DRIVERS, _CONFIG, _GPUS, _PLATFORM = "DRIVER CONFIGURATION:", "CUFILE CONFIGURATION:", "GPU INFO:", "PLATFORM INFO:"
_SECTIONS = ("ENVIRONMENT:", _DRIVERS, _CONFIG, _GPUS, _PLATFORM)
_RELEASE = re.compile(r"GDS release version: {0,4}([0-9]{1,4}(?:\.[0-9]{1,5}){1,3})")
# Called the library's version up to 1.15; it is the oldest nvidia-fs that the library takes.
_MINIMUM = re.compile(r"(?:nvidia_fs minimum|libcufile) version: {0,4}([0-9]{1,4}\.[0-9]{1,4})\b")
_DRIVER = re.compile(r"([A-Za-z][A-Za-z0-9 ]{0,40}?) *: *(.{1,80})")
_ANY_GPU = re.compile(r"GPU\b")
_GPU = re.compile(r"GPU (?:index )?[0-9]{1,4} .{1,200}")
_FITS, _NOT = "supports GDS", re.compile(r"\bnot\b", re.IGNORECASE)
_VERIFIED = "Platform verification succeeded"
_REFUSED = re.compile(r"Platform verification (?:error|failed)\b *:? *(.{0,200})")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Driver:
    """A file system or kind of disk by the tool's name, and what it says of it, in its order."""

    name: str
    modes: tuple[str, ...]


@dataclass(frozen=True)
class Gdscheck:
    """``minimum``: the oldest nvidia-fs that cuFile takes, "" where it does not say. ``compat``: whether cuFile may
    copy through host memory, ``force``: whether it always does, ``p2pdma``: whether it may do without nvidia-fs.
    ``unfit``: GPUs that it takes for unfit, in its words. ``refused``: why the platform is, "" where it is not."""

    release: str
    minimum: str
    drivers: tuple[Driver, ...]
    compat: bool
    force: bool
    p2pdma: bool
    gpus: int
    unfit: tuple[str, ...]
    refused: str


def parse(text: str) -> Gdscheck:
    """Read all of it; ParseError where a line is not understood, or the end is missing."""
    lines = [" ".join(line.split()) for line in clean_lines(text)]
    head = "\n".join(line for line in lines if "version:" in line)
    release, minimum = _RELEASE.search(head), _MINIMUM.search(head)
    if release is None:
        said = next((line for line in lines if line), "")
        raise ParseError(_TOOL, 0, "", f"names no release of GDS: {said or 'empty output'}"[:200])
    sections = _sections(lines)
    drivers = tuple(_driver(at, line) for at, line in sections[_DRIVERS] if not line.startswith("--"))
    if not drivers:
        raise ParseError(_TOOL, 0, "", "names no file system")
    settings = dict(_setting(line) for _at, line in sections[_CONFIG])
    gpus = [(line, _fits(at, line)) for at, line in sections[_GPUS] if _ANY_GPU.match(line)]
    return Gdscheck(
        release=release.group(1),
        minimum=minimum.group(1) if minimum else "",
        drivers=drivers,
        compat=_flag(settings, "properties.use_compat_mode", "properties.allow_compat_mode"),
        force=_flag(settings, "properties.force_compat_mode", without=False),
        p2pdma=_flag(settings, "properties.use_pci_p2pdma", without=False),
        gpus=len(gpus),
        unfit=tuple(line for line, fits in gpus if not fits),
        refused=_refused(lines),
    )


def _sections(lines: list[str]) -> dict[str, list[tuple[int, str]]]:
    """The lines below each heading, with their numbers."""
    found: dict[str, list[tuple[int, str]]] = {name: [] for name in _SECTIONS}
    now = ""
    for at, line in enumerate(lines, 1):
        if line in _SECTIONS:
            now = line
        elif now and line.strip("="):
            found[now].append((at, line))
    return found


def _driver(at: int, line: str) -> Driver:
    match = _DRIVER.fullmatch(line)
    modes = tuple(word.strip().lower() for word in match.group(2).split(",")) if match else ()
    if match is None or not all(mode in MODES or mode in (SUPPORTED, UNSUPPORTED) for mode in modes):
        raise ParseError(_TOOL, at, line, "not a file system and how it is reached")
    return Driver(match.group(1), modes)


def _setting(line: str) -> tuple[str, str]:
    name, _colon, value = line.partition(":")
    return name.strip(), value.strip()


def _flag(settings: dict[str, str], *names: str, without: bool | None = None) -> bool:
    said = next((settings[name] for name in names if name in settings), None)
    if said is None and without is not None:
        return without
    if said not in _TRUTH:
        raise ParseError(_TOOL, 0, "", f"{names[0]} is {said!r}" if said else f"says nothing of {names[0]}")
    return _TRUTH[said]


def _fits(at: int, line: str) -> bool:
    if _GPU.fullmatch(line) is None:
        raise ParseError(_TOOL, at, line, "does not say which GPU, or too much of it")
    if _NOT.search(line):
        return False
    if _FITS not in line:
        raise ParseError(_TOOL, at, line, "does not say whether this GPU supports GDS")
    return True


def _refused(lines: list[str]) -> str:
    """The last words: the platform is fit, or why it is not."""
    found = [(at, match) for at, line in enumerate(lines) if (match := _REFUSED.fullmatch(line))]
    if found:
        at, match = found[-1]
        return match.group(1) or next((line for line in lines[at + 1 :] if line), "") or "it does not say why"
    if not lines or lines[-1] != _VERIFIED:
        raise ParseError(_TOOL, len(lines), lines[-1] if lines else "", "ends before its word on the platform")
    return ""
