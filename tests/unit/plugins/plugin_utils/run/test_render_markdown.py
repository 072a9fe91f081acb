# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import html
import re
from typing import Any

import pytest
from hypothesis import given, settings

from ansible_collections.ibready.cluster.plugins.module_utils._expect.waivers import Waiver
from ansible_collections.ibready.cluster.plugins.plugin_utils._run.compare import compare
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.render_markdown import render, text
from tests.unit import runs

# What we write ourselves: headings, tables, and entities.
FRAME = re.compile(r"^(##+ |\*\*Simulated:\*\* )")
ENTITY = re.compile(r"&#\d+;")
# What begins markup within a line, as GitHub's dialect has it: underscores within words, and brackets
# without an address, are none of it.
LIVE = re.compile(
    r"[\\`*<|~@#$]|\][(\[:]|&[#a-z]|(?<![a-z0-9])_|_(?![a-z0-9])|://|www\.|:[a-z][a-z0-9_+-]*:",
    re.IGNORECASE | re.ASCII,
)


def cells(line: str) -> list[str]:
    return line.removeprefix("| ").removesuffix(" |").split(" | ")


def test_the_first_lines_tell_how_many_are_ready_and_what_is_wrong() -> None:
    said = render(runs.run(runs.MIXED))
    lines = said.splitlines()
    assert lines[0] == "## ibready: 1 of 3 nodes ready"
    assert "🟢 1 ready, 🟡 1 degraded, 🔴 1 not_ready" in lines[2]
    table = lines[lines.index("### What is wrong") + 2 :]
    assert table[2].startswith("| fail | a rail has no link | n2 | n2 mlx5_0/1 - ? | clean and reseat the cable")
    assert "; ansible n2 -i INVENTORY -b -a ibstat | ib.port.state |" in table[2]
    assert table[3].startswith("| unknown | the cable is pulled | n2 |")
    assert table[4].startswith("| fail (warning) | a rail has no link | n3 |")
    assert "waived" not in table[4]


def test_commands_that_have_no_room_are_counted() -> None:
    def next_of(hosts: int, name: str = "n") -> str:
        slow = {
            f"{name}{at}": runs.judged(runs.check("fail", "pci.link.width", f"0000:{at}5:00.0")) for at in range(hosts)
        }
        return next(cells(line)[4] for line in render(runs.run(slow)).splitlines() if "PCIe" in line)

    assert next_of(1).endswith("; ansible n0 -i INVENTORY -b -a 'lspci -vv -s 0000:05:00.0'")
    assert next_of(2).endswith(" 0000:05:00.0' (and 1 more command)")
    assert next_of(6).endswith(" 0000:05:00.0' (and 5 more commands)")
    assert next_of(2, "n" * 180).endswith("in the BIOS (and 2 more commands)")


def test_a_ticket_is_plain_text() -> None:
    names = (
        "2026-11-22T19:41:00+00:00",
        "fabric.sm_answers",
        "node[17,129-160]",
        "leaf-1-6/17",
        "(x) -> y = 'z'! a_b+c",
    )
    assert [text(one) for one in names] == list(names)


def test_a_ready_cluster_has_no_table_of_trouble() -> None:
    said = render(runs.run({"n1": runs.MIXED["n1"]}))
    assert "1 of 1 nodes ready" in said
    assert "|" not in said


def test_what_is_wrong_with_a_fabric_is_told_too() -> None:
    bad = runs.fabric(runs.check("fail", "fabric.cable.width", cause="a slow cable"), name="ib0")
    said = render(runs.run({"n1": runs.MIXED["n1"]}, fabric=bad))
    assert "| fabric ib0 |" in said
    assert "| fabric.cable.width |" in said
    assert "not_ready | 1 fail |" in said


def test_a_fabric_that_could_not_be_asked_is_told() -> None:
    said = render(runs.run({"n1": runs.MIXED["n1"]}, fabric=runs.fabric(error="no umad")))
    assert "### Fabrics\n\nNot judged: no umad" in said


def test_since_is_told() -> None:
    now = runs.run(runs.MIXED)
    before = runs.run({**runs.MIXED, "n2": runs.MIXED["n1"]})
    now["since"] = compare(before, now)
    said = render(now)
    assert "### Since 2026-11-22T19:41:00+00:00" in said
    assert "| n2 | ready -> not_ready |" in said
    now["since"] = compare(now, now)
    assert "Nothing got better or worse." in render(now)


def test_of_many_the_rest_is_counted() -> None:
    many = {f"n{number}": runs.MIXED["n2"] for number in range(80)}
    said = render(runs.run(many))
    assert "And 30 more nodes" in said
    assert "| n[0-79] |" in said


def test_the_worst_that_hosts_can_say_fits_into_a_job_summary() -> None:
    said = "&" * 5000
    checks = [
        runs.check("fail", subject=f"{said[number:]}", cause=f"{number}{said}", remedy=said) for number in range(10)
    ]
    bad = {f"{number}{said}": runs.judged(*checks) for number in range(60)}
    good = {name: runs.judged(*(runs.check(subject=one.subject) for one in checks)) for name in bad}
    waivers = [Waiver(said, f"{number}{said}", runs.NOW.date(), said) for number in range(60)]
    run = runs.run(bad, waivers=waivers, fabric=runs.fabric(*checks, name=said, error=said))
    run["since"] = compare(runs.run(good), run)
    assert len(render(run).encode()) < 2**20


@pytest.mark.parametrize("said", runs.NASTY)
def test_text_comes_back_as_it_was_but_for_control_characters_and_grave_accents(said: str) -> None:
    shown = html.unescape(text(said))
    clean = re.sub(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+", " ", said).strip()
    for mine, theirs in zip(shown, clean, strict=False):
        assert mine in (theirs, "\ufffd", ".") or (mine, theirs) == ("'", "`")


@given(runs.TEXT)
def test_nothing_in_a_text_means_anything_to_markdown(said: str) -> None:
    shown = text(said)
    shown.encode()
    assert shown == shown.strip()
    assert not LIVE.search(ENTITY.sub("", shown))
    assert all(one == " " or one.isprintable() or ord(one) > 0x7F for one in shown)
    assert len(shown.splitlines()) <= 1


@settings(deadline=None)
@given(runs.hostile())
def test_whatever_hosts_say_the_frame_is_ours(report: dict[str, Any]) -> None:
    report["since"] = compare(runs.run(runs.MIXED), report)
    lines = render(report).split("\n")
    head = 0
    for line in lines:
        assert len(line.splitlines()) <= 1
        if line.startswith("|"):
            inner = cells(line)
            head = head or len(inner)
            assert len(inner) == head
            assert not any(LIVE.search(ENTITY.sub("", one.replace("---", ""))) for one in inner) or (
                "(warning)" in line
            )
        else:
            head = 0
            rest = FRAME.sub("", line)
            assert not LIVE.search(ENTITY.sub("", rest))
