# SPDX-License-Identifier: GPL-3.0-or-later
"""What one host told of its TCP ports, read from the variables that playbooks/tasks/tcp.yml leaves.

``ibready_tcp_listening``, ``ibready_tcp_asked``, ``ibready_tcp_stopped`` (results of the modules
tcp_listen and tcp_reach), ``ibready_tcp_error`` (a text), and the inventory's own.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible.module_utils.common.validation import check_type_list
from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._between.tcp.tried import Host
from .._ground import address as _address
from . import apart, shapes
from .typed import AnswerError, read

PORTS = [29500]
_OFF = "ibready_tcp is false: nobody looked whether a firewall is between the hosts"
_NOT_ASKED = "no other host took part (was there a --limit?)"


@dataclass(frozen=True)
class Reported:
    """One host. ``address``: where others reach it. ``listens``, ``sample``: ports of its listener.

    ``sample_why``: why no port of its range could be listened on. ``ended``: why its listener may
    not have been there all the time. ``answers``: of the module tcp_reach.
    """

    address: str
    host: Host
    listens: tuple[int, ...] = ()
    sample: tuple[int, ...] = ()
    sample_why: str = ""
    ended: str = ""
    answers: Sequence[shapes.Reached] = ()

    @property
    def takes_part(self) -> bool:
        return not self.host.off and bool(self.listens or self.host.held or self.sample)


def told(name: str, seen: Mapping[str, Any]) -> Reported:
    """Read one host's variables; what cannot be read is its own error, and nobody else's."""
    address = _address.of(name, seen)
    ports = tuple(int(port) for port in check_type_list(seen.get("ibready_tcp_ports") or PORTS))
    if not boolean(seen.get("ibready_tcp", True), strict=False):
        return Reported(address, Host(ports, off=_OFF))
    if _is_loopback(address):
        return Reported(address, Host(ports, error=f"others cannot reach it at {address}: set ibready_address"))
    listening = seen.get("ibready_tcp_listening") or {}
    if not isinstance(listening, Mapping) or "ports" not in listening:
        why = str(seen.get("ibready_tcp_error") or _said(listening) or _NOT_ASKED)
        return Reported(address, Host(ports, error=why))
    try:
        return _told(address, ports, read(shapes.Listening, listening), seen)
    except AnswerError as exc:
        why = apart.why(exc, "what the modules tcp_listen and tcp_reach returned")
        return Reported(address, Host(ports, error=why))


def _told(address: str, ports: tuple[int, ...], listening: shapes.Listening, seen: Mapping[str, Any]) -> Reported:
    span = listening["range"]
    asked = read(shapes.Query, seen.get("ibready_tcp_asked") or {})
    error = str(seen.get("ibready_tcp_error") or "")
    if not error and "answers" not in asked:
        error = _said(asked)
    no_range = "" if span["ports"] or span["why"] else "ibready_tcp_range_ports is 0"
    host = Host(
        ports,
        error=error,
        span=(span["low"], span["high"]),
        look=listening["look"],
        held={entry["port"]: entry["by"] for entry in listening["held"]},
        no_range=no_range,
    )
    return Reported(
        address,
        host,
        listens=tuple(listening["ports"]),
        sample=tuple(span["ports"]),
        sample_why=span["why"],
        ended=_ended(seen.get("ibready_tcp_stopped") or {}),
        answers=asked.get("answers") or (),
    )


def _ended(stopped: Any) -> str:
    """Why the listener may have been gone when others asked; empty where it was there."""
    there = stopped.get("was_there") if isinstance(stopped, Mapping) else None
    if there is True:
        return ""
    if there is False:
        return "its listener ended before it was stopped"
    return f"nobody saw whether its listener was still there: {_said(stopped) or 'not stopped'}"


def _said(result: Any) -> str:
    return str(result.get("msg") or "").strip() if isinstance(result, Mapping) else ""


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
