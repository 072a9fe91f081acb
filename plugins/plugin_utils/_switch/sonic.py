# SPDX-License-Identifier: GPL-3.0-or-later
"""Read SONiC's CONFIG_DB as JSON: /etc/sonic/config_db.json, or what ``sonic-cfggen -d --print-data`` prints.

Tables and fields: sonic-net/sonic-buildimage, src/sonic-yang-models/doc/Configuration.md; confirmed. References are
written ``[TABLE|NAME]`` up to database version 3.0.2, and ``NAME`` since; ``pfcwd_sw_enable`` came after 3.0.4
(sonic-utilities, scripts/db_migrator.py); confirmed. The hardware takes an MTU with 22 bytes on top (sonic-swss,
orchagent/portsorch.cpp, setPortMtu), and a member of a port channel has that one's MTU (cfgmgr/teammgr.cpp);
confirmed. The watchdog takes no row without a detection time, only tells where its action is ``alert``, stands still
under BIG_RED_SWITCH (orchagent/pfcwdorch.cpp), and watches what ``pfcwd_sw_enable`` says, nothing without it
(orchagent/qosorch.cpp); confirmed. The whole database is one object: a table not in it has no rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
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
# The maps of a port: the field of PORT_QOS_MAP, and its table.
_MAPS = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
}
_ENDS_PAUSES = ("drop", "forward")
_DETECTION_MS = frozenset(map(str, range(100, 5001)))
# From this version of the database on, the watchdog watches what pfcwd_sw_enable says.
_VERSION, _SAYS_WATCHED = re.compile(r"version_([0-9]{1,6})_([0-9]{1,4})(?:_([0-9]{1,4}))?"), (3, 0, 5)
_MTUS = range(68, 65536)


@dataclass(frozen=True)
class _Db:
    """The database, and in which line its keys stand. ``classes``: those of maps that several ports share."""

    text: Text
    tables: Mapping[str, Mapping[str, Mapping[str, Any]]]
    lines: Mapping[tuple[str, ...], int]
    classes: dict[tuple[str, ...], Told[Mapping[int, TrafficClass]]] = field(default_factory=dict)

    def row(self, table: str, key: str) -> Mapping[str, Any]:
        return self.tables.get(table, {}).get(key, {})

    def quote(self, *path: str) -> str:
        """The line of a key; of a field with its value. What is not there is told as well."""
        row = "|".join(path[:2])
        if path not in self.lines:
            return self.without(f"{path[2]} in {row}" if len(path) > 2 else f"row {row}")
        said = row + (f" {path[2]} = {self.row(*path[:2]).get(path[2])}" if len(path) > 2 else "")
        return self.text.line(self.lines[path], said)

    def without(self, said: str) -> str:
        return f"{self.text.name}: no {said}"

    def numbers(self, table: str, key: str, name: str, within: range) -> tuple[int, ...]:
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
    queues, rows = _queues(db), _rows(db)
    lags = {key.rpartition("|")[2]: key.partition("|")[0] for key in db.tables.get("PORTCHANNEL_MEMBER", {})}
    return str(host or ""), {
        name: _port(db, name, rows.get(name, name), queues.get(name, {}), lags.get(name, ""))
        for name in db.tables["PORT"]
    }


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


def _port(db: _Db, name: str, qos: str, queues: Mapping[int, str], lag: str) -> SwitchPort:
    row = db.row("PORT", name)
    alias = str(row.get("alias") or name)
    mine = db.row("PORT_QOS_MAP", qos)
    nothing = db.without(f"row PORT_QOS_MAP|{name}")
    pfc = Told(db.numbers("PORT_QOS_MAP", qos, "pfc_enable", PRIORITIES), nothing)
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
        _mtu(db, "PORTCHANNEL", lag) if lag else _mtu(db, "PORT", name),
        _watchdog(db, name, qos, pfc.value or ()),
    )


def _rows(db: _Db) -> dict[str, str]:
    """By port: the key of its row in PORT_QOS_MAP, which may be a row of several ports; the first counts."""
    return {port: key for key in reversed(list(db.tables.get("PORT_QOS_MAP", {}))) for port in key.split(",")}


def _remote(db: _Db, name: str) -> tuple[str, str]:
    row = db.row("DEVICE_NEIGHBOR", name)
    return str(row.get("name") or "").lower(), str(row.get("port") or "").lower()


def _mtu(db: _Db, table: str, name: str) -> Told[int]:
    said = db.row(table, name).get("mtu")
    if said is None:
        return Told(why=db.without(f"mtu in {table}|{name}"))
    if not (isinstance(said, str) and said.isascii() and said.isdecimal() and len(said) < 6 and int(said) in _MTUS):
        raise db.text.refuse(db.lines.get((table, name, "mtu"), 0), f"mtu: {said}", "no MTU")
    return Told(int(said), db.quote(table, name, "mtu"))


def _named(db: _Db, table: str, key: str, field: str) -> str:
    """The name in a reference of either form, "" where there is none."""
    said = db.row(table, key).get(field, "")
    name = said.strip("[]").rpartition("|")[2] if isinstance(said, str) else ""
    if not name and said not in ("", "[]"):
        raise db.text.refuse(db.lines.get((table, key, field), 0), f"{field}: {said}", f"{field} names no row")
    return name


def _map(db: _Db, table: str, name: str, keys: range, values: range) -> dict[int, int] | None:
    """A table of this name; None where there is none."""
    rows = db.tables.get(table, {}).get(name)
    if rows is None:
        return None
    found: dict[int, int] = {}
    for key in rows:
        value = db.numbers(table, name, key, values)
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
        table: _named(db, "PORT_QOS_MAP", where if field == "dscp_to_tc_map" else qos, field)
        for field, table in _MAPS.items()
    }
    if not names["DSCP_TO_TC_MAP"]:
        return Told(why=db.without(f"dscp_to_tc_map in PORT_QOS_MAP|{qos}"))
    key = tuple(names.values())
    if key not in db.classes:
        db.classes[key] = _read_classes(db, names)
    return db.classes[key]


def _read_classes(db: _Db, names: Mapping[str, str]) -> Told[Mapping[int, TrafficClass]]:
    """Without a map of its own a port takes the priority group, the queue and the priority of the same number."""
    found = {table: _map(db, table, name, DSCPS, _QUEUES) for table, name in names.items() if name}
    lost = [f"{table}|{names[table]}" for table, rows in found.items() if rows is None]
    if lost:
        return Told(why=db.without(f"row {lost[0]}, which PORT_QOS_MAP names"))
    known = {table: rows for table, rows in found.items() if rows is not None}
    return Told({dscp: _class(db, names, known, dscp, tc) for dscp, tc in known["DSCP_TO_TC_MAP"].items()})


def _class(
    db: _Db, names: Mapping[str, str], maps: Mapping[str, Mapping[int, int]], dscp: int, tc: int
) -> TrafficClass:
    quoted = [db.quote("DSCP_TO_TC_MAP", names["DSCP_TO_TC_MAP"], str(dscp))]

    def follow(table: str, number: int) -> int | None:
        led = maps[table].get(number) if table in maps else number
        if led != number:
            quoted.append(db.quote(table, names[table], str(number)))
        return led

    group, queue = follow("TC_TO_PRIORITY_GROUP_MAP", tc), follow("TC_TO_QUEUE_MAP", tc)
    # Paused for these packets is the priority that stands for their group, and whose pauses stop their queue.
    back, stops = maps.get("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"), maps.get("MAP_PFC_PRIORITY_TO_QUEUE")
    some = [at for at in PRIORITIES if group is not None and (at if back is None else back.get(at)) == group]
    some = some if stops is None or queue is None else [at for at in some if stops.get(at) == queue]
    priority = group if group in some else next(iter(some), None)
    if priority != group and group is not None:
        for table in ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"):
            follow(table, group)
    return TrafficClass(priority, queue, "; ".join(quoted))


def _queues(db: _Db) -> dict[str, dict[int, str]]:
    """By port: the key of each queue's row, "" of a queue that has several."""
    found: dict[str, dict[int, str]] = {}
    for key in db.tables.get("QUEUE", {}):
        ports, _bar, queue = key.rpartition("|")
        try:
            some = numbers(queue, _QUEUES)
        except ValueError as exc:
            raise db.text.refuse(db.lines.get(("QUEUE", key), 0), key, str(exc)) from exc
        for port in ports.rpartition("|")[2].split(","):
            mine = found.setdefault(port, {})
            mine.update({at: "" if at in mine else key for at in some})
    return found


def _ecn(db: _Db, name: str, queues: Mapping[int, str]) -> Told[frozenset[int]]:
    marking: list[int] = []
    quoted: list[str] = []
    for queue, key in sorted(queues.items()):
        if not key:
            return Told(why=f"{db.text.name}: several rows QUEUE tell of queue {queue} of {name}")
        profile = _named(db, "QUEUE", key, "wred_profile")
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
    """A row that the switch takes and by which it ends pauses, and every priority among those that are watched."""
    row = db.row("PFC_WD", name)
    if db.row("PFC_WD", "GLOBAL").get("BIG_RED_SWITCH") == "enable":
        return Told(False, db.quote("PFC_WD", "GLOBAL", "BIG_RED_SWITCH"))
    if str(row.get("detection_time")) not in _DETECTION_MS:
        return Told(False, db.quote("PFC_WD", name, *(["detection_time"] if row else [])))
    if row.get("action", "drop") not in _ENDS_PAUSES:
        return Told(False, db.quote("PFC_WD", name, "action"))
    if "pfcwd_sw_enable" not in db.row("PORT_QOS_MAP", qos) and not _says_watched(db):
        return Told(True, db.quote("PFC_WD", name))
    watched = db.numbers("PORT_QOS_MAP", qos, "pfcwd_sw_enable", PRIORITIES)
    return Told(set(lossless) <= set(watched), db.quote("PORT_QOS_MAP", qos, "pfcwd_sw_enable"))


def _says_watched(db: _Db) -> bool:
    """Whether this database has to say what is watched; one without a version is taken for the oldest by the switch."""
    match = _VERSION.match(str(db.row("VERSIONS", "DATABASE").get("VERSION")))
    return match is not None and tuple(int(part or 0) for part in match.groups()) >= _SAYS_WATCHED
