# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge one host's HCAs and ports: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.ib_port import (
    NOTHING_EXPECTED,
    equal,
    judge_guid,
    judge_port,
    judge_subnet_manager,
    set_key,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    CAPABILITY,
    LINK_LAYERS,
    Expectations,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import (
    IbFacts,
    layer,
    port_name,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca, Port


def judge(facts: IbFacts, expect: Expectations) -> list[Check]:
    """Every ib.* and fabric.sm.* check of one host, in reading order."""
    checks = [_tool(facts)]
    if facts.ibstat_unknown:
        checks.append(unknown("ib.hca.present", "host", facts.ibstat_unknown))
        return checks
    checks.append(_present(facts))
    if not facts.cas:
        return checks

    fabric, others = _split(facts, expect)
    checks.append(_count(fabric, others, expect))
    checks.append(_agreement(facts))
    for ca in facts.cas:
        if expect.ignores(ca.name):
            continue
        checks.extend(_hca(ca, expect))
    for ca, port in fabric:
        checks.extend(judge_port(ca, port, expect))
        checks.append(judge_subnet_manager(ca, port, facts))
    checks.extend(_other_layer(fabric, others, expect))
    return checks


def rails(facts: IbFacts, expect: Expectations) -> list[tuple[Ca, Port]]:
    """The ports that make up this host's rails: of the expected link layer and not ignored."""
    return _split(facts, expect)[0]


def _tool(facts: IbFacts) -> Check:
    if facts.ibstat_unknown:
        return unknown("ib.tool.ibstat", "ibstat", facts.ibstat_unknown)
    if facts.error_lines:
        return unknown(
            "ib.tool.ibstat",
            "ibstat",
            f"ibstat stopped with: {facts.error_lines[-1]}",
            observed=f"{len(facts.cas)} devices before that",
        )
    return passed("ib.tool.ibstat", "ibstat", "understood")


def _present(facts: IbFacts) -> Check:
    if facts.cas:
        names = ", ".join(ca.name for ca in facts.cas)
        return passed("ib.hca.present", "host", names, "at least 1 device", CAPABILITY)
    if facts.error_lines:
        return unknown("ib.hca.present", "host", f"ibstat stopped with: {facts.error_lines[-1]}")
    kernel = ", ".join(ca.name for ca in facts.sysfs)
    if kernel:
        cause = f"the kernel knows {kernel}, so ibstat cannot read them"
    elif facts.sysfs_unknown:
        cause = f"no RDMA driver is bound to any device ({facts.sysfs_unknown})"
    else:
        cause = ""
    return failed(
        "ib.hca.present",
        "host",
        "ibstat printed nothing and ended with status 0",
        "at least 1 device",
        CAPABILITY,
        cause=cause,
    )


def _split(
    facts: IbFacts, expect: Expectations
) -> tuple[list[tuple[Ca, Port]], list[tuple[Ca, Port]]]:
    """The ports of the expected link layer, and the rest; ignored ones are in neither."""
    wanted = expect.get("link_layer")
    fabric: list[tuple[Ca, Port]] = []
    others: list[tuple[Ca, Port]] = []
    for ca in facts.cas:
        for port in ca.ports:
            if expect.ignores(ca.name, port_name(ca, port)):
                continue
            mine = wanted is None or layer(port) == wanted.value
            (fabric if mine else others).append((ca, port))
    return fabric, others


def _count(
    fabric: list[tuple[Ca, Port]], others: list[tuple[Ca, Port]], expect: Expectations
) -> Check:
    names = sorted({ca.name for ca, _ in fabric})
    wanted = expect.get("hcas")
    if wanted is None:
        why = NOTHING_EXPECTED.format(key="hcas")
        return unknown("ib.hca.count", "host", why, observed=len(names), remedy=set_key("hcas"))
    if len(names) == wanted.value:
        return passed("ib.hca.count", "host", len(names), wanted.value, wanted.source)
    extra = {port_name(ca, port): port.link_layer or "no link layer" for ca, port in others}
    cause = ""
    if extra:
        cause = "another link layer on " + ", ".join(f"{k} ({v})" for k, v in extra.items())
    elif len(names) > wanted.value:
        cause = "devices that the inventory does not know; name them in ibready_expect.ignore"
    return failed(
        "ib.hca.count",
        "host",
        f"{len(names)} ({', '.join(names) or 'none'})",
        wanted.value,
        wanted.source,
        cause=cause,
    )


def _agreement(facts: IbFacts) -> Check:
    if facts.sysfs_unknown:
        return unknown("ib.sources.agree", "host", facts.sysfs_unknown)
    told, kernel = _flat(facts.cas), _flat(facts.sysfs)
    wrong = [
        f"{name}: ibstat {told.get(name, 'nothing')}, sysfs {kernel.get(name, 'nothing')}"
        for name in sorted(set(told) | set(kernel))
        if told.get(name) != kernel.get(name)
    ]
    if wrong:
        return failed("ib.sources.agree", "host", "; ".join(wrong), "the same", CAPABILITY)
    return passed(
        "ib.sources.agree", "host", f"{len(told)} devices and ports", "the same", CAPABILITY
    )


def _flat(cas: tuple[Ca, ...]) -> dict[str, str]:
    """Every device and port in one comparable text (rate without half Gb/s)."""
    flat = {ca.name: "present" for ca in cas}
    for ca in cas:
        for port in ca.ports:
            rate = "?" if port.rate is None else int(port.rate)
            flat[port_name(ca, port)] = (
                f"{layer(port)} {port.state}/{port.physical_state} {rate} Gb/s "
                f"LID {port.lid} SM lid {port.sm_lid}"
            )
    return flat


def _hca(ca: Ca, expect: Expectations) -> Iterator[Check]:
    if ca.n_ports is None:
        yield unknown("ib.hca.ports", ca.name, "ibstat did not say how many ports it has")
    elif ca.n_ports == len(ca.ports) and ca.ports:
        yield passed("ib.hca.ports", ca.name, len(ca.ports), ca.n_ports, CAPABILITY)
    else:
        expected = ca.n_ports or "at least 1"
        yield failed("ib.hca.ports", ca.name, len(ca.ports), expected, CAPABILITY)
    yield judge_guid("ib.hca.guid", ca.name, ca.node_guid)
    wanted = expect.get("firmware")
    if wanted is None:
        why = "no firmware version is expected; fleet.hca.firmware compares the hosts"
        yield skipped("ib.hca.firmware", ca.name, why)
    elif not ca.fw:
        yield unknown("ib.hca.firmware", ca.name, "ibstat showed no firmware version")
    else:
        yield equal("ib.hca.firmware", ca.name, ca.fw, wanted)


def _other_layer(
    fabric: list[tuple[Ca, Port]], others: list[tuple[Ca, Port]], expect: Expectations
) -> Iterator[Check]:
    wanted, hcas = expect.get("link_layer"), expect.get("hcas")
    if wanted is None:
        for ca, port in fabric:
            why = NOTHING_EXPECTED.format(key="link_layer")
            if not port.link_layer:
                why = "ibstat showed no link layer"
            yield unknown(
                "ib.port.link_layer",
                port_name(ca, port),
                why,
                observed=port.link_layer,
                remedy=set_key("link_layer"),
            )
        return
    mine = {ca.name for ca, _ in fabric}
    complete = hcas is not None and len(mine) >= hcas.value
    for ca, port in others:
        name = port_name(ca, port)
        if port.link_layer not in LINK_LAYERS:
            why = f"ibstat showed {port.link_layer or 'no link layer'}"
            yield unknown("ib.port.link_layer", name, why)
        elif complete and ca.name not in mine:
            why = f"{port.link_layer} HCA beside all {hcas.value if hcas else ''} fabric HCAs"
            yield skipped("ib.port.link_layer", name, why)
        else:
            yield equal("ib.port.link_layer", name, port.link_layer, wanted)
    for ca, port in fabric:
        name = port_name(ca, port)
        yield passed("ib.port.link_layer", name, port.link_layer, wanted.value, wanted.source)
