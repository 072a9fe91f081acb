# SPDX-License-Identifier: GPL-3.0-or-later
"""Which firewall a host has, and how its rules become what is wanted."""

from __future__ import annotations

import os
from typing import Any, Callable

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._firewall import (
    firewalld,
    iptables,
    nftables,
    ufw,
)
from ansible_collections.ibready.cluster.plugins.module_utils._firewall.tool import (
    Change,
    FirewallError,
)
from ansible_collections.ibready.cluster.plugins.module_utils._firewall.wanted import Wanted

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
    if found == NONE and iptables.closes():
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


def stale_files(planned: Change) -> list[tuple[str, str]]:
    """Those of the files that are not as they are to be."""
    return [(path, text) for path, text in planned.files if _state.read(path) != text]


def refuse(name: str, planned: Change, reload_ok: bool) -> None:
    """FirewallError where to make it so would cost somebody something."""
    if name == "firewalld" and planned.script and not reload_ok:
        firewalld.refuse_loss()


def perform(name: str, wanted: Wanted | None, planned: Change) -> None:
    """Make it so, put everything back where that fails, and read it back."""
    files = stale_files(planned)
    before = {path: _state.read(path) for path, _text in files}
    loaded = False
    try:
        _write(dict(files))
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
        _put_back(name, before, planned if loaded else None, exc)
        raise
    if name == "firewalld":
        firewalld.read_back(wanted)
    left = change(name, wanted)
    if left.script or stale_files(left):
        raise FirewallError(
            f"{name} took the rules and does not show them: {'; '.join(left.script[:4])}. Next:"
            " see who else changes this firewall"
        )


def _put_back(name: str, before: dict[str, str], loaded: Change | None, failure: Exception) -> None:
    """The files as they were, and read again; FirewallError with both faults where that fails.

    ``loaded``: what firewalld was told to load.
    """
    try:
        _write(before)
        if name == "nftables" and before:
            nftables.back()
        elif name == "firewalld" and loaded is not None:
            firewalld.load(loaded)
    except (FirewallError, OSError) as exc:
        raise FirewallError(f"{failure}. And it could not be put back: {exc}") from failure


def _write(files: dict[str, str]) -> None:
    for path, text in files.items():
        _state.write(path, text, 0o644)
        if not text and os.path.isdir(os.path.dirname(path)):
            _drop_empty(os.path.dirname(path))


def _drop_empty(folder: str) -> None:
    """A drop-in folder that was made for ours alone."""
    if folder.endswith(".service.d") and not os.listdir(folder):
        os.rmdir(folder)


def remembered() -> dict[str, Any]:
    """What the last run opened: ``backend`` and ``nodes``."""
    return _state.load("firewall")
