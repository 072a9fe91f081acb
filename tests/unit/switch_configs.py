# SPDX-License-Identifier: GPL-3.0-or-later
"""Healthy running configurations of NX-OS, EOS and Onyx, how tests bend them, and what they hold of a port.

Made up, in the systems' published formats: those of the gauntlet's site.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._switch import eos, nxos, onyx
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch.port import SwitchPort, Text
from tests.gauntlet.switches import site
from tests.unit import switch_texts as made

RUNNING, SHOW_ROCE, NEGOTIATED = "show_running-config.txt", "show_roce.txt", nxos.NEGOTIATED
NXOS = site.SYSTEMS["nxos"].texts("leaf1")[RUNNING]
EOS = site.SYSTEMS["eos"].texts("leaf1")[RUNNING]
ONYX, ROCE = (site.SYSTEMS["onyx"].texts("leaf1")[file] for file in (RUNNING, SHOW_ROCE))
TABLE = """\
============================================================
Port               Mode Oper(VL bmap)  RxPPP      TxPPP
============================================================

Ethernet1/1        On   On  (8)        4088353    1890
Ethernet1/2        Auto Off           0          0
Ethernet1/3        Auto On  (8)       0          12
"""
Ports = dict[str, SwitchPort]


def read_nxos(text: str, table: str = "") -> Ports:
    return nxos.read(Text("leaf1/file", text), Text("leaf1/table", table) if table else None)[1]


def read_eos(text: str) -> Ports:
    return eos.read(Text("leaf1/file", text))[1]


def read_onyx(text: str, roce: str = ROCE) -> Ports:
    return onyx.read(Text("leaf1/file", text), Text("leaf1/roce", roce))[1]


def bent(text: str, *changes: tuple[str, str]) -> str:
    for before, after in changes:
        assert before in text, before
        text = text.replace(before, after)
    return text


# Onyx without the command roce: the same, set up by hand.
OFF = "RoCE mode: N/A\n"
HAND = (
    "\n##\n## VLAN configuration\n",
    """
##
## QoS switch configuration
##
   interface ethernet 1/1-1/2 qos trust L3
   interface ethernet 1/1-1/2 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500
   interface ethernet 1/1-1/2 traffic-class 6 dcb ets strict

##
## DCBX PFC configuration
##
   dcb priority-flow-control enable force
   dcb priority-flow-control priority 3 enable
   interface ethernet 1/1-1/2 dcb priority-flow-control mode on force
   interface ethernet 1/3 pfc-wd

##
## VLAN configuration
""",
)


PARSERS: dict[str, tuple[Callable[[str], Ports], str]] = {
    "nxos": (read_nxos, NXOS),
    "nxos table": (lambda table: read_nxos(NXOS, table or " "), TABLE),
    "eos": (read_eos, EOS),
    "onyx": (read_onyx, ONYX),
    "onyx by hand": (lambda text: read_onyx(text, OFF), bent(ONYX, HAND)),
    "onyx roce": (lambda roce: read_onyx(ONYX, roce), ROCE),
}


def read(name: str, text: str) -> Ports | None:
    """What a parser gives, or None for its error, which names the file and a line that there is."""
    found: Ports | None = made.told(PARSERS[name][0], text, "leaf1/file", "leaf1/table", "leaf1/roce")
    return found


def understood(parser: str, before: str, after: str) -> bool:
    """Whether the parser still answers where a word of its text, which it does understand, is another."""
    assert read(parser, PARSERS[parser][1]) is not None
    return read(parser, bent(PARSERS[parser][1], (before, after))) is not None


def one(value: Any, *changes: tuple[str, str], port: str = "Ethernet1/1", **more: str) -> Any:
    """A fact and its value, of a port of a configuration that is bent so; ``more``: another text beside it."""
    return pytest.param(value, changes, port, more, id=" ".join(after for _before, after in changes)[:70] or "as")


def pfc(value: Any, *changes: tuple[str, str], **more: Any) -> Any:
    return one(("pfc", value), *changes, **more)


def holds(told: tuple[Any, Any], found: SwitchPort) -> None:
    """The port tells this fact, of DSCP N its priority and queue, with its line; or why it tells nothing."""
    what, value = told
    fact = found.classes if isinstance(what, int) else getattr(found, what)
    if isinstance(what, int) and value is not None:
        led = (found.classes.value or {})[what]
        assert (led.priority, led.queue) == value
        assert led.line
    else:
        assert fact.value == value
        assert fact.why if value is None else fact.line
