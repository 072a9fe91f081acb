# SPDX-License-Identifier: GPL-3.0-or-later
"""Read SONiC's CONFIG_DB as JSON: /etc/sonic/config_db.json, or what ``sonic-cfggen -d --print-data`` prints.

Tables and fields: sonic-net/sonic-buildimage, src/sonic-yang-models/doc/Configuration.md; confirmed. References are
written ``[TABLE|NAME]`` up to database version 3.0.2, and ``NAME`` since; ``pfcwd_sw_enable`` came with 3.0.4
(sonic-utilities, scripts/db_migrator.py); confirmed. The hardware takes an MTU with 22 bytes on top (sonic-swss,
orchagent/portsorch.cpp, setPortMtu); confirmed. The whole database is one object: a table not in it has no rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._ground.text import clean_lines
from .port import DSCP, DSCPS, PCP, PRIORITIES, SwitchPort, Text, Told, TrafficClass, numbers

# Queues of a port; SONiC's platforms have 8 to 20.
_QUEUES = range(32)
# What marks packets that are green (sonic-swss, orchagent/qosorch.cpp, ecn_map; confirmed), as those are that no meter
# has coloured (inferred).
_MARKS = ("ecn_all", "ecn_green", "ecn_green_yellow", "ecn_green_red")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|\n')
_DEPTH = 3
_MTUS = range(68, 65536)


@dataclass(frozen=True)
class _Db:
    """The database, and in which line its keys stand."""

    text: Text
    tables: Mapping[str, Mapping[str, Mapping[str, Any]]]
    lines: Mapping[tuple[str, ...], int]

    def row(self, table: str, key: str) -> Mapping[str, Any]:
        return self.tables.get(table, {}).get(key, {})

    def quote(self, *path: str) -> str:
        """The line of a key; of a field with its value."""
        line_no = self.lines.get(path, 0)
        said = "|".join(path[:2]) + (f" {path[2]} = {self.row(*path[:2]).get(path[2])}" if len(path) > 2 else "")
        return self.text.line(line_no, said)

    def without(self, said: str) -> str:
        return f"{self.text.name}: no {said}"

    def field(self, table: str, key: str, name: str, within: range) -> tuple[int, ...]:
        """The numbers of a field; ParseError that names its line."""
        said = self.row(table, key).get(name, "")
        try:
            if not isinstance(said, str):
                raise ValueError(f"{name} is no text")
            return numbers(said, within)
        except ValueError as exc:
            raise self.text.refuse(self.lines.get((table, key, name), 0), f"{name}: {said}", str(exc)) from exc


def read(text: Text) -> tuple[str, dict[str, SwitchPort]]:
    """The switch's own name, and its ports."""
    db = _load(text)
    host = db.row("DEVICE_METADATA", "localhost").get("hostname")
    queues = dict(_queues(db))
    return str(host or ""), {name: _port(db, name, queues.get(name, {})) for name in db.tables["PORT"]}


def _load(text: Text) -> _Db:
    lines = clean_lines(text.text)
    try:
        found = json.loads("\n".join(lines), strict=False)
    except json.JSONDecodeError as exc:
        line = lines[exc.lineno - 1] if exc.lineno <= len(lines) else ""
        raise text.refuse(exc.lineno, line, f"no JSON from here on: {exc.msg}") from exc
    except (ValueError, RecursionError) as exc:
        raise text.refuse(0, "", "no JSON that can be read: nested too deep, or a number too long") from exc
    if not isinstance(found, dict):
        raise text.refuse(1, lines[0], "no object of tables")
    where = _where("\n".join(lines))
    for table, rows in found.items():
        if table.isupper() and not (isinstance(rows, dict) and all(isinstance(row, dict) for row in rows.values())):
            raise text.refuse(where.get((table,), 0), table, "no table of rows")
    for table in ("DEVICE_METADATA", "PORT"):
        if not found.get(table):
            raise text.refuse(0, "", f"no table {table}: this is no whole CONFIG_DB")
    return _Db(text, found, where)


def _where(text: str) -> dict[tuple[str, ...], int]:
    """In which line each key stands, down to the fields of a row."""
    found: dict[tuple[str, ...], int] = {}
    path: list[str] = []
    line, last, last_line = 1, "", 1
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == "\n":
            line += 1
        elif token[0] == '"':
            last, last_line = token, line
            line += token.count("\n")
        elif token == ":":
            if 1 <= len(path) <= _DEPTH:
                found[(*path[1:], _unquoted(last))] = last_line
        elif token in "{[":
            path.append(_unquoted(last) if path else "")
        elif token in "}]" and path:
            path.pop()
    return found


def _unquoted(token: str) -> str:
    try:
        return str(json.loads(token or '""', strict=False))
    except ValueError:
        return token


def _port(db: _Db, name: str, queues: Mapping[int, str]) -> SwitchPort:
    row, qos = db.row("PORT", name), _qos_key(db, name)
    alias = str(row.get("alias") or name)
    mine = db.row("PORT_QOS_MAP", qos)
    nothing = db.without(f"row PORT_QOS_MAP|{name}")
    pfc = Told(db.field("PORT_QOS_MAP", qos, "pfc_enable", PRIORITIES), nothing)
    if "pfc_enable" in mine:
        pfc = Told(pfc.value, db.quote("PORT_QOS_MAP", qos, "pfc_enable"))
    elif mine:
        pfc = Told((), db.without(f"pfc_enable in PORT_QOS_MAP|{qos}"))
    maps = {"dscp_to_tc_map": DSCP, "dot1p_to_tc_map": PCP}
    # A map of the whole switch counts where the port has none of its own.
    keys = {field: key for key in ("global", qos) for field in maps if db.row("PORT_QOS_MAP", key).get(field)}
    trusted = [db.quote("PORT_QOS_MAP", key, field) for field, key in keys.items()]
    return SwitchPort(
        name,
        frozenset((name.lower(), alias.lower())),
        _remote(db, name),
        pfc,
        Told(frozenset(maps[field] for field in keys), "; ".join(trusted) or nothing),
        _classes(db, keys.get("dscp_to_tc_map", qos), qos),
        _ecn(db, name, queues),
        _mtu(db, name),
        _watchdog(db, name, qos, pfc.value or ()),
    )


def _qos_key(db: _Db, name: str) -> str:
    """The key of the port's row, which may be one of several ports."""
    return next((key for key in db.tables.get("PORT_QOS_MAP", {}) if name in key.split(",")), name)


def _remote(db: _Db, name: str) -> tuple[str, str]:
    row = db.row("DEVICE_NEIGHBOR", name)
    return str(row.get("name") or "").lower(), str(row.get("port") or "").lower()


def _mtu(db: _Db, name: str) -> Told[int]:
    said = db.row("PORT", name).get("mtu")
    if said is None:
        return Told(why=db.without(f"mtu in PORT|{name}"))
    if not (isinstance(said, str) and said.isascii() and said.isdecimal() and len(said) < 6 and int(said) in _MTUS):
        raise db.text.refuse(db.lines.get(("PORT", name, "mtu"), 0), f"mtu: {said}", "no MTU")
    return Told(int(said), db.quote("PORT", name, "mtu"))


def _named(db: _Db, said: Any) -> str:
    """The name in a reference of either form."""
    return str(said).strip("[]").rpartition("|")[2]


def _map(db: _Db, table: str, name: str, keys: range, values: range) -> dict[int, int] | None:
    """A table of this name; None where there is none."""
    rows = db.tables.get(table, {}).get(name)
    if rows is None:
        return None
    found: dict[int, int] = {}
    for key in rows:
        value = db.field(table, name, key, values)
        try:
            (mark,) = numbers(key, keys)
            (found[mark],) = value
        except ValueError as exc:
            raise db.text.refuse(
                db.lines.get((table, name, key), 0), f"{key}: {rows[key]}", "no pair of numbers"
            ) from exc
    return found


def _classes(db: _Db, where: str, qos: str) -> Told[Mapping[int, TrafficClass]]:
    names = {
        "DSCP_TO_TC_MAP": _named(db, db.row("PORT_QOS_MAP", where).get("dscp_to_tc_map", "")),
        "TC_TO_PRIORITY_GROUP_MAP": _named(db, db.row("PORT_QOS_MAP", qos).get("tc_to_pg_map", "")),
        "TC_TO_QUEUE_MAP": _named(db, db.row("PORT_QOS_MAP", qos).get("tc_to_queue_map", "")),
    }
    if not names["DSCP_TO_TC_MAP"]:
        return Told(why=db.without(f"dscp_to_tc_map in PORT_QOS_MAP|{qos}"))
    # Without a map of its own a port takes the priority group and the queue of the traffic class's number.
    found = {table: _map(db, table, name, DSCPS, _QUEUES) if name else {} for table, name in names.items()}
    lost = [f"{table}|{names[table]}" for table, rows in found.items() if rows is None]
    if lost:
        return Told(why=db.without(f"row {lost[0]}, which PORT_QOS_MAP|{qos} names"))
    return Told({dscp: _class(db, names, found, dscp, tc) for dscp, tc in (found["DSCP_TO_TC_MAP"] or {}).items()})


def _class(db: _Db, names: Mapping[str, str], found: Mapping[str, Any], dscp: int, tc: int) -> TrafficClass:
    quoted = [db.quote("DSCP_TO_TC_MAP", names["DSCP_TO_TC_MAP"], str(dscp))]
    leads: list[int | None] = []
    for table in ("TC_TO_PRIORITY_GROUP_MAP", "TC_TO_QUEUE_MAP"):
        leads.append(found[table].get(tc) if names[table] else tc)
        if names[table] and leads[-1] != tc:
            quoted.append(db.quote(table, names[table], str(tc)))
    return TrafficClass(leads[0], leads[1], "; ".join(quoted))


def _queues(db: _Db) -> Iterator[tuple[str, dict[int, str]]]:
    """By port: the key of each queue's row."""
    found: dict[str, dict[int, str]] = {}
    for key in db.tables.get("QUEUE", {}):
        ports, _bar, queue = key.rpartition("|")
        try:
            some = numbers(queue, _QUEUES)
        except ValueError as exc:
            raise db.text.refuse(db.lines.get(("QUEUE", key), 0), key, str(exc)) from exc
        for port in ports.rpartition("|")[2].split(","):
            found.setdefault(port, {}).update(dict.fromkeys(some, key))
    yield from found.items()


def _ecn(db: _Db, name: str, queues: Mapping[int, str]) -> Told[frozenset[int]]:
    marking: list[int] = []
    quoted: list[str] = []
    for queue, key in sorted(queues.items()):
        profile = _named(db, db.row("QUEUE", key).get("wred_profile", ""))
        if not profile:
            continue
        if profile not in db.tables.get("WRED_PROFILE", {}):
            return Told(why=db.without(f"row WRED_PROFILE|{profile}, which QUEUE|{key} names"))
        quoted.append(db.quote("QUEUE", key, "wred_profile"))
        if db.row("WRED_PROFILE", profile).get("ecn") in _MARKS:
            marking.append(queue)
        else:
            quoted.append(db.quote("WRED_PROFILE", profile, "ecn"))
    return Told(frozenset(marking), "; ".join(dict.fromkeys(quoted)) or db.without(f"wred_profile in QUEUE|{name}|*"))


def _watchdog(db: _Db, name: str, qos: str, lossless: tuple[int, ...]) -> Told[bool]:
    """A row of the port's, and every priority among those that are watched, where a field says which."""
    row = db.row("PFC_WD", name)
    if not row:
        return Told(False, db.without(f"row PFC_WD|{name}"))
    if "pfcwd_sw_enable" not in db.row("PORT_QOS_MAP", qos):
        return Told(True, db.quote("PFC_WD", name))
    watched = db.field("PORT_QOS_MAP", qos, "pfcwd_sw_enable", PRIORITIES)
    return Told(set(lossless) <= set(watched), db.quote("PORT_QOS_MAP", qos, "pfcwd_sw_enable"))
