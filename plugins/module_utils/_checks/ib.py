# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the InfiniBand ports of one host: facts and expectations in, checks out, no I/O."""

from __future__ import annotations

import re
from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import (
    LINK_LAYERS,
    Expectations,
    Expected,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ib_facts import (
    IbFacts,
    is_infiniband,
    port_name,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca, Port

CAPABILITY = "capability"
# The unicast LID range of the InfiniBand architecture specification, volume 1, section 4.1.3.
LAST_UNICAST_LID = 0xBFFF
# ibstat prints rates without their fraction.
_HALVED = (2.5, 12.5)
_GUID = re.compile(r"\A0x[0-9a-fA-F]{1,16}\Z")

# What a Down port says of its rate, LID and subnet manager means nothing.
_DOWN = "the port is Down"
_STATE_FIRST = "mend ib.port.state first"

_NOTHING_EXPECTED = (
    "nobody expects a value: the inventory has no ibready_expect.{key}, "
    "and fewer than 3 hosts were compared"
)


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
        if ca.name in expect.ignore:
            continue
        checks.extend(_hca(ca, expect))
    for ca, port in fabric:
        checks.extend(_port(ca, port, expect))
        checks.append(_subnet_manager(ca, port, facts))
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
            if ca.name in expect.ignore or port_name(ca, port) in expect.ignore:
                continue
            layer = "InfiniBand" if is_infiniband(port) else port.link_layer
            (fabric if wanted is None or layer == wanted.value else others).append((ca, port))
    return fabric, others


def _count(
    fabric: list[tuple[Ca, Port]], others: list[tuple[Ca, Port]], expect: Expectations
) -> Check:
    names = sorted({ca.name for ca, _ in fabric})
    wanted = expect.get("hcas")
    if wanted is None:
        why = _NOTHING_EXPECTED.format(key="hcas")
        return unknown("ib.hca.count", "host", why, observed=len(names), remedy=_set("hcas"))
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
            layer = "InfiniBand" if is_infiniband(port) else port.link_layer
            rate = "?" if port.rate is None else int(port.rate)
            flat[port_name(ca, port)] = (
                f"{layer} {port.state}/{port.physical_state} {rate} Gb/s "
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
    yield _guid("ib.hca.guid", ca.name, ca.node_guid)
    wanted = expect.get("firmware")
    if wanted is None:
        why = "no firmware version is expected; fleet.hca.firmware compares the hosts"
        yield skipped("ib.hca.firmware", ca.name, why)
    elif not ca.fw:
        yield unknown("ib.hca.firmware", ca.name, "ibstat showed no firmware version")
    else:
        yield _equal("ib.hca.firmware", ca.name, ca.fw, wanted)


def _port(ca: Ca, port: Port, expect: Expectations) -> Iterator[Check]:
    name = port_name(ca, port)
    active = Expected("Active", CAPABILITY)
    if port.state == "Initializing":
        cause = (
            "no subnet manager has set up the port"
            if not port.sm_lid
            else "the subnet manager has not swept the port yet"
        )
        yield failed("ib.port.state", name, port.state, "Active", CAPABILITY, cause=cause)
    elif not port.state:
        yield unknown("ib.port.state", name, "ibstat showed no state")
    else:
        yield _equal("ib.port.state", name, port.state, active)
    if not port.physical_state:
        yield unknown("ib.port.physical_state", name, "ibstat showed no physical state")
    else:
        yield _equal(
            "ib.port.physical_state", name, port.physical_state, Expected("LinkUp", CAPABILITY)
        )
    yield _rate(name, port, expect)
    if not is_infiniband(port):
        return
    if port.state == "Down":
        yield unknown("ib.port.lid", name, _DOWN, remedy=_STATE_FIRST)
        yield unknown("ib.port.sm", name, _DOWN, remedy=_STATE_FIRST)
    else:
        yield _lid(name, port)
        yield _sm_lid(name, port)
    yield _guid("ib.port.guid", name, port.port_guid)


def _rate(name: str, port: Port, expect: Expectations) -> Check:
    wanted = expect.get("rate_gbps")
    if port.rate is None:
        return unknown("ib.port.rate", name, "ibstat showed no rate")
    if port.state == "Down":
        return unknown("ib.port.rate", name, _DOWN, remedy=_STATE_FIRST)
    if port.rate <= 0:
        return unknown("ib.port.rate", name, "ibstat showed no real rate", observed=port.rate)
    if wanted is None:
        why = _NOTHING_EXPECTED.format(key="rate_gbps")
        return unknown(
            "ib.port.rate", name, why, observed=_gbps(port.rate), remedy=_set("rate_gbps")
        )
    if port.rate == wanted.value or (wanted.value in _HALVED and port.rate == int(wanted.value)):
        return passed("ib.port.rate", name, _gbps(port.rate), _gbps(wanted.value), wanted.source)
    cause = ""
    if port.rate > wanted.value:
        cause = "the inventory expects less than the hardware gives; correct ibready_expect"
    return failed(
        "ib.port.rate", name, _gbps(port.rate), _gbps(wanted.value), wanted.source, cause=cause
    )


def _lid(name: str, port: Port) -> Check:
    expected = f"1 to {LAST_UNICAST_LID}"
    if port.lid is None:
        return unknown("ib.port.lid", name, "ibstat showed no base lid")
    if 1 <= port.lid <= LAST_UNICAST_LID:
        return passed("ib.port.lid", name, port.lid, expected, CAPABILITY)
    return failed("ib.port.lid", name, port.lid, expected, CAPABILITY)


def _sm_lid(name: str, port: Port) -> Check:
    if port.sm_lid is None:
        return unknown("ib.port.sm", name, "ibstat showed no SM lid")
    if 1 <= port.sm_lid <= LAST_UNICAST_LID:
        return passed("ib.port.sm", name, f"SM lid {port.sm_lid}", "an SM lid", CAPABILITY)
    return failed("ib.port.sm", name, f"SM lid {port.sm_lid}", "an SM lid", CAPABILITY)


def _subnet_manager(ca: Ca, port: Port, facts: IbFacts) -> Check:
    name = port_name(ca, port)
    if not is_infiniband(port):
        why = f"{port.link_layer or 'unknown'} port: no subnet manager"
        if not port.link_layer:
            return unknown("fabric.sm.answers", name, "ibstat showed no link layer")
        return skipped("fabric.sm.answers", name, why)
    answer = facts.sm.get(name)
    if answer is None:
        why = f"the port is {port.state or 'in no known state'}"
        return unknown("fabric.sm.answers", name, why, remedy=_STATE_FIRST)
    if answer.unavailable:
        return unknown("fabric.sm.answers", name, answer.unavailable)
    if answer.sm is None:
        return failed(
            "fabric.sm.answers", name, answer.error, "an answer from the master", CAPABILITY
        )
    state = f"{answer.sm.state_name} lid {answer.sm.lid} guid {answer.sm.guid}"
    if answer.sm.state_name != "SMINFO_MASTER":
        return failed(
            "fabric.sm.answers",
            name,
            state,
            "SMINFO_MASTER",
            CAPABILITY,
            cause="the subnet manager that the port was told of is not the master any more",
        )
    if answer.sm.lid != port.sm_lid:
        return failed(
            "fabric.sm.answers",
            name,
            state,
            f"the port's own SM lid {port.sm_lid}",
            CAPABILITY,
            cause="another subnet manager answers than the one that set up the port",
        )
    if not _GUID.match(answer.sm.guid) or int(answer.sm.guid, 16) == 0:
        why = "the subnet manager showed no readable GUID"
        return unknown("fabric.sm.answers", name, why, observed=state)
    return passed("fabric.sm.answers", name, state, "SMINFO_MASTER", CAPABILITY)


def _other_layer(
    fabric: list[tuple[Ca, Port]], others: list[tuple[Ca, Port]], expect: Expectations
) -> Iterator[Check]:
    wanted, hcas = expect.get("link_layer"), expect.get("hcas")
    if wanted is None:
        for ca, port in fabric:
            why = _NOTHING_EXPECTED.format(key="link_layer")
            if not port.link_layer:
                why = "ibstat showed no link layer"
            yield unknown(
                "ib.port.link_layer",
                port_name(ca, port),
                why,
                observed=port.link_layer,
                remedy=_set("link_layer"),
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
            yield _equal("ib.port.link_layer", name, port.link_layer, wanted)
    for ca, port in fabric:
        name = port_name(ca, port)
        yield passed("ib.port.link_layer", name, port.link_layer, wanted.value, wanted.source)


def _guid(check_id: str, subject: str, guid: str) -> Check:
    if not guid:
        return unknown(check_id, subject, "ibstat showed no GUID")
    if not _GUID.match(guid):
        return unknown(check_id, subject, "ibstat showed no readable GUID", observed=guid)
    if int(guid, 16) == 0:
        return failed(check_id, subject, guid, "not zero", CAPABILITY)
    return passed(check_id, subject, guid, "not zero", CAPABILITY)


def _equal(check_id: str, subject: str, observed: str, wanted: Expected) -> Check:
    if observed == wanted.value:
        return passed(check_id, subject, observed, wanted.value, wanted.source)
    return failed(check_id, subject, observed, wanted.value, wanted.source)


def _gbps(rate: float) -> str:
    return f"{rate:g} Gb/s"


def _set(key: str) -> str:
    return f"set ibready_expect.{key} in the inventory"
