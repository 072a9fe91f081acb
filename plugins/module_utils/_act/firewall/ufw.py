# SPDX-License-Identifier: GPL-3.0-or-later
"""Open the way in ufw: one rule of ours for each source and protocol, marked by its comment."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..._ground.command import is_there
from .desired import Wanted, words
from .tool import Change, FirewallError, ask, do

COMMENT = "ibready"
# iptables takes so many ports in one rule, a range counts as two (iptables-extensions, multiport).
MOST_PORTS = 15
_RULE = re.compile(
    r"ufw allow from (?P<source>[0-9A-Fa-f.:/]+) to any port (?P<ports>[0-9,:]+)"
    rf" proto (?P<proto>tcp|udp) comment '{COMMENT}'"
)


class Rule(NamedTuple):
    source: str
    proto: str
    ports: str

    def words(self) -> list[str]:
        return ["allow", "proto", self.proto, "from", self.source, "to", "any", "port", self.ports]

    def line(self) -> str:
        return f"{self.proto} {self.ports} from {self.source}"


def active() -> bool:
    """Whether ufw filters; FirewallError where it does not tell."""
    if not is_there("ufw"):
        return False
    output = ask("ufw", "status")
    reported = re.search(r"^Status: (active|inactive)$", output.stdout, re.MULTILINE)
    if reported is None:
        said = (output.stderr + output.stdout).strip() or "nothing"
        raise FirewallError(
            f"`ufw status` said {said[:200]!r}: whether ufw filters is not known. Next: run it on the host"
        )
    return reported[1] == "active"


def parse(shown: str) -> list[Rule]:
    """Those of the rules in `ufw show added` that are ours."""
    ours = [line for line in shown.splitlines() if line.endswith(f"comment '{COMMENT}'")]
    found = []
    for line in ours:
        match = _RULE.fullmatch(line.strip())
        if match is None:
            raise FirewallError(
                f"ufw shows a rule with our comment that we did not write: {line.strip()!r}. Next:"
                " delete it, or give it another comment"
            )
        found.append(Rule(match["source"], match["proto"], match["ports"]))
    return found


def rules(wanted: Wanted | None) -> list[Rule]:
    """The rules that let in what is wanted."""
    if wanted is None:
        return []
    found = []
    for proto, spans in (("tcp", wanted.tcp), ("udp", wanted.udp)):
        if sum(1 if first == last else 2 for first, last in spans) > MOST_PORTS:
            raise FirewallError(
                f"ufw takes at most {MOST_PORTS} ports in a rule, a range counts as two: {proto}"
                f" {', '.join(words(spans))}. Next: name fewer in firewall_tcp_ports"
            )
        ports = ",".join(words(spans, ":"))
        found += [Rule(source, proto, ports) for source in wanted.sources] if ports else []
    return found


def plan(wanted: Wanted | None) -> Change:
    """What is to change; None: all that is ours goes."""
    if not is_there("ufw"):
        return Change((), ())
    had, due = parse(do("ufw", "show", "added")), rules(wanted)
    script = [f"+ {' '.join(rule.words())}" for rule in due if rule not in had]
    script += [f"- {' '.join(rule.words())}" for rule in had if rule not in due]
    return Change(tuple(sorted(rule.line() for rule in had)), tuple(sorted(rule.line() for rule in due)), tuple(script))


def apply(change: Change) -> None:
    """First what is new, then what goes; after a failure all is as it was, or the error says so."""
    undo: list[list[str]] = []
    try:
        for line in change.script:
            argv = line[2:].split()
            add, delete = ["prepend", *argv, "comment", COMMENT], ["delete", *argv]
            if line.startswith("+"):
                do("ufw", "--dry-run", *add)
                do("ufw", *add)
                undo.append(delete)
            else:
                do("ufw", *delete)
                undo.append(add)
    except FirewallError as exc:
        left = [" ".join(argv) for argv in reversed(undo) if not _done(argv)]
        if left:
            raise FirewallError(f"{exc}. And this could not be put back: ufw {'; ufw '.join(left)}") from exc
        raise


def _done(argv: list[str]) -> bool:
    try:
        do("ufw", *argv)
    except FirewallError:
        return False
    return True
