# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Ethernet RDMA ports of a host are its rails, and why the others are not; no I/O."""

from __future__ import annotations

from collections import Counter

from .._data import rdma_drivers
from .._data.hcas import RAIL_GBPS
from .._expect.expectations import Expectations, Expected
from .hcas import most_gbps
from .ib import wanted_hcas, wanted_rate
from .roce_ports import RocePort

ACTIVE = "Active"


def split(ports: tuple[RocePort, ...], expect: Expectations) -> tuple[list[RocePort], list[tuple[RocePort, str]]]:
    """The rails, and every other port with the reason why it is none.

    The inventory says how many there are. Where there are more ports than that, those of another
    model than most, or spare ones without a link beside enough with one, are left out.
    """
    wanted = wanted_hcas(expect)
    count = int(wanted[0].value) if wanted else 0
    rails: list[RocePort] = []
    others: list[tuple[RocePort, str]] = []
    for port in ports:
        why = _never(port, ports, expect)
        if why:
            others.append((port, why))
        else:
            rails.append(port)
    rate = wanted_rate(expect)
    if rate is not None:
        rails, left = _fast_enough(rails, float(rate[0].value))
        others += left
    if expect.presumes_roce or (wanted is not None and not wanted[0].is_said):
        rails, left = _on_place(rails, count)
        others += left
    if expect.presumes_roce and not count:
        rails, left = _runs_like_one(rails)
        others += left
    for rule in (_in_hardware, _of_one_model, _with_a_link):
        rails, left = rule(rails, count)
        others += left
    return rails, others


def asked_soft(port: RocePort, expect: Expectations) -> Expected | None:
    """The interface that the site asks this device of soft RoCE to be on; None of any other."""
    wanted = expect.get("soft_roce")
    if wanted is None or port.protocol != rdma_drivers.SOFTWARE or port.device not in wanted.value:
        return None
    return Expected(wanted.value[port.device], wanted.source)


def _never(port: RocePort, ports: tuple[RocePort, ...], expect: Expectations) -> str:
    if expect.ignores(port.device, port.name):
        return "left out by the inventory (ibready_expect.ignore)"
    if port.virtual and any(not port.virtual for port in ports):
        return "a virtual function beside physical ones"
    if port.protocol in (rdma_drivers.IWARP, rdma_drivers.OTHER):
        return f"driver {port.driver or 'unknown'} speaks {port.protocol} there"
    return ""


def _fast_enough(ports: list[RocePort], gbps: float) -> tuple[list[RocePort], list[tuple[RocePort, str]]]:
    """Without those of a model that could never give the rate of a rail."""
    slow = [port for port in ports if 0 < most_gbps(port.model) < gbps]
    why = "{} gives {:g} Gb/s at most: no rail"
    left = [(port, why.format(port.model, most_gbps(port.model))) for port in slow]
    return [port for port in ports if port not in slow], left


def _on_place(ports: list[RocePort], count: int) -> tuple[list[RocePort], list[tuple[RocePort, str]]]:
    """Those beside a GPU, where most rails are; a device without a place may stand for a rail."""
    placed = [port for port in ports if port.beside]
    if not placed or 2 * len(placed) <= count:
        return ports, []
    why = f"not beside a GPU, as the {len(placed)} rails are"
    far = [port for port in ports if port.address and not port.beside]
    return [port for port in ports if port not in far], [(port, why) for port in far]


def _runs_like_one(ports: list[RocePort]) -> tuple[list[RocePort], list[tuple[RocePort, str]]]:
    """Those that have a link, of a model that runs at the rate of a rail somewhere on this host."""
    models = {port.model for port in ports if port.state == ACTIVE and (port.rate or 0.0) >= RAIL_GBPS}
    left = [(port, f"no {port.model} here runs at {RAIL_GBPS:g} Gb/s: no rail") for port in ports]
    left = [(port, why) for port, why in left if port.model not in models]
    idle = "a port without a link, on which nobody counts"
    left += [(port, idle) for port in ports if port.model in models and port.state != ACTIVE]
    out = [port for port, _why in left]
    return [port for port in ports if port not in out], left


def _in_hardware(ports: list[RocePort], count: int) -> tuple[list[RocePort], list[tuple[RocePort, str]]]:
    hard = [port for port in ports if port.protocol != rdma_drivers.SOFTWARE]
    # A software device that makes up the number is one rail that is none.
    if not hard or len(hard) < count:
        return ports, []
    return hard, [(port, "software RDMA beside HCAs") for port in ports if port not in hard]


def _of_one_model(ports: list[RocePort], count: int) -> tuple[list[RocePort], list[tuple[RocePort, str]]]:
    models = Counter(port.model for port in ports)
    if not count or len(ports) <= count:
        return ports, []
    model, most = models.most_common(1)[0]
    # Where no model makes up most of them the rails are mixed, and all ports are judged.
    if 2 * most <= max(count, len(ports)):
        return ports, []
    why = f"another model ({{}}) than the {most} rails ({model})"
    left = [(port, why.format(port.model)) for port in ports if port.model != model]
    return [port for port in ports if port.model == model], left


def _with_a_link(ports: list[RocePort], count: int) -> tuple[list[RocePort], list[tuple[RocePort, str]]]:
    live = [port for port in ports if port.state == ACTIVE]
    if not count or len(ports) <= count or len(live) != count:
        return ports, []
    why = f"a port without a link beside all {count} rails"
    return live, [(port, why) for port in ports if port not in live]
