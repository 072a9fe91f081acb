# SPDX-License-Identifier: GPL-3.0-or-later
"""Sort a host's RDMA ports: those that carry training traffic, and those that somebody set apart.

Whose word decides which ports are rails: the inventory counts HCAs exactly, a hardware profile asks
for at least so many of at least such a rate, the fleet counts exactly. Without any of them every
port that could be one is looked at, but a port that is down is nobody's loss (ib.port.idle).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Tuple

from .._expect.expectations import Expectations, Expected
from .._ground.link import INFINIBAND, gbps
from .._parse.ibstat import Ca, Port
from .hcas import hca_by_type, most_gbps
from .ib_ports import IbFacts, layer, port_name

Pair = Tuple[Ca, Port]
# ibstat prints rates without their fraction.
_HALVED = (2.5, 12.5)


@dataclass(frozen=True)
class Apart:
    """A port that is no rail, and why. ``spare``: it could be one, but enough others are."""

    ca: Ca
    port: Port
    why: str
    spare: bool = False

    @property
    def name(self) -> str:
        return port_name(self.ca, self.port)


@dataclass(frozen=True)
class Sorted:
    """``rails``: the ports that are judged. ``others``: of another link layer. ``apart``: the rest.

    ``hcas``: names of the HCAs that count as rails, whatever their state.
    """

    rails: list[Pair] = field(default_factory=list)
    others: list[Pair] = field(default_factory=list)
    apart: list[Apart] = field(default_factory=list)
    hcas: list[str] = field(default_factory=list)
    layer: str = ""


def wanted_hcas(expect: Expectations) -> tuple[Expected, bool] | None:
    """How many HCAs are expected, and whether exactly so many; the inventory's word goes first."""
    return _exact_or_floor(expect.get("hcas"), expect.get("hcas_min"))


def wanted_rate(expect: Expectations) -> tuple[Expected, bool] | None:
    """The rate expected of a rail, and whether it must be exactly that."""
    return _exact_or_floor(expect.get("rate_gbps"), expect.get("rate_min_gbps"))


def _exact_or_floor(exact: Expected | None, floor: Expected | None) -> tuple[Expected, bool] | None:
    if exact is not None and (exact.is_said or floor is None):
        return exact, True
    return (floor, False) if floor is not None else None


def profile_of(expect: Expectations) -> str:
    """The hardware profile that promises rails ("profile NAME"), "" without one."""
    promised = (expect.get("hcas_min"), expect.get("rate_min_gbps"))
    sources = [entry.source for entry in promised if entry is not None]
    return next((source for source in sources if source.startswith("profile ")), "")


def nobody_counts(expect: Expectations) -> bool:
    """Whether nobody expects anything of the host's ports."""
    said = None if expect.presumes_roce else expect.get("link_layer")
    wanted = (wanted_hcas(expect), wanted_rate(expect), said)
    return all(item is None for item in wanted)


def fast_enough(rate: float, wanted: Expected, exact: bool) -> bool:
    """Whether a port's rate is the expected one, or at least that."""
    if rate == wanted.value or (wanted.value in _HALVED and rate == int(wanted.value)):
        return True
    return not exact and bool(rate > wanted.value)


def sort_out(facts: IbFacts, expect: Expectations) -> Sorted:
    """Every port of the host in one of the lists, except those that the inventory ignores."""
    mine: list[Pair] = []
    apart: list[Apart] = []
    own_layers = _layers_of_whole_hcas(facts)
    for ca in facts.cas:
        for port in ca.ports:
            if expect.ignores(ca.name, port_name(ca, port)):
                continue
            why = _no_rail(facts, ca, port, own_layers)
            if why:
                apart.append(Apart(ca, port, why))
            else:
                mine.append((ca, port))
    count, rate = wanted_hcas(expect), wanted_rate(expect)
    wanted = expect.get("link_layer")
    chosen = str(wanted.value) if wanted is not None else ""
    if not chosen and profile_of(expect):
        chosen = _usual_layer(mine, rate)
    others = [(ca, port) for ca, port in mine if chosen and layer(port) != chosen]
    mine = [(ca, port) for ca, port in mine if not chosen or layer(port) == chosen]
    if count is not None and rate is not None:
        slow = [(ca, port) for ca, port in mine if 0 < most_gbps(ca.type) < rate[0].value]
        mine = [pair for pair in mine if pair not in slow]
        apart += [Apart(ca, port, _too_slow(ca)) for ca, port in slow]
    hcas = sorted({ca.name for ca, _port in mine})
    if count is not None and not count[1]:
        mine, spare = _enough(facts, mine, count[0], rate)
        apart += spare
    return Sorted(mine, others, apart, hcas, chosen)


def works(port: Port, rate: tuple[Expected, bool] | None) -> bool:
    """Whether a port is up and, as far as its rate is known, fast enough."""
    if port.state != "Active":
        return False
    return rate is None or port.rate is None or fast_enough(port.rate, *rate)


def _layers_of_whole_hcas(facts: IbFacts) -> frozenset[str]:
    """The link layers that HCAs show which are no virtual functions."""
    return frozenset(
        layer(port)
        for ca in facts.cas
        for port in ca.ports
        if not facts.device(ca.name).kind and not _is_virtual(facts, ca)
    )


def _is_virtual(facts: IbFacts, ca: Ca) -> bool:
    model = hca_by_type(ca.type)
    return facts.device(ca.name).virtual or (model is not None and model.virtual)


def _no_rail(facts: IbFacts, ca: Ca, port: Port, whole: frozenset[str]) -> str:
    """Why a port is never a rail; "" where it may be one."""
    device = facts.device(ca.name)
    if device.kind:
        return f"{device.kind}: no InfiniBand or RoCE HCA"
    if device.manages_switches:
        return "the way to the NVLink switches (SW_MNG in its product data), no port of the fabric"
    # In a virtual machine they are all there is; beside whole HCAs they belong to guests.
    if _is_virtual(facts, ca) and layer(port) in whole:
        of = f" of {device.physical}" if device.physical else ""
        return f"virtual function{of}: for virtual machines or pods"
    return ""


def _usual_layer(pairs: list[Pair], rate: tuple[Expected, bool] | None) -> str:
    """The link layer of the rails where nobody names one: that of most HCAs that work as rails.

    Then of most HCAs at all; InfiniBand where it is a draw, "" where no port shows one.
    """
    found = {layer(port) for _ca, port in pairs} - {""}

    def score(text: str) -> tuple[int, int, bool]:
        mine = [(ca.name, works(port, rate)) for ca, port in pairs if layer(port) == text]
        working = {name for name, up in mine if up}
        return len(working), len({name for name, _up in mine}), text == INFINIBAND

    return max(sorted(found), key=score) if found else ""


def _too_slow(ca: Ca) -> str:
    model = hca_by_type(ca.type)
    name = model.name if model else ca.type
    return f"a {name} gives {gbps(most_gbps(ca.type))} at most: no rail"


def _enough(
    facts: IbFacts, mine: list[Pair], wanted: Expected, rate: tuple[Expected, bool] | None
) -> tuple[list[Pair], list[Apart]]:
    """With enough rails at work, the rest are spares; with too few, the rest are to blame.

    To blame are ports that are down, and slow ones in the subnet of the rails; slow ones of
    another subnet (storage) only where the others are not enough.
    """
    working = {ca.name for ca, port in mine if works(port, rate)}
    subnets = {subnet(facts, ca, port) for ca, port in mine if works(port, rate)} - {""}
    idle = [(ca, port) for ca, port in mine if ca.name not in working]
    blamed = [
        (ca, port)
        for ca, port in idle
        if port.state != "Active" or not subnets or subnet(facts, ca, port) in ("", *subnets)
    ]
    lacking = wanted.value - len(working)
    if lacking <= 0:
        blamed = []
    elif len({ca.name for ca, _port in blamed}) < lacking:
        blamed = idle
    rails: list[Pair] = []
    spare: list[Apart] = []
    for ca, port in mine:
        if works(port, rate) or (ca, port) in blamed:
            rails.append((ca, port))
        elif ca.name in working:
            spare.append(Apart(ca, port, "another port of this HCA is the rail", True))
        elif lacking <= 0:
            spare.append(Apart(ca, port, f"beside the {wanted.value} rails of {wanted.source}, which all work", True))
        else:
            spare.append(Apart(ca, port, "in another subnet than the rails, and slower: storage", True))
    return rails, spare


def subnet(facts: IbFacts, ca: Ca, port: Port) -> str:
    """The GUID of the subnet manager that answers this port, "" where none does."""
    answer = facts.sm.get(port_name(ca, port))
    return answer.sm.guid.lower() if answer is not None and answer.sm is not None else ""
