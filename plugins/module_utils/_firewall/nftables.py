# SPDX-License-Identifier: GPL-3.0-or-later
"""Open the way in the site's own nftables ruleset, at once or not at all."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._command import find_program
from ansible_collections.ibready.cluster.plugins.module_utils._firewall import nft_text
from ansible_collections.ibready.cluster.plugins.module_utils._firewall.tool import (
    Change,
    FirewallError,
    ask,
    do,
    do_script,
    there,
)
from ansible_collections.ibready.cluster.plugins.module_utils._firewall.wanted import Wanted

SCRIPT = "/etc/ibready/firewall.nft"
# Not an include in the site's file: were a table of ours gone from there, none of it would load.
DROPIN = "/etc/systemd/system/nftables.service.d/90-firewall-ibready.conf"
_UNIT = "nftables.service"
_HEADER = "# Written by ibready.cluster.firewall_rules. The next run undoes changes made by hand."


def active() -> bool:
    """Whether something of the site's own filters input here."""
    return there("nft") and bool(_look().targets)


def iptables_closes() -> bool:
    """Whether a chain of iptables stops what no rule accepts, which is nobody's that we know."""
    bases = _look().bases if there("nft") else ()
    return any(one.owner == "iptables" and one.stops for one in bases)


def beside(active: str) -> tuple[str, ...]:
    """Warnings of what else stops input where another firewall is the one that is opened."""
    if active not in ("firewalld", "ufw") or not there("nft"):
        return ()
    # ufw keeps its own in iptables.
    its = "firewalld" if active == "firewalld" else "iptables"
    return tuple(
        f"chain {one} filters input beside {active} and is left alone: what it drops stays closed"
        for one in _look().bases
        if one.stops and one.owner != its
    )


def plan(wanted: Wanted | None) -> Change:
    """What is to change; None: all that is ours goes."""
    if not there("nft"):
        return Change((), (), files=_files(()))
    ruleset = _look()
    targets = () if wanted is None else ruleset.targets
    if wanted is not None and not targets:
        raise FirewallError(
            "no chain of nftables filters input on this host. Next: leave firewall_backend at auto,"
            " or load the site's ruleset"
        )
    keep = {one.table for one in targets}
    gone = nft_text.closed(ruleset, tuple(keep))
    # A base chain that was left out since, in a table that we stay in.
    stale = [one for one in ruleset.bases if one.table in keep and one not in targets]
    gone += [f"delete rule {one} handle {handle}" for one in stale for handle in one.jumps]
    before, after, script = [], [], list(gone)
    for base in targets:
        assert wanted is not None
        seen, due = nft_text.state(base, ruleset.ours.get(base.table)), _due(base, wanted)
        before += seen
        after += due
        script += nft_text.opened(base, wanted) if seen != due else []
    loads = [line for one in targets if wanted for line in nft_text.opened(one, wanted, fresh=True)]
    before += [f"to be taken away: {line}" for line in gone]
    warnings = _warnings(ruleset, bool(targets))
    return Change(tuple(before), tuple(after), tuple(script), _files(tuple(loads)), warnings)


def apply(change: Change) -> None:
    """Run the script; nft takes all of it or nothing."""
    if change.script:
        do_script(("nft", "-c", "-f"), change.script)
        do_script(("nft", "-f"), change.script)


def settle(change: Change) -> None:
    """After the files are in place: have them read."""
    for path, text in change.files:
        if path == SCRIPT and text:
            # Against the ruleset as it is, whether what it makes is there already or not.
            do("nft", "-c", "-f", SCRIPT)
    do("systemctl", "daemon-reload")


def back() -> None:
    """After the files are as they were."""
    do("systemctl", "daemon-reload")


def _look() -> nft_text.Ruleset:
    return nft_text.parse(do("nft", "-j", "list", "ruleset"))


def _due(base: nft_text.Base, wanted: Wanted) -> list[str]:
    return nft_text.expected(base, wanted)


def _files(loads: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    if not loads:
        return ((SCRIPT, ""), (DROPIN, ""))
    nft = find_program("nft")
    unit = "\n".join(
        [
            _HEADER,
            "# A ruleset that is loaded anew has lost what was opened in it. The site's own counts",
            "# even where this cannot be loaded (-).",
            "[Service]",
            f"ExecStartPost=-{nft} -f {SCRIPT}",
            f"ExecReload=-{nft} -f {SCRIPT}",
        ]
    )
    return ((SCRIPT, "\n".join([_HEADER, *loads]) + "\n"), (DROPIN, unit + "\n"))


def _warnings(ruleset: nft_text.Ruleset, opens: bool) -> tuple[str, ...]:
    found = []
    for one in ruleset.bases:
        if opens and one.owner and one.closes:
            found.append(
                f"chain {one} belongs to {one.owner} and is left alone: what it drops stays closed"
            )
    if opens and ask("systemctl", "is-enabled", _UNIT).stdout.strip() != "enabled":
        found.append(
            f"{_UNIT} is not enabled: whatever loads the ruleset at boot, loads it without these"
            " rules, until the next run"
        )
    return tuple(found)
