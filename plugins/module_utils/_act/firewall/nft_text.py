# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what `nft -j list ruleset` prints, and write scripts for nft; no I/O.

A packet passes every base chain of the hook, and each may drop it: what one chain accepts another
still drops. So the way is opened in each base chain of the site that filters input, by a jump at
its head into a chain of ours in the same table (nft(8), "Overall evaluation of the ruleset").
"""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from .desired import Network, Spans, Wanted, collapsed, merged, text, words
from .tool import FirewallError

CHAIN = "ibready_input"
SETS = {4: "ibready_nodes4", 6: "ibready_nodes6"}
_TYPES = {4: "ipv4_addr", 6: "ipv6_addr"}
_HEADS = {4: "ip", 6: "ip6"}
_FAMILIES = {"ip": (4,), "ip6": (6,), "inet": (4, 6)}
_MARK = 'comment "ibready"'


@dataclass(frozen=True)
class Table:
    family: str
    name: str

    def __str__(self) -> str:
        return f"{self.family} {self.name}"


@dataclass(frozen=True)
class Base:
    """A base chain of somebody that filters input. ``others``: how many rules are not ours.
    ``jumps``: the handles of rules that jump into our chain, ``first``: whether one of them is the
    first rule, for every packet. ``ends``: whether a rule stops all that reaches it. ``owner``:
    whose it is that is not to be touched by others, "" for the site's own."""

    table: Table
    name: str
    policy: str
    others: int = 0
    jumps: tuple[int, ...] = ()
    owner: str = ""
    first: bool = False
    ends: bool = False

    @property
    def reached(self) -> bool:
        """Whether every packet comes to our chain, once, before any rule of others."""
        return self.first and len(self.jumps) == 1

    @property
    def stops(self) -> bool:
        """Whether what no rule accepts is stopped here."""
        return self.policy == "drop" or self.ends

    @property
    def closes(self) -> bool:
        """Whether anything may be stopped here."""
        return self.policy == "drop" or self.others > 0

    def __str__(self) -> str:
        return f"{self.table} {self.name}"


@dataclass
class Ours:
    """What a table holds of ours. ``strange``: a rule in our chain that we do not write."""

    chain: bool = False
    sets: set[str] = field(default_factory=set)
    networks: list[Network] = field(default_factory=list)
    tcp: dict[int, Spans] = field(default_factory=dict)
    udp: dict[int, Spans] = field(default_factory=dict)
    strange: bool = False


@dataclass(frozen=True)
class Ruleset:
    bases: tuple[Base, ...]
    ours: Mapping[Table, Ours]

    @property
    def targets(self) -> tuple[Base, ...]:
        """The chains that the way has to be opened in."""
        return tuple(base for base in self.bases if base.closes and not base.owner)


def parse(output: str) -> Ruleset:
    """The base chains that filter input, and what is ours; FirewallError on anything else."""
    try:
        items = json.loads(output)["nftables"]
        return _ruleset(items)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise FirewallError(
            f"`nft -j list ruleset` prints what cannot be read ({exc!r}). Next: run it on the host"
        ) from exc


def _ruleset(items: Sequence[Mapping[str, Any]]) -> Ruleset:
    owned = {
        Table(item["table"]["family"], item["table"]["name"])
        for item in items
        if "table" in item and "owner" in _listed(item["table"].get("flags"))
    }
    ours: dict[Table, Ours] = {}
    bases: dict[tuple[Table, str], dict[str, Any]] = {}
    for item in items:
        kind, each = next(iter(item.items()))
        if kind not in ("chain", "set", "rule"):
            continue
        table = Table(each["family"], each["table"])
        if table.family not in _FAMILIES:
            continue
        mine = ours.setdefault(table, Ours())
        if kind == "chain":
            mine.chain = mine.chain or each["name"] == CHAIN
            if each.get("hook") == "input" and each.get("type") == "filter":
                found = {"policy": each.get("policy", "accept"), "owner": _owner(each, owned)}
                begun = {"others": 0, "jumps": [], "first": False, "ends": False}
                bases[table, each["name"]] = {**found, **begun}
        elif kind == "set" and each["name"] in SETS.values():
            mine.sets.add(each["name"])
            mine.networks += [net for elem in each.get("elem", []) for net in _networks(elem)]
        elif kind == "rule" and each["chain"] == CHAIN:
            _take(mine, each["expr"])
        elif kind == "rule" and (table, each["chain"]) in bases:
            base = bases[table, each["chain"]]
            if any((entry.get("jump") or {}).get("target") == CHAIN for entry in each["expr"] if "jump" in entry):
                base["first"] |= not base["others"] and "jump" in _only(each["expr"])
                base["jumps"].append(each["handle"])
            else:
                base["others"] += 1
                base["ends"] |= _stops(each["expr"])
    return Ruleset(
        tuple(Base(table, name, **{**base, "jumps": tuple(base["jumps"])}) for (table, name), base in bases.items()),
        {table: entry for table, entry in ours.items() if entry.chain or entry.sets},
    )


def _listed(flags: Any) -> list[str]:
    return [flags] if isinstance(flags, str) else list(flags or [])


def _owner(chain: Mapping[str, Any], owned: set[Table]) -> str:
    table = Table(chain["family"], chain["table"])
    if table in owned or table.name == "firewalld":
        return "firewalld" if table.name == "firewalld" else "another program"
    # iptables refuses to work with a table that holds what it does not know.
    if table.family in ("ip", "ip6") and table.name == "filter" and chain["name"] == "INPUT":
        return "iptables"
    return ""


def _only(expr: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """What a rule does with every packet, {} where it asks something first; counting is nothing."""
    found = [entry for entry in expr if "counter" not in entry]
    return found[0] if len(found) == 1 else {}


def _stops(expr: Sequence[Mapping[str, Any]]) -> bool:
    only = _only(expr)
    # REJECT of iptables, which nft does not translate in every release.
    target = (only.get("xt") or {}).get("name") == "REJECT"
    return "drop" in only or "reject" in only or target


def _networks(elem: Any) -> list[Network]:
    if isinstance(elem, str):
        return [ipaddress.ip_network(elem)]
    if "elem" in elem:
        return _networks(elem["elem"]["val"])
    if "prefix" in elem:
        return [ipaddress.ip_network(f"{elem['prefix']['addr']}/{elem['prefix']['len']}")]
    first, last = (ipaddress.ip_address(number) for number in elem["range"])
    return list(ipaddress.summarize_address_range(first, last))


def _take(mine: Ours, expr: Sequence[Mapping[str, Any]]) -> None:
    """Add one rule of our chain, or say that it is none that we write."""
    matches = [entry["match"] for entry in expr if "match" in entry]
    plain = len(expr) == 3 and len(matches) == 2 and "accept" in expr[2]
    for family, head in _HEADS.items():
        if not plain or any(match["op"] != "==" for match in matches):
            continue
        if matches[0]["left"] != {"payload": {"protocol": head, "field": "saddr"}}:
            continue
        if matches[0]["right"] != f"@{SETS[family]}":
            continue
        for name, place in (("tcp", mine.tcp), ("udp", mine.udp)):
            known = {"payload": {"protocol": name, "field": "dport"}}
            if matches[1]["left"] == known and family not in place:
                place[family] = _ports(matches[1]["right"])
                return
    mine.strange = True


def _ports(right: Any) -> Spans:
    parts = right["set"] if isinstance(right, dict) and "set" in right else [right]
    spans = []
    for part in parts:
        first, last = part["range"] if isinstance(part, dict) else (part, part)
        spans.append((int(first), int(last)))
    return merged(spans)


def state(base: Base, mine: Ours | None) -> list[str]:
    """What is open for us in this base chain, as lines; comparable with `expected`."""
    lines = [str(base)]
    if mine is None:
        return lines
    families = _FAMILIES[base.table.family]
    for name, place in (("tcp", mine.tcp), ("udp", mine.udp)):
        for family in families:
            if place.get(family):
                lines.append(f"IPv{family} {name} {', '.join(words(place[family]))}")
    lines += [f"from {text(entry)}" for entry in collapsed(mine.networks)]
    lines += ["something else"] if mine.strange else []
    lines += ["reached"] if base.reached else ["jumped to, but not at the head"] * len(base.jumps)
    return lines


def expected(base: Base, wanted: Wanted) -> list[str]:
    """The lines of `state` when all is as wanted."""
    families = _FAMILIES[base.table.family]
    lines = [str(base)]
    for name, spans in (("tcp", wanted.tcp), ("udp", wanted.udp)):
        if spans:
            lines += [f"IPv{family} {name} {', '.join(words(spans))}" for family in families]
    own = [entry for family in families for entry in wanted.of_family(family)]
    return [*lines, *(f"from {entry}" for entry in own), "reached"]


def opened(base: Base, wanted: Wanted, *, fresh: bool = False) -> list[str]:
    """The script that opens the way in one base chain; ``fresh``: for a ruleset just loaded."""
    where = str(base.table)
    lines = []
    for family in _FAMILIES[base.table.family]:
        name = f"{where} {SETS[family]}"
        lines.append(f"add set {name} {{ type {_TYPES[family]}; flags interval; }}")
        lines.append(f"flush set {name}")
        own = wanted.of_family(family)
        if own:
            lines.append(f"add element {name} {{ {', '.join(own)} }}")
    lines += [f"add chain {where} {CHAIN}", f"flush chain {where} {CHAIN}"]
    for proto, spans in (("tcp", wanted.tcp), ("udp", wanted.udp)):
        for family in _FAMILIES[base.table.family] if spans else ():
            source = f"{_HEADS[family]} saddr @{SETS[family]}"
            ports = f"{proto} dport {{ {', '.join(words(spans))} }}"
            lines.append(f"add rule {where} {CHAIN} {source} {ports} accept {_MARK}")
    if fresh or not base.reached:
        lines += [] if fresh else _unreached(base)
        lines.append(f"insert rule {base} jump {CHAIN} {_MARK}")
    return lines


def _unreached(base: Base) -> list[str]:
    return [f"delete rule {base} handle {handle}" for handle in base.jumps]


def closed(ruleset: Ruleset, keep: Sequence[Table] = ()) -> list[str]:
    """The script that takes away all that is ours, but for these tables."""
    lines = [line for base in ruleset.bases if base.table not in keep for line in _unreached(base)]
    for table, mine in ruleset.ours.items():
        if table in keep:
            continue
        if mine.chain:
            lines += [f"flush chain {table} {CHAIN}", f"delete chain {table} {CHAIN}"]
        lines += [f"delete set {table} {name}" for name in sorted(mine.sets)]
    return lines
