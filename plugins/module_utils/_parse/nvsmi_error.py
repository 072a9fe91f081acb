# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``nvidia-smi`` prints instead of facts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .._ground.text import clean_lines, flat_lines, no_facts
from . import _nvsmi

_TOOL = "nvsmi_error"
NOTHING: dict[str, Any] = {"error": None, "nvml": None}

MISMATCH = "version mismatch"
NO_DRIVER = "driver not loaded"
NO_LIBRARY = "library not found"
NO_DEVICE = "no devices were found"
LOST = "GPU is lost"
NEEDS_RESET = "GPU requires reset"
NO_PERMISSION = "insufficient permissions"
NOT_INSTALLED = "not installed"
BLOCKED = "GPU access blocked by the operating system"
HANDLE = "unable to determine the device handle"
UNKNOWN = "unknown error"
OTHER = "failed to initialize NVML"
# What each is told by, in lower case and with plain apostrophes; the first that fits.
_SIGNS = (
    ("driver/library version mismatch", MISMATCH),
    ("couldn't communicate with the nvidia driver", NO_DRIVER),
    ("driver not loaded", NO_DRIVER),
    ("driver is not loaded", NO_DRIVER),
    ("couldn't find libnvidia-ml", NO_LIBRARY),
    ("couldn't find nvml.dll", NO_LIBRARY),
    ("library not found", NO_LIBRARY),
    ("library_not_found", NO_LIBRARY),
    ("nvml shared library not found", NO_LIBRARY),
    ("gpu is lost", LOST),
    ("fallen off the bus", LOST),
    ("gpu requires reset", NEEDS_RESET),
    ("insufficient permission", NO_PERMISSION),
    ("gpu access blocked by the operating system", BLOCKED),
    ("unable to determine the device handle", HANDLE),
    ("unable to detect the device handle", HANDLE),
    ("no devices were found", NO_DEVICE),
    ("nvidia-smi: command not found", NOT_INSTALLED),
    ("nvidia-smi: not found", NOT_INSTALLED),
    ("nvidia-smi: no such file or directory", NOT_INSTALLED),
    ("command not found: nvidia-smi", NOT_INSTALLED),
    ("'nvidia-smi' not found", NOT_INSTALLED),
    ('"nvidia-smi": executable file not found', NOT_INSTALLED),
    ("failed to initialize nvml: unknown error", UNKNOWN),
    ("failed to initialize nvml", OTHER),
)
# What an exit status says where the text is not understood; nvidia-smi(1), "Return value".
STATUS = {4: NO_PERMISSION, 9: NO_DRIVER, 12: NO_LIBRARY, 15: LOST}
_NVML = re.compile(r"nvml library version: ?([0-9]{1,6}(?:\.[0-9]{1,6}){0,3})")


@dataclass(frozen=True)
class NvsmiError:
    """``error``: one of this module's names. ``nvml``: the library's version, "" if not told.

    ``line``: the words themselves. ``unreachable``: bus id and words for each GPU that could not
    be opened.
    """

    error: str
    line: str
    nvml: str = ""
    unreachable: tuple[tuple[str, str], ...] = ()


def parse(text: str) -> NvsmiError:
    """Recognise the error; raise ParseError where the text says none that is known."""
    lines = clean_lines(text)
    said = flat_lines(text)
    # Joined, because a terminal or a mail may have wrapped the sentence.
    whole = _plain(" ".join(line for line in said if line))
    for sign, error in _SIGNS:
        if sign in whole:
            nvml = _NVML.search(whole)
            return NvsmiError(
                error,
                next((line for line in said if sign in _plain(line)), next(filter(None, said))),
                nvml.group(1) if nvml else "",
                _nvsmi.remarks(lines).unreachable,
            )
    raise no_facts(_TOOL, said, "no error of nvidia-smi that is known")


def facts(parsed: NvsmiError) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "error": parsed.error,
        "nvml": parsed.nvml or None,
        "line": parsed.line,
        "unreachable": [{"bus_id": bus_id, "said": said} for bus_id, said in parsed.unreachable],
    }


def _plain(line: str) -> str:
    return line.replace("\u2019", "'").lower()
