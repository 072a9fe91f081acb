# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands for ``{device}`` and its like in a command: only what is plainly such a thing.

Names of devices, addresses and units come from the hosts, or from bundles that anybody may have
made. What does not look like one is not known.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.finding import Finding
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.parts import HCA, Parts

# With 1500 a packet carries a quarter of what it could; every RDMA MTU fits into this.
JUMBO = "9000"

_PLAIN = {
    "device": re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}"),
    "port": re.compile(r"[1-9][0-9]?"),
    "address": re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"),
    "netdev": re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}"),
    "unit": re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,100}\.service"),
    "file": re.compile(r"/dev/infiniband/[a-z_]{1,20}[0-9]{0,4}"),
    "watts": re.compile(r"[1-9][0-9]{1,3}"),
    "mtu": re.compile(r"[1-9][0-9]{2,4}"),
    "pfc": re.compile(r"[01](?:,[01]){7}"),
    "trust": re.compile(r"dscp|pcp"),
}


def values(finding: Finding, parts: Parts | None) -> dict[str, str]:
    """The values that are known and plain."""
    told = {name: read(finding, parts) for name, read in _READ.items()}
    return {name: value for name, value in told.items() if _PLAIN[name].fullmatch(value)}


def _device(finding: Finding, parts: Parts | None) -> str:
    kind, _, name = finding.part.partition(":")
    return name if kind == HCA else ""


def _address(finding: Finding, parts: Parts | None) -> str:
    return parts.address(finding.part) if parts else ""


def _netdev(finding: Finding, parts: Parts | None) -> str:
    return parts.netdevs.get(finding.check.subject, "") if parts else ""


def _subject(finding: Finding, parts: Parts | None) -> str:
    return finding.check.subject


def _port(finding: Finding, parts: Parts | None) -> str:
    return finding.check.subject.partition("/")[2]


def _watts(finding: Finding, parts: Parts | None) -> str:
    return finding.check.expected.removesuffix(" W").partition(".")[0]


def _mtu(finding: Finding, parts: Parts | None) -> str:
    expected = finding.check.expected
    return JUMBO if expected.startswith("at least") else expected


def _pfc(finding: Finding, parts: Parts | None) -> str:
    wanted = re.findall(r"\b[0-7]\b", finding.check.expected.removeprefix("priorities"))
    return ",".join("1" if str(one) in wanted else "0" for one in range(8)) if wanted else ""


def _trust(finding: Finding, parts: Parts | None) -> str:
    return finding.check.expected


_READ: dict[str, Callable[[Finding, Parts | None], str]] = {
    "device": _device,
    "port": _port,
    "address": _address,
    "netdev": _netdev,
    "unit": _subject,
    "file": _subject,
    "watts": _watts,
    "mtu": _mtu,
    "pfc": _pfc,
    "trust": _trust,
}
