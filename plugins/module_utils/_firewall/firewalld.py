# SPDX-License-Identifier: GPL-3.0-or-later
"""Open the way in firewalld: a policy and two ipsets of our own, so that no zone changes.

A zone with the nodes as sources would take them out of the zones that they are in, and with them
whatever those open. A policy with a negative priority is asked before any zone, and what it does
not accept goes on to them (firewalld.policies(5), since firewalld 0.9).
"""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._firewall.tool import (
    Change,
    FirewallError,
    ask,
    do,
    there,
)
from ansible_collections.ibready.cluster.plugins.module_utils._firewall.wanted import (
    Wanted,
    words,
)

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
_PRIORITY = -100
_LEAST = (0, 9)
# What firewalld knows of interfaces is NetworkManager's and Docker's, who tell it again.
_VOLATILE = re.compile(r"^ +interfaces:.*$|(?<=\S) \([a-z, ]{1,40}\)$", re.MULTILINE)


def active() -> bool:
    """Whether the daemon runs."""
    return there("firewall-cmd") and ask("firewall-cmd", "--state").rc == 0


def plan(wanted: Wanted | None) -> Change:
    """What is to change; None: all that is ours goes."""
    files = _files(wanted)
    before = {path: _state.read(path) for path, _text in files}
    running = active()
    if wanted is not None:
        _version()
    stale = running and _runs() != (wanted is not None)
    script = ("firewall-cmd --reload",) if running and (stale or dict(files) != before) else ()
    return Change(
        tuple(line for path, _new in files for line in before[path].splitlines()),
        tuple(line for _path, new in files for line in new.splitlines()),
        script,
        files,
    )


def refuse_loss() -> None:
    """FirewallError where a reload would lose what somebody set without --permanent."""
    for listing in ("--list-all-zones", "--list-all-policies"):
        now, kept = do("firewall-cmd", listing), do("firewall-cmd", "--permanent", listing)
        if _compared(now) != _compared(kept):
            raise FirewallError(
                "firewalld holds rules that are not permanent, and a reload would lose them"
                f" (compare `firewall-cmd {listing}` with `firewall-cmd --permanent {listing}`)."
                " Next: keep them by `firewall-cmd --runtime-to-permanent`, or let them go with"
                " firewall_reload_ok"
            )


def settle(change: Change) -> None:
    """After the files are in place: have firewalld judge them, then load them."""
    if change.script:
        do("firewall-cmd", "--check-config")
        do("firewall-cmd", "--reload")


def read_back(wanted: Wanted | None) -> None:
    """FirewallError where the running firewall is not as wanted."""
    if not active():
        return
    if _runs() != (wanted is not None):
        raise FirewallError("firewalld was reloaded and does not show the policy ibready as wanted")
    if wanted is None:
        return
    rules = sorted(do("firewall-cmd", f"--policy={NAME}", "--list-rich-rules").splitlines())
    if [_plain(one) for one in rules] != sorted(_rich(wanted)):
        raise FirewallError(
            "firewalld shows other rules than it was given: "
            f"{'; '.join(rules)}. Next: look at `firewall-cmd --info-policy={NAME}`"
        )
    for family in (4, 6):
        if not wanted.of_family(family):
            continue
        shown = do("firewall-cmd", f"--ipset={_IPSETS[family]}", "--get-entries").split()
        if sorted(shown) != sorted(wanted.of_family(family)):
            raise FirewallError(f"firewalld shows other entries in {_IPSETS[family]}: {shown}")


def _compared(listing: str) -> str:
    """Zones and policies without ours, and without what comes and goes."""
    parts = re.split(r"\n(?=\S)", _VOLATILE.sub("", listing))
    return "\n".join(sorted(" ".join(one.split()) for one in parts if not one.startswith(NAME)))


def _version() -> None:
    said = do("firewall-cmd", "--version").strip()
    numbers = tuple(int(one) for one in re.findall(r"[0-9]{1,4}", said)[:2])
    if numbers < _LEAST:
        raise FirewallError(
            f"firewalld {said} knows no policies, which came with 0.9. Next: upgrade it, or open"
            " the ports in its zones by hand"
        )


def _runs() -> bool:
    return NAME in do("firewall-cmd", "--get-policies").split()


def _files(wanted: Wanted | None) -> tuple[tuple[str, str], ...]:
    """ipsets first, for the policy names them."""
    texts = {SETS[family]: _ipset(wanted, family) if wanted else "" for family in (4, 6)}
    return (*texts.items(), (POLICY, _policy(wanted) if wanted else ""))


def _ipset(wanted: Wanted, family: int) -> str:
    own = wanted.of_family(family)
    if not own:
        return ""
    entries = "".join(f"  <entry>{escape(one)}</entry>\n" for one in own)
    option = f'  <option name="family" value="{_KINDS[family][1]}"/>\n'
    says = f"  <description>{_SAYS}</description>\n"
    return f'{_HEAD}<ipset type="hash:net">\n{says}{option}{entries}</ipset>\n'


def _ports(wanted: Wanted) -> list[tuple[str, str]]:
    return [
        *(("tcp", one) for one in words(wanted.tcp)),
        *(("udp", one) for one in words(wanted.udp)),
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
        f"rule family={_KINDS[family][0]} source ipset={_IPSETS[family]} port port={port}"
        f" protocol={proto} accept"
        for family in (4, 6)
        if wanted.of_family(family)
        for proto, port in _ports(wanted)
    ]


def _plain(rule: str) -> str:
    return rule.replace('"', "")
