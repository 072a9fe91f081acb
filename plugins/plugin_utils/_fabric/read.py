# SPDX-License-Identifier: GPL-3.0-or-later
"""What one port heard of its fabric: the answers of fabric_look as facts, or why there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ansible_collections.ibready.cluster.plugins.module_utils._command import Output, Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._facts.fabric import Answer
from ansible_collections.ibready.cluster.plugins.module_utils._observe.fabric import answer
from ansible_collections.ibready.cluster.plugins.module_utils._observe.fabric_look import AGAIN
from ansible_collections.ibready.cluster.plugins.module_utils._parse import (
    iblinkinfo,
    ibnetdiscover,
    ibqueryerrors,
    saquery_sm,
    sminfo,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse._topology import (
    TOPOLOGY,
    Ibnetdiscover,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.calm import uncollected
from ansible_collections.ibready.cluster.plugins.plugin_utils._fabric.model import guid

T = TypeVar("T")

TOOLS = ("ibnetdiscover", "iblinkinfo", "ibqueryerrors", AGAIN, "sminfo", "saquery_sm")
_FIRST = "ibqueryerrors"
# What libibnetdisc says of a second device of a GUID that it knows; it leaves that one out.
_DUPLICATE = ("Duplicate Port", "trying to insert new port guid")


@dataclass(frozen=True)
class Seen:
    """One fabric through one port. ``asked``: "node1 mlx5_0/1"; ``port``: "mlx5_0/1".

    ``node``: the GUID of the asking HCA, "" where the discovery does not say. ``seconds`` lie
    between the two looks at the counters.
    """

    asked: str
    port: str
    seconds: float
    discovery: Reading[Answer[Ibnetdiscover]]
    links: Reading[Answer[iblinkinfo.Iblinkinfo]]
    counters: Reading[Answer[ibqueryerrors.Ibqueryerrors]]
    again: Reading[Answer[ibqueryerrors.Ibqueryerrors]]
    sm: Reading[Answer[sminfo.Sminfo]]
    managers: Reading[Answer[saquery_sm.SaquerySm]]

    @property
    def node(self) -> str:
        found = self.discovery.value.facts if self.discovery.value else None
        return guid(found.initiated_from) if found is not None else ""

    def tools(self) -> Iterator[tuple[str, Reading[Answer[Any]]]]:
        """Every reading by the tool's name."""
        readings = (
            *(self.discovery, self.links, self.counters, self.again),
            *(self.sm, self.managers),
        )
        yield from zip(TOOLS, readings, strict=True)


class _Told:
    """Answers as evidence: what was not recorded cannot be told."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers

    def run(self, name: str, *args: str) -> Output:
        told = self._answers.get(name)
        if not isinstance(told, Mapping):
            raise Unavailable(name, "nobody asked")
        if "unavailable" in told:
            raise Unavailable(name, str(told["unavailable"]).removeprefix(f"{name}: "))
        return Output(int(told["rc"]), str(told["stdout"]), str(told["stderr"]))


@uncollected
def read(host: str, look: Mapping[str, Any]) -> Seen:
    """The facts of one look; raises KeyError, TypeError or ValueError on what is none."""
    answers = look["answers"]
    evidence = _Told(answers)
    later = _Told({_FIRST: answers.get(AGAIN)})
    # A bundle may hold what was asked of no port in particular.
    port = f"{look['device']}/{look['port']}" if look["device"] else "bundle"
    return Seen(
        f"{host} {port}",
        port,
        float(look["seconds"]),
        _ask(evidence, "ibnetdiscover", ibnetdiscover.parse, lambda one: bool(one.nodes)),
        _ask(evidence, "iblinkinfo", iblinkinfo.parse, lambda one: bool(one.ports)),
        _counted(evidence),
        _counted(later),
        _ask(evidence, "sminfo", sminfo.parse, lambda one: True),
        _ask(evidence, "saquery_sm", saquery_sm.parse, lambda one: bool(one.managers)),
    )


def _ask(
    evidence: _Told, name: str, parse: Callable[[str], T], says_anything: Callable[[T], bool]
) -> Reading[Answer[T]]:
    """An answer is whole though it tells of two devices of one GUID: fabric.guid.unique does."""
    reading = answer(evidence, name, parse, says_anything)
    told = reading.value
    if told is None or not told.errors or duplicates(told) != list(told.errors):
        return reading
    return Reading(replace(told, incomplete=""))


def duplicates(told: Answer[Any] | None) -> list[str]:
    """What a tool complained of two devices of one GUID."""
    lines = told.errors if told is not None else ()
    return [line for line in lines if any(word in line for word in _DUPLICATE)]


def _counted(evidence: _Told) -> Reading[Answer[ibqueryerrors.Ibqueryerrors]]:
    """A report without its summary, or with questions that nobody answered, is not all of it."""
    reading = _ask(
        evidence,
        _FIRST,
        ibqueryerrors.parse,
        lambda one: bool(one.nodes) or one.ports_checked is not None,
    )
    told = reading.value
    if told is None or told.facts is None or told.incomplete:
        return reading
    if told.facts.ports_checked is None:
        return Reading(replace(told, incomplete="no summary: the output may be cut"))
    if not told.facts.ports_checked:
        return Reading(replace(told, incomplete="it asked no port for its counters"))
    if told.facts.query_failures:
        why = f"{told.facts.query_failures} questions for counters were not answered"
        return Reading(replace(told, incomplete=why))
    return reading


def why_not(reading: Reading[Answer[Any]]) -> str:
    """Why a tool told nothing; "" where it told anything."""
    told = reading.value
    if told is None:
        return reading.why or "nobody asked"
    if told.facts is None:
        return f"it could not ask: {told.errors[-1]}" if told.errors else "it told nothing"
    return ""


def whole_discovery(reading: Reading[Answer[Ibnetdiscover]]) -> str:
    """Why the discovery cannot be used at all; "" where it can."""
    why = why_not(reading)
    found = reading.value.facts if reading.value else None
    if why or found is None:
        return why
    if found.format != TOPOLOGY:
        return f"a {found.format} of ibnetdiscover: its topology is needed, without options"
    return ""
