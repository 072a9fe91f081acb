# SPDX-License-Identifier: GPL-3.0-or-later
"""What one host told of its TCP ports, read from the variables that playbooks/tasks/tcp.yml leaves.

``ibready_tcp_listening``, ``ibready_tcp_asked``, ``ibready_tcp_stopped`` (results of the modules
tcp_listen and tcp_reach), ``ibready_tcp_error`` (a text), and the inventory's own.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible.module_utils.common.validation import check_type_list
from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.ibready.cluster.plugins.module_utils._tcp.tried import Host
from ansible_collections.ibready.cluster.plugins.plugin_utils import _address

PORTS = [29500]
_OFF = "ibready_tcp is false: nobody looked whether a firewall is between the hosts"
_NOT_ASKED = "no other host took part (was there a --limit?)"


@dataclass(frozen=True)
class Told:
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
    answers: Sequence[Mapping[str, Any]] = field(default_factory=list)

    @property
    def takes_part(self) -> bool:
        return not self.host.off and bool(self.listens or self.host.held or self.sample)


def told(name: str, seen: Mapping[str, Any]) -> Told:
    """Read one host's variables; what cannot be read is its own error, and nobody else's."""
    address = _address.of(name, seen)
    ports = tuple(int(port) for port in check_type_list(seen.get("ibready_tcp_ports") or PORTS))
    if not boolean(seen.get("ibready_tcp", True), strict=False):
        return Told(address, Host(ports, off=_OFF))
    if _is_loopback(address):
        why = f"others cannot reach it at {address}: set ibready_address"
        return Told(address, Host(ports, error=why))
    listening = seen.get("ibready_tcp_listening") or {}
    if not isinstance(listening, Mapping) or "ports" not in listening:
        why = str(seen.get("ibready_tcp_error") or _said(listening) or _NOT_ASKED)
        return Told(address, Host(ports, error=why))
    try:
        return _told(address, ports, listening, seen)
    except (AttributeError, KeyError, TypeError, ValueError) as exc:
        why = f"the modules tcp_listen and tcp_reach returned what cannot be read: {exc!r}"
        return Told(address, Host(ports, error=why))


def _told(
    address: str, ports: tuple[int, ...], listening: Mapping[str, Any], seen: Mapping[str, Any]
) -> Told:
    span = listening["range"]
    asked = seen.get("ibready_tcp_asked") or {}
    error = str(seen.get("ibready_tcp_error") or "")
    if not error and "answers" not in asked:
        error = _said(asked)
    no_range = "" if span["ports"] or span["why"] else "ibready_tcp_range_ports is 0"
    host = Host(
        ports,
        error=error,
        span=(int(span["low"]), int(span["high"])),
        look=str(listening["look"]),
        held={int(one["port"]): str(one["by"]) for one in listening["held"]},
        no_range=no_range,
    )
    return Told(
        address,
        host,
        listens=tuple(int(port) for port in listening["ports"]),
        sample=tuple(int(port) for port in span["ports"]),
        sample_why=str(span["why"]),
        ended=_ended(seen.get("ibready_tcp_stopped") or {}),
        answers=list(asked.get("answers") or []),
    )


def _ended(stopped: Mapping[str, Any]) -> str:
    """Why the listener may have been gone when others asked; empty where it was there."""
    if stopped.get("was_there") is True:
        return ""
    if stopped.get("was_there") is False:
        return "its listener ended before it was stopped"
    return f"nobody saw whether its listener was still there: {_said(stopped) or 'not stopped'}"


def _said(result: Any) -> str:
    return str(result.get("msg") or "").strip() if isinstance(result, Mapping) else ""


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
