# SPDX-License-Identifier: GPL-3.0-or-later
"""From differences among equal parts to findings: one for all parts that differ alike; no I/O."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Iterator, Mapping, Sequence

from .._data.leaf_names import ROWS, Row
from .._expect.expectations import Expectations
from .._ground.catalog import entry
from .._ground.check import FAIL, Check, failed
from .._ground.text import few
from .compare import Outlier, plain

# By source: what checks that look at it have in their looks_at.
_LOOKED_AT = {
    "nvidia-smi": "nvsmi_xml",
    "mlxlink": "mlxlink",
    "mlnx_qos": "mlnx_qos",
    "rdma": "/sys/class/infiniband/",
    "PCI config": "/sys/bus/pci/devices/*/config",
}
_SHOWN = 4
_UNNAMED = "it differs from its equals in what no rule names: somebody set it, or it broke"


def checks(
    found: Sequence[Outlier], told: Sequence[Check], expect: Expectations, setting: str, other: str
) -> Iterator[Check]:
    """``setting``: the id where a row says that jobs are harmed, ``other``: of all else. ``told``: by other checks."""
    meant = expect.get("differs")
    wished = set(meant.value) if meant is not None else set()
    failures = [check for check in told if check.result == FAIL]
    by_part: dict[tuple[str, str], list[Outlier]] = {}
    for one in found:
        if said(one.leaf) not in wished and not _is_told(one, failures):
            row = row_of(one.leaf)
            check_id = setting if row is not None and row.harms else other
            by_part.setdefault((check_id, one.part.subject), []).append(one)
    alike: dict[tuple[str, tuple[tuple[str, str, str], ...]], list[list[Outlier]]] = {}
    for (check_id, _subject), mine in by_part.items():
        alike.setdefault((check_id, tuple((one.leaf, one.value, one.usual) for one in mine)), []).append(mine)
    for (check_id, _same), parts in alike.items():
        yield _check(check_id, parts)


@lru_cache(maxsize=4096)
def row_of(leaf: str) -> Row | None:
    """What is known of a difference in this leaf."""
    name = plain(leaf)
    return next((row for row in ROWS if re.fullmatch(row.leaf, name)), None)


def said(leaf: str) -> str:
    """A leaf as a finding says it and a site writes it: without the title that stands above it in a rail's text."""
    source, _slash, path = leaf.partition("/")
    return f"{source}/{path.rpartition('/')[2]}" if source in ("mlxlink", "mlnx_qos") else leaf


def _is_told(one: Outlier, failures: Sequence[Check]) -> bool:
    """Whether a check of this part failed that the row names; without one, any that looks at the same source, for what
    the part differs in may follow from that."""
    row = row_of(one.leaf)
    names = {one.part.subject, *one.part.names}
    mine = [check.id for check in failures if not names.isdisjoint((check.subject, *check.subject.split("/")))]
    if row is not None and row.told_by is not None:
        return any(check_id.startswith(row.told_by) for check_id in mine)
    looked_at = _LOOKED_AT[one.source]
    items = [item for check_id in mine for each in entry(check_id).looks_at for item in each.split("|")]
    return any(item.startswith(looked_at) for item in items)


def _check(check_id: str, parts: Sequence[Sequence[Outlier]]) -> Check:
    mine = parts[0]
    part = mine[0].part
    leaves = [said(one.leaf) for one in mine]
    rows = [row for one in mine if (row := row_of(one.leaf)) is not None]
    meant = f"set it as on the others; if it is meant, say so by ibready_expect.differs: [{few(leaves, _SHOWN)}]"
    places = {"BUS-ID": part.subject, "DEVICE": part.names[0], "INTERFACE": part.names[-1]}
    return failed(
        check_id,
        few([its[0].part.subject for its in parts], _SHOWN, " "),
        few([f"{leaf}: {one.value}" for leaf, one in zip(leaves, mine)], _SHOWN, "; "),
        few([one.usual for one in mine], _SHOWN, "; "),
        f"equals {mine[0].times}/{mine[0].compared}",
        cause="; ".join(dict.fromkeys(row.means for row in rows)) or _UNNAMED,
        remedy="; ".join([*dict.fromkeys(_filled(row.remedy, places) for row in rows), meant]),
    )


def _filled(remedy: str, places: Mapping[str, str]) -> str:
    for place, name in places.items():
        remedy = remedy.replace(place, name)
    return remedy
