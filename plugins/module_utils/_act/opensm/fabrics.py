# SPDX-License-Identifier: GPL-3.0-or-later
"""Which subnet manager a host runs for which fabric, as the site says it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Mapping, Sequence

from ..._data import opensm as data
from . import partitions

AUTO = "auto"
# 15 is left for one that goes before all of ours.
_FIRST, _HIGHEST = 14, 15
# Of log_flags: errors, and what it does.
_LOGGED = 0x03
_NAME = re.compile(r"[a-z][a-z0-9_]{0,15}")
_PORT = re.compile(r"auto|[A-Za-z0-9_.-]{1,63}/[0-9]{1,3}")
_SHARED = ("routing_engine", "root_guids", "partitions", "settings")
_KEYS = ("name", "port", *_SHARED)


class OpensmError(ValueError):
    """What keeps opensm from being set up: thing, cause and next step."""


@dataclass(frozen=True)
class Fabric:
    """One instance. ``port``: "mlx5_0/1", or auto; ``takeover_ms``: how long its master may be
    silent before a standby goes for its place; ``root_guids``: of switches."""

    name: str
    port: str
    priority: int
    routing_engine: tuple[str, ...]
    root_guids: tuple[str, ...] = ()
    partitions: tuple[partitions.Partition, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    takeover_ms: int = 20_000
    log_mb: int = 64


def priorities(hosts: Sequence[str], given: Mapping[str, Any], alone_ok: bool) -> dict[str, int]:
    """The priority of every host: what is given, else one less from place to place."""
    twice = sorted({host for host in hosts if list(hosts).count(host) > 1})
    if twice:
        raise OpensmError(f"subnet_manager_hosts names {twice[0]} twice")
    if not hosts:
        raise OpensmError("subnet_manager_hosts is empty. Next: name two hosts or more, the first choice first")
    if len(hosts) < 2 and not alone_ok:
        raise OpensmError(
            f"subnet_manager_hosts names {hosts[0]} alone: with it, the fabric would lose its only"
            " subnet manager. Next: name a second host, or set subnet_manager_alone_ok"
        )
    unknown = sorted(set(given) - set(hosts))
    if unknown:
        raise OpensmError(f"subnet_manager_priorities: {unknown[0]} is not in subnet_manager_hosts")
    found: dict[str, int] = {}
    for place, host in enumerate(hosts):
        value = given.get(host, max(_FIRST - place, 0))
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _HIGHEST:
            raise OpensmError(f"subnet_manager_priorities: {host} has {value!r}, not 0 to 15")
        other = [name for name, item in found.items() if item == value]
        if other:
            raise OpensmError(
                f"{other[0]} and {host} both have priority {value}: the lower GUID would decide."
                " Next: say others in subnet_manager_priorities"
            )
        found[host] = value
    return found


def read(
    given: Sequence[Mapping[str, Any]],
    shared: Mapping[str, Any],
    priority: int,
    managers: Mapping[str, Sequence[str]],
    *,
    takeover_s: float,
    log_mb: int,
) -> tuple[Fabric, ...]:
    """The instances of one host. ``shared``: what goes for a fabric that does not say its own.

    ``managers``: by fabric, the port GUIDs that are known to run a subnet manager of ours.
    """
    if not 1 <= takeover_s <= 600:
        raise OpensmError(f"subnet_manager_takeover_seconds {takeover_s!r} is not 1 to 600")
    if not 1 <= log_mb <= 2000:
        raise OpensmError(f"subnet_manager_log_mb {log_mb!r} is not 1 to 2000")
    found: dict[str, Fabric] = {}
    for place, raw in enumerate(given):
        what = f"subnet_manager_fabrics: fabric {raw.get('name', place + 1)}"
        strange = sorted(set(raw) - set(_KEYS))
        if strange:
            raise OpensmError(f"{what}: {strange[0]!r} is not one of {', '.join(_KEYS)}")
        name, port = str(raw.get("name", "")), str(raw.get("port", AUTO))
        if not _NAME.fullmatch(name):
            raise OpensmError(f"{what}: its name is no word of small letters, digits and '_' (16 at most)")
        if name in found:
            raise OpensmError(f"{what}: there are two of this name")
        if not _PORT.fullmatch(port):
            raise OpensmError(f"{what}: port {port!r} is neither auto nor like mlx5_0/1")
        if port in [fabric.port for fabric in found.values()]:
            raise OpensmError(f"{what}: another fabric has port {port}, too. Next: name each port")
        said = {key: raw.get(key, shared.get(key)) for key in _SHARED}
        engine = _engines(what, said["routing_engine"])
        settings = _settings(what, said["settings"] or {})
        listed = _partitions(what, said["partitions"] or (), managers.get(name, ()))
        leveled = [partition.name for partition in listed if partition.sl]
        if leveled and settings.get("qos") not in (True, "TRUE"):
            raise OpensmError(
                f"{what}: partition {leveled[0]} has a service level, which opensm takes for 0"
                " without QoS. Next: set qos: true in subnet_manager_settings"
            )
        roots = _roots(what, said["root_guids"] or (), engine)
        found[name] = Fabric(name, port, priority, engine, roots, listed, settings, int(takeover_s * 1000), log_mb)
    if not found:
        raise OpensmError("subnet_manager_fabrics is empty. Next: name one ({name: compute})")
    return tuple(found.values())


def _engines(what: str, given: Any) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else list(given or ())
    for entry in listed:
        if entry not in (*data.ROUTING_ENGINES, data.NO_FALLBACK):
            raise OpensmError(
                f"{what}: opensm has no routing engine {entry!r}. Next: take of"
                f" {', '.join(data.ROUTING_ENGINES)}; {data.NO_FALLBACK} as the last keeps it from"
                " going back to minhop"
            )
    if len(set(listed)) != len(listed):
        raise OpensmError(f"{what}: a routing engine is named twice")
    if not listed or (data.NO_FALLBACK in listed[:-1] or listed == [data.NO_FALLBACK]):
        raise OpensmError(f"{what}: its routing engine is {given!r}. Next: name one, {data.NO_FALLBACK} after it")
    return tuple(listed)


def _settings(what: str, given: Mapping[str, Any]) -> dict[str, Any]:
    for key in given:
        if key in data.OWN:
            raise OpensmError(f"{what}: {key} is not said in subnet_manager_settings but by {data.OWN[key]}")
    try:
        flags = int(str(given.get("log_flags", _LOGGED)), 0)
    except ValueError:
        flags = 0
    if flags & _LOGGED != _LOGGED:
        raise OpensmError(
            f"{what}: with log_flags {given['log_flags']!r} opensm does not log both its errors (1)"
            " and its sweeps (2), by which it is seen to have read its files. Next: add"
            f" {_LOGGED:#04x}"
        )
    return dict(given)


def _partitions(what: str, given: Any, managers: Sequence[str]) -> tuple[partitions.Partition, ...]:
    try:
        return partitions.read(given, managers)
    except partitions.PartitionError as exc:
        raise OpensmError(f"{what}: {exc}") from exc


def _roots(what: str, given: Sequence[Any], engines: tuple[str, ...]) -> tuple[str, ...]:
    if given and not set(engines) & set(data.ROOTED):
        raise OpensmError(
            f"{what}: root_guids are for {', '.join(data.ROOTED)}. Next: take them out, or name such a routing engine"
        )
    try:
        found = [partitions.guid(entry) for entry in given]
    except ValueError as exc:
        raise OpensmError(f"{what}: root_guids: {exc}") from exc
    if len(set(found)) != len(found):
        raise OpensmError(f"{what}: a switch is named twice in root_guids")
    return tuple(sorted(found))
