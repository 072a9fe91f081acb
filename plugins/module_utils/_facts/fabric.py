# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of outputs about a whole fabric: gathered by _observe/fabric, judged by _checks/fabric.

Such a tool is asked once per fabric and never by every node, so these facts come from bundles only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Generic, TypeVar

from ansible_collections.ibready.cluster.plugins.module_utils._facts._reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse._topology import (
    CA,
    SWITCH,
    Ibnetdiscover,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibhosts import Ibhosts
from ansible_collections.ibready.cluster.plugins.module_utils._parse.iblinkinfo import Iblinkinfo
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibping import Ibping
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibqueryerrors import (
    Ibqueryerrors,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.sminfo import Sminfo

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
        told = {
            "iblinkinfo": _told(self.links, lambda one: {"ports": len(one.ports)}),
            "ibnetdiscover": _told(
                self.discovery,
                lambda one: {"cas": len(one.of(CA)), "switches": len(one.of(SWITCH))},
            ),
            "ibqueryerrors": _told(self.counters, lambda one: {"ports": one.ports_checked}),
            "ibhosts": _told(self.hosts, lambda one: {"hosts": len(one.hosts)}),
            "sminfo": _told(self.sm, lambda one: {"lid": one.lid, "state": one.state_name}),
            "ibping": _told(self.ping, lambda one: {"sent": one.sent, "received": one.received}),
        }
        return {name: one for name, one in told.items() if one is not None}


def _told(
    reading: Reading[Answer[T]], count: Callable[[T], dict[str, Any]]
) -> dict[str, Any] | None:
    if reading.missing:
        return None
    if reading.value is None:
        return {"unknown": reading.why}
    if reading.value.facts is None:
        return {"errors": list(reading.value.errors)}
    return count(reading.value.facts)
