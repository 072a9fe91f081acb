# SPDX-License-Identifier: GPL-3.0-or-later
"""How an operator sees the firewall of this host."""

from __future__ import annotations

from typing import Callable

from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Unavailable,
    find_program,
    run_program,
)

_FIREWALLD = "firewall-cmd"
# nft shows the rules that iptables-nft wrote, too.
_COMMANDS = {"nft": "nft list ruleset", "iptables": "iptables -S"}


def _firewalld_runs() -> bool:
    argv = [find_program("systemctl"), "is-active", "--quiet", "firewalld"]
    return run_program("systemctl", argv, 10.0).rc == 0


def command(
    find: Callable[[str], str] = find_program, firewalld_runs: Callable[[], bool] = _firewalld_runs
) -> str:
    """The one command that shows its rules; "" where no program for it is installed."""
    if _is_there(find, _FIREWALLD):
        try:
            if firewalld_runs():
                return f"{_FIREWALLD} --list-all"
        except Unavailable:
            pass
    return next((line for name, line in _COMMANDS.items() if _is_there(find, name)), "")


def _is_there(find: Callable[[str], str], program: str) -> bool:
    try:
        find(program)
    except Unavailable:
        return False
    return True
