# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold a RoCE rail's flow control against what its switch advertises of its own by DCBX; no I/O."""

from __future__ import annotations

from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Check, outcome, skipped, unknown
from ..._ground.look import look
from ..._parse.lldpctl import Neighbour
from ..._rails.roce import asked_soft
from ..._rails.roce_ports import RocePort
from .check_qos import shown

_PFC = "roce.dcbx.pfc"


def judge(port: RocePort, expect: Expectations) -> Check:
    """Nobody has to listen to LLDP, nor any switch to advertise by it: what is not there is skipped."""
    if asked_soft(port, expect) is not None or port.virtual:
        return skipped(_PFC, port.name, "no flow control of its own")

    def compare(heard: tuple[Neighbour, ...]) -> Check:
        told = [entry for entry in heard if entry.pfc is not None]
        if not told:
            return skipped(_PFC, port.name, "no neighbour advertises flow control by DCBX of IEEE 802.1Qaz")
        mine = port.qos.pfc.value
        if mine is None:
            return unknown(_PFC, port.name, port.qos.pfc.why)
        odd = next((entry for entry in told if entry.pfc != mine), told[0])
        expected = f"priorities {shown(odd.pfc or ())}, as {odd} advertises"
        observed = f"{port.uplink}: priorities {shown(mine)}"
        return outcome(odd.pfc == mine, _PFC, port.name, observed, expected, CAPABILITY)

    return look(
        _PFC,
        port.name,
        port.neighbours,
        compare,
        missing=lambda: skipped(_PFC, port.name, "nobody listens to LLDP here (lldpd is not installed)"),
    )
