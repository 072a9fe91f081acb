# SPDX-License-Identifier: GPL-3.0-or-later
"""Cut a node off: no route but the operator's ssh and the simulated fabric's cables."""

from __future__ import annotations

_TABLE = "inet ibready_cutoff"
# ibsim's control and data ports, in the fabric's container.
_FABRIC = "7070-7080"


def cut_rules(fabric: str, *, cut: bool) -> str:
    """Return nftables input that cuts a node off, or gives its network back.

    Everything else is refused at once, as where there is no route: also names, and the vendors'
    repositories at ``fabric`` (an address). A reboot from inside the node does not end it.
    """
    rules = f"table {_TABLE}\ndelete table {_TABLE}\n"
    if not cut:
        return rules
    return rules + (
        f"table {_TABLE} {{\n"
        "  chain output {\n"
        "    type filter hook output priority 10; policy drop;\n"
        '    oif "lo" accept\n'
        "    tcp sport 22 accept\n"
        f"    ip daddr {fabric} udp dport {_FABRIC} accept\n"
        "    counter reject with icmpx type no-route\n"
        "  }\n}\n"
    )
