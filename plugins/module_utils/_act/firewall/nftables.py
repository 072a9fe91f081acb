# SPDX-License-Identifier: GPL-3.0-or-later
"""Open the way in the site's own nftables ruleset, at once or not at all."""

from __future__ import annotations

from ..._ground.command import find_program, is_there
from . import nft_text
from .desired import Wanted
from .tool import Change, FirewallError, ask, do, do_script

SCRIPT = "/etc/ibready/firewall.nft"
# Not an include in the site's file: were a table of ours gone from there, none of it would load.
DROPIN = "/etc/systemd/system/nftables.service.d/90-firewall-ibready.conf"
_UNIT = "nftables.service"
_HEADER = "# Written by ibready.cluster.firewall_rules. The next run undoes changes made by hand."


def active() -> bool:
    """Whether something of the site's own filters input here."""
    return is_there("nft") and bool(_look().targets)


def iptables_closes() -> bool:
    """Whether a chain of iptables stops what no rule accepts, which is nobody's that we know."""
    bases = _look().bases if is_there("nft") else ()
    return any(base.owner == "iptables" and base.stops for base in bases)


def beside(active: str) -> tuple[str, ...]:
    """Warnings of what else stops input where another firewall is the one that is opened."""
    if active not in ("firewalld", "ufw") or not is_there("nft"):
        return ()
    # ufw keeps its own in iptables.
    its = "firewalld" if active == "firewalld" else "iptables"
    return tuple(
        f"chain {base} filters input beside {active} and is left alone: what it drops stays closed"
        for base in _look().bases
        if base.stops and base.owner != its
    )


def plan(wanted: Wanted | None) -> Change:
    """What is to change; None: all that is ours goes."""
    if not is_there("nft"):
        return Change((), (), files=_files(()))
    ruleset = _look()
    targets = () if wanted is None else ruleset.targets
    if wanted is not None and not targets:
        raise FirewallError(
            "no chain of nftables filters input on this host. Next: leave firewall_backend at auto,"
            " or load the site's ruleset"
        )
    keep = {target.table for target in targets}
    gone = nft_text.closed(ruleset, tuple(keep))
    # A base chain that was left out since, in a table that we stay in.
    stale = [base for base in ruleset.bases if base.table in keep and base not in targets]
    gone += [f"delete rule {entry} handle {handle}" for entry in stale for handle in entry.jumps]
    before, after, script = [], [], list(gone)
    for base in targets:
        if wanted is None:
            raise AssertionError("there are targets only where rules are wanted")
        seen, due = nft_text.state(base, ruleset.ours.get(base.table)), nft_text.expected(base, wanted)
        before += seen
        after += due
        script += nft_text.opened(base, wanted) if seen != due else []
    loads = [line for target in targets if wanted for line in nft_text.opened(target, wanted, fresh=True)]
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
    for base in ruleset.bases:
        if opens and base.owner and base.closes:
            found.append(f"chain {base} belongs to {base.owner} and is left alone: what it drops stays closed")
    if opens and ask("systemctl", "is-enabled", _UNIT).stdout.strip() != "enabled":
        found.append(
            f"{_UNIT} is not enabled: whatever loads the ruleset at boot, loads it without these"
            " rules, until the next run"
        )
    return tuple(found)
