# SPDX-License-Identifier: GPL-3.0-or-later
"""The one command for a cause, as a line that can be copied into a shell. Nothing is run here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from .finding import Finding
from .parts import HCA, Parts
from .row import Fix

# In a pattern of hosts `:`, `!`, `&`, `~` and `*` mean more than a name.
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
_GROUPS = ("all", "ungrouped")
# More are told by their numbers; these end the first label of a name.
_NAMED = 8
_NUMBERED = re.compile(r"^([^.]*?)([0-9]*)((?:\..*)?)$")
NO_NAME = "the host's name is no plain name, so that no command can hold it"
# With 1500 a packet carries a quarter of what it could; every RDMA MTU fits into this.
JUMBO = "9000"

# What may stand in {} of a command, and how it has to look there.
VALUES = {
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


@dataclass(frozen=True)
class Where:
    """From where the operator works. ``inventory``: the sources given with -i; ``hosts``: all names
    of the inventory, so that what is wrong with all of them needs no --limit; ``asked``: by a fabric
    the host that is asked for it."""

    inventory: Sequence[str] = ("INVENTORY",)
    hosts: Sequence[str] = ()
    asked: Mapping[str, str] = field(default_factory=dict)


def plain(host: str) -> bool:
    """Whether a name can stand in a pattern of hosts and means that host alone."""
    return _HOST.fullmatch(host) is not None and host not in _GROUPS


def pattern(hosts: Sequence[str]) -> str:
    """These hosts and no other, as Ansible reads them; many of them by their numbers: ``~node(129|1[345][0-9])$``."""
    names = list(dict.fromkeys(hosts))
    if len(names) <= _NAMED or not all(map(plain, names)):
        return ",".join(names)
    numbers: dict[tuple[str, str], set[str]] = {}
    for head, number, tail in (_NUMBERED.findall(name)[0] for name in names):
        numbers.setdefault((head, tail), set()).add(number)
    some = [
        f"~{head}{_digits(mine)}{tail}$".replace(".", r"\.") if len(mine) > 1 else head + min(mine) + tail
        for (head, tail), mine in numbers.items()
    ]
    return min(",".join(names), ",".join(some), key=len)


def _digits(numbers: Set[str]) -> str:
    """An expression for these numbers alone; digits after which the same may follow are one ``[3-5]``."""
    if "" in numbers:
        return f"({_digits(numbers - {''})})?" if len(numbers) > 1 else ""
    first: dict[str, set[str]] = {}
    for number in numbers:
        first.setdefault(number[:1], set()).add(number[1:])
    rests: dict[frozenset[str], list[str]] = {}
    for digit, rest in sorted(first.items()):
        rests.setdefault(frozenset(rest), []).append(digit)
    parts = []
    for tails, digits in rests.items():
        row = "".join(digits)
        one = f"[{row[0]}-{row[-1]}]" if len(row) > 2 and row in "0123456789" else f"[{row}]" if len(row) > 1 else row
        parts.append(one + _digits(tails))
    return parts[0] if len(parts) == 1 else f"({'|'.join(parts)})"


def line(fix: Fix, hosts: Sequence[str], values: Mapping[str, str], where: Where) -> str:
    """The command for these hosts; "" where one of their names cannot be in it."""
    hosts = list(dict.fromkeys(where.asked.get(host, host) for host in hosts))
    if not hosts or not all(plain(host) for host in hosts):
        return ""
    inventory = [word for source in where.inventory for word in ("-i", source)]
    everybody = bool(where.hosts) and set(hosts) >= set(where.hosts)
    if fix.play:
        limit = [] if everybody else ["--limit", pattern(hosts)]
        book, *rest = fix.play
        return shlex.join(["ansible-playbook", book, *inventory, *limit, *rest])
    words = filled(fix.words, values) or filled(fix.otherwise, values)
    if not words:
        return ""
    return shlex.join(["ansible", "all" if everybody else pattern(hosts), *inventory, "-b", "-a", shlex.join(words)])


def filled(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """The words with the values in their places; nothing where one of them is not known."""
    try:
        return [word.format_map(dict(values)) for word in words]
    except KeyError:
        return []


def values(finding: Finding, parts: Parts | None) -> dict[str, str]:
    """The values that are known and plain."""
    reported = {name: read(finding, parts) for name, read in _READ.items()}
    return {name: value for name, value in reported.items() if VALUES[name].fullmatch(value)}


def _device(finding: Finding, parts: Parts | None) -> str:
    kind, _mark, name = finding.part.partition(":")
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
    return ",".join("1" if str(number) in wanted else "0" for number in range(8)) if wanted else ""


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
