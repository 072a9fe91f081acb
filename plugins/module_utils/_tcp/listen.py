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

from ansible_collections.ibready.cluster.plugins.module_utils import _source
from ansible_collections.ibready.cluster.plugins.module_utils._command import run_program
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._tcp import (
    _listen_child,
    firewall,
    holder,
    ports,
    process,
    words,
)

_WHAT = "the listener"
_START_S = 20.0
# Seconds for a listener to end after each signal.
_END_S = 2.0
_ID = re.compile(r"\A([1-9][0-9]{0,9}):([0-9]{1,20})\Z")


class ListenError(Exception):
    """A listener could not be started or ended; the message names cause and next step."""


@dataclass(frozen=True)
class Wanted:
    """What to listen on. ``count``: how many ports of the kernel's own range. ``lease`` in seconds.

    ``address``: the one to listen on where it is an address of this node; all of them otherwise.
    ``name``: what the listener says that it is. ``most``: callers after which it ends.
    """

    ports: tuple[int, ...]
    count: int
    address: str
    name: str
    token: bytes
    lease: int
    most: int


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
        "most": wanted.most,
    }
    told = _ask_child(request)
    if span is not None and len(told["sample"]) < len(ports.spread(*span[:2], wanted.count)):
        why = f"only {len(told['sample'])} free ports were found in {span[0]} to {span[1]}"
    return {
        "id": told["id"],
        "address": told["address"],
        "ports": told["ports"],
        "held": [{"port": one, "by": holder.holder(evidence, one)} for one in told["held"]],
        "range": {
            "low": span[0] if span else 0,
            "high": span[1] if span else 0,
            "ports": told["sample"],
            "why": why,
        },
        "look": firewall.command(),
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
        for _ in range(int(_END_S / 0.02)):
            if process.begun(pid) != begun:
                return True
            sleep(0.02)
    raise ListenError(f"process {pid} does not end; its lease ends it. Next: `kill -9 {pid}`")


def _ask_child(request: dict[str, Any]) -> dict[str, Any]:
    """What the new process has; its id is empty where there is nothing to listen on."""
    argv = _source.argv_of(ports, process, words, _listen_child)
    # Not an argument: those can be read by everybody.
    with tempfile.TemporaryFile() as stream:
        stream.write(json.dumps(request).encode())
        stream.seek(0)
        done = run_program(_WHAT, argv, _START_S, stdin=stream)
    try:
        told: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.strip().rpartition("\n")[2] or f"status {done.rc}"
        raise ListenError(f"the listener did not start: {said}") from None
    if "error" in told:
        raise ListenError(f"the listener did not start: {told['error']}")
    return told


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
