# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge RoCE ports of one host: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    roce_gid,
    roce_port,
    roce_qos,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    PASS,
    SKIP,
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.roce_rails import split
from ansible_collections.ibready.cluster.plugins.module_utils._data import rdma_drivers
from ansible_collections.ibready.cluster.plugins.module_utils._entries import roce as entries
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    CAPABILITY,
    Expectations,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._facts.roce import (
    RoceFacts,
    RocePort,
)

ETHERNET = "Ethernet"
_KIND = "roce.rail.kind"
_NOBODY = "nobody expects RoCE rails (ibready_expect.link_layer is not Ethernet)"


def judge(facts: RoceFacts, machine: Machine, expect: Expectations) -> list[Check]:
    """Every roce.* check of one host."""
    layer = expect.get("link_layer")
    if layer is None or layer.value != ETHERNET:
        checks = _all_skipped(_NOBODY)
        if layer is None and facts.ports.value is None and not facts.devices.missing:
            # Nobody says what the fabric is, and nobody could see it either.
            checks[0] = unknown(checks[0].id, "host", facts.ports.why)
        return checks
    if facts.ports.value is None and not facts.devices.missing:
        return [unknown(one.id, "host", facts.ports.why) for one in entries.ENTRIES]
    rails, others = split(facts.ports.value or (), expect)
    if not rails and not facts.devices.value and machine.pci.known and not machine.hcas:
        return _all_skipped("no HCA on the PCI bus and no RDMA device")
    checks = [_present(facts, rails)]
    checks += [skipped(_KIND, port.name, why) for port, why in others]
    if not rails:
        mine = ("roce.rail.present", _KIND) if others else ("roce.rail.present",)
        why = "no RoCE rail: see roce.rail.present"
        return checks + [
            skipped(one.id, "host", why) for one in entries.ENTRIES if one.id not in mine
        ]
    judged: list[Check] = []
    for port in rails:
        judged.append(_kind(port, machine))
        judged += roce_port.judge(port, expect)
        judged += roce_gid.judge(port, rails, expect)
        judged += roce_qos.judge(port, facts.nccl_tc, expect)
    return checks + _gathered(judged)


def _gathered(judged: list[Check]) -> list[Check]:
    """The checks by id; what passed, or was skipped for one reason, on several rails as one."""
    found: list[Check] = []
    for check_id in dict.fromkeys(one.id for one in judged):
        alike: dict[tuple[str, str], list[Check]] = {}
        for one in judged:
            if one.id != check_id:
                continue
            if one.result in (PASS, SKIP):
                alike.setdefault((one.result, one.cause), []).append(one)
            else:
                found.append(one)
        for some in alike.values():
            found.append(some[0] if len(some) == 1 else _as_one(some))
    return found


def _as_one(some: list[Check]) -> Check:
    names = ", ".join(one.subject for one in some)
    seen = {one.observed for one in some}
    observed = f"{names}: {seen.pop()}" if len(seen) == 1 else names
    expected = some[0].expected if len({one.expected for one in some}) == 1 else ""
    return replace(
        some[0],
        subject="host",
        observed=observed if some[0].result == PASS else "",
        expected=expected,
    )


def _all_skipped(why: str) -> list[Check]:
    return [skipped(one.id, "host", why) for one in entries.ENTRIES]


def _present(facts: RoceFacts, rails: list[RocePort]) -> Check:
    check_id = "roce.rail.present"
    if rails:
        names = ", ".join(port.name for port in rails)
        return passed(check_id, "host", names, "at least 1 Ethernet RDMA port", CAPABILITY)
    devices = ", ".join(facts.devices.value or ())
    cause = f"{devices} have other ports only" if devices else "the kernel knows no RDMA device"
    return failed(check_id, "host", "none", "at least 1", CAPABILITY, cause=cause)


def _kind(port: RocePort, machine: Machine) -> Check:
    expected = "RoCE done by an HCA"
    if port.protocol == rdma_drivers.ROCE:
        return passed(_KIND, port.name, f"{port.model} {port.driver}", expected, CAPABILITY)
    if port.protocol == rdma_drivers.SOFTWARE:
        if machine.surely_simulated:
            return skipped(_KIND, port.name, f"simulated node: {machine.surely_simulated}")
        cause = "rdma_rxe or siw was set up on an interface without an HCA"
        return failed(_KIND, port.name, port.protocol, expected, CAPABILITY, cause=cause)
    driver = port.driver or "none that could be told"
    return unknown(_KIND, port.name, f"nobody knows whether its driver ({driver}) speaks RoCE")
