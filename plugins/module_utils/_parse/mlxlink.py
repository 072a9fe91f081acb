# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what ``mlxlink -c -m`` prints, as text or as JSON: bit errors and the cable's module."""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import ParseError, clean_lines

_TOOL = "mlxlink"
NOTHING: dict[str, Any] = {
    "state": None,
    "physical_state": None,
    "speed": None,
    "width": None,
    "recommendation": None,
    "symbol_ber": None,
    "effective_ber": None,
    "raw_ber": None,
    "link_down": None,
    "minutes": None,
    "module": [],
    "faults": [],
    "cable": None,
}

# 15E-255 is what the firmware shows where it has counted no error.
_BER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?(?:[eE]-?[0-9]{1,3})?")
_COUNT = re.compile(r"[0-9]{1,20}")
_NUMBER = re.compile(r"-?[0-9]{1,9}(?:\.[0-9]{1,9})?")
_RANGE = re.compile(r"([^\[\]]{0,400})\[([^\[\]]{1,40})\.\.([^\[\]]{1,40})\]")
_NO_WORD = ("", "n/a", "none", "-")
_UP = ("yes", "true", "on", "fault")
_MODULE = {
    "Temperature [C]": "temperature",
    "Voltage [mV]": "voltage",
    "Bias Current [mA]": "bias current",
    "Rx Power Current [dBm]": "Rx power",
    "Tx Power Current [dBm]": "Tx power",
}
# What no other tool writes so: ibstat has no blank before the colon, nvidia-smi has not these names.
# A line of the JSON form; a mask's values are in a list.
_PAIR = re.compile(r'"([^"]{1,80})" ?: ?(?:"([^"]{0,400})"|([-+.\w]{1,40})),?')
_OWN = re.compile(
    r"(?:Physical state|Auto Negotiation|Loopback Mode|Recommendation|Status Opcode|Temperature \[C\]|Cable Type|"
    r"Cable Technology|Time Since Last Clear \[Min\]|(?:Raw|Effective) Physical BER|Symbol BER|Link Down Counter)"
    r"\s{1,80}:.*"
)
# Where the JSON form begins; a command may stand before it.
_JSON = re.compile(r"^\{\s{0,80}\"(?:result|status)\"|\A\s{0,80}\{", re.MULTILINE)
_FAULTS = (
    "Tx Fault [per lane]",
    "Tx LOS [per lane]",
    "Rx LOS [per lane]",
    "Tx CDR LOL [per lane]",
    "Rx CDR LOL [per lane]",
    "Module FW Fault",
    "DataPath FW Fault",
    "LOS Alarm",
)


@dataclass(frozen=True)
class Measured:
    """One value of the module, per lane, and the limits that the module itself states."""

    name: str
    values: tuple[float, ...]
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Mlxlink:
    """One port. None or "" where a value was not shown.

    ``faults``: the module's own fault flags that are set, as "name value".
    """

    state: str = ""
    physical_state: str = ""
    speed: str = ""
    width: str = ""
    recommendation: str = ""
    symbol_ber: float | None = None
    effective_ber: float | None = None
    raw_ber: float | None = None
    link_down: int | None = None
    minutes: float | None = None
    module: tuple[Measured, ...] = ()
    faults: tuple[str, ...] = ()
    cable: str = ""


def parse(text: str) -> Mlxlink:
    """Read the output; raise ParseError where it tells nothing of a link."""
    if not text.strip():
        raise ParseError(_TOOL, 0, "", "empty output")
    begin = _JSON.search(text)
    is_json = begin is not None
    text = text[begin.start() :] if begin is not None else text
    found = _json(text) if is_json else _lines(text)
    is_own = is_json or any(_OWN.fullmatch(line.strip()) for line in clean_lines(text))
    if not is_own or not any(key in found for key in ("State", "Physical state", "Raw Physical BER")):
        lines = clean_lines(text)
        line_no, line = next(((n, line) for n, line in enumerate(lines, 1) if line.strip()), (0, ""))
        errors = tuple(line.strip() for line in lines if line.strip().startswith("-E-"))
        raise ParseError(_TOOL, line_no, line, "tells nothing of a link", errors)
    return Mlxlink(
        state=_text(found, "State"),
        physical_state=_text(found, "Physical state"),
        speed=_text(found, "Speed"),
        width=_text(found, "Width"),
        recommendation=_text(found, "Recommendation"),
        symbol_ber=_ber(found, "Symbol BER"),
        effective_ber=_ber(found, "Effective Physical BER"),
        raw_ber=_ber(found, "Raw Physical BER"),
        link_down=_count(found, "Link Down Counter"),
        minutes=_float(_text(found, "Time Since Last Clear [Min]")),
        module=tuple(entry for key in _MODULE for entry in _measured(found, key)),
        faults=tuple(f"{key} {found[key]}" for key in _FAULTS if _is_set(found.get(key, ""))),
        cable=_text(found, "Cable Type") or _text(found, "Cable Technology"),
    )


def _lines(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in clean_lines(text):
        key, colon, value = line.partition(" :")
        if not colon:
            key, colon, value = line.partition(":")
        if colon:
            found.setdefault(" ".join(key.split()), " ".join(value.split()))
    return found


def _json(text: str) -> dict[str, str]:
    """Every pair of every section below result.output, as the text form shows it."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError) as exc:
        pairs = [match for match in map(_PAIR.fullmatch, map(str.strip, text.split("\n"))) if match is not None]
        # Cut, or with other lines behind it: its lines tell the same.
        if '"Operational Info"' not in text or not pairs:
            raise ParseError(_TOOL, 1, text.split("\n", 1)[0], "this JSON cannot be read") from exc
        lines: dict[str, str] = {}
        for pair in pairs:
            lines.setdefault(pair.group(1), pair.group(2) or pair.group(3) or "")
        return lines
    result = read.get("result") if isinstance(read, dict) else None
    output = result.get("output") if isinstance(result, dict) else None
    found: dict[str, str] = {}
    for section in output.values() if isinstance(output, dict) else ():
        for key, value in section.items() if isinstance(section, dict) else ():
            values = value.get("values") if isinstance(value, dict) else value
            if isinstance(values, list):
                found.setdefault(str(key), ",".join(str(value) for value in values[:64]))
            elif isinstance(values, (str, int, float)):
                found.setdefault(str(key), str(values))
    return found


def _text(found: dict[str, str], key: str) -> str:
    value = found.get(key, "").strip()
    return "" if value.lower() in _NO_WORD else value


def _ber(found: dict[str, str], key: str) -> float | None:
    value = _text(found, key)
    rate = float(value) if _BER.fullmatch(value) else math.inf
    return rate if rate <= 1 else None


def _count(found: dict[str, str], key: str) -> int | None:
    value = _text(found, key)
    return int(value) if _COUNT.fullmatch(value) else None


def _float(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def _measured(found: dict[str, str], key: str) -> tuple[Measured, ...]:
    """``1.886,1.989 [-10.41..6]``: the lanes' values between the module's own limits."""
    text = _text(found, key)
    if not text:
        return ()
    limits = _RANGE.fullmatch(text)
    shown = limits.group(1) if limits else text
    values = tuple(
        value
        for value in (_float(word) for word in shown.split(",")[:64])
        if value is not None and math.isfinite(value)
    )
    if not values:
        return ()
    low = _float(limits.group(2)) if limits else None
    high = _float(limits.group(3)) if limits else None
    return (Measured(_MODULE[key], values, low, high),)


def _is_set(value: str) -> bool:
    """Whether a flag, or that of one lane, is up; a word that nobody knows says nothing."""
    words = [word.strip().lower() for word in value.split(",")]
    return any(word in _UP or bool(_float(word)) for word in words)


def facts(parsed: Mlxlink) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    found = {name: None if value == "" else value for name, value in asdict(parsed).items()}
    module = [{**asdict(entry), "values": list(entry.values)} for entry in parsed.module]
    return {**found, "module": module, "faults": list(parsed.faults)}
