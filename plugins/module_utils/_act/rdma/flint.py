# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask mstflint, and have it write."""

from __future__ import annotations

from ..._ground.command import Output, find_first, run_program
from .firmware import Card, FirmwareError, parse

# mstflint's program, and the same of NVIDIA's MFT.
_PROGRAMS = ("mstflint", "flint")
# What ibready wrote, by PCI address; whether a boot is due is the card's own answer.
STATE = "firmware"
_QUERY_S, _BURN_S = 60, 1800


def card(device: str) -> Card:
    """What this card holds and runs; FirmwareError or Unavailable where it does not tell."""
    return _told(device, _run(_QUERY_S, "-d", device, "-qq", "query"))


def image(path: str) -> Card:
    """The same of a file."""
    return _told(path, _run(_QUERY_S, "-i", path, "-qq", "query"))


def burn(device: str, path: str) -> None:
    """Write the image to the card's flash; the slot that it runs from is left alone (mstflint's failsafe way)."""
    done = _run(_BURN_S, "-d", device, "-i", path, "-y", "burn")
    if done.rc != 0:
        raise FirmwareError(f"{device}: mstflint cannot write {path}: {_last(done)}")


def _told(what: str, done: Output) -> Card:
    if done.rc != 0:
        raise FirmwareError(f"{what}: mstflint cannot tell: {_last(done)}")
    return parse(what, done.stdout)


def _last(done: Output) -> str:
    lines = [line.strip() for line in f"{done.stdout}\n{done.stderr}".splitlines() if line.strip()]
    return lines[-1][-300:] if lines else f"status {done.rc}"


def _run(limit: int, *words: str) -> Output:
    tool = find_first(_PROGRAMS)
    return run_program(tool, [tool, *words], limit)
