# SPDX-License-Identifier: GPL-3.0-or-later
"""What one port heard of its fabric: the answers of fabric_look as facts, or why there are none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ...module_utils._areas.fabric.facts import Answer
from ...module_utils._areas.fabric.observe import answer
from ...module_utils._areas.fabric.observe_look import AGAIN
from ...module_utils._ground.command import Output, Unavailable
from ...module_utils._ground.reading import Reading
from ...module_utils._parse import dump_fts, iblinkinfo, ibnetdiscover, ibqueryerrors, saquery_sm, sminfo
from ...module_utils._parse._topology import CA, TOPOLOGY, Ibnetdiscover
from .calm import uncollected
from .model import guid

T = TypeVar("T")

TOOLS = ("ibnetdiscover", "iblinkinfo", "ibqueryerrors", AGAIN, "sminfo", "saquery_sm")
_FIRST = "ibqueryerrors"
# What libibnetdisc says of a second device of a GUID that it knows; it leaves that one out.
_DUPLICATE = ("Duplicate Port", "trying to insert new port guid")


@dataclass(frozen=True)
class Seen:
    """One fabric through one port. ``asked``: "node1 mlx5_0/1"; ``port``: "mlx5_0/1".

    ``node``: the GUID of the asking HCA, "" where the discovery does not say. ``seconds`` lie
    between the two looks at the counters. ``routes``: the switches' forwarding tables, where a search asked for them.
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
    routes: Reading[Answer[dump_fts.DumpFts]] = field(default_factory=lambda: Reading(None, "nobody asked"))

    @property
    def host(self) -> str:
        """Who asked."""
        return self.asked.partition(" ")[0]

    @property
    def ports(self) -> set[str]:
        """The port GUIDs of the adapters that it saw."""
        found = self.discovery.value.facts if self.discovery.value else None
        if found is None:
            return set()
        return {link.port_guid for node in found.of(CA) for link in node.links if link.port_guid}

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


def unusable(look: Seen, why: str) -> Seen:
    """The same look, of which nothing can be used."""
    nothing: Reading[Answer[Any]] = Reading(None, why)
    return Seen(look.asked, look.port, 0.0, *[nothing] * len(TOOLS))


class _Reported:
    """Answers as evidence: what was not recorded cannot be told."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self._answers = answers

    def run(self, name: str, *args: str) -> Output:
        reported = self._answers.get(name)
        if not isinstance(reported, Mapping):
            raise Unavailable(name, "nobody asked")
        if "unavailable" in reported:
            raise Unavailable(name, str(reported["unavailable"]).removeprefix(f"{name}: "))
        return Output(int(reported["rc"]), str(reported["stdout"]), str(reported["stderr"]))


@uncollected
def read(host: str, look: Mapping[str, Any]) -> Seen:
    """The facts of one look; raises KeyError, TypeError or ValueError on what is none."""
    answers = look["answers"]
    evidence = _Reported(answers)
    later = _Reported({_FIRST: answers.get(AGAIN)})
    # A bundle may hold what was asked of no port in particular.
    port = f"{look['device']}/{look['port']}" if look["device"] else "bundle"
    return Seen(
        f"{host} {port}",
        port,
        float(look["seconds"]),
        _ask(evidence, "ibnetdiscover", ibnetdiscover.parse, lambda entry: bool(entry.nodes)),
        _ask(evidence, "iblinkinfo", iblinkinfo.parse, lambda entry: bool(entry.ports)),
        _counted(evidence),
        _counted(later),
        _ask(evidence, "sminfo", sminfo.parse, lambda entry: True),
        _ask(evidence, "saquery_sm", saquery_sm.parse, lambda entry: bool(entry.managers)),
        _ask(evidence, "dump_fts", dump_fts.parse, lambda entry: bool(entry.tables)),
    )


def _ask(
    evidence: _Reported, name: str, parse: Callable[[str], T], says_anything: Callable[[T], bool]
) -> Reading[Answer[T]]:
    """An answer is whole though it tells of two devices of one GUID: fabric.guid.unique does."""
    reading = answer(evidence, name, parse, says_anything)
    reported = reading.value
    if reported is None or not reported.errors or duplicates(reported) != list(reported.errors):
        return reading
    return Reading(replace(reported, incomplete=""))


def duplicates(told: Answer[Any] | None) -> list[str]:
    """What a tool complained of two devices of one GUID."""
    lines = told.errors if told is not None else ()
    return [line for line in lines if any(word in line for word in _DUPLICATE)]


def _counted(evidence: _Reported) -> Reading[Answer[ibqueryerrors.Ibqueryerrors]]:
    """A report without its summary, or with questions that nobody answered, is not all of it."""
    reading = _ask(
        evidence,
        _FIRST,
        ibqueryerrors.parse,
        lambda entry: bool(entry.nodes) or entry.ports_checked is not None,
    )
    reported = reading.value
    if reported is None or reported.facts is None or reported.incomplete:
        return reading
    if reported.facts.partial:
        return Reading(replace(reported, incomplete=reported.facts.partial))
    if not reported.facts.ports_checked:
        return Reading(replace(reported, incomplete="it asked no port for its counters"))
    if reported.facts.query_failures:
        why = f"{reported.facts.query_failures} questions for counters were not answered"
        return Reading(replace(reported, incomplete=why))
    return reading


def why_not(reading: Reading[Answer[Any]]) -> str:
    """Why a tool told nothing; "" where it told anything."""
    reported = reading.value
    if reported is None:
        return reading.why or "nobody asked"
    if reported.facts is None:
        return f"it could not ask: {reported.errors[-1]}" if reported.errors else "it told nothing"
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
