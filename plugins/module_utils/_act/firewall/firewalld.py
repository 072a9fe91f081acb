# SPDX-License-Identifier: GPL-3.0-or-later
"""Open the way in firewalld: a policy and two ipsets of our own, so that no zone changes.

A zone with the nodes as sources would take them out of the zones that they are in, and with them
whatever those open. A policy with a negative priority is asked before any zone, and what it does
not accept goes on to them (firewalld.policies(5), since firewalld 0.9).
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from ..._ground import state
from ..._ground.command import is_there
from .desired import Wanted, words
from .tool import Change, FirewallError, ask, do

NAME = "ibready"
POLICY = "/etc/firewalld/policies/ibready.xml"
SETS = {
    4: "/etc/firewalld/ipsets/ibready-nodes4.xml",
    6: "/etc/firewalld/ipsets/ibready-nodes6.xml",
}
_IPSETS = {4: "ibready-nodes4", 6: "ibready-nodes6"}
_KINDS = {4: ("ipv4", "inet"), 6: ("ipv6", "inet6")}
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_SAYS = "Written by ibready.cluster.firewall_rules. The next run undoes changes made by hand."
_LISTINGS = (("--list-all-zones",), ("--list-all-policies",), ("--direct", "--get-all-rules"))
_PRIORITY = -100
_LEAST = (0, 9)
# firewall-cmd(1), exit codes.
_NOT_RUNNING = 252
# What firewalld knows of interfaces is NetworkManager's and Docker's, who tell it again.
_VOLATILE = re.compile(r"^ +interfaces:.*$|(?<=\S) \([a-z, ]{1,40}\)$", re.MULTILINE)


def active() -> bool:
    """Whether the daemon runs; FirewallError where it does and cannot tell its state."""
    if not is_there("firewall-cmd"):
        return False
    output = ask("firewall-cmd", "--state")
    if output.rc not in (0, _NOT_RUNNING):
        said = (output.stderr + output.stdout).strip() or "nothing"
        raise FirewallError(
            f"`firewall-cmd --state` ended with status {output.rc} and said {said[:200]!r}: whether"
            " firewalld filters is not known. Next: run it on the host"
        )
    return output.rc == 0


def plan(wanted: Wanted | None) -> Change:
    """What is to change; None: all that is ours goes."""
    files = _files(wanted)
    before = {path: state.read(path) for path, _text in files}
    running = active()
    if wanted is not None:
        _version()
    # What somebody took out of the running firewall is still in the files.
    stale = running and bool(_amiss(wanted))
    script = ("firewall-cmd --reload",) if running and (stale or dict(files) != before) else ()
    return Change(
        tuple(line for path, _new in files for line in before[path].splitlines()),
        tuple(line for _path, new in files for line in new.splitlines()),
        script,
        files,
    )


def refuse_loss() -> None:
    """FirewallError where a reload would lose what somebody set without --permanent."""
    for asked in _LISTINGS:
        listing = " ".join(asked)
        now, kept = do("firewall-cmd", *asked), do("firewall-cmd", "--permanent", *asked)
        if _compared(now) != _compared(kept):
            raise FirewallError(
                "firewalld holds rules that are not permanent, and a reload would lose them"
                f" (compare `firewall-cmd {listing}` with `firewall-cmd --permanent {listing}`)."
                " Next: keep them by `firewall-cmd --runtime-to-permanent`, or let them go with"
                " firewall_reload_ok"
            )


def check(change: Change) -> None:
    """After the files are in place: have firewalld judge them."""
    if change.script:
        do("firewall-cmd", "--check-config")


def load(change: Change) -> None:
    """After the files were judged, or are as they were: have the running firewall take them."""
    if change.script:
        do("firewall-cmd", "--reload")


def read_back(wanted: Wanted | None) -> None:
    """FirewallError where the running firewall is not as wanted."""
    amiss = _amiss(wanted) if active() else ""
    if amiss:
        raise FirewallError(f"firewalld was reloaded and {amiss}. Next: look at `firewall-cmd --info-policy={NAME}`")


def _amiss(wanted: Wanted | None) -> str:
    """How the running firewall is not as wanted, "" where it is."""
    if (NAME in do("firewall-cmd", "--get-policies").split()) != (wanted is not None):
        return f"does not show the policy {NAME} as wanted"
    if wanted is None:
        return ""
    rules = sorted(do("firewall-cmd", f"--policy={NAME}", "--list-rich-rules").splitlines())
    if sorted(rule.replace('"', "") for rule in rules) != sorted(_rich(wanted)):
        return f"shows other rules than it was given: {'; '.join(rules)}"
    for family in (4, 6):
        own = wanted.of_family(family)
        if own:
            shown = do("firewall-cmd", f"--ipset={_IPSETS[family]}", "--get-entries").split()
            if sorted(shown) != sorted(own):
                return f"shows other entries in {_IPSETS[family]}: {shown}"
    return ""


def _compared(listing: str) -> str:
    """Zones and policies without ours, and without what comes and goes."""
    parts = re.split(r"\n(?=\S)", _VOLATILE.sub("", listing))
    words = [part.split() for part in parts]
    return "\n".join(sorted(" ".join(word) for word in words if word[:1] != [NAME]))


def _version() -> None:
    said = do("firewall-cmd", "--version").strip()
    numbers = tuple(int(match) for match in re.findall(r"[0-9]{1,4}", said)[:2])
    if numbers < _LEAST:
        raise FirewallError(
            f"firewalld {said} knows no policies, which came with 0.9. Next: upgrade it, or open"
            " the ports in its zones by hand"
        )


def _files(wanted: Wanted | None) -> tuple[tuple[str, str], ...]:
    """ipsets first, for the policy names them."""
    texts = {SETS[family]: _ipset(wanted, family) if wanted else "" for family in (4, 6)}
    return (*texts.items(), (POLICY, _policy(wanted) if wanted else ""))


def _ipset(wanted: Wanted, family: int) -> str:
    own = wanted.of_family(family)
    if not own:
        return ""
    entries = "".join(f"  <entry>{escape(entry)}</entry>\n" for entry in own)
    option = f'  <option name="family" value="{_KINDS[family][1]}"/>\n'
    says = f"  <description>{_SAYS}</description>\n"
    return f'{_HEAD}<ipset type="hash:net">\n{says}{option}{entries}</ipset>\n'


def _ports(wanted: Wanted) -> list[tuple[str, str]]:
    return [
        *(("tcp", word) for word in words(wanted.tcp)),
        *(("udp", word) for word in words(wanted.udp)),
    ]


def _policy(wanted: Wanted) -> str:
    rules = "".join(
        f'  <rule family="{_KINDS[family][0]}">\n    <source ipset="{_IPSETS[family]}"/>\n'
        f'    <port port="{port}" protocol="{proto}"/>\n    <accept/>\n  </rule>\n'
        for family in (4, 6)
        if wanted.of_family(family)
        for proto, port in _ports(wanted)
    )
    return (
        f'{_HEAD}<policy priority="{_PRIORITY}" target="CONTINUE">\n  <short>{NAME}</short>\n'
        f'  <description>{_SAYS}</description>\n  <ingress-zone name="ANY"/>\n'
        f'  <egress-zone name="HOST"/>\n{rules}</policy>\n'
    )


def _rich(wanted: Wanted) -> list[str]:
    return [
        f"rule family={_KINDS[family][0]} source ipset={_IPSETS[family]} port port={port} protocol={proto} accept"
        for family in (4, 6)
        if wanted.of_family(family)
        for proto, port in _ports(wanted)
    ]
