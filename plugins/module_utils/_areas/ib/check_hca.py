# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge HCAs as a whole: their ports, GUID, firmware, and whether a host's rails are alike."""

from __future__ import annotations

import re
from collections import Counter
from typing import Iterator, Mapping

from ..._data.hcas import FIRMWARE_ENDED
from ..._expect.expectations import CAPABILITY, INVENTORY, Expectations, Expected
from ..._ground.check import PASS, Check, failed, passed, skipped, unknown
from ..._ground.equals import NO_MAJORITY, SAY_WHICH
from ..._ground.link import gbps
from ..._parse.ibstat import Ca
from ..._rails.hcas import chip
from ..._rails.ib import Pair, Sorted, wanted_hcas, wanted_rate
from ..._rails.ib_ports import IbFacts, is_infiniband, port_name
from .check_port import equal, judge_guid, silent, why_slow

_NO_RAIL = "no rail of this host"
_NOBODY_SAYS = "no firmware version is expected; fleet.hca.firmware compares the hosts"
# 28.47.1026 is of the train xx.47, of a ConnectX-7.
_FIRMWARE = re.compile(r"(\d{1,3})\.(\d{1,3})\.")
_TRAIN = re.compile(r"xx\.(\d{1,3})")


def judge_hcas(facts: IbFacts, ports: Sorted, expect: Expectations) -> list[Check]:
    """Every ib.hca.* check but those that count."""
    checks: list[Check] = []
    apart = {entry.ca.name: entry.why for entry in ports.apart if not entry.spare}
    for ca in facts.cas:
        if expect.ignores(ca.name):
            continue
        if ca.name in apart and ca.name not in ports.hcas:
            checks.append(skipped("ib.hca.guid", ca.name, apart[ca.name]))
            if facts.device(ca.name).board in _images(expect):
                checks.append(_firmware(ca, facts, ports, expect))
            continue
        checks.append(_ports(ca, facts))
        guid = judge_guid("ib.hca.guid", ca.name, ca.node_guid, facts)
        checks.append(_only_one(ca, guid, facts))
        checks.append(_firmware(ca, facts, ports, expect))
    rails = [ca for ca in facts.cas if ca.name in ports.hcas]
    checks += _equal_firmware(facts, rails)
    checks += _generation(facts, rails, expect)
    checks += _even(facts, ports, expect)
    return checks


def _only_one(ca: Ca, guid: Check, facts: IbFacts) -> Check:
    """The same check; failed where another HCA of this host has the same node GUID."""
    others = [
        entry.name
        for entry in facts.on_fabric().cas
        if entry.name != ca.name and entry.node_guid.lower() == ca.node_guid.lower()
    ]
    if guid.result != PASS or not others:
        return guid
    cause = f"{', '.join([ca.name, *others])} have one node GUID: one of them was set by hand"
    return failed("ib.hca.guid", ca.name, ca.node_guid, "a GUID of its own", CAPABILITY, cause=cause)


def _ports(ca: Ca, facts: IbFacts) -> Check:
    if ca.n_ports is None:
        return unknown("ib.hca.ports", ca.name, silent(facts, "number of ports"))
    if ca.n_ports == len(ca.ports) and ca.ports:
        return passed("ib.hca.ports", ca.name, len(ca.ports), ca.n_ports, CAPABILITY)
    expected = ca.n_ports or "at least 1"
    return failed("ib.hca.ports", ca.name, len(ca.ports), expected, CAPABILITY)


def _images(expect: Expectations) -> Mapping[str, str]:
    """The version that a site's image brings to every card of a board id, rail or not."""
    images = expect.get("firmware_images")
    return images.value if images else {}


def _firmware(ca: Ca, facts: IbFacts, ports: Sorted, expect: Expectations) -> Check:
    images, board = _images(expect), facts.device(ca.name).board
    if board in images:
        return _runs(ca, facts, Expected(images[board], INVENTORY))
    wanted = expect.get("firmware")
    if ca.name not in ports.hcas:
        return skipped("ib.hca.firmware", ca.name, _NO_RAIL if wanted else _NOBODY_SAYS)
    # A card of NVIDIA's has a board id; a device in software has none.
    if images and not board and ca.type.startswith("MT"):
        return unknown("ib.hca.firmware", ca.name, "its board id is not told, by which rdma_firmware names versions")
    if wanted is None:
        return skipped("ib.hca.firmware", ca.name, f"{_behind(ca.fw, expect)}{_NOBODY_SAYS}")
    return _runs(ca, facts, wanted)


def _runs(ca: Ca, facts: IbFacts, wanted: Expected) -> Check:
    if not ca.fw:
        return unknown("ib.hca.firmware", ca.name, silent(facts, "firmware version"))
    return equal("ib.hca.firmware", ca.name, ca.fw, wanted)


def _behind(firmware: str, expect: Expectations) -> str:
    """That the planned stack brings newer firmware: the HCA works, and an update is the site's own decision."""
    lock = expect.get("lock")
    train = _TRAIN.fullmatch(str(lock.value.get("firmware", ""))) if lock else None
    mine = _FIRMWARE.match(firmware)
    if train is None or mine is None:
        return ""
    newest = min(int(train[1]), FIRMWARE_ENDED.get(int(mine[1]), int(train[1])))
    if int(mine[2]) >= newest:
        return ""
    brings = "which the planned RDMA stack brings" if newest == int(train[1]) else "the last train of this chip"
    return f"{firmware} is older than {mine[1]}.{newest}, {brings}; "


def _equal_firmware(facts: IbFacts, rails: list[Ca]) -> Iterator[Check]:
    """Among HCAs of one chip and one board id; other boards may have to run other versions."""
    groups: dict[tuple[str, str, str], list[Ca]] = {}
    for ca in rails:
        major = ca.fw.partition(".")[0]
        groups.setdefault((ca.type, facts.device(ca.name).board, major), []).append(ca)
    models = Counter(ca.type for ca in rails if ca.type)
    unsaid = [ca.name for ca in rails if not ca.fw and models[ca.type] > 1]
    if unsaid:
        why = silent(facts, f"firmware version of {', '.join(unsaid)}")
        yield unknown("ib.hca.firmware_equal", "host", why)
        return
    compared = 0
    odd: list[Check] = []
    for (kind, _board, _major), mine in groups.items():
        if len(mine) < 2 or not kind:
            continue
        compared += len(mine)
        versions = Counter(ca.fw for ca in mine)
        usual, times = versions.most_common(1)[0]
        for ca in mine:
            if ca.fw == usual and 2 * times > len(mine):
                continue
            counted = {fw: f"{fw} on {n}" for fw, n in versions.most_common()}
            others = ", ".join(text for fw, text in counted.items() if fw != ca.fw)
            cause = "" if 2 * times > len(mine) else NO_MAJORITY + ", ".join(counted.values())
            odd.append(
                failed(
                    "ib.hca.firmware_equal",
                    ca.name,
                    ca.fw,
                    f"as the other {kind} here: {others}",
                    CAPABILITY,
                    cause=cause,
                    remedy=SAY_WHICH if cause else "",
                )
            )
    if odd:
        yield from odd
    elif compared:
        yield passed("ib.hca.firmware_equal", "host", f"alike on {compared} HCAs")
    else:
        yield skipped("ib.hca.firmware_equal", "host", "no two HCAs of the same model and board")


def _generation(facts: IbFacts, rails: list[Ca], expect: Expectations) -> Iterator[Check]:
    if wanted_hcas(expect) is None:
        yield skipped("ib.hca.generation", "host", "nobody says which HCAs are rails")
        return
    if not rails:
        return
    unsaid = [ca.name for ca in rails if not ca.type]
    if unsaid:
        why = silent(facts, f"model of {', '.join(unsaid)}")
        yield unknown("ib.hca.generation", "host", why)
        return
    chips = [(chip(ca.type, ca.fw), ca.name) for ca in rails]
    seen = Counter(name.replace(" Ex", "") for name, _device in chips)
    if len(seen) == 1:
        yield passed("ib.hca.generation", "host", f"{len(rails)} {chips[0][0]}", "one model", CAPABILITY)
        return
    usual = seen.most_common(1)[0][0]
    odd = ", ".join(f"{device} is a {name}" for name, device in chips if name.replace(" Ex", "") != usual)
    observed = ", ".join(f"{times} {name}" for name, times in seen.most_common())
    yield failed("ib.hca.generation", "host", observed, "one model on all rails", CAPABILITY, cause=odd)


def _even(facts: IbFacts, ports: Sorted, expect: Expectations) -> Iterator[Check]:
    """Rates of equal HCAs in one subnet, where no expected rate says what is right."""
    wanted = wanted_rate(expect)
    if wanted is not None and wanted[1]:
        yield skipped("ib.port.even", "host", "ib.port.rate judges every rate exactly")
        return
    spare = [(entry.ca, entry.port) for entry in ports.apart if entry.spare]
    live = [
        (ca, port) for ca, port in [*ports.rails, *spare] if is_infiniband(port) and port.state == "Active" and ca.type
    ]
    models = Counter(ca.type for ca, _port in live)
    live = [(ca, port) for ca, port in live if models[ca.type] > 1]
    if not live:
        yield skipped("ib.port.even", "host", "no two InfiniBand ports of equal HCAs are Active")
        return
    groups: dict[tuple[str, str], list[Pair]] = {}
    for ca, port in live:
        answer = facts.sm.get(port_name(ca, port))
        if port.rate is None or answer is None or answer.sm is None:
            why = silent(facts, "rate") if port.rate is None else "its subnet manager is not known"
            if answer is not None and port.rate is not None:
                why += f" ({answer.unavailable or answer.error})"
            yield unknown("ib.port.even", "host", f"{port_name(ca, port)}: {why}")
            return
        groups.setdefault((ca.type, answer.sm.guid.lower()), []).append((ca, port))
    # A rail below its floor is ib.port.rate's finding.
    uneven = [
        check for mine in groups.values() for check in _slower(facts, mine, ports.rails if wanted is not None else [])
    ]
    yield from uneven
    if not uneven:
        yield passed("ib.port.even", "host", f"alike on {len(live)} ports of equal HCAs")


def _slower(facts: IbFacts, mine: list[Pair], judged: list[Pair]) -> Iterator[Check]:
    most = max(port.rate or 0.0 for _ca, port in mine)
    for ca, port in mine:
        name = port_name(ca, port)
        if (port.rate or 0.0) < most and (ca, port) not in judged:
            yield failed(
                "ib.port.even",
                name,
                gbps(port.rate or 0.0),
                f"{gbps(most)}, as equal HCAs in the same subnet",
                CAPABILITY,
                cause=why_slow(facts.detail(name).link),
            )
