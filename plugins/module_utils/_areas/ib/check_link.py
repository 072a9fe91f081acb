# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the partitions and the MTU of InfiniBand ports that are Active."""

from __future__ import annotations

import re
from typing import Iterator

from ..._expect.expectations import CAPABILITY, Expectations, Expected
from ..._ground.check import Cause, Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._ground.text import few
from ..._rails.ib import Pair
from ..._rails.ib_ports import IbFacts, Mtu, is_infiniband, port_name
from .fold import fold

_PKEY = re.compile(r"(?:0x)?([0-9a-fA-F]{1,4})")
# The high bit of a P_Key: a full member. Two limited members cannot talk to each other.
_FULL = 0x8000
_SHOWN = 8
# What to do where a port's full membership is not where NCCL looks.
_INDEX = (
    "have the subnet manager put that partition at index 0 (index0 in opensm's partitions.conf), or set NCCL_IB_PKEY "
    "for every job (nccl_conf_variables); where jobs set it themselves, say ibready_expect.pkeys"
)


def judge_links(facts: IbFacts, ports: list[Pair], expect: Expectations) -> Iterator[Check]:
    """ib.port.pkey and ib.port.mtu of these ports; an Ethernet port has neither."""
    names = [port_name(ca, port) for ca, port in ports if is_infiniband(port)]
    yield from fold((_pkey(facts, name, expect) for name in names), "ports")
    yield from fold((_mtu(facts, name, expect) for name in names), "ports")


def _pkey(facts: IbFacts, name: str, expect: Expectations) -> Check:
    wanted = expect.get("pkeys")

    def judge(keys: tuple[int, ...]) -> Check:
        return _member(name, keys, facts.detail(name).nccl_pkey) if wanted is None else _has(name, keys, wanted)

    return look("ib.port.pkey", name, facts.detail(name).pkeys, judge)


def _member(name: str, keys: tuple[int, ...], used: Reading[tuple[int, int]]) -> Check:
    """Without a word of the inventory: the port must be a full member of a partition, and NCCL must use that."""
    expected = "full member of a partition"
    if any(key & _FULL for key in keys):
        if used.value is None:
            return unknown("ib.port.pkey", name, used.why or "nobody looked which of them NCCL uses")
        index, key = used.value
        if key & _FULL:
            return passed("ib.port.pkey", name, _hex(keys), expected, CAPABILITY)
        held = f"0x{key:04x}, a limited membership" if key else "none"
        cause = f"NCCL and perftest go by index {index} of the table, and there is {held}"
        return failed("ib.port.pkey", name, _hex(keys), expected, CAPABILITY, cause=cause, remedy=_INDEX)
    cause = "the port is in no partition: the subnet manager gave it no P_Key"
    if keys:
        cause = (
            "the port is only a limited member, and limited members cannot talk to each other: "
            "the subnet manager's partitions do not name it as full"
        )
    return failed("ib.port.pkey", name, _hex(keys), expected, CAPABILITY, cause=cause)


def _has(name: str, keys: tuple[int, ...], wanted: Expected) -> Check:
    asked = [(text, _PKEY.fullmatch(str(text))) for text in wanted.value]
    wrong = [text for text, match in asked if match is None]
    if wrong:
        why = f"ibready_expect.pkeys: {wrong[0]!r} is no P_Key"
        return unknown("ib.port.pkey", name, why, remedy="write P_Keys like 0x8001")
    numbers = [int(match.group(1), 16) for _text, match in asked if match is not None]
    expected = _hex(tuple(numbers))
    # Without the high bit in the inventory either membership will do.
    lost = [number for number in numbers if number not in keys and (number & _FULL or number | _FULL not in keys)]
    if not lost:
        return passed("ib.port.pkey", name, _hex(keys), expected, wanted.source)
    cause = f"not in the port's table: {_hex(tuple(lost))}"
    if any(entry & _FULL and entry ^ _FULL in keys for entry in lost):
        cause += "; the port is only a limited member of it"
    return failed("ib.port.pkey", name, _hex(keys), expected, wanted.source, cause=cause)


def _hex(keys: tuple[int, ...]) -> str:
    return few([f"0x{key:04x}" for key in keys], _SHOWN) or "none"


def _mtu(facts: IbFacts, name: str, expect: Expectations) -> Check:
    wanted = expect.get("mtu")

    def judge(seen: Mtu) -> Check:
        value, source = (wanted.value, wanted.source) if wanted else (seen.max, CAPABILITY)
        if seen.active == value:
            return passed("ib.port.mtu", name, seen.active, value, source)
        cause: str = ""
        if seen.active > value:
            cause = Cause(
                "the inventory expects less than the port runs; correct ibready_expect.mtu",
                "correct ibready_expect.mtu in the inventory; the port is well",
            )
        elif value > seen.max:
            cause = Cause(f"the port cannot do more than {seen.max}", "correct ibready_expect.mtu in the inventory")
        return failed("ib.port.mtu", name, seen.active, value, source, cause=cause)

    if facts.simulated and not facts.detail(name).mtu.known:
        return skipped("ib.port.mtu", name, f"simulated node: {facts.simulated}")
    return look("ib.port.mtu", name, facts.detail(name).mtu, judge)
