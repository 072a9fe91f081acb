# SPDX-License-Identifier: GPL-3.0-or-later
"""The partitions of a fabric: what the site says, and opensm's partitions.conf.

opensm skips what it does not understand, and where it cannot read the file it makes everybody a
full member of the default partition. So nothing is written that it could read otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterable, Mapping, Sequence

from ..._data import opensm as data

HEADER = "# Written by the role subnet_manager of ibready. The next run undoes changes made by hand.\n"
_KEYS = ("name", "pkey", "ipoib", "rate", "mtu", "sl", "full", "limited")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_GUID = re.compile(r"0x[0-9a-fA-F]{1,16}")
_FULL, _LIMITED = "full", "limited"
# What opensm does where no file is (partition-config.txt).
EVERYBODY = ({"name": "Default", "pkey": data.DEFAULT_PKEY, "ipoib": True, "full": ["ALL"]},)


class PartitionError(ValueError):
    """A partition that is refused: which, why and what to do."""


@dataclass(frozen=True)
class Partition:
    """``pkey`` without its membership bit; ``mtu`` in bytes and ``rate`` in Gb/s of the IPoIB
    broadcast group, 0 for opensm's own; members are keywords, then GUIDs as 0x and 16 digits."""

    name: str
    pkey: int
    ipoib: bool = False
    rate: float = 0
    mtu: int = 0
    sl: int = 0
    full: tuple[str, ...] = ()
    limited: tuple[str, ...] = ()


def read(given: Sequence[Mapping[str, Any]], managers: Iterable[str] = ()) -> tuple[Partition, ...]:
    """The site's partitions, the default one first; PartitionError on what opensm would take
    otherwise than it is meant. ``managers``: port GUIDs that subnet managers run on."""
    found = [_one(place, raw) for place, raw in enumerate(given or EVERYBODY)]
    seen: dict[int, Partition] = {}
    names: set[str] = set()
    for partition in found:
        other = seen.setdefault(partition.pkey, partition)
        if other is not partition:
            raise PartitionError(
                f"partitions {other.name} and {partition.name} both have pkey {partition.pkey:#06x}: opensm"
                " would make one of them. Next: give each its own"
            )
        if partition.name in names:
            raise PartitionError(f"there are two partitions {partition.name}. Next: rename one")
        names.add(partition.name)
    default = seen.get(data.DEFAULT_PKEY)
    if default is None:
        raise PartitionError(
            "no partition has pkey 0x7fff, the default one: opensm would make every port a limited"
            " member of it, and limited members do not reach each other. Next: say who is a member"
            " of it ({name: Default, pkey: 0x7fff, ipoib: true, full: [ALL]})"
        )
    lesser = sorted(set(default.limited) & {guid(manager) for manager in managers})
    if lesser or "SELF" in default.limited:
        raise PartitionError(
            f"{', '.join(lesser) or 'SELF'} is a subnet manager's port and a limited member of the"
            " default partition: it has to be a full one. Next: move it to `full`"
        )
    return (default, *(partition for partition in found if partition is not default))


def _one(place: int, raw: Any) -> Partition:
    if not isinstance(raw, Mapping):
        raise PartitionError(f"partition {place + 1} is not a mapping but {raw!r}")
    name = raw.get("name")
    what = f"partition {name if isinstance(name, str) else place + 1}"
    strange = sorted(str(key) for key in raw if key not in _KEYS)
    if strange:
        raise PartitionError(f"{what}: {strange[0]!r} is not one of {', '.join(_KEYS)}")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise PartitionError(f"{what}: its name is {name!r}. Next: a letter, then letters, digits, '_', '.' or '-'")
    ipoib = _flag(what, raw.get("ipoib", False))
    shaped = [key for key in ("rate", "mtu", "sl") if raw.get(key)]
    if shaped and not ipoib:
        raise PartitionError(
            f"{what}: {shaped[0]} is of the IPoIB broadcast group, and it has none. Next: set"
            " ipoib: true, or take it out"
        )
    full = _members(what, _FULL, raw.get("full"))
    limited = _members(what, _LIMITED, raw.get("limited"))
    twice = [member for member in full if member in limited]
    if twice:
        raise PartitionError(f"{what}: {twice[0]} is both a full and a limited member")
    if not full and not limited:
        raise PartitionError(f"{what} has no member: opensm would drop it. Next: name some")
    return Partition(
        name,
        _pkey(what, raw.get("pkey")),
        ipoib,
        _code(what, "rate", raw.get("rate"), data.RATE_CODES, "Gb/s"),
        int(_code(what, "mtu", raw.get("mtu"), data.MTU_CODES, "bytes")),
        _level(what, raw.get("sl", 0)),
        full,
        limited,
    )


def _number(value: Any) -> int | None:
    """A number, or text of one in any of C's notations; None for all else."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    try:
        return value if isinstance(value, int) else int(value, 0)
    except ValueError:
        return None


def _pkey(what: str, value: Any) -> int:
    number = _number(value)
    if number is not None and 0x8000 < number <= 0xFFFF:
        raise PartitionError(
            f"{what}: the high bit of pkey {number:#06x} says that a member is a full one. Next:"
            f" say pkey: {number & 0x7FFF:#06x}, and who is a member under full and limited"
        )
    if number is None or not 1 <= number <= data.DEFAULT_PKEY:
        raise PartitionError(f"{what}: pkey {value!r} is not between 0x0001 and 0x7fff")
    return number


def _flag(what: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise PartitionError(f"{what}: ipoib is {value!r}, neither true nor false")
    return value


def _level(what: str, value: Any) -> int:
    number = _number(value)
    if number is None or not 0 <= number <= 15:
        raise PartitionError(f"{what}: service level {value!r} is not between 0 and 15")
    return number


def _code(what: str, key: str, value: Any, codes: Mapping[Any, int], unit: str) -> float:
    if value in (None, 0, "") and value is not False:
        return 0
    with_fraction = float(value) if isinstance(value, str) and re.fullmatch(r"[0-9]{1,6}(\.[0-9])?", value) else value
    if not isinstance(with_fraction, (int, float)) or with_fraction not in codes:
        known = ", ".join(f"{code:g}" for code in sorted(codes))
        raise PartitionError(f"{what}: {key} {value!r} is not one of {known} ({unit})")
    return float(with_fraction)


def _members(what: str, kind: str, given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
        raise PartitionError(f"{what}: {kind} is {given!r}. Next: give a list of members")
    found: list[str] = []
    for raw in given:
        entry = raw if raw in data.KEYWORDS else _port(what, kind, raw)
        if entry in found:
            raise PartitionError(f"{what}: {entry} is named twice under {kind}")
        found.append(entry)
    words = [keyword for keyword in data.KEYWORDS if keyword in found]
    return (*words, *sorted(item for item in found if item not in words))


def _port(what: str, kind: str, raw: Any) -> str:
    try:
        return guid(raw)
    except ValueError as exc:
        raise PartitionError(
            f"{what}: {raw!r} under {kind} is neither a port GUID (0x and up to 16 hexadecimal"
            f" digits, in quotes) nor one of {', '.join(data.KEYWORDS)}"
        ) from exc


def guid(raw: Any) -> str:
    """A GUID as 0x and 16 digits; ValueError for what is none. YAML reads a bare one as number."""
    if isinstance(raw, int) and not isinstance(raw, bool):
        number = raw
    elif isinstance(raw, str) and _GUID.fullmatch(raw):
        number = int(raw, 16)
    else:
        raise ValueError(f"{raw!r} is not a GUID")
    if not 0 < number < 1 << 64:
        raise ValueError(f"{raw!r} is not a GUID")
    return f"{number:#018x}"


def render(partitions: Sequence[Partition]) -> str:
    """The text of partitions.conf, a member a line: opensm reads 4,094 bytes of one at most."""
    return HEADER + "".join(_lines(partition) for partition in partitions)


def _lines(partition: Partition) -> str:
    head = [f"{partition.name}={partition.pkey:#06x}"]
    if partition.ipoib:
        head.append("ipoib")
    if partition.mtu:
        head.append(f"mtu={data.MTU_CODES[partition.mtu]}")
    if partition.rate:
        head.append(f"rate={data.RATE_CODES[partition.rate]}")
    if partition.sl:
        head.append(f"sl={partition.sl}")
    full = partition.full
    if partition.pkey == data.DEFAULT_PKEY and "SELF" not in full:
        full = (*full, "SELF")
    # Who is named later counts: what goes for all comes before what goes for one.
    members = sorted(
        [(name, _FULL) for name in full] + [(name, _LIMITED) for name in partition.limited],
        key=lambda pair: _rank(pair[0]),
    )
    listed = ",\n".join(f"    {name}={kind}" for name, kind in members)
    return f"\n{', '.join(head)} :\n{listed} ;\n"


def _rank(member: str) -> tuple[int, str]:
    """All, then kinds of nodes, single ports, and the subnet manager's own last."""
    order = {"ALL": 0, "ALL_CAS": 1, "ALL_ROUTERS": 1, "ALL_SWITCHES": 1, "SELF": 3}
    return order.get(member, 2), member
