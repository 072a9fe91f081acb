# SPDX-License-Identifier: GPL-3.0-or-later
"""What NCCL makes of a value, a list of HCAs or interfaces among them, and where that is not what it seems to mean."""

from __future__ import annotations

import re
from typing import Collection, Iterator, Tuple

from .._data import nccl_reading as reading, nccl_variables as kinds
from .._parse import strtoll
from . import registry, select, values
from .conf import Line, as_bytes
from .lint_form import BLANKS, QUOTES, plain, strange
from .made import HARMFUL
from .problem import ERROR, WARNING, Problem, short
from .release import NEWEST, Release, shown

# The kind of doubt about an entry that longer names begin with, too, and about a list that leaves out too little.
BEGINNING = "beginning"
EXCLUSION = "exclusion"
_SIGNS = "^="
# What people write between names, and NCCL takes for a part of them.
_OTHER_COMMAS = re.compile(r"[;|&+/]")
# mlx5_1 is the beginning of mlx5_10, and eth1 of eth10; what ends with a 0 seldom is.
_NUMBERED = re.compile(r".*[^0-9]([1-9][0-9]*)")
# The beginning of all names of a driver: the number is the driver's, not a device's.
_DRIVER = re.compile(r"mlx[45]")
# What a list that leaves out should leave out too, and what a device of that sort is called.
_NEVER_MEANT = {"docker": "docker0", "lo": "lo", "virbr": "virbr0", "veth": "veth0"}
_NOT_HERE = "nothing on this host is called so or begins so"

# What was seen, what NCCL makes of it, what to do, how bad, and its kind.
_Seen = Tuple[str, str, str, str, str]
_INTEGERS = frozenset((kinds.INT, kinds.FLAG))
_LISTS = frozenset((kinds.HCAS, kinds.INTERFACES))
_TRAILING_COMMENT = re.compile(r"[ \t]+#.*", re.DOTALL)
_EXPANSION = re.compile(r"\$[A-Za-z_{(]|`")
# What to do where no better value is known.
_STEPS = {
    "address": "write it as HOST:PORT",
    "expansion": "write the whole path",
    "integer-tail": "write one whole number, without a unit",
    "list-for-integer": "write the one number that is meant",
    "level": "write one of the levels, in capitals",
    "network": "write it as 10.0.0.0/8",
    "out-of-range": "write a smaller number",
    "unusual-value": "look it up in NCCL's guide",
    HARMFUL: "take the line out, or put it into nccl_conf_variables if it was measured to be right",
    "word": "write one of these words",
    "word-for-flag": "write 1 or 0",
    "word-for-integer": "write a number",
}


def problems(line: Line, version: Release | None) -> Iterator[Problem]:
    """What is wrong with the value of a line that sets the variable it names."""
    name, value = line.name or "", line.value or ""
    kind = registry.kind_at(name, version)
    if line.raw.endswith("\r"):
        value = value[:-1] if value.endswith("\r") else value
        yield from _carriage_return(line, name, kind, version)
    form = next(_form(line, name, value, kind, version), None)
    if form is not None:
        yield form
        return
    made = values.made(name, value, version)
    if made.differs:
        step = f"write {name}={short(made.meant)}" if made.meant else _STEPS[made.kind]
        severity = WARNING if made.harmless else ERROR
        yield Problem(line.number, name, f"the value {short(value)!r}", made.differs, step, severity, made.kind)
    if kind in _LISTS:
        yield from _problems(line.number, name, value, version)


def of_host(problem: Problem, value: str, version: Release | None, present: Collection[str]) -> Problem | None:
    """A doubt that names raise, of a host that has just these; None where none of them raises it."""
    hcas = registry.kind_at(problem.name, version) == kinds.HCAS
    for found, makes, step, severity, kind in _meaning(problem.name, value, version or NEWEST, hcas, present):
        if (found, kind) == (problem.found, problem.kind):
            return Problem(problem.line, problem.name, found, makes, step, severity, kind)
    return None


def _carriage_return(line: Line, name: str, kind: str, version: Release | None) -> Iterator[Problem]:
    since = reading.PIECES_SINCE
    if version is not None and version >= since:
        return
    number = kind in _INTEGERS
    stays = "stays behind the number, where it is ignored" if number else "is part of the value"
    makes = f"it {stays}" if version else f"before {shown(since)} it {stays}"
    severity = WARNING if number or version is None else ERROR
    found = "the line ends with a carriage return"
    yield Problem(line.number, name, found, makes, "write the file with plain newlines", severity, "crlf")


def _form(line: Line, name: str, value: str, kind: str, version: Release | None) -> Iterator[Problem]:
    """What is wrong with the form of the value; the first is the one to tell."""

    def problem(found: str, makes: str, right: str, kind: str, harmless: bool = False) -> Problem:
        severity = WARNING if harmless else ERROR
        return Problem(line.number, name, found, makes, f"write {name}={short(right)}", severity, kind)

    bare = value.strip(BLANKS)
    unquoted = bare.strip(QUOTES)
    number = kind in _INTEGERS
    if not value:
        makes = "it is set and empty, which hides it in later files"
        if kind in _INTEGERS:
            makes += f"; the default holds, {registry.default_at(name, version)}"
        yield Problem(line.number, name, "no value", makes, "take the line out", WARNING, "empty-value")
    if bare and (bare[0] in QUOTES or bare[-1] in QUOTES):
        makes = f"quotes are part of the value{_effect(name, value, kind, version)}"
        yield problem("quotes around the value", makes, unquoted, "quotes")
    unseen = strange(value)
    if unseen:
        makes = f"to C it is a letter, and part of the value{_effect(name, value, kind, version)}"
        found = f"a character that looks like a blank or like nothing (U+{ord(unseen):04X})"
        yield problem(found, makes, plain(value), "unseen-character")
    comment = _TRAILING_COMMENT.search(value)
    if comment:
        head = value[: comment.start()]
        right = number and not values.made(name, head, version).differs and bool(head)
        makes = f"all of it is the value{_effect(name, value, kind, version)}"
        if right:
            makes = "NCCL ignores what follows a number"
        yield problem("a comment behind the value", makes, head, "trailing-comment", right)
    if value[:1] and value[0] in BLANKS:
        makes = "NCCL skips it before a number" if number else "it is part of the value"
        yield problem("a blank behind the =", makes, bare, "blank-around-equals", number)
    if value[-1:] and value[-1] in BLANKS and not _blank_by_default(name):
        makes = "NCCL ignores it behind a number" if number else "it is part of the value"
        yield problem("a blank at the end", makes, bare, "trailing-blank", number)
    if value.endswith("\\"):
        makes = "a \\ does not continue the line, it is part of the value"
        yield problem("a \\ at the end", makes, bare.rstrip("\\").rstrip(), "continuation")
    if _EXPANSION.search(value):
        makes = "NCCL expands nothing: the value is these very characters"
        step = "write what it stands for"
        found = f"the value {short(value)!r}"
        yield Problem(line.number, name, found, makes, step, ERROR, "expansion")


def entry_of(text: str) -> str:
    """How an entry of a list is told."""
    return f"the entry {short(text)!r}"


def _effect(name: str, value: str, kind: str, version: Release | None) -> str:
    """What comes of it, as the end of a sentence."""
    if kind in _INTEGERS:
        number = strtoll.number(value).value
        return f": NCCL reads {values.means(name, number)}" if number is not None else ""
    if kind in _LISTS:
        return ": no device is called so"
    differs = values.made(name, value, version).differs
    return f": {differs}" if differs else ""


def _blank_by_default(name: str) -> bool:
    """Whether the variable's own default ends with a blank."""
    found = kinds.VARIABLES.get(name)
    return found is not None and found.default.endswith(" ")


def _problems(number: int, name: str, value: str, version: Release | None) -> Iterator[Problem]:
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
    bare = [word.strip().lstrip(_SIGNS) for word in re.split(r"[,\s]+", ",".join(parts))]
    names = ",".join(entry for entry in bare if entry)
    right = f"write {name}={signs}{names}"
    signed = next((part for part in parts if part.strip()[:1] in ("^", "=")), "")
    other = next((part for part in parts if _OTHER_COMMAS.search(part)), "")
    blank = next((part for part in parts if any(char.isspace() for char in part)), "")
    nothing = "no device is called so" if hcas else "no interface is called so"
    if len(value) < reading.SHORTEST_INTERFACES and not hcas:
        makes = "NCCL ignores a value of one character and looks for an interface by itself"
        yield f"the value {value!r}", makes, "write the whole name", ERROR, "one-character"
    elif signs == "=" and parts[0].startswith("^"):
        makes = f"the ^ is part of the name {short(parts[0])!r}, and {nothing}"
        yield "a ^ behind the =", makes, f"write {name}=^={names}", ERROR, "sign-order"
    elif signed:
        makes = f"a sign holds for the whole list and is read at its start alone: {nothing} as"
        yield f"a {signed.strip()[0]} inside the list", f"{makes} {short(signed)!r}", right, ERROR, "repeated-sign"
    elif other:
        mark = _OTHER_COMMAS.search(other)
        found = f"a {mark[0] if mark else ''} between names"
        makes = f"only a comma parts them: {nothing} as {short(other)!r}"
        yield found, makes, f"write {name}={signs}{_OTHER_COMMAS.sub(',', names)}", ERROR, "separator"
    elif blank:
        makes = f"the blank is part of the name {short(blank)!r}, and {nothing}"
        yield "a blank in the list", makes, right, ERROR, "blank-in-list"
    elif not select.parse(value, release, 1).entries:
        makes = "nothing is taken" if signs.startswith("^") else "everything is taken"
        yield "a list without a name", makes, "write the names, or take the line out", ERROR, "empty-list"


def _fields(value: str, version: Release | None, hcas: bool) -> Iterator[_Seen]:
    """Entries that are too many or too long, and what stands behind a name."""
    _unused, parts = _parts(value)
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
            yield found, "there is no room for it in NCCL", "write the name of a device", ERROR, "too-long-entry"
        if not name or not fields:
            continue
        found = entry_of(part)
        if not hcas:
            makes = "interfaces have no ports: what follows the : is ignored"
            yield found, makes, f"write {short(name)} there", WARNING, "port"
        elif not fields[0]:
            if early:
                makes = f"NCCL{since} reads port 0, which no HCA has: it matches nothing"
                yield found, makes, f"write {short(name)} there", ERROR if version else WARNING, "port"
        elif not re.fullmatch("[1-9][0-9]*", fields[0]):
            makes = f"{short(fields[0])!r} is no port, they count from 1: it matches nothing"
            yield found, makes, f"write {short(name)} or {short(name)}:1 there", ERROR, "port"
        elif len(fields) > 1 and early:
            makes = f"NCCL{since} ignores what follows the port"
            yield found, makes, f"write {short(name)}:{fields[0]} there", WARNING, "rail-and-plane"


def _meaning(
    name: str, value: str, release: Release, hcas: bool, present: Collection[str] | None = None
) -> Iterator[_Seen]:
    """Lists that are well formed, and seldom meant. ``present``: what the host has, None where nobody knows."""
    _unused, parts = _parts(value)
    chosen = select.parse(value, release, len(parts))
    if chosen.exclude and not hcas:
        yield from _left_out(name, chosen, release, present)
    if chosen.exact:
        return
    for entry in chosen.entries:
        numbered = _NUMBERED.fullmatch(entry.name)
        if numbered and not _DRIVER.fullmatch(entry.name):
            longer = f"{short(entry.name)}0 would be"
            begun = [there for there in present or () if there.startswith(entry.name)]
            if begun:
                unsaid = [there for there in sorted(begun) if not _said(there, entry, chosen)]
                if not unsaid:
                    continue
                longer = f"{short(unsaid[0])} is"
            elif present is not None:
                yield entry_of(entry.name), _NOT_HERE, "name what is there, or take the line out", WARNING, BEGINNING
                continue
            left = "left out" if chosen.exclude else "taken"
            makes = f"every name that begins so is {left}, as {longer}"
            signs = "^=" if chosen.exclude else "="
            step = f"write {name}={signs}{','.join(parts)}, if {short(entry.name)} alone is meant"
            yield entry_of(entry.name), makes, step, WARNING, BEGINNING


def _said(there: str, entry: select.Entry, chosen: select.Selection) -> bool:
    """Whether the list names by itself what this entry is the beginning of."""
    return any(other.name == there and other.port in (select.ANY, entry.port) for other in chosen.entries)


def _left_out(
    name: str, chosen: select.Selection, release: Release, present: Collection[str] | None
) -> Iterator[_Seen]:
    known: tuple[str, ...] = reading.LEFT_OUT
    if release >= reading.LEFT_OUT_LATER_SINCE:
        known = reading.LEFT_OUT_LATER
    taken = [entry for entry in known if any(chosen.takes(there) for there in _begun(entry, present))]
    if not taken:
        return
    rest = [entry for entry, device in _NEVER_MEANT.items() if entry in taken or chosen.takes(device)]
    step = f"write {name}=^{','.join([*(entry.name for entry in chosen.entries), *rest])}"
    makes = f"a list switches off NCCL's own one: {', '.join(taken)} may be taken"
    if "lo" in taken:
        makes += ", and lo comes first: other hosts cannot be reached"
    severity = ERROR if "lo" in taken else WARNING
    named = ", ".join(short(entry.name) for entry in chosen.entries)
    yield f"only {named} left out", makes, step, severity, EXCLUSION


def _begun(entry: str, present: Collection[str] | None) -> list[str]:
    """What the host has of a sort that is never meant; without a host, what it may have."""
    if present is None:
        return [_NEVER_MEANT[entry]]
    return [there for there in present if there == entry or (entry != "lo" and there.startswith(entry))]
