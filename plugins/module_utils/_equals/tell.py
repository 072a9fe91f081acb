# SPDX-License-Identifier: GPL-3.0-or-later
"""From differences among equal parts to findings: one for all parts that differ alike; no I/O."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Iterator, Mapping, Sequence

from .._data.host_leaves import PART_TOOLS
from .._data.leaf_names import ROWS, Row
from .._expect.expectations import Expectations
from .._ground.check import FAIL, Check, failed
from .._ground.text import few
from .compare import NOTHING, Outlier, anonymous, plain
from .parts import HOST

# What of a text may be a name: no single digit, which is in everything.
_WORD = re.compile(r"[a-z]{3,}|\d[\d.]+\w*")
# The names in a path, and in a finding that speaks of the same.
_NAME = re.compile(r"[a-z0-9]+")
_SHOWN = 4
_UNNAMED = "it differs from its equals in what no rule names: somebody set it, or it broke"


def checks(
    found: Sequence[Outlier],
    told: Sequence[Check],
    expect: Expectations,
    setting: str,
    other: str,
    firmware: str = "",
    who: str = "equals",
) -> Iterator[Check]:
    """``setting``: the id where a row says that jobs are harmed, ``firmware``: of what it calls so, ``other``: of all
    else. ``told``: by other checks. ``who``: what the equals are called in ``expected_from``.
    """
    meant = expect.get("differs")
    wished = set(meant.value) if meant is not None else set()
    failures = [check for check in told if check.result == FAIL]
    by_part: dict[tuple[str, str], list[Outlier]] = {}
    first: dict[tuple[str, str], str] = {}
    for one in found:
        # What several sources tell alike is told of the first.
        if first.setdefault((one.part.subject, plain(one.leaf.rpartition("/")[2])), one.source) != one.source:
            continue
        if said(one.leaf) not in wished and not _is_told(one, failures):
            row = row_of(one.leaf)
            if row is None:
                check_id = other
            elif row.wish and expect.get(row.wish) is not None:
                continue
            else:
                check_id = setting if row.harms else (row.firmware and firmware) or other
            by_part.setdefault((check_id, one.part.subject), []).append(one)
    alike: dict[tuple[str, tuple[tuple[str, str, str], ...]], list[list[Outlier]]] = {}
    for (check_id, _subject), mine in by_part.items():
        alike.setdefault((check_id, tuple(map(_difference, mine))), []).append(mine)
    for (check_id, _same), parts in alike.items():
        yield _check(check_id, parts, who)


def _difference(one: Outlier) -> tuple[str, str, str]:
    names = one.part.names
    return one.leaf, anonymous(one.value, names), anonymous(one.usual, names)


@lru_cache(maxsize=4096)
def row_of(leaf: str) -> Row | None:
    """What is known of a difference in this leaf."""
    name = plain(leaf)
    return next((row for row in ROWS if re.fullmatch(row.leaf, name)), None)


def said(leaf: str) -> str:
    """A leaf as a finding says it and a site writes it: without the title that stands above it in a tool's text."""
    source, _slash, path = leaf.partition("/")
    return f"{source}/{path.rpartition('/')[2]}" if source in PART_TOOLS else leaf


def _is_told(one: Outlier, failures: Sequence[Check]) -> bool:
    """Whether a check of this part failed that the row names; without a row, one that tells of the same."""
    row = row_of(one.leaf)
    names = {one.part.subject, *one.part.names}
    mine = [check for check in failures if not names.isdisjoint((check.subject, *re.split("[ /]", check.subject)))]
    # A file of the host's may be of a part by which a check calls it, and one that is missing of a folder that is.
    leaf = one.leaf if one.value != NOTHING else one.leaf.rpartition("/")[0].rpartition("/")[2]
    if one.part.subject == HOST and any(_names(check, leaf) for check in failures):
        return True
    if row is not None and row.told_by is not None:
        return any(check.id.startswith(row.told_by) or said(one.leaf) in check.observed for check in mine)
    return one.part.subject != HOST and any(_tells(check, one.leaf) for check in mine)


def _tells(check: Check, leaf: str) -> bool:
    """Whether a finding has the leaf's name among its words: its value is many a leaf's."""
    words = set(_WORD.findall(leaf.rpartition("/")[2].lower()))
    told = set(_WORD.findall(f"{check.id} {check.observed} {check.cause}".lower().replace("_", " ")))
    return bool(words) and words <= told


def _names(check: Check, leaf: str) -> bool:
    """Whether a finding, of whatever part, has the file's name and that of its folder."""
    name = _NAME.findall("/".join(leaf.lower().split("/")[-2:]))
    return {*name} <= {*_NAME.findall(f"{check.subject} {check.observed} {check.cause}".lower())}


def _check(check_id: str, parts: Sequence[Sequence[Outlier]], who: str) -> Check:
    mine = parts[0]
    part = mine[0].part
    leaves = [said(one.leaf) for one in mine]
    rows = [row for one in mine if (row := row_of(one.leaf)) is not None]
    meant = f"set it as on the others; if it is meant, say so by ibready_expect.differs: [{few(leaves, _SHOWN)}]"
    names = part.names or (part.subject,)
    places = {"BUS-ID": names[-1], "DEVICE": names[0], "INTERFACE": names[-1]}
    return failed(
        check_id,
        few([its[0].part.subject for its in parts], _SHOWN, " "),
        few([f"{leaf}: {one.value}" for leaf, one in zip(leaves, mine)], _SHOWN, "; "),
        few([one.usual for one in mine], _SHOWN, "; "),
        f"{who} {mine[0].times}/{mine[0].compared}",
        cause="; ".join(dict.fromkeys(row.means for row in rows)) or _UNNAMED,
        remedy="; ".join([*dict.fromkeys(_filled(row.remedy, places) for row in rows), meant]),
    )


def _filled(remedy: str, places: Mapping[str, str]) -> str:
    for place, name in places.items():
        remedy = remedy.replace(place, name)
    return remedy
