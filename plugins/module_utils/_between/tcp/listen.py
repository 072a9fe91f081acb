# SPDX-License-Identifier: GPL-3.0-or-later
"""Listen on TCP ports of this node for a while, by a process of its own, and end it again."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import re
import signal
import tempfile
import time
from dataclasses import dataclass
from typing import Any, Callable

from ..._evidence.sources import Evidence
from ..._ground import nobody, source, strict
from ..._ground.command import Unavailable, find_program, run_program
from . import _listen_child, port_owner, ports, process, words

_FIREWALLD = "firewall-cmd"
# nft shows the rules that iptables-nft wrote, too.
_COMMANDS = {"nft": "nft list ruleset", "iptables": "iptables -S"}
_WHAT = "the listener"
_START_S = 20.0
# Seconds for a listener to end after each signal.
_END_S = 2.0
_ID = re.compile(r"\A([1-9][0-9]{0,9}):([0-9]{1,20})\Z")


def _firewalld_runs() -> bool:
    argv = [find_program("systemctl"), "is-active", "--quiet", "firewalld"]
    return run_program("systemctl", argv, 10.0).rc == 0


def firewall_command(
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


class ListenError(Exception):
    """A listener could not be started or ended; the message names cause and next step."""


@dataclass(frozen=True)
class Wanted:
    """What to listen on. ``count``: how many ports of the kernel's own range. ``lease`` in seconds.

    ``address``: the one to listen on where it is an address of this node; all of them otherwise.
    ``name``: what the listener says that it is.
    """

    ports: tuple[int, ...]
    count: int
    address: str
    name: str
    token: bytes
    lease: int


def start(evidence: Evidence, wanted: Wanted) -> dict[str, Any]:
    """Start a listener; what the module tcp_listen returns. Raises ListenError or Unavailable."""
    span, why = _range(evidence) if wanted.count else (None, "")
    request = {
        "ports": list(dict.fromkeys(wanted.ports)),
        "range": span,
        "count": wanted.count,
        "address": _literal(wanted.address),
        "name": wanted.name,
        "token": wanted.token.hex(),
        "lease": wanted.lease,
    }
    reported = _ask_child(request)
    if span is not None and len(reported["sample"]) < len(ports.spread(*span[:2], wanted.count)):
        why = f"only {len(reported['sample'])} free ports were found in {span[0]} to {span[1]}"
    return {
        "id": reported["id"],
        "address": reported["address"],
        "ports": reported["ports"],
        "held": [{"port": entry, "by": port_owner.holder(evidence, entry)} for entry in reported["held"]],
        "range": {
            "low": span[0] if span else 0,
            "high": span[1] if span else 0,
            "ports": reported["sample"],
            "why": why,
        },
        "look": firewall_command(),
    }


def stop(identity: str, sleep: Callable[[float], None] = time.sleep) -> bool:
    """End a listener; whether it was still there. Raises ValueError or ListenError."""
    match = _ID.match(identity)
    if match is None:
        raise ValueError(f"{identity!r} is not the id of a listener")
    pid, begun = int(match[1]), int(match[2])
    if process.begun(pid) != begun:
        return False
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        for _turn in range(int(_END_S / 0.02)):
            if process.begun(pid) != begun:
                return True
            sleep(0.02)
    raise ListenError(f"process {pid} does not end; its lease ends it. Next: `kill -9 {pid}`")


def _ask_child(request: dict[str, Any]) -> dict[str, Any]:
    """What the new process has; its id is empty where there is nothing to listen on."""
    argv = source.argv_of(nobody, ports, process, words, _listen_child)
    # Not an argument: those can be read by everybody.
    with tempfile.TemporaryFile() as stream:
        stream.write(json.dumps(request).encode())
        stream.seek(0)
        done = run_program(_WHAT, argv, _START_S, stdin=stream)
    try:
        reported: dict[str, Any] = strict.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().rpartition("\n")[2] or f"status {done.rc}"
        raise ListenError(f"the listener did not start: {said}") from None
    if "error" in reported:
        raise ListenError(f"the listener did not start: {reported['error']}")
    return reported


def _range(evidence: Evidence) -> tuple[tuple[int, int, ports.Spans] | None, str]:
    """The kernel's range with what is left out of it, or why it cannot be told."""
    try:
        low, high = ports.parse_range(evidence.read(ports.RANGE))
        return (low, high, ports.parse_reserved(evidence.read(ports.RESERVED))), ""
    except Unavailable as exc:
        return None, str(exc)
    except ValueError as exc:
        return None, f"{ports.RANGE}: {exc}"


def _literal(address: str) -> str:
    """The address where it is one; a name may lead to the host itself by a loopback address."""
    try:
        return str(ipaddress.ip_address(address))
    except ValueError:
        return ""
