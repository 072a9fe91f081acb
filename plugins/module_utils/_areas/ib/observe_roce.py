# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what tells of loss and congestion on RoCE ports twice, some seconds apart.

Area roce judges it; it is here because the first look has to come before the pause of this area.
"""

from __future__ import annotations

import posixpath
import re
from typing import Iterable, Mapping

from ..._data.ib_counters import PAUSE_S
from ..._data.roce_counters import COUNTERS, ETHTOOL, ETHTOOL_DRIVER, HW, LAST_LINES, PRIORITY
from ..._evidence import ask
from ..._evidence.sources import Evidence, Unavailable
from ..._ground.link import ETHERNET
from ..._ground.reading import Reading
from ..._parse import ethtool_stats
from ..._parse.ibstat import Ca, Port
from ..._rails.roce import ACTIVE
from ..._rails.roce_ports import Counted
from .sysfs import BASE

_NET = "/sys/class/net"
# Port names of representors, which carry no traffic of the port's own: pf0vf3, pf1sf0, pf0hpf.
_REPRESENTOR = re.compile(r"(?:c[0-9]{1,3})?pf[0-9]{1,3}(?:vf|sf|hpf)[0-9]{0,5}")
_COUNT = re.compile(r"[0-9]{1,20}")
_HW_NAMES = tuple(dict.fromkeys(counter.name for counter in COUNTERS if counter.home == HW))
# Both homes have a counter of one name: that of `ethtool -S` is kept under its home's.
_BY_ETHTOOL = {
    counter.name.replace(PRIORITY, str(priority))
    for counter in COUNTERS
    if counter.home == ETHTOOL
    for priority in range(8)
}
Values = Mapping[str, int]


def counting(evidence: Evidence, ports: Iterable[tuple[Ca, Port]]) -> dict[str, Reading[str]]:
    """The Ethernet ports that carry traffic, each with the interface whose counters are read, missing where none is."""
    found = {}
    for ca, port in ports:
        if port.link_layer != ETHERNET or port.state != ACTIVE:
            continue
        base = f"{BASE}/{ca.name}"
        bound = ask.link(evidence, f"{base}/device/driver").value or ""
        ours = posixpath.basename(bound) == ETHTOOL_DRIVER
        none: Reading[str] = Reading(None, f"its driver is not {ETHTOOL_DRIVER}", True)
        found[f"{ca.name}/{port.num}"] = port_netdev(evidence, base, port.num) if ours else none
    return found


def port_netdev(evidence: Evidence, base: str, num: int) -> Reading[str]:
    """The interface of a port among those of its function; missing where that has none.

    Unknown where several might be it: the counters and the settings of another port are no port's.
    """
    own = own_netdevs(evidence, base)
    if own.value is None:
        return Reading(None, own.why, own.missing)
    if not own.value:
        return Reading(None, "it has no network interface", True)
    asked = {name: ask.text(evidence, f"{_NET}/{name}/dev_port") for name in own.value}
    mine = [name for name in own.value if asked[name].value == str(num - 1)]
    if not mine and len(own.value) == 1 and len(ask.names(evidence, f"{base}/ports").value or ()) == 1:
        mine = own.value
    if len(mine) == 1:
        return Reading(mine[0])
    reason = "several have its number" if mine else "none has its number"
    why = next((told.why for told in asked.values() if told.why), reason)
    return Reading(None, f"which of {', '.join(own.value)} is port {num} is not known: {why}")


def own_netdevs(evidence: Evidence, base: str) -> Reading[list[str]]:
    """The interfaces of the PCI function itself, without representors of virtual functions."""
    names = ask.names(evidence, f"{base}/device/net")
    return names.map(
        lambda found: [
            name
            for name in found
            if not _REPRESENTOR.fullmatch(ask.text(evidence, f"{_NET}/{name}/phys_port_name").value or "")
        ]
    )


def first(evidence: Evidence, ports: Mapping[str, Reading[str]]) -> dict[str, Reading[Values]]:
    """The counters of these ports ("device/port") by name, as they are now.

    ``ports``: the interface of each whose `ethtool -S` is read (counting). Whoever waits
    between two looks of another area asks this before: what was asked is kept.
    """
    return {port: _counters(evidence, port, netdev) for port, netdev in ports.items()}


def read(evidence: Evidence, ports: Mapping[str, Reading[str]]) -> dict[str, Counted]:
    """The same twice; nobody waits where there are none."""
    before = first(evidence, ports)
    if not any(entry.known for entry in before.values()):
        return {port: Counted(entry, Reading(None, entry.why, entry.missing)) for port, entry in before.items()}
    try:
        later, seconds = evidence.again(PAUSE_S)
    except Unavailable as exc:
        why = f"no second look at the counters: {exc}"
        return {port: Counted(entry, Reading(None, why)) for port, entry in before.items()}
    return {
        port: Counted(
            entry,
            _counters(later, port, ports[port]) if entry.known else Reading(None, entry.why, entry.missing),
            seconds,
        )
        for port, entry in before.items()
    }


def _counters(evidence: Evidence, port: str, netdev: Reading[str]) -> Reading[Values]:
    """Those of the table that the driver shows; missing where it shows none at all."""
    device, _slash, num = port.partition("/")
    base = f"{BASE}/{device}/ports/{num}/{HW}"
    listed = ask.names(evidence, base)
    if listed.value is None and not listed.missing:
        return Reading(None, listed.why)
    values: dict[str, int] = {}
    for name in _HW_NAMES:
        if name not in (listed.value or ()):
            continue
        text = ask.text(evidence, f"{base}/{name}")
        if text.value is None:
            return Reading(None, text.why)
        if _COUNT.fullmatch(text.value) is None:
            return Reading(None, f"{base}/{name}: {text.value[:40]!r} is no number")
        values[name] = int(text.value)
    if not values:
        return Reading(None, "the driver shows no counters of loss or congestion", True)
    if netdev.value is None and not netdev.missing:
        return Reading(None, netdev.why)
    if netdev.value:
        # It comes with the distribution's ethtool, which a host need not have.
        shown = ask.optional(evidence, "ethtool_stats", _whole, netdev.value)
        if shown.value is None and not shown.missing:
            return Reading(None, shown.why)
        told = shown.value or {}
        values.update({f"{ETHTOOL} {name}": told[name] for name in _BY_ETHTOOL & set(told)})
    return Reading(values)


def _whole(text: str) -> dict[str, int]:
    found = ethtool_stats.parse(text)
    if not any(name.startswith(LAST_LINES) for name in found):
        raise ValueError("ethtool -S: it shows no channels, which come last: the output was cut")
    return found
