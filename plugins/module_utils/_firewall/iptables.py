# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether iptables closes input by rules of the site's own, in whichever kernel part they are."""

from __future__ import annotations

import re

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._firewall import nftables
from ansible_collections.ibready.cluster.plugins.module_utils._firewall.tool import (
    FirewallError,
    do,
    there,
)

# The tables of the old kernel part, which nft does not show.
LEGACY = {"iptables": "/proc/net/ip_tables_names", "ip6tables": "/proc/net/ip6_tables_names"}
# EL's own rules end with REJECT and leave the policy at ACCEPT.
_CLOSES = re.compile(r"-P INPUT DROP|-A INPUT -j (DROP|REJECT)\b.*")


def closes() -> bool:
    """Whether it stops what none of its rules accepts; FirewallError where it cannot be asked."""
    return nftables.iptables_closes() or any(
        _CLOSES.fullmatch(line)
        for program in _programs()
        for line in do(program, "-S", "INPUT").splitlines()
    )


def _programs() -> list[str]:
    """Those to ask besides nft."""
    found = [] if there("nft") else [name for name in LEGACY if there(name)]
    for name, tables in LEGACY.items():
        if "filter" in _names(tables):
            legacy = f"{name}-legacy"
            found.append(legacy if there(legacy) else name)
    return found


def _names(path: str) -> list[str]:
    try:
        return _state.read(path).split()
    except OSError as exc:
        raise FirewallError(
            f"{path} cannot be read: {exc.strerror}: whether iptables closes input is not known."
            " Next: read it on the host, or say firewall_backend: none"
        ) from exc
