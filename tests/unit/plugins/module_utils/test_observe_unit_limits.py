# SPDX-License-Identifier: GPL-3.0-or-later
"""Which file sets the limit of a service."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._areas.host import unit_limits
from ansible_collections.ibready.cluster.plugins.module_utils._areas.host.facts import UnitLimit
from ansible_collections.ibready.cluster.plugins.module_utils._evidence.sources import Live
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._parse import systemctl_show
from ansible_collections.ibready.cluster.plugins.module_utils._parse.proc_limits import UNLIMITED, Limits
from tests.gauntlet.tree import Tree

UNIT = "/lib/systemd/system/docker.service"
FIRST, LAST = "/etc/systemd/system/docker.service.d/a.conf", "/run/systemd/docker.d/z.conf"
ALL = Limits(UNLIMITED, UNLIMITED, 1048576, 1048576)


def asked(root: Path, memlock: str, default: Limits = ALL) -> dict[str, dict[str, UnitLimit]]:
    text = (
        f"Id=docker.service\nLimitMEMLOCKSoft={memlock}\nLimitNOFILE=infinity\n"
        f"FragmentPath={UNIT}\nDropInPaths={FIRST} {LAST}\n"
    )
    limits = {"docker.service": Reading(ALL)}
    return unit_limits.asked(Live(root), systemctl_show.parse(text).blocks, limits, default)


def put(root: Path, path: str, text: str) -> None:
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


@pytest.mark.parametrize(
    ("texts", "line", "path"),
    [
        ({UNIT: "[Service]\nLimitMEMLOCK=64K\n"}, "LimitMEMLOCK=64K", UNIT),
        (
            {UNIT: "LimitMEMLOCK=infinity\n", LAST: "# mine\n LimitMEMLOCK = 64K \n"},
            "LimitMEMLOCK=64K",
            LAST,
        ),
        ({FIRST: "LimitMEMLOCK=64K\n", LAST: "LimitMEMLOCK=\n"}, "", ""),
        ({FIRST: "#LimitMEMLOCK=64K\nLimitMEMLOCKX=1\n"}, "", ""),
        ({}, "", ""),
    ],
)
def test_the_last_line_counts(tmp_path: Path, texts: dict[str, str], line: str, path: str) -> None:
    for name, text in texts.items():
        put(tmp_path, name, text)
    found = asked(tmp_path, "65536")["docker.service"]
    assert found["MEMLOCK"] == UnitLimit(65536, line, path)
    assert found["NOFILE"] == UnitLimit(UNLIMITED)


def test_who_asks_for_enough_is_not_looked_into(tmp_path: Path) -> None:
    put(tmp_path, UNIT, "LimitMEMLOCK=64K\n")
    found = asked(tmp_path, "infinity")["docker.service"]
    assert found["MEMLOCK"] == UnitLimit(UNLIMITED)
    assert asked(tmp_path, "")["docker.service"]["MEMLOCK"] == UnitLimit()


def test_what_sets_the_managers_default(tmp_path: Path) -> None:
    put(tmp_path, "/etc/systemd/system.conf", "[Manager]\n#DefaultLimitMEMLOCK=8M\n")
    put(tmp_path, "/usr/lib/systemd/system.conf.d/50-a.conf", "DefaultLimitMEMLOCK=1M\n")
    put(tmp_path, "/etc/systemd/system.conf.d/50-a.conf", "DefaultLimitMEMLOCK=64K\n")
    put(tmp_path, "/etc/systemd/system.conf.d/90-b.txt", "DefaultLimitMEMLOCK=1K\n")
    found = asked(tmp_path, "65536", Limits(65536, 65536, 1024, 524288))["systemd"]
    where = "/etc/systemd/system.conf.d/50-a.conf"
    assert found["MEMLOCK"] == UnitLimit(65536, "DefaultLimitMEMLOCK=64K", where)


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_in_the_files_is_survived(first: str, last: str) -> None:
    tree = Tree()
    tree.file(FIRST, first.encode())
    tree.file(LAST, last.encode())
    found = unit_limits._set_by("LimitMEMLOCK", 1, unit_limits._lines(tree, (FIRST, LAST)))
    assert found.value == 1
    assert bool(found.line) == bool(found.path)


def test_of_more_drop_ins_than_are_read_the_last_ones_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, FIRST, "LimitMEMLOCK=1M\n")
    put(tmp_path, LAST, "LimitMEMLOCK=64K\n")
    monkeypatch.setattr(unit_limits, "_MOST", 1)
    assert asked(tmp_path, "65536")["docker.service"]["MEMLOCK"] == UnitLimit(65536, "LimitMEMLOCK=64K", LAST)
