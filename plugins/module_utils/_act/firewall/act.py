# SPDX-License-Identifier: GPL-3.0-or-later
"""Which firewall a host has, whether iptables closes its input, and how its rules become what is wanted."""

from __future__ import annotations

import re
from typing import Any, Callable

from ..._ground import fileset, state
from ..._ground.command import is_there
from ..._ground.fileset import Files
from . import firewalld, nftables, ufw
from .desired import Wanted
from .tool import Change, FirewallError, do

# The tables of the old kernel part, which nft does not show.
LEGACY = {"iptables": "/proc/net/ip_tables_names", "ip6tables": "/proc/net/ip6_tables_names"}
# EL's own rules end with REJECT and leave the policy at ACCEPT.
_CLOSES = re.compile(r"-P INPUT DROP|-A INPUT -j (DROP|REJECT)\b.*")
AUTO, NONE = "auto", "none"
# In the order in which they are asked: firewalld and ufw keep their rules in nftables as well.
BACKENDS = ("firewalld", "ufw", "nftables")
_PLANS: dict[str, Callable[[Wanted | None], Change]] = {
    "firewalld": firewalld.plan,
    "ufw": ufw.plan,
    "nftables": nftables.plan,
}


def backend(given: str) -> str:
    """The firewall that is active, "none" where there is none; a given one has to be."""
    actives = {
        "firewalld": firewalld.active,
        "ufw": ufw.active,
        "nftables": nftables.active,
    }
    if given == NONE:
        return NONE
    if given != AUTO:
        if not actives[given]():
            raise FirewallError(
                f"{given} is not active on this host, and ibready enables no firewall. Next: start"
                " it, or leave firewall_backend at auto"
            )
        return given
    found = next((name for name in BACKENDS if actives[name]()), NONE)
    if found == NONE and _closes():
        raise FirewallError(
            "iptables drops input here by rules of the site's own, which ibready does not change."
            " Next: open the ports there, then say firewall_backend: none; or move the rules to"
            " nftables, firewalld or ufw"
        )
    return found


def beside(name: str) -> tuple[str, ...]:
    """Warnings of what stops input beside the firewall that is opened, and stays."""
    return nftables.beside(name)


def change(name: str, wanted: Wanted | None) -> Change:
    """What is to change in one firewall; None: all that is ours goes."""
    return _PLANS[name](wanted)


def stale_files(planned: Change) -> Files:
    """Those of the files that are not as they are to be."""
    return fileset.look(dict(planned.files))


def refuse(name: str, planned: Change, reload_ok: bool) -> None:
    """FirewallError where to make it so would cost somebody something."""
    if name == "firewalld" and planned.script and not reload_ok:
        firewalld.refuse_loss()


def perform(name: str, wanted: Wanted | None, planned: Change) -> None:
    """Make it so, put everything back where that fails, and read it back."""
    files = stale_files(planned)
    loaded = False
    try:
        fileset.write(files)
        if name == "nftables":
            if files:
                nftables.settle(planned)
            # All or nothing, and so the last: what fails before leaves the ruleset as it is.
            nftables.apply(planned)
        elif name == "firewalld":
            firewalld.check(planned)
            loaded = True
            firewalld.load(planned)
        elif name == "ufw":
            ufw.apply(planned)
    except (FirewallError, OSError) as exc:
        _put_back(name, files, planned if loaded else None, exc)
        raise
    if name == "firewalld":
        firewalld.read_back(wanted)
    left = change(name, wanted)
    if left.script or stale_files(left):
        raise FirewallError(
            f"{name} took the rules and does not show them: {'; '.join(left.script[:4])}. Next:"
            " see who else changes this firewall"
        )


def _put_back(name: str, files: Files, loaded: Change | None, failure: Exception) -> None:
    """The files as they were, and read again; FirewallError with both faults where that fails.

    ``loaded``: what firewalld was told to load.
    """
    try:
        fileset.put_back(files)
        if name == "nftables" and files:
            nftables.back()
        elif name == "firewalld" and loaded is not None:
            firewalld.load(loaded)
    except (FirewallError, OSError) as exc:
        raise FirewallError(f"{failure}. And it could not be put back: {exc}") from failure


def remembered() -> dict[str, Any]:
    """What the last run opened: ``backend`` and ``nodes``."""
    return state.load("firewall")


def _closes() -> bool:
    """Whether it stops what none of its rules accepts; FirewallError where it cannot be asked."""
    return nftables.iptables_closes() or any(
        _CLOSES.fullmatch(line) for program in _programs() for line in do(program, "-S", "INPUT").splitlines()
    )


def _programs() -> list[str]:
    """Those to ask besides nft."""
    found = [] if is_there("nft") else [name for name in LEGACY if is_there(name)]
    for name, tables in LEGACY.items():
        if "filter" in _names(tables):
            legacy = f"{name}-legacy"
            found.append(legacy if is_there(legacy) else name)
    return found


def _names(path: str) -> list[str]:
    try:
        return state.read(path).split()
    except OSError as exc:
        raise FirewallError(
            f"{path} cannot be read: {exc.strerror}: whether iptables closes input is not known."
            " Next: read it on the host, or say firewall_backend: none"
        ) from exc
