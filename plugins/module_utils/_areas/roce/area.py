# SPDX-License-Identifier: GPL-3.0-or-later
"""The area roce as a whole: its checks in reading order. Facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..._data import rdma_drivers
from ..._evidence.sources import Evidence
from ..._expect.expectations import CAPABILITY, Expectations, Expected
from ..._ground.check import PASS, SKIP, Check, failed, passed, skipped, unknown
from ..._ground.link import ETHERNET
from ..._ground.text import few
from ..._rails.roce import asked_soft, split
from ..._rails.roce_ports import RoceFacts, RocePort
from ..area import Area
from ..ib.check_port import set_key
from ..machine.facts import Machine
from . import (
    ENTRIES,
    check_counters,
    check_dcbx,
    check_gid,
    check_port,
    check_qos,
    check_spectrum_x,
    observe,
    observe_spectrum_x,
)

_KIND = "roce.rail.kind"
_SOFT = "soft RoCE (RDMA in software)"
_SHOWN = 4
# NCCL takes queue pairs from one state to the next by itself, and of iWARP's only rdma_cm can (seen with siw).
_NO_NCCL = "speaks iWARP, over which NCCL cannot connect"
_NOBODY = "nobody expects RoCE rails (ibready_expect.link_layer is not Ethernet)"


def judge(facts: RoceFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every roce.* check of one host."""
    layer, soft = expect.get("link_layer"), expect.get("soft_roce")
    if layer is not None and layer.value != ETHERNET and soft is not None:
        return _beside(facts, expect)
    if (layer is None and soft is None) or (layer is not None and layer.value != ETHERNET):
        checks = _all_skipped(_NOBODY)
        unseen = _why_unseen(facts, machine) if layer is None else ""
        if unseen:
            return [unknown(entry.id, "host", unseen) for entry in ENTRIES]
        why = _why_untold(facts, machine, expect) if layer is None else ""
        if why:
            checks[0] = unknown(checks[0].id, "host", why, remedy=set_key("link_layer"))
        return checks
    if facts.ports.value is None and not facts.devices.missing:
        return [unknown(entry.id, "host", facts.ports.why) for entry in ENTRIES]
    rails, others = split(facts.ports.value or (), expect)
    none = not rails and not facts.devices.value and soft is None
    if none and machine.pci.known and not machine.hcas:
        return _all_skipped("no HCA on the PCI bus and no RDMA device")
    if expect.presumes_roce and not rails:
        return _all_skipped("no Ethernet RDMA port is left on the place of a rail")
    lost = list(_lost(facts, expect))
    checks = lost if lost and not rails else [*lost, _present(facts, rails, expect)]
    checks += [_apart(port, why, expect) for port, why in others]
    if not rails:
        mine = ("roce.rail.present", _KIND) if others else ("roce.rail.present",)
        why = "no RoCE rail: see roce.rail.present"
        return checks + [skipped(entry.id, "host", why) for entry in ENTRIES if entry.id not in mine]
    judged: list[Check] = []
    for port in rails:
        judged.append(_kind(port, machine, expect))
        judged += check_port.judge(port, rails, expect)
        judged += check_counters.judge(port, machine.surely_simulated)
        judged += check_gid.judge(port, rails, expect)
        judged += check_qos.judge(port, rails, facts.nccl_tc, expect)
        judged.append(check_dcbx.judge(port, expect))
    judged += check_spectrum_x.judge(rails, facts.programs, expect, machine.holds_part)
    return checks + _gathered(judged)


def _gathered(judged: list[Check]) -> list[Check]:
    """The checks by id; what passed, or was skipped for one reason, on several rails as one."""
    found: list[Check] = []
    for check_id in dict.fromkeys(check.id for check in judged):
        alike: dict[tuple[str, str], list[Check]] = {}
        for check in judged:
            if check.id != check_id:
                continue
            if check.result in (PASS, SKIP):
                alike.setdefault((check.result, check.cause), []).append(check)
            else:
                found.append(check)
        for some in alike.values():
            found.append(some[0] if len(some) == 1 else _as_one(some))
    return found


def _as_one(some: list[Check]) -> Check:
    names = ", ".join(check.subject for check in some)
    seen = {check.observed for check in some}
    observed = f"{names}: {seen.pop()}" if len(seen) == 1 else names
    expected = some[0].expected if len({check.expected for check in some}) == 1 else ""
    return replace(some[0], subject="host", observed=observed if some[0].result == PASS else "", expected=expected)


def _why_unseen(facts: RoceFacts, machine: Machine) -> str:
    """Why nobody could look whether this host has RoCE rails, "" where somebody did."""
    if facts.ports.value is None and not facts.devices.missing:
        return facts.ports.why
    return machine.network.why if machine.network.value is None else ""


def _why_untold(facts: RoceFacts, machine: Machine, expect: Expectations) -> str:
    """Why nothing tells whether this host has RoCE rails, though it may; "" where it has none."""
    ports = _looked_at(facts, expect)
    others = set(facts.devices.value or ()) - {port.device for port in facts.ports.value or ()}
    if not machine.cards or others:
        return ""
    roce = [port.name for port in ports if port.protocol == rdma_drivers.ROCE]
    if roce:
        return (
            f"{few(roce, _SHOWN)} may be RoCE rails or carry other traffic: nothing tells, and there is no InfiniBand"
        )
    iwarp = _iwarp(ports)
    if iwarp and all(port.protocol in (rdma_drivers.IWARP, rdma_drivers.SOFTWARE) for port in ports):
        return f"{iwarp}. Nothing tells which network jobs are to take, and there is no other"
    return ""


def _looked_at(facts: RoceFacts, expect: Expectations) -> list[RocePort]:
    return [port for port in facts.ports.value or () if not expect.ignores(port.device, port.name)]


def _iwarp(ports: list[RocePort]) -> str:
    """The ports that speak iWARP, and what is wrong with that; "" where none does."""
    names = [port.name for port in ports if port.protocol == rdma_drivers.IWARP]
    return f"{few(names, _SHOWN)}: {_NO_NCCL}" if names else ""


def _all_skipped(why: str) -> list[Check]:
    return [skipped(entry.id, "host", why) for entry in ENTRIES]


def _present(facts: RoceFacts, rails: list[RocePort], expect: Expectations) -> Check:
    check_id = "roce.rail.present"
    if rails:
        names = ", ".join(port.name for port in rails)
        return passed(check_id, "host", names, "at least 1 Ethernet RDMA port", CAPABILITY)
    devices = ", ".join(facts.devices.value or ())
    cause = f"{devices} have other ports only" if devices else "the kernel knows no RDMA device"
    remedy = ""
    ports = [port for port in _looked_at(facts, expect) if port.protocol == rdma_drivers.IWARP]
    # Beside HCAs, which may be in the other mode, an onboard adapter is not to blame.
    if ports and {port.device for port in ports} == set(facts.devices.value or ()):
        cause, remedy = _iwarp(ports), _other_protocol(ports)
    return failed(check_id, "host", "none", "at least 1", CAPABILITY, cause=cause, remedy=remedy)


def _other_protocol(ports: list[RocePort]) -> str:
    place = next((f"pci/{port.address}" for port in ports if port.driver in rdma_drivers.EITHER), "")
    if not place:
        return "take HCAs that speak RoCE or InfiniBand for jobs, or let them use TCP (NCCL_NET=Socket)"
    return (
        "the adapter can speak RoCE instead, until the next boot: `devlink dev param set"
        f" {place} name enable_iwarp value false cmode runtime`, then the same with `enable_roce value true`"
    )


def _beside(facts: RoceFacts, expect: Expectations) -> list[Check]:
    """Soft RoCE on a host whose rails are InfiniBand: whether it is there, and where."""
    if facts.ports.value is None and not facts.devices.missing:
        return [unknown(entry.id, "host", facts.ports.why) for entry in ENTRIES]
    checks = list(_lost(facts, expect))
    for port in facts.ports.value or ():
        asked = asked_soft(port, expect)
        checks += [] if asked is None else [_soft(port, asked)]
    mine = {check.id for check in checks}
    return checks + [entry for entry in _all_skipped(_NOBODY) if entry.id not in mine]


def _apart(port: RocePort, why: str, expect: Expectations) -> Check:
    """A port that is no rail; soft RoCE that is asked for has to be in its place all the same."""
    asked = asked_soft(port, expect)
    return skipped(_KIND, port.name, why) if asked is None else _soft(port, asked)


def _lost(facts: RoceFacts, expect: Expectations) -> Iterator[Check]:
    """The soft RoCE devices that the site asks for and the host does not have."""
    wanted = expect.get("soft_roce")
    there = [port.device for port in facts.ports.value or ()]
    for name, netdev in (wanted.value if wanted is not None else {}).items():
        if wanted is None or name in there:
            continue
        cause = f"rdma_rxe is not loaded, or {name} was deleted or never added on {netdev}"
        remedy = (
            "look at `journalctl -b -u 'ibready-soft-roce@*'` and `lsmod | grep rdma_rxe`; run role"
            f" rdma again, which adds {name}"
        )
        expected = f"soft RoCE on {netdev}"
        yield failed("roce.rail.present", name, "none", expected, wanted.source, cause=cause, remedy=remedy)


def _soft(port: RocePort, wanted: Expected) -> Check:
    """Soft RoCE that the site asks for is right where it is meant to be, and is no HCA."""
    expected = f"{_SOFT} on {wanted.value}"
    if port.netdev.value is None:
        return unknown(_KIND, port.name, port.netdev.why)
    observed = f"{_SOFT} on {port.netdev.value}"
    if port.netdev.value == wanted.value:
        return passed(_KIND, port.name, observed, expected, wanted.source)
    cause = f"it sits on {port.netdev.value}: its traffic takes another network"
    remedy = f"`rdma link delete {port.device}`, and run role rdma again (rdma_soft_roce)"
    return failed(_KIND, port.name, observed, expected, wanted.source, cause=cause, remedy=remedy)


def _kind(port: RocePort, machine: Machine, expect: Expectations) -> Check:
    expected = "RoCE done by an HCA"
    asked = asked_soft(port, expect)
    if asked is not None:
        return _soft(port, asked)
    if port.protocol == rdma_drivers.ROCE:
        return passed(_KIND, port.name, f"{port.model} {port.driver}", expected, CAPABILITY)
    if port.protocol == rdma_drivers.SOFTWARE:
        if machine.surely_simulated:
            return skipped(_KIND, port.name, f"simulated node: {machine.surely_simulated}")
        cause = "rdma_rxe or siw was set up on an interface without an HCA"
        return failed(_KIND, port.name, port.protocol, expected, CAPABILITY, cause=cause)
    driver = port.driver or "none that could be told"
    return unknown(_KIND, port.name, f"nobody knows whether its driver ({driver}) speaks RoCE")


def _observe(evidence: Evidence, machine: Machine, expect: Expectations) -> RoceFacts:
    return observe_spectrum_x.observe(evidence, observe.observe(evidence, machine), expect)


AREA = Area("roce", _observe, judge)
