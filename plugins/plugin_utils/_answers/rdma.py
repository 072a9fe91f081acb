# SPDX-License-Identifier: GPL-3.0-or-later
"""What one host told of data over RDMA, read from the variables that the playbooks leave.

``ibready_rdma_answers``, ``ibready_rdma_served`` (of the module rdma_data, all rounds together),
``ibready_rdma_inside``, ``ibready_rdma_error`` (a text), ``ibready_rdma_plan`` (of the filter
rdma_plan), and the inventory's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._between.rdma.tried import Host
from ...module_utils._expect.expectations import ExpectationError, Expectations
from ...module_utils._parse._container_desired import Desired
from ...module_utils._rails.ib_ports import IbFacts
from .._ground import address as _address
from .._ground.dicts import as_dict
from . import apart, rdma_rails, shapes
from .typed import AnswerError, read

T = TypeVar("T")
ROCE, ALL, NONE = "roce", "all", "none"
_OFF = "ibready_rdma is none: nobody moved data over its rails"
_SIMULATED = "simulated node: {}; there is nothing behind its RDMA devices"
_TASKS = ("ibready_rdma_serving", "ibready_rdma_asked")
_NOT_RUN = "nobody asked it to move data (was the run stopped before?)"


@dataclass(frozen=True)
class Reported:
    """``address``: where others reach it by TCP. ``container``: what its containers are started
    with. ``answers``, ``served``: what it said as client, and as server."""

    host: Host
    address: str = ""
    container: Mapping[str, Any] = field(default_factory=dict)
    answers: Sequence[shapes.Moved] = ()
    served: Sequence[shapes.Moved] = ()
    inside: Mapping[str, shapes.Inside] = field(default_factory=dict)

    @property
    def takes_part(self) -> bool:
        return bool(self.host.rails) and not self.host.off


def told(
    name: str,
    seen: Mapping[str, Any],
    facts: Mapping[str, Any],
    ib: IbFacts | None,
    expect: Expectations,
    simulated: str,
) -> Reported | None:
    """Read one host's variables; None where there is no rail that data should be moved on.

    Raises ExpectationError where a limit is none.
    """
    policy = str(seen.get("ibready_rdma") or ROCE)
    able, missing = rdma_rails.of_roce(facts, ib, expect)
    if policy == ALL:
        more, lame = rdma_rails.of_infiniband(ib, expect)
        able, missing = {**more, **able}, {**lame, **missing}
    if not able and not missing:
        return None
    desired = _wish(seen, expect)
    floors = as_dict(seen.get("bench_floors"))
    off = _OFF if policy == NONE else _SIMULATED.format(simulated) if simulated else ""
    ran = "ibready_rdma_plan" in seen
    said, garbled = _said(seen)
    host = Host(
        rails=able,
        missing=missing,
        off=off,
        error=_error(seen) or garbled or ("" if ran else _NOT_RUN),
        containers=_containers(seen, expect),
        user=desired.user,
        engine=desired.engine,
        bandwidth=_floor(floors, "bandwidth_gbps"),
        latency=_floor(floors, "latency_us"),
    )
    return Reported(host, _address.of(name, seen), asdict(desired), *said)


def _said(
    seen: Mapping[str, Any],
) -> tuple[tuple[list[shapes.Moved], list[shapes.Moved], Mapping[str, shapes.Inside]] | tuple[()], str]:
    """As client, as server, and of its shells; or why that cannot be read."""
    try:
        return (
            _read(list[shapes.Moved], seen, "ibready_rdma_answers"),
            _read(list[shapes.Moved], seen, "ibready_rdma_served"),
            _read(dict[str, shapes.Inside], seen, "ibready_rdma_inside"),
        ), ""
    except AnswerError as exc:
        return (), apart.why(exc, "what the module rdma_data returned")


def _read(kind: type[T], seen: Mapping[str, Any], name: str) -> T:
    return read(kind, seen.get(name) or kind(), name)


def _error(seen: Mapping[str, Any]) -> str:
    """Why a task ended this host's part; one that was lost on the way has no rescue."""
    lost = (as_dict(seen.get(name)) for name in _TASKS)
    gone = [str(entry.get("msg") or "").strip() for entry in lost if entry.get("unreachable")]
    return str(seen.get("ibready_rdma_error") or "") or "".join(
        f"lost while data was moved: {said}" for said in gone[:1]
    )


def _containers(seen: Mapping[str, Any], expect: Expectations) -> bool:
    """As the site says; else where it says what its containers are like, as containerverify."""
    said = seen.get("ibready_rdma_containers")
    if said is None or said == "":
        return expect.get("container") is not None
    return bool(boolean(said, strict=False))


def _wish(seen: Mapping[str, Any], expect: Expectations) -> Desired:
    """What containers are started with; the image is one of its own, for the jobs' may not have
    the programs."""
    said = expect.get("container")
    desired: Desired = said.value if said is not None else Desired()
    image = str(seen.get("ibready_rdma_image") or "")
    return Desired(**{**asdict(desired), "image": image, "pull": desired.pull and bool(image)})


def _floor(floors: Mapping[str, Any], name: str) -> float | None:
    """A limit of the site's own, None where it has none; a word that is none would hold nobody to
    anything: ExpectationError, as playbooks/bench.yml refuses it."""
    value = floors.get(name)
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not number > 0:
        raise ExpectationError(f"bench_floors: {name}: {value!r} is no number above 0")
    return number
