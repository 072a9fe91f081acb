# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parsers share: the error they raise, clean lines, numbers, the tools' own complaints."""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence

# How a cause begins that nothing shows to be the one.
UNSAID = "what was read does not say why; known causes: "

_LINE_SHOWN = 120
_DIGITS = 20

# CSI, OSC and two-character escapes. Every alternative ends at the next ESC at the latest.
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-Z]|\x1b[@-Z\\^_=>78]")
_INT = re.compile(r"[0-9]{1,10}|0[xX][0-9a-fA-F]{1,8}")
_UPTIME = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,3})?) .*")
_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)(?: ?Gb/sec)?(?: ?\([^()]*\))?")


class HostFileError(Exception):
    """Of a file of the host that cannot be read as it stands: no task of ours mends it, whoever wrote it has to.

    What is wrong with a file beside it is an error of the caller's kind, and this.
    """


class ParseError(ValueError):
    """A tool's text that gives no facts; `line_no` counts from 1, 0 means the text as a whole.

    `error_lines` holds what the tool itself complained about, where it did.
    """

    def __init__(self, tool: str, line_no: int, line: str, reason: str, error_lines: tuple[str, ...] = ()) -> None:
        super().__init__(tool, line_no, line, reason, error_lines)
        self.tool = tool
        self.line_no = line_no
        self.line = line
        self.reason = reason
        self.error_lines = error_lines

    def __str__(self) -> str:
        reason = escaped(self.reason)
        if not self.line_no:
            return f"{self.tool}: {reason}"
        return f"{self.tool}: line {self.line_no} '{printable(self.line)}': {reason}"


def printable(line: str, most: int = _LINE_SHOWN) -> str:
    """Return `line` fit for a message: control characters escaped, cut at `most` characters."""
    shown = line if len(line) <= most else line[: most - 3] + "..."
    return escaped(shown)


def escaped(text: str) -> str:
    """The whole text, with what a terminal would obey written out."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def sendable(value: Any) -> Any:
    """What JSON is made of, with every byte that is no UTF-8 (surrogateescape) shown as ``\\xff``.

    A JSON text may hold such bytes, and Ansible refuses the whole answer for one of them.
    """
    if isinstance(value, str):
        return value if value.isascii() else _told(value)
    if isinstance(value, Mapping):
        return {sendable(key): sendable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [sendable(item) for item in value]
    return value


def _told(text: str) -> str:
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def clean_lines(text: str) -> list[str]:
    """Split `text` into lines; line N of the result is line N of what a terminal would show.

    Removes ANSI escapes, NULs, a byte order mark, trailing blanks and trailing empty lines.
    Ends lines at LF, CRLF or CR. Leading blanks of any kind are kept.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").replace("\ufeff", "")
    lines = [line.rstrip() for line in _ANSI.sub("", text).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def flat_lines(text: str) -> list[str]:
    """The lines of a text with every run of blanks as one space."""
    return [" ".join(line.split()) for line in clean_lines(text)]


def no_facts(
    tool: str, lines: list[str], reason: str, empty: str = "empty output", said: tuple[str, ...] = ()
) -> ParseError:
    """The error for a text without facts, at the first line that is not empty; ``empty``: without such a line."""
    for line_no, line in enumerate(lines, 1):
        if line.strip():
            return ParseError(tool, line_no, line, reason, said)
    return ParseError(tool, 0, "", empty)


def is_whole(text: str) -> bool:
    """Tell whether the last line has its line end; what a command prints without one was cut."""
    return clean_lines(text[-200:] + ".")[-1:] == ["."]


def ends_early(text: str) -> bool:
    """Tell whether the text ends within a line, so that its last word or number may go on."""
    return bool(clean_lines(text.replace("\r", "\n").rpartition("\n")[2]))


def is_warning(line: str) -> bool:
    """Tell whether `line` is an ``ibwarn`` message, which tools also print when all is well."""
    return line.startswith("ibwarn:")


def complaints(lines: list[str], *, warnings: bool) -> tuple[str, ...]:
    """Pick the messages of infiniband-diags out of `lines`: ibpanic and iberror, maybe ibwarn."""
    found = []
    for line in lines:
        line = line.strip()
        if (
            line.startswith("ibpanic:")
            or ": iberror:" in line
            or line.startswith("iberror:")
            or (warnings and is_warning(line))
        ):
            found.append(line)
    return tuple(found)


def last_word(*streams: str) -> str:
    """Why a tool gave up: its iberror on any stream, else its last complaint, else an ibwarn."""
    lines = [line.strip() for text in streams for line in clean_lines(text) if line.strip()]
    errors = [line for line in lines if "iberror:" in line]
    complaints = [line for line in lines if not is_warning(line)]
    return (errors or complaints or lines or [""])[-1]


def plain(text: str, length: int) -> str:
    """One line of printable ASCII without quotes and backslashes, cut at ``length``."""
    kept = "".join(c if " " <= c <= "~" and c not in "\"'`\\" else " " for c in text)
    line = " ".join(kept.split())
    return line if len(line) <= length else line[: max(0, length - 3)] + "..."


def few(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """The first of the texts, and how many more there are."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return between.join(texts[:most]) + more


def to_uptime(text: str) -> float:
    """Seconds since boot, as /proc/uptime has them before those that the processors idled."""
    match = _UPTIME.fullmatch(text)
    if match is None:
        raise ValueError("not the seconds since boot")
    return float(match.group(1))


def to_int(text: str) -> int:
    """Turn ``26`` or ``0x1a`` into 26; anything else, negative and huge included: ValueError."""
    if _INT.fullmatch(text) is None:
        raise ValueError("not a number")
    return int(text, 16) if text[:2] in ("0x", "0X") else int(text)


def to_short_int(text: str) -> int:
    """A number of JSON (``parse_int``) of so few digits that reading it takes no time; else ValueError."""
    if len(text) > _DIGITS:
        raise ValueError("a number with too many digits")
    return int(text)


def to_rate(text: str) -> float:
    """Turn ``400``, ``40 (FDR10)`` or ``400 Gb/sec (4X NDR)`` into Gb/s; else ValueError."""
    match = _RATE.fullmatch(text)
    if match is None:
        raise ValueError("not a number")
    return float(match.group(1))
