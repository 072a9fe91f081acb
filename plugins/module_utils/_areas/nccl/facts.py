# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of NCCL on one host: gathered by observe.py, judged by area.py."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Dict, TypedDict

from ..._ask.nccl.copies import Copies
from ..._ask.nccl.query import Query
from ..._evidence.redact import masked_values
from ..._expect.nccl import Desired
from ..._ground.reading import Reading, as_json
from ..._nccl.conf import as_text, settings
from ..._nccl.host import NcclHost
from ..._nccl.release import NEWEST, Release
from ..._parse._nccl_facts import NcclLog, summary
from ..._parse.nccl_copies import Copy
from .named_files import Named

NOWHERE = "the file is a link to"
NOT_GIVEN = "nobody gave a log of NCCL"
Settings = Dict[str, str]


def not_given() -> Reading[NcclLog]:
    """The reading of a log that nobody gave, as is usual: a host keeps none by itself."""
    return Reading(None, NOT_GIVEN, missing=True)


class NcclReported(TypedDict, total=False):
    """What a report shows of NCCL; of a job's log alone there is no host."""

    log: dict[str, Any]
    host: NcclHost
    wish: Desired
    settings: Reading[Settings]
    library: dict[str, str | None]
    proof: dict[str, Any]
    copies: list[Copy]


@dataclass(frozen=True)
class HostFacts:
    """``host``: what an nccl.conf is derived from, with the release that is judged for. ``conf``:
    the text of /etc/nccl.conf, missing where there is no file; ``mode``: its permissions.
    ``topology``: whether there is a file from which NCCL takes the host's topology. ``asked``: the
    library's own word. ``package``: the version that the package manager knows. ``copies``: what
    else leads jobs to another library or other settings. ``named``: the files that settings name.
    ``vendor``: who made the host, or runs it as a virtual machine."""

    host: NcclHost = field(default_factory=NcclHost)
    wish: Desired = field(default_factory=Desired)
    conf: Reading[str] = field(default_factory=Reading)
    mode: Reading[int] = field(default_factory=Reading)
    topology: Reading[bool] = field(default_factory=Reading)
    asked: Query = field(default_factory=Query)
    package: Reading[str] = field(default_factory=Reading)
    copies: Copies = field(default_factory=Copies)
    named: Named = field(default_factory=Named)
    vendor: str = ""

    @property
    def release(self) -> Release | None:
        """The release that reads the file; None where none is known."""
        return self.host.release

    @property
    def settings(self) -> Reading[Settings]:
        """What holds in a process without an environment, as the library took it; where there is
        none, as the newest release reads the file."""
        proof = self.asked.proof
        if proof.value is not None:
            return Reading({name: as_text(value) for name, value in proof.value.taken.items()})
        if not self.asked.library.missing:
            return Reading(None, proof.why or "nobody asked the library")
        if self.conf.value is None and self.conf.missing:
            return Reading({})
        return self.conf.map(lambda text: settings(text, self.release or NEWEST))

    def to_dict(self) -> NcclReported:
        """As JSON, without the library's hundreds of names."""
        library, proof = self.asked.library, self.asked.proof
        reported = {key: getattr(library.value, key) for key in _LIBRARY} if library.value else None
        return {
            "host": as_json(self.host),
            "wish": as_json(self.wish),
            "settings": masked_values(as_json(self.settings), "settings"),
            "library": reported or {"unknown": library.why},
            "proof": {
                "result": proof.value.meaning,
                "listens": asdict(proof.value.listener) if proof.value.listener else None,
                "interface": proof.value.interface,
                "network": proof.value.network,
            }
            if proof.value
            else {"unknown": proof.why},
            "copies": [as_json(copy) for copy in self.copies.copies.value or ()],
        }


_LIBRARY = ("path", "real", "version", "cuda", "machine")


@dataclass(frozen=True)
class Rdma:
    """RDMA devices as one tool shows them; none where it shows a whole bus without. ``active``: how many of
    their ports are Active, None of a tool that tells nothing of ports. ``host``: "" where no line names it."""

    tool: str
    devices: tuple[str, ...]
    active: int | None = None
    host: str = ""


@dataclass(frozen=True)
class NcclFacts:
    """``log``: of a job, all of its ranks or some. ``rdma``: what recorded texts tell of the hosts that it
    ran on. ``here``: None where only a log was to be judged, which may be another host's."""

    log: Reading[NcclLog] = field(default_factory=not_given)
    here: HostFacts | None = None
    rdma: tuple[Rdma, ...] = ()

    def to_dict(self) -> NcclReported:
        """As JSON; of a log what all of it says, for it may have thousands of ranks."""
        reported: NcclReported = self.here.to_dict() if self.here is not None else {}
        if not self.log.missing:
            reported["log"] = _told(self.log)
        return reported


def _told(log: Reading[NcclLog]) -> dict[str, Any]:
    if log.value is None:
        return {"unknown": log.why}
    first = log.value.first_cause
    reported = {
        **summary(log.value.said),
        "errors": list(log.value.errors),
        "first_cause": asdict(first) if first else None,
        "ranks": len(log.value.ranks),
    }
    return {name: masked_values(value, name) for name, value in reported.items()}
