# SPDX-License-Identifier: GPL-3.0-or-later
"""Where NCCL takes other devices than a list of HCAs or interfaces seems to name."""

from __future__ import annotations

import re
from typing import Iterator, Tuple

from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_reading as reading
from ansible_collections.ibready.cluster.plugins.module_utils._data import nccl_variables as kinds
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import registry, select
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.conf import as_bytes
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.problem import (
    ERROR,
    WARNING,
    Problem,
    short,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import (
    NEWEST,
    Release,
    shown,
)

_SIGNS = "^="
# mlx5_1 is the beginning of mlx5_10, and eth1 of eth10; what ends with a 0 seldom is.
_BEGINNING = re.compile(r".*[^0-9]([1-9][0-9]*)")
# What a list that leaves out should leave out too, and what a device of that sort is called.
_NEVER_MEANT = {"docker": "docker0", "lo": "lo", "virbr": "virbr0", "veth": "veth0"}


# What was seen, what NCCL makes of it, what to do, how bad, and its kind.
_Seen = Tuple[str, str, str, str, str]


def problems(number: int, name: str, value: str, version: Release | None) -> Iterator[Problem]:
    """What is wrong with the value of NCCL_IB_HCA or NCCL_SOCKET_IFNAME in this line."""
    hcas = registry.kind_at(name, version) == kinds.HCAS
    found = list(_shape(name, value, version or NEWEST, hcas))
    if not found:
        found += _fields(value, version, hcas)
        found += _meaning(name, value, version or NEWEST, hcas)
    for seen, makes, step, severity, kind in found:
        yield Problem(number, name, seen, makes, step, severity, kind)


def _parts(value: str) -> tuple[str, list[str]]:
    """The signs that hold for the whole list, and its entries as they are written."""
    signs = value[: 2 if value.startswith("^=") else 1 if value[:1] in ("^", "=") else 0]
    return signs, value[len(signs) :].split(",")


def _shape(name: str, value: str, release: Release, hcas: bool) -> Iterator[_Seen]:
    """What spoils the list as a whole; the first is the one to tell."""
    signs, parts = _parts(value)
    # As it was probably meant.
    bare = [one.strip().lstrip(_SIGNS) for one in re.split(r"[,\s]+", ",".join(parts))]
    names = ",".join(one for one in bare if one)
    right = f"write {name}={signs}{names}"
    strange = next((one for one in parts if one.strip()[:1] in ("^", "=")), "")
    blank = next((one for one in parts if any(char.isspace() for char in one)), "")
    nothing = "no device is called so" if hcas else "no interface is called so"
    if len(value) < reading.SHORTEST_INTERFACES and not hcas:
        makes = "NCCL ignores a value of one character and looks for an interface by itself"
        yield f"the value {value!r}", makes, "write the whole name", ERROR, "one-character"
    elif signs == "=" and parts[0].startswith("^"):
        makes = f"the ^ is part of the name {short(parts[0])!r}, and {nothing}"
        yield "a ^ behind the =", makes, f"write {name}=^={names}", ERROR, "sign-order"
    elif strange:
        makes = f"a sign holds for the whole list and is read at its start alone: {nothing} as"
        found = f"a {strange.strip()[0]} inside the list"
        yield found, f"{makes} {short(strange)!r}", right, ERROR, "repeated-sign"
    elif blank:
        makes = f"the blank is part of the name {short(blank)!r}, and {nothing}"
        yield "a blank in the list", makes, right, ERROR, "blank-in-list"
    elif not select.parse(value, release, 1).entries:
        makes = "nothing is taken" if signs.startswith("^") else "everything is taken"
        step = "write the names, or take the line out"
        yield "a list without a name", makes, step, ERROR, "empty-list"


def _fields(value: str, version: Release | None, hcas: bool) -> Iterator[_Seen]:
    """Entries that are too many or too long, and what stands behind a name."""
    _, parts = _parts(value)
    most = select.most_hcas(version or NEWEST) if hcas else reading.MOST_INTERFACES
    left = select.parse(value, version or NEWEST, most).left
    if left:
        makes, step = f"NCCL does not see the last {left}", "write a beginning that they share"
        yield f"more than {most} entries", makes, step, ERROR, "too-many-entries"
    early = version is None or version < reading.FIELDS_SINCE
    since = "" if version else f" before {shown(reading.FIELDS_SINCE)}"
    for part in parts:
        name, *fields = part.split(":")
        if len(as_bytes(name)) > reading.LONGEST_ENTRY:
            found = f"a name of more than {reading.LONGEST_ENTRY} bytes"
            makes = "there is no room for it in NCCL"
            yield found, makes, "write the name of a device", ERROR, "too-long-entry"
        if not name or not fields:
            continue
        found = f"the entry {short(part)!r}"
        if not hcas:
            makes = "interfaces have no ports: what follows the : is ignored"
            yield found, makes, f"write {short(name)} there", WARNING, "port"
        elif not fields[0]:
            if early:
                makes = f"NCCL{since} reads port 0, which no HCA has: it matches nothing"
                step = f"write {short(name)} there"
                yield found, makes, step, ERROR if version else WARNING, "port"
        elif not re.fullmatch("[1-9][0-9]*", fields[0]):
            makes = f"{short(fields[0])!r} is no port, they count from 1: it matches nothing"
            yield found, makes, f"write {short(name)} or {short(name)}:1 there", ERROR, "port"
        elif len(fields) > 1 and early:
            makes = f"NCCL{since} ignores what follows the port"
            yield found, makes, f"write {short(name)}:{fields[0]} there", WARNING, "rail-and-plane"


def _meaning(name: str, value: str, release: Release, hcas: bool) -> Iterator[_Seen]:
    """Lists that are well formed, and seldom meant."""
    _, parts = _parts(value)
    chosen = select.parse(value, release, len(parts))
    if chosen.exclude and not hcas:
        yield from _left_out(name, chosen, release)
    if chosen.exact:
        return
    for one in chosen.entries:
        numbered = _BEGINNING.fullmatch(one.name)
        if numbered:
            left = "left out" if chosen.exclude else "taken"
            makes = f"every name that begins so is {left}, as {short(one.name)}0 would be"
            signs = "^=" if chosen.exclude else "="
            step = f"write {name}={signs}{','.join(parts)}, if {short(one.name)} alone is meant"
            yield f"the entry {short(one.name)!r}", makes, step, WARNING, "beginning"


def _left_out(name: str, chosen: select.Selection, release: Release) -> Iterator[_Seen]:
    known: tuple[str, ...] = reading.LEFT_OUT
    if release >= reading.LEFT_OUT_LATER_SINCE:
        known = reading.LEFT_OUT_LATER
    taken = [one for one in known if chosen.takes(_NEVER_MEANT[one])]
    if not taken:
        return
    rest = [one for one, device in _NEVER_MEANT.items() if chosen.takes(device)]
    step = f"write {name}=^{','.join([*(one.name for one in chosen.entries), *rest])}"
    makes = f"a list switches off NCCL's own one: {', '.join(taken)} may be taken"
    if "lo" in taken:
        makes += ", and lo comes first: other hosts cannot be reached"
    severity = ERROR if "lo" in taken else WARNING
    named = ", ".join(short(one.name) for one in chosen.entries)
    yield f"only {named} left out", makes, step, severity, "exclusion"
