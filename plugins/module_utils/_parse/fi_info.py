# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse what libfabric's ``fi_info`` prints: bare or ``-p efa``, the list of ``-l``, and ``-v`` in full."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from .._ground.text import flat_lines, is_whole, no_facts

_TOOL = "fi_info"
NOTHING: dict[str, Any] = {"providers": {}, "endpoints": [], "failed": None, "unread": 0}

_NAME = r"[A-Za-z][\w;.-]{0,60}"
_VERSION = r"\d{1,5}\.\d{1,5}"
_PROVIDER = re.compile(rf"provider: ({_NAME})")
_LISTED = re.compile(rf"({_NAME}):")
_FIELDS = {
    "fabric": re.compile(r"fabric: (\S{1,120})"),
    "domain": re.compile(r"domain: (\S{1,120})"),
    "version": re.compile(rf"version: ({_VERSION})"),
    "type": re.compile(r"type: (FI_EP_[A-Z_]{1,30})"),
    "protocol": re.compile(r"protocol: (FI_PROTO_[A-Z0-9_]{1,40}|\d{1,10})"),
}
# With -v the same stands in parts, each below its name.
_PART = re.compile(r"(fi_\w{1,30}|nic|fid_nic):(?: .{1,40})?")
_LONG = {
    ("fi_ep_attr", "type"): "type",
    ("fi_ep_attr", "protocol"): "protocol",
    ("fi_domain_attr", "name"): "domain",
    ("fi_fabric_attr", "name"): "fabric",
    ("fi_fabric_attr", "prov_name"): "provider",
    ("fi_fabric_attr", "prov_version"): "version",
}
_PAIR = re.compile(r"(\w{1,40}): (.{1,400})")
_PROVIDERS = {
    *("efa", "verbs", "tcp", "udp", "UDP", "shm", "sm2", "sockets", "psm", "psm2", "psm3", "opx", "cxi", "gni"),
    *("ofi_rxm", "ofi_rxd", "off_coll", "lnx", "ucx", "mlx", "net", "usnic", "ofi_hook_noop", "ofi_hook_debug"),
}
# By which a last line shows that it is whole.
_PROTOCOLS = {
    *("RDMA_CM_IB_RC", "IWARP", "IB_UD", "PSMX2", "PSMX3", "UDP", "SOCK_TCP", "IB_RDM", "GNI", "RXM", "RXD", "MLX"),
    *("SHM", "RSTREAM", "RDMA_CM_IB_XRC", "EFA", "RXM_TCP", "OPX", "CXI", "XNET", "COLL", "UCX", "SM2", "LNX"),
}
_RULE = "---"
_FAILED = re.compile(r"fi_getinfo: (-?\d{1,5})(?: \((.{1,80})\))?")
_NO_DATA = 61


@dataclass(frozen=True)
class Endpoint:
    """What a provider offers. "" where it is not shown."""

    provider: str
    fabric: str = ""
    domain: str = ""
    version: str = ""
    type: str = ""
    protocol: str = ""


@dataclass(frozen=True)
class FiInfo:
    """``listed``: name and version of each provider, of ``-l``. ``failed``: fi_info's own error, "" without."""

    endpoints: tuple[Endpoint, ...] = ()
    listed: tuple[tuple[str, str], ...] = ()
    failed: str = ""
    unread: int = 0
    cut: bool = False

    @property
    def providers(self) -> dict[str, str]:
        """Their versions, by name."""
        told = {entry.provider: entry.version for entry in self.endpoints if entry.provider}
        return {**dict(self.listed), **told}


def parse(text: str) -> FiInfo:
    """Read the output; raise ParseError where it names no provider and no error of fi_info."""
    lines = flat_lines(text)
    failed = next((line for line in lines if _FAILED.fullmatch(line)), "")
    is_long = any(line == "fi_fabric_attr:" for line in lines)
    found, listed, unread = _long(lines) if is_long else _short(lines)
    if not found and not listed and not failed:
        raise no_facts(_TOOL, lines, "no provider of libfabric")
    told = [*found, *({"provider": name, "version": version} for name, version in listed)]
    partial = bool(told) and not is_whole(text) and not _is_complete(told[-1], bool(listed))
    if partial and found:
        found[-1].pop("protocol", None)
    return FiInfo(tuple(Endpoint(**entry) for entry in found), tuple(listed), failed, unread, partial)


def _is_complete(last: dict[str, str], listed: bool) -> bool:
    if listed:
        return bool(last.get("version"))
    return bool(last.get("version")) and last.get("protocol", "").replace("FI_PROTO_", "") in _PROTOCOLS


def _short(lines: list[str]) -> tuple[list[dict[str, str]], list[tuple[str, str]], int]:
    """Endpoints, the list of providers, and how many lines are neither."""
    found: list[dict[str, str]] = []
    listed: list[tuple[str, str]] = []
    last: dict[str, str] | None = None
    name, unread = "", 0
    for line in lines:
        if not line or _FAILED.fullmatch(line):
            continue
        provider, heading = _PROVIDER.fullmatch(line), _LISTED.fullmatch(line)
        field, value = _field(line)
        # The first line of an endpoint may be missing.
        begins = field == "fabric" and (last is None or field in last)
        if provider is not None or begins:
            last = {"provider": provider.group(1) if provider else ""}
            found.append(last)
        elif heading is not None and last is None:
            unread += bool(name)
            name = heading.group(1)
            continue
        if field and last is not None and field not in last:
            last[field] = value
        elif field == "version" and name:
            listed.append((name, value))
            name = ""
        elif provider is None:
            unread += 1
    # Others, too, write a name and something below it.
    if not any(len(entry) > 2 for entry in found):
        found = []
    if found or not any(set(name.split(";")) & _PROVIDERS for name, _version in listed):
        listed = []
    return found, listed, unread + bool(name)


def _field(line: str) -> tuple[str, str]:
    for name, pattern in _FIELDS.items():
        match = pattern.fullmatch(line)
        if match is not None:
            return name, match.group(1)
    return "", ""


def _long(lines: list[str]) -> tuple[list[dict[str, str]], list[tuple[str, str]], int]:
    """The same of what ``-v`` prints."""
    found: list[dict[str, str]] = []
    part, unread = "", 0
    for line in lines:
        opened = _PART.fullmatch(line)
        pair = _PAIR.fullmatch(line)
        if opened is not None:
            part = opened.group(1)
            if part == "fi_info":
                found.append({})
        elif line == _RULE:
            part = ""
        elif pair is not None and part:
            name = _LONG.get((part, pair.group(1)))
            if name is not None and found:
                found[-1].setdefault(name, pair.group(2))
        elif line and not part:
            unread += 1
    return [entry for entry in found if entry.get("provider")], [], unread


def facts(parsed: FiInfo) -> dict[str, Any]:
    """The same as a JSON-ready dictionary, in the field names of docs/parsers.md."""
    found: dict[str, Any] = {
        "providers": parsed.providers,
        "endpoints": [asdict(entry) for entry in parsed.endpoints],
        "failed": parsed.failed or None,
        "unread": parsed.unread,
    }
    if parsed.cut:
        found["cut"] = True
    return found


def wrong(parsed: FiInfo) -> tuple[str, ...]:
    """That libfabric found no provider of what it was asked for, or gave up."""
    match = _FAILED.fullmatch(parsed.failed)
    if match is None or parsed.endpoints:
        return ()
    if abs(int(match.group(1))) == _NO_DATA:
        return ("libfabric finds no provider of what it was asked for (fi_getinfo: -61)",)
    return (f"libfabric gave up ({parsed.failed})",)
