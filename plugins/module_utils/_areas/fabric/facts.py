# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of outputs about a whole fabric, gathered by observe.py and judged by area.py.

Such a tool is asked once per fabric and never by every node, so these facts come from bundles only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Generic, TypeVar

from ..._ground.reading import Reading
from ..._parse._topology import CA, SWITCH, Ibnetdiscover
from ..._parse.ibhosts import Ibhosts
from ..._parse.iblinkinfo import Iblinkinfo
from ..._parse.ibping import Ibping
from ..._parse.ibqueryerrors import Ibqueryerrors
from ..._parse.sminfo import Sminfo

T = TypeVar("T")

NOT_ASKED = "asked once per fabric, and not of this host"


@dataclass(frozen=True)
class Answer(Generic[T]):
    """What one tool said. Without ``facts`` it could not ask, and ``errors`` say why.

    ``incomplete``: why the facts may not be all ("" where they are).
    """

    facts: T | None = None
    errors: tuple[str, ...] = ()
    incomplete: str = ""


def not_asked() -> Reading[Any]:
    """The reading of a tool that nobody ran on this host, which is as it should be."""
    return Reading(None, NOT_ASKED, missing=True)


@dataclass(frozen=True)
class FabricFacts:
    """One reading a tool; ``missing`` where it was not asked."""

    links: Reading[Answer[Iblinkinfo]] = field(default_factory=not_asked)
    discovery: Reading[Answer[Ibnetdiscover]] = field(default_factory=not_asked)
    counters: Reading[Answer[Ibqueryerrors]] = field(default_factory=not_asked)
    hosts: Reading[Answer[Ibhosts]] = field(default_factory=not_asked)
    sm: Reading[Answer[Sminfo]] = field(default_factory=not_asked)
    ping: Reading[Answer[Ibping]] = field(default_factory=not_asked)

    def to_dict(self) -> dict[str, Any]:
        """Counts only: a whole fabric does not belong into the report of one host."""
        reported = {
            "iblinkinfo": _told(self.links, lambda entry: {"ports": len(entry.ports)}),
            "ibnetdiscover": _told(
                self.discovery,
                lambda entry: {"cas": len(entry.of(CA)), "switches": len(entry.of(SWITCH))},
            ),
            "ibqueryerrors": _told(self.counters, lambda entry: {"ports": entry.ports_checked}),
            "ibhosts": _told(self.hosts, lambda entry: {"hosts": len(entry.hosts)}),
            "sminfo": _told(self.sm, lambda entry: {"lid": entry.lid, "state": entry.state_name}),
            "ibping": _told(self.ping, lambda entry: {"sent": entry.sent, "received": entry.received}),
        }
        return {name: entry for name, entry in reported.items() if entry is not None}


def _told(reading: Reading[Answer[T]], count: Callable[[T], dict[str, Any]]) -> dict[str, Any] | None:
    if reading.missing:
        return None
    if reading.value is None:
        return {"unknown": reading.why}
    if reading.value.facts is None:
        return {"errors": list(reading.value.errors)}
    return count(reading.value.facts)
