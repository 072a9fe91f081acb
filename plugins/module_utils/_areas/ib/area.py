# SPDX-License-Identifier: GPL-3.0-or-later
"""The area ib as a whole: its checks in reading order. Facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._expect.expectations import Expectations, Expected
from ..._ground.check import Cause, Check, failed, passed, skipped, unknown
from ..._ground.link import ETHERNET, LAYERS
from ..._parse.ibstat import Ca, Port
from ..._rails.ib import Pair, Sorted, nobody_counts, profile_of, sort_out, wanted_hcas
from ..._rails.ib_ports import IbFacts, is_infiniband, layer, port_name
from ..area import Area
from . import observe
from .check_counters import judge_counters, judge_perfquery
from .check_hca import judge_hcas
from .check_history import judge_history
from .check_link import judge_links
from .check_optics import judge_optics
from .check_port import NO_STATE, NOTHING_EXPECTED, equal, judge_port, set_key, silent, why_not_active
from .check_sm import judge_subnet_manager
from .check_sources import judge_agreement, judge_presence, judge_tool

# What else there is tells nothing of one that is gone.
_LACKS = "where `lspci -d 15b3:` lacks an HCA, reseat or replace it; else "
# A link that is up, even where no subnet manager has come to it yet.
_LIVE = ("Active", "Armed", "Initializing")


def judge(facts: IbFacts, expect: Expectations) -> list[Check]:
    """Every ib.* and fabric.sm.* check of one host, in reading order."""
    checks = [*judge_tool(facts, expect), judge_presence(facts, expect)]
    if not facts.cas:
        return checks + list(judge_perfquery(facts))
    ports = sort_out(facts, expect)
    checks.append(_count(facts, ports, expect))
    checks.append(judge_agreement(facts, ports))
    checks += judge_hcas(facts, ports, expect)
    idle, judged = _split_idle(facts, ports, expect)
    checks += _left_to_roce(judged, expect)
    roce = [pair for pair in judged if _is_roce_rail(pair[1], expect)]
    judged = [pair for pair in judged if pair not in roce]
    for ca, port in judged:
        checks += judge_port(ca, port, facts, expect)
        checks.append(judge_subnet_manager(ca, port, facts))
    checks += _idle(facts, idle, expect)
    checks += _apart(ports, {port_name(*check) for check in [*idle, *judged]})
    checks += _link_layers(facts, ports, expect)
    active = [(ca, port) for ca, port in judged if port.state == "Active"]
    checks += judge_links(facts, active, expect)
    # roce.* looks at neither; what is lost on the way is roce.port.loss.
    carrying = [pair for pair in roce if pair[1].state == "Active"]
    fabric = [pair for pair in active if is_infiniband(pair[1])]
    checks += judge_counters(facts, fabric, carrying)
    checks += judge_history(facts, fabric + carrying)
    checks += judge_optics(facts, active + carrying)
    return checks + list(judge_perfquery(facts))


def _is_roce_rail(port: Port, expect: Expectations) -> bool:
    wanted = expect.get("link_layer")
    return wanted is not None and wanted.value == ETHERNET and port.link_layer == ETHERNET


def _left_to_roce(judged: list[Pair], expect: Expectations) -> Iterator[Check]:
    for ca, port in judged:
        if _is_roce_rail(port, expect):
            yield skipped("ib.port.state", port_name(ca, port), "RoCE rail: see roce.port.state")


def rails(facts: IbFacts, expect: Expectations) -> list[Pair]:
    """The ports that make up this host's rails: of the expected link layer and not ignored."""
    return sort_out(facts, expect).rails


def _count(facts: IbFacts, ports: Sorted, expect: Expectations) -> Check:
    names = ports.hcas
    count = wanted_hcas(expect)
    if count is None and expect.get("soft_roce") is not None and facts.bus.value == () and not names:
        return skipped("ib.hca.count", "host", "soft RoCE: no HCA, and nobody expects any")
    if count is None:
        why = NOTHING_EXPECTED.format(key="hcas")
        return unknown("ib.hca.count", "host", why, observed=len(names), remedy=set_key("hcas"))
    wanted, exact = count
    expected = str(wanted.value) if exact else f"at least {wanted.value}"
    if len(names) == wanted.value or (not exact and len(names) > wanted.value):
        return passed("ib.hca.count", "host", len(names), expected, wanted.source)
    return failed(
        "ib.hca.count",
        "host",
        f"{len(names)} ({', '.join(names) or 'none'})",
        expected,
        wanted.source,
        cause=_why_count(facts, ports, wanted),
    )


def _why_count(facts: IbFacts, ports: Sorted, wanted: Expected) -> str:
    """What else there is, or what is missing, with what mends that; "" where nothing is known of it."""
    reported = []
    mends = ""
    if ports.others:
        shown = {port_name(ca, port): port.link_layer or "no link layer" for ca, port in ports.others}
        reported.append("another link layer on " + ", ".join(f"{k} ({v})" for k, v in shown.items()))
        mends = (
            f"{_LACKS}set LINK_TYPE_P1/P2 of the port that has to be a rail with mstconfig and reset that HCA in a "
            "maintenance window, or correct ibready_expect.hcas"
        )
    if len(ports.hcas) > wanted.value:
        reported.append("devices that the inventory does not know; name them in ibready_expect.ignore")
        return Cause("; ".join(reported), "name them in ibready_expect.ignore, or correct ibready_expect.hcas")
    apart = [f"{entry.name}: {entry.why}" for entry in ports.apart if not entry.spare]
    if apart:
        mends = f"{_LACKS}fit one of the rails' model, or correct ibready_expect"
    reported += apart
    addresses = {device.address for device in facts.devices.values()}
    if facts.bus.value is not None and facts.devices and "" not in addresses:
        lost = [entry for entry in facts.bus.value if entry not in addresses]
        if lost:
            reported.append(f"{', '.join(lost)} on the PCI bus without an RDMA device: no driver took it over")
            mends = "fix pci.hca.driver or pci.hca.rdma first"
        elif len(facts.bus.value) < wanted.value:
            reported.append(f"only {len(facts.bus.value)} HCAs are on the PCI bus")
            mends = ""
    return Cause("; ".join(reported), mends)


def _split_idle(facts: IbFacts, ports: Sorted, expect: Expectations) -> tuple[list[Pair], list[Pair]]:
    """The ports that nobody counts on and that are down, and those that are judged as rails.

    A host without any link that is up has no fabric at all, whatever nobody expects of it.
    """
    if not nobody_counts(expect):
        return [], ports.rails
    kinds = [(entry.ca, entry.port) for entry in ports.apart if facts.device(entry.ca.name).kind]
    live = any(port.state in _LIVE for ca in facts.cas for port in ca.ports)
    idle = [(ca, port) for ca, port in [*ports.rails, *kinds] if live and port.state not in ("Active", *NO_STATE)]
    judged = [pair for pair in ports.rails if pair not in idle]
    if not live:
        judged += [pair for pair in kinds if pair[1].state not in NO_STATE]
    return idle, judged


def _idle(facts: IbFacts, idle: list[Pair], expect: Expectations) -> Iterator[Check]:
    if not nobody_counts(expect):
        why = "somebody expects rails of this host: ib.hca.count and ib.port.state judge them"
        yield skipped("ib.port.idle", "host", why)
        return
    for ca, port in idle:
        name = port_name(ca, port)
        shown = f"{port.state}/{port.physical_state}" if port.physical_state else port.state
        cause = why_not_active(name, port, facts)
        mend = cause.remedy if isinstance(cause, Cause) else ""
        yield failed(
            "ib.port.idle",
            name,
            shown,
            "Active, or expected by nobody",
            "capability",
            cause=cause,
            # A spare one may be held down on purpose.
            remedy=f"name the port in ibready_expect.ignore where no job uses it; else {mend}" if mend else "",
        )
        yield skipped("ib.port.state", name, "nobody counts on this port: see ib.port.idle")
    states = [port.state for ca in facts.cas for port in ca.ports]
    if not idle and "Active" in states:
        yield passed("ib.port.idle", "host", f"{states.count('Active')} ports are Active")


def _apart(ports: Sorted, told: set[str]) -> Iterator[Check]:
    for entry in ports.apart:
        if entry.name not in told:
            yield skipped("ib.port.state", entry.name, entry.why)


def _link_layers(facts: IbFacts, ports: Sorted, expect: Expectations) -> Iterator[Check]:
    wanted, count = expect.get("link_layer"), wanted_hcas(expect)
    profile = profile_of(expect)
    presumed = expect.presumes_roce
    if (wanted is None or presumed) and profile and ports.layer:
        if ports.layer == ETHERNET and not presumed:
            yield from _nobody_tells(facts, ports.rails)
            return
        either = f"{ports.layer}, as most rails here ({profile} takes either)"
        most = count[0] if count else None
        yield from _compare_layers(facts, ports, Expected(either, profile), most)
    elif wanted is None:
        yield from _nobody_tells(facts, ports.rails)
    elif presumed:
        yield from _nobody_tells(facts, ports.others)
        for ca, port in ports.rails:
            yield _right_layer(ca, port, wanted)
    else:
        yield from _compare_layers(facts, ports, wanted, count[0] if count else None)


def _nobody_tells(facts: IbFacts, ports: list[Pair]) -> Iterator[Check]:
    for ca, port in ports:
        why = NOTHING_EXPECTED.format(key="link_layer")
        if not port.link_layer:
            why = silent(facts, "link layer")
        yield unknown(
            "ib.port.link_layer",
            port_name(ca, port),
            why,
            observed=port.link_layer,
            remedy=set_key("link_layer"),
        )


def _compare_layers(facts: IbFacts, ports: Sorted, wanted: Expected, count: Expected | None) -> Iterator[Check]:
    mine = {ca.name for ca, _port in ports.rails}
    models = {ca.type for ca, _port in ports.rails} - {""}
    complete = count is not None and len(mine) >= count.value
    for ca, port in ports.others:
        name = port_name(ca, port)
        if port.link_layer not in LAYERS:
            why = silent(facts, "known link layer")
            yield unknown("ib.port.link_layer", name, why, observed=port.link_layer)
        elif complete and ca.name not in mine:
            why = f"{port.link_layer} HCA beside all {count.value if count else ''} fabric HCAs"
            yield skipped("ib.port.link_layer", name, why)
        elif models and ca.type and ca.type not in models:
            why = f"{port.link_layer} HCA of another model ({ca.type}) than the rails"
            yield skipped("ib.port.link_layer", name, why)
        else:
            yield equal("ib.port.link_layer", name, port.link_layer, wanted)
    for ca, port in ports.rails:
        yield _right_layer(ca, port, wanted)


def _right_layer(ca: Ca, port: Port, wanted: Expected) -> Check:
    name = port_name(ca, port)
    return passed("ib.port.link_layer", name, layer(port), wanted.value, wanted.source)


AREA = Area(
    "ib",
    lambda evidence, machine, _expect: observe.observe(evidence, machine),
    lambda facts, _machine, expect: judge(facts, expect),
)
