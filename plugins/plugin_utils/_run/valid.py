# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold a value against the part of JSON Schema that shape.py uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...module_utils._ground.check import FAIL, READY, UNKNOWN, UNKNOWN_VERDICT, from_dict, verdict
from .course import uneven

_KINDS: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}
_SHOWN = 60


def wrong(value: Any, shape: Mapping[str, Any], where: str = "") -> Iterator[str]:
    """What is wrong, ``hosts.n1.verdict: 'good' is none of ready, degraded``, one at a time."""
    if "const" in shape:
        if value != shape["const"] or type(value) is not type(shape["const"]):
            yield f"{where}: {shown(value)} is not {shape['const']!r}"
        return
    kinds = shape["type"] if isinstance(shape["type"], list) else [shape["type"]]
    if not any(_is(value, kind) for kind in kinds):
        yield f"{where or 'all of it'}: {shown(value)} is no {' or '.join(kinds)}"
    elif isinstance(value, dict):
        yield from _of_object(value, shape, where)
    elif isinstance(value, list):
        for number, entry in enumerate(value):
            yield from wrong(entry, shape["items"], f"{where}[{number}]")
    elif "enum" in shape and value not in shape["enum"]:
        yield f"{where}: {shown(value)} is none of {', '.join(shape['enum'])}"
    elif "minimum" in shape and value is not None and value < shape["minimum"]:
        yield f"{where}: {value} is below {shape['minimum']}"


def _of_object(value: Mapping[str, Any], shape: Mapping[str, Any], where: str) -> Iterator[str]:
    dot = f"{where}." if where else ""
    fields = shape.get("properties", {})
    for name in shape.get("required", ()):
        if name not in value:
            yield f"{dot}{name} is missing"
    others = shape.get("additionalProperties", True)
    for name, entry in value.items():
        if name in fields:
            yield from wrong(entry, fields[name], f"{dot}{name}")
        elif others is False:
            yield f"{dot}{shown(name)} is not known"
        elif others is not True:
            yield from wrong(entry, others, f"{dot}{name}")


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and (kind != "integer" or not isinstance(value, bool))


def shown(value: Any) -> str:
    """A value in a sentence: no control characters, and not long."""
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def misjudged(run: Mapping[str, Any]) -> Iterator[str]:
    """What cannot be, of an object of shape.RUN or shape.STANDING, one at a time."""
    if not run["hosts"]:
        yield "hosts: there is none, and a run judges one at least"
    for name, host in run["hosts"].items():
        yield from _of(host, f"hosts.{name}")
    for number, fabric in enumerate((run.get("fabric") or {}).get("fabrics") or ()):
        yield from _of(fabric, f"fabric.fabrics[{number}]")
    said = uneven(run["history"]) if run.get("history") else ""
    if said:
        yield said


def _of(judged: Mapping[str, Any], where: str) -> Iterator[str]:
    for number, check in enumerate(judged["checks"]):
        if check["waived"] and check["result"] != FAIL:
            yield f"{where}.checks[{number}]: {check['result']} and waived, as only failures are"
    reported = _verdict(judged["checks"])
    if judged["verdict"] != reported:
        yield f"{where}.verdict: {judged['verdict']!r}, and its checks say {reported!r}"


def _verdict(checks: list[dict[str, Any]]) -> str:
    """Only what may be wrong is turned into checks: it is the least."""
    if not checks:
        return UNKNOWN_VERDICT
    bad = [from_dict(check) for check in checks if check["result"] in (FAIL, UNKNOWN)]
    return verdict(bad) if bad else READY
