# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what NCCL's Inspector writes of every collective: JSON objects, one after the other, or Prometheus lines.

It is a profiler plugin that comes with NCCL since 2.28. Until format 4.2 every object tells of its communicator and
process; since 4.3 only the first of each batch, ``dump_stats``, and those after it belong to it.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import asdict, dataclass
from typing import Any, Iterator, Mapping

from .._ground.text import ParseError, clean_lines, no_facts, to_short_int
from . import _collective_names
from ._times import Collective, Times

_TOOL = "nccl_inspector"
NOTHING: dict[str, Any] = {"version": None, "operations": [], "dropped": 0, "unread": 0}
_OBJECT = re.compile(r"[ \t\n]*(?=\{)")
_NEXT = re.compile(r"\n[ \t]*(?=\{)")
_SAMPLE = re.compile(r"(nccl_[a-z0-9_]{1,60})\{([^{}]{1,2000})\} ([0-9.eE+-]{1,24})$")
_LABEL = re.compile(r'([a-z0-9_]{1,40})="([^"]{0,255})"')
_BUCKET = re.compile(r"([0-9]{1,6})-[0-9]{1,6}(B|KB|MB|GB|TB)")
_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}
_BANDWIDTH = ("nccl_bus_bandwidth_gbs", "nccl_p2p_bus_bandwidth_gbs")
_TIME = ("nccl_collective_exec_time_microseconds", "nccl_p2p_exec_time_microseconds")
_DIGITS = 20


@dataclass(frozen=True)
class Operation:
    """One operation, or in Prometheus lines the mean of all of one kind and about one size.

    ``group``: the communicator, by its hash or its name. ``rank``: within the communicator; in Prometheus lines the
    GPU's name. ``size``: bytes. ``us``: None where not told. ``number``: which of the communicator's, -1 for a mean.
    """

    group: str
    name: str
    size: int
    us: float | None
    busbw: float | None
    rank: str = ""
    ranks: int = 0
    nodes: int = 0
    host: str = ""
    number: int = -1
    algorithm: str = ""
    source: str = ""


@dataclass(frozen=True)
class NcclInspector:
    """``dropped``: operations that were lost before they were written. ``unread``: objects or lines that tell nothing
    that is known, or that are damaged. ``version``: of the format."""

    operations: tuple[Operation, ...]
    dropped: int = 0
    unread: int = 0
    version: str = ""


def parse(text: str) -> NcclInspector:
    """Every operation; ParseError for a text without one."""
    lines = clean_lines(text)
    found = _samples(lines) if any(line.lstrip().startswith("nccl_") for line in lines) else _objects("\n".join(lines))
    if not found.operations and not found.dropped:
        raise no_facts(_TOOL, lines, "no operation that NCCL's Inspector tells of")
    return found


def _objects(text: str) -> NcclInspector:
    operations: list[Operation] = []
    dropped: dict[tuple[str, str, str], int] = {}
    unread, version = 0, ""
    header: Mapping[str, Any] = {}
    metadata: Mapping[str, Any] = {}
    for told in _each(text):
        if told is None:
            unread += 1
            continue
        header, metadata = _within(told, "header") or header, _within(told, "metadata") or metadata
        version = version or _text(metadata, "inspector_output_format_version")
        stats = _within(told, "dump_stats")
        operation = _operation(told, header, metadata)
        if operation is not None:
            operations.append(operation)
        elif stats:
            key = (_text(metadata, "hostname"), str(metadata.get("pid"))[:_DIGITS], _text(header, "id"))
            lost = (_count(stats, f"{kind}_dropped_total") for kind in ("coll", "p2p"))
            dropped[key] = max(dropped.get(key, 0), sum(lost))
        elif "proxy_trace" not in told:
            unread += 1
    return NcclInspector(tuple(operations), sum(dropped.values()), unread, version)


def _each(text: str) -> Iterator[Mapping[str, Any] | None]:
    """Every object; None for one that is damaged, after which reading goes on at the next line with one."""
    decoder = json.JSONDecoder(parse_int=to_short_int, strict=False)
    at = 0
    while True:
        begun = _OBJECT.match(text, at) or _NEXT.search(text, at)
        if begun is None:
            if text[at:].strip():
                yield None
            return
        try:
            told, at = decoder.raw_decode(text, begun.end())
            yield told if isinstance(told, dict) else None
        except (ValueError, RecursionError):
            yield None
            at = begun.end() + 1


def _operation(told: Mapping[str, Any], header: Mapping[str, Any], metadata: Mapping[str, Any]) -> Operation | None:
    kind = next((kind for kind in ("coll", "p2p") if _within(told, f"{kind}_perf")), None)
    if kind is None:
        return None
    perf = _within(told, f"{kind}_perf")
    name = _text(perf, kind)
    if not name:
        return None
    rank = header.get("rank")
    return Operation(
        _text(header, "id"),
        name,
        _count(perf, f"{kind}_msg_size_bytes"),
        _number(perf.get(f"{kind}_exec_time_us")),
        _number(perf.get(f"{kind}_busbw_gbs")),
        str(rank) if isinstance(rank, int) else "",
        _count(header, "n_ranks"),
        _count(header, "nnodes"),
        _text(metadata, "hostname"),
        _count(perf, f"{kind}_sn"),
        "_".join(filter(None, (_text(perf, "coll_algo"), _text(perf, "coll_proto")))),
        _text(perf, f"{kind}_timing_source"),
    )


def _within(told: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = told.get(key)
    return value if isinstance(value, dict) else {}


def _text(told: Mapping[str, Any], key: str) -> str:
    value = told.get(key)
    return value[:255] if isinstance(value, str) else ""


def _count(told: Mapping[str, Any], key: str) -> int:
    value = told.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) and 0 <= value < 1e18 else None


def _samples(lines: list[str]) -> NcclInspector:
    """A time and a bandwidth with the same labels are one operation."""
    found: dict[str, dict[str, float]] = {}
    dropped = unread = 0
    version = ""
    for number, raw in enumerate(lines, 1):
        line = " ".join(raw.split())
        if not line or line.startswith("#"):
            continue
        sample = _SAMPLE.match(line)
        value = _value(sample[3]) if sample else None
        if sample is None or value is None:
            if not line.startswith("nccl_"):
                raise ParseError(_TOOL, number, raw, "neither JSON nor a sample of NCCL's Inspector")
            unread += 1
        elif sample[1].endswith("_dropped_total"):
            dropped += int(value)
        elif sample[1] in _BANDWIDTH or sample[1] in _TIME:
            what = "busbw" if sample[1] in _BANDWIDTH else "us"
            found.setdefault(sample[2], {}).setdefault(what, value)
    operations = []
    for labels, values in found.items():
        told = dict(_LABEL.findall(labels))
        name = told.get("collective") or told.get("p2p_operation", "")
        version = version or told.get("version", "")
        if name:
            operations.append(_mean(name, told, values))
        else:
            unread += 1
    return NcclInspector(tuple(operations), dropped, unread, version)


def _mean(name: str, told: Mapping[str, str], values: Mapping[str, float]) -> Operation:
    bucket = _BUCKET.fullmatch(told.get("message_size", ""))
    ranks, nodes = (int(word) if re.fullmatch("[0-9]{1,9}", word) else 0 for word in _sizes(told))
    return Operation(
        told.get("comm_name", ""),
        name,
        int(bucket[1]) * _UNITS[bucket[2]] if bucket else 0,
        values.get("us"),
        values.get("busbw"),
        told.get("rank") or told.get("gpu", ""),
        ranks,
        nodes,
        told.get("node") or told.get("hostname", ""),
        algorithm=told.get("algo_proto", ""),
    )


def _sizes(told: Mapping[str, str]) -> tuple[str, str]:
    return told.get("nranks") or told.get("n_ranks", ""), told.get("n_nodes", "")


def _value(word: str) -> float | None:
    try:
        return _number(float(word))
    except ValueError:
        return None


def facts(parsed: NcclInspector) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    return {
        "version": parsed.version or None,
        "operations": [asdict(operation) for operation in parsed.operations],
        "dropped": parsed.dropped,
        "unread": parsed.unread,
    }


def times(parsed: NcclInspector) -> Times:
    """The operations of one rank, communicator, kind and size together, in their order."""
    took: dict[tuple[str, str, int, str, str, int], list[Operation]] = {}
    for one in parsed.operations:
        key = (one.group, one.name, one.size, one.rank, one.host, one.ranks)
        took.setdefault(key, []).append(one)
    return Times(collectives=tuple(_collective(each) for each in took.values()))


def _collective(each: list[Operation]) -> Collective:
    first = each[0]
    seconds = tuple(one.us / 1e6 for one in each if one.us is not None)
    busbw = tuple(one.busbw for one in each if one.busbw is not None)
    name = _collective_names.plain(first.name)
    return Collective(name, first.size, seconds, busbw, first.rank, first.host, first.ranks, first.group)
