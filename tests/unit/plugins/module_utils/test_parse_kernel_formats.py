# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether failures that nobody listed are reported: formats drawn from Linux's drivers, filled in."""

from __future__ import annotations

import random
import re

from ansible_collections.ibready.cluster.plugins.module_utils._data import kernel_drivers
from ansible_collections.ibready.cluster.plugins.module_utils._parse import dmesg
from tests.unit.kernel_formats.draw import FORMATS, LEVELS, SEED, WARN, Format

DRAWN = 200
AT_LEAST = 190
ROWS = [Format(*line.split("\t")) for line in FORMATS.read_text().splitlines()]
BAD = [row for row in ROWS if LEVELS.index(row.level) <= WARN]
NEWS = [row for row in ROWS if LEVELS.index(row.level) > WARN]
_FIELD = re.compile(r"%%|%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|ll|[hlzt])?(p[A-Za-z]\w*|[a-zA-Z])")
_POINTERS = {
    "pM": "02:00:5e:00:53:01",
    "pI4": "192.0.2.7",
    "pe": "-ENOMEM",
    "pU": "7d444840-9dc0-11d1-b245-5ffdce74fad2",
}


def filled(text: str, chance: random.Random) -> str:
    def value(field: re.Match[str]) -> str:
        kind = field.group(1) or "%"
        if kind in ("d", "i"):
            return str(chance.choice((-110, -22, -12, 1, 3, 77)))
        if kind == "u":
            return str(chance.randrange(4096))
        if kind in ("x", "X", "o"):
            return f"{chance.randrange(1 << 16):x}"
        return _POINTERS.get(kind, {"s": "name", "c": "c", "%": "%"}.get(kind, "00000000c0ffee01"))

    return _FIELD.sub(value, text)


def told(row: Format, chance: random.Random, *, by_a_rule: bool = True) -> bool:
    """Whether the line is reported, by its driver or (``by_a_rule``) by a rule that knows it."""
    line = f"kern  :{row.level:6}: [   21.500000] {filled(row.text, chance)}"
    log = dmesg.parse(f"[    0.000000] Linux version 6.1.0\n{line}\n")
    return bool(log.unexplained) or (by_a_rule and bool(log.kernel or log.hca))


def meant(row: Format) -> bool:
    """What a driver reports as news, and a row wants."""
    return any(re.match(driver.pattern, row.text) for driver in kernel_drivers.DRIVERS if driver.least > WARN)


def test_of_errors_and_warnings_that_nobody_listed_nearly_all_are_reported() -> None:
    chance = random.Random(SEED)
    drawn = chance.sample(BAD, DRAWN)
    missed = [row for row in drawn if not told(row, chance)]
    assert len(drawn) - len(missed) >= AT_LEAST, missed
    assert sum(told(row, chance) for row in BAD) * DRAWN >= AT_LEAST * len(BAD)


def test_of_errors_none_is_missed_but_what_a_row_excuses() -> None:
    chance = random.Random(SEED)
    missed = [row.text for row in BAD if row.level != "warn" and not told(row, chance)]
    assert [text for text in missed if not any(re.search(row.pattern, text) for row in kernel_drivers.HARMLESS)] == []


def test_of_news_none_is_reported() -> None:
    chance = random.Random(SEED)
    assert len(chance.sample(NEWS, DRAWN)) == DRAWN
    assert [row for row in NEWS if told(row, chance, by_a_rule=False) and not meant(row)] == []


def test_every_driver_of_the_source_is_among_those_drawn() -> None:
    folders = {"/".join(row.file.split("/")[:2]) for row in BAD}
    assert {"drivers/infiniband", "drivers/net", "drivers/nvme", "drivers/md", "fs/xfs", "fs/nfs"} <= folders
