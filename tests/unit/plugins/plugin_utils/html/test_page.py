# SPDX-License-Identifier: GPL-3.0-or-later
"""The page as a whole: what it shows, what may run in it, and what older objects lack."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given, settings

from ansible_collections.ibready.cluster.plugins.plugin_utils._run import compare, course
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import page
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech import environment
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import text
from tests.unit import pages, runs

FULL = runs.run(
    runs.MIXED,
    simulated="InfiniBand fabric (ibsim)",
    fabric=runs.fabric(runs.check("fail", "fabric.cable.width", cause="a slow cable")),
)
# All that a page of ours may have; none of them by what a host says.
HANDLERS = re.compile(r"^on|^style$|^srcdoc$|^formaction$")


def digest(said: str) -> str:
    return base64.b64encode(hashlib.sha256(said.encode()).digest()).decode()


def test_the_policy_allows_this_style_and_this_script_and_nothing_else() -> None:
    seen = pages.parse(page.render(FULL))
    (policy,) = (
        one.attributes["content"]
        for one in seen.elements
        if one.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    (style,) = (said for one, said in seen.raw if one.tag == "style")
    (script,) = (said for one, said in seen.raw if one.tag == "script" and not one.attributes)
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest(style)}'",
        f"script-src 'sha256-{digest(script)}'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    # The policy stands before what it is about.
    assert [one.tag for one in seen.elements].index("style") > 3
    assert seen.elements[3].attributes.get("http-equiv") == "Content-Security-Policy"


@pytest.mark.parametrize("path", sorted(environment.FOLDER.rglob("*.*s")), ids=lambda one: one.name)
def test_style_and_script_are_what_a_browser_reads_as_they_are(path: Any) -> None:
    said = path.read_text()
    assert "\r" not in said
    assert not re.search(r"</(script|style)|<!--|<script", said, re.IGNORECASE)
    assert "://" not in said
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in said
    assert path.stem in (*page.CSS, *page.JS)
    assert len(said.splitlines()) < 200


def test_every_file_of_style_and_script_is_in_the_page_once() -> None:
    for kind, names in (("css", page.CSS), ("js", page.JS)):
        assert sorted(names) == sorted(one.stem for one in (environment.FOLDER / kind).glob(f"*.{kind}"))


def test_the_first_screen_tells_without_script_how_many_are_ready_and_what_is_wrong() -> None:
    said = pages.words(FULL)
    reported = (
        "Simulated: InfiniBand fabric (ibsim). No result here comes from real hardware.",
        "1 of 3 ready",
        "What is wrong and what to do",
        "fail a rail has no link n2 copy",
        "clean and reseat the cable at both ends",
        "ready after this",
        "the cable is pulled",
        "reseat the cable, then swap cable and transceiver",
        "n2 mlx5_0/1 seen Down, expected Active (from capability)",
    )
    at = 0
    for one in reported:
        assert one in said[at:], one
        at = said.index(one, at) if one.startswith(("Sim", "1 of", "What")) else at


def test_without_script_every_host_is_there_with_all_its_checks_where_they_are_few() -> None:
    seen = pages.parse(page.render(FULL))
    assert {f"host={name}" for name in runs.MIXED} <= set(seen.ids())
    assert "n1 ready - - - 1 pass, 1 skip" in seen.words
    assert "All 2 checks" in seen.words
    assert "waived until 2026-12-31: ordered" in seen.words


def test_of_many_hosts_those_with_findings_are_there_without_script() -> None:
    many = {f"n{number}": runs.MIXED["n1"] for number in range(1500)}
    seen = pages.parse(page.render(runs.run({**many, "bad": runs.MIXED["n2"]})))
    assert [one for one in seen.ids() if one.startswith("host=")] == ["host=bad"]
    assert "n1499 ready" in seen.words


@settings(deadline=None, max_examples=30)
@given(runs.hostile())
def test_whatever_hosts_say_the_elements_are_ours(run: dict[str, Any]) -> None:
    rendered = page.render(run)
    rendered.encode()
    assert rendered.count("<!--") == 0
    seen = pages.parse(rendered)
    assert [(one.tag, one.attributes.get("id", "")) for one, _ in seen.raw] == [
        ("style", ""),
        ("script", "data"),
        ("script", ""),
    ]
    for one in seen.elements:
        assert not any(HANDLERS.match(name) for name in one.attributes), one
        assert one.attributes.get("href", "#").startswith("#")
        assert "src" not in one.attributes
    ours = [one for one in seen.ids() if not one.startswith("host=")]
    assert len(ours) == len(set(ours))
    # What cannot be seen or turns the text is nowhere, not in an attribute either.
    assert text(rendered) == rendered


@pytest.mark.parametrize("said", runs.NASTY)
def test_what_is_nasty_is_shown_as_text(said: str) -> None:
    host = runs.judged(runs.check("fail", subject=said, observed=said, expected=said, cause=said, remedy=said))
    seen = pages.parse(page.render(runs.run({said or "n1": host})))
    words = " ".join(text(said).split())
    assert seen.words.count(words) >= 5
    (link, *_) = (
        one.attributes["href"] for one in seen.elements if one.tag == "a" and "&check" in one.attributes.get("href", "")
    )
    name = unquote(link.removeprefix("#host=").partition("&")[0])
    assert name == text(said or "n1")
    assert f"host={name}" in seen.ids()


def test_the_words_come_back_as_they_were_escaped() -> None:
    run = runs.run({"n1": runs.judged(runs.check("fail", cause="<b> & \"c\" 'd'"))})
    assert "<b> & \"c\" 'd'" in html.unescape(pages.words(run))


@pytest.mark.parametrize(
    "key",
    [
        *("run", "versions", "plan", "changes", "waivers", "benchmarks", "since", "pings"),
        *("ping_again", "ping_coverage", "ping_matrix", "tcp", "rdma", "fabric"),
    ],
)
def test_what_an_object_lacks_or_has_as_null_is_no_error(key: str) -> None:
    lacking = {name: one for name, one in FULL.items() if name != key}
    for run in (lacking, {**lacking, key: None}):
        assert "1 of 3 ready" in pages.words(run)


def test_how_it_was_run_is_told() -> None:
    run = runs.run(runs.MIXED)
    run["run"] |= {"limit": "rack1", "size": 40, "check_mode": True}
    said = pages.words(run)
    assert "Run: playbooks/verify.yml" in said
    assert "Limited to rack1" in said
    assert "40 hosts in the inventory" in said
    assert "Check mode: nothing was changed" in said


def test_groups_of_dead_hosts_stand_before_those_of_degraded_ones_and_tell_them_apart() -> None:
    made = {"n": runs.judged(runs.check("fail")), "u": runs.judged(), "d": runs.judged(DEGRADED), "r": runs.MIXED["n1"]}
    racks = {"rack1": "dddd", "rack2": "rrnd", "rack3": "rrrr", "rack4": "rruu", "rack5": "rrdr"}
    hosts = {f"{rack}-{at}": made[one] for rack, some in racks.items() for at, one in enumerate(some)}
    run = runs.run(hosts)
    run["run"]["groups"] = {rack: [name for name in hosts if name.startswith(rack)] for rack in racks}
    said = pages.words(run)
    assert (
        "Not all ready: rack2 1 not ready, 1 degraded of 4 · rack4 2 unknown of 4 · "
        "rack1 4 degraded of 4 · rack5 1 degraded of 4 What is wrong"
    ) in said
    run["run"]["groups"] = {f"group{at}": list(hosts) for at in range(14)}
    assert "of 20 and 2 more What is wrong" in pages.words(run)


DEGRADED = runs.check("fail", severity="warning")
# A word, code or a link right behind another, with no blank between them.
GLUED = re.compile(r"[\w).](?:</(?:span|b|a|code|small|button)>)+<(?:span|b|a|code|small|strong|button)\b[^>]*>[\w(]")


@pytest.mark.parametrize("size", [3, 40, 1500])
def test_no_two_words_are_glued_together_and_no_cell_of_a_table_is_empty(size: int) -> None:
    kinds = list(runs.MIXED.values())
    hosts = {f"n{at}.example": kinds[at % 3] for at in range(size)}
    run = runs.run(hosts, fabric=FULL["fabric"], simulated="x")
    run["run"]["groups"] = {f"rack{at}": list(hosts)[at::20] for at in range(20)}
    before = runs.run({name: kinds[(at + 1) % 3] for at, name in enumerate(hosts)}, fabric=runs.fabric(runs.check()))
    run["since"] = compare.compare(before, run)
    run["history"] = course.carried(before, run, 10)
    rendered = page.render(run).partition('<script type="text/plain"')[0]
    assert GLUED.findall(rendered) == []
    assert "<td></td>" not in rendered
    assert "fabric fabric" not in re.sub(r"<[^>]*>", "", rendered)
    # One way to write a time.
    assert re.findall(r">[^<]*\d\d\d\d-\d\d-\d\dT", rendered) == []


def test_hosts_of_a_domain_are_folded_as_on_the_terminal_and_copied_as_slurm_reads_them() -> None:
    run = runs.run({f"gpu{at:02}.cluster.example": runs.judged(runs.check("fail")) for at in (1, 2, 3)})
    assert "a rail has no link gpu[01-03].cluster.example copy" in pages.words(run)
    copied = [one.attributes.get("data-copy") for one in pages.parse(page.render(run)).elements]
    assert "gpu01.cluster.example,gpu02.cluster.example,gpu03.cluster.example" in copied


ABSENT = "host.access.reachable"


def remedy(*ids: str) -> str:
    """The first screen, where checks of a host have a command in their remedy."""
    checks = [runs.check("unknown", one, cause="`x` is <off>", remedy="try `ssh -v n1`, or `reboot`") for one in ids]
    return page.render(runs.run({"n1": runs.judged(*checks)})).partition('id="hosts"')[0]


@pytest.mark.parametrize("ids", [("ib.port.state",), (ABSENT, ABSENT)])
def test_no_button_copies_a_command_that_a_host_may_have_written(ids: tuple[str, ...]) -> None:
    first = remedy(*ids)
    assert "try <code>ssh -v n1</code>, or" in first
    assert 'data-copy="ssh' not in first


def test_what_stands_between_backticks_is_code_and_a_command_of_ours_is_copied() -> None:
    first = remedy(ABSENT)
    assert "<code>x</code> is &lt;off&gt;" in first
    button = '<button type="button" class="link copy" hidden data-copy="ssh -v n1">'
    assert f"try <code>ssh -v n1</code> {button}" in first
    assert "or <code>reboot</code>" in first
    assert "`" not in re.sub(r'data-\w+="[^"]*"', "", first.partition("<body>")[2])


def test_no_host_and_no_check_are_not_well() -> None:
    assert "No hosts took part" in pages.words(runs.run({}))
    said = pages.words(runs.run({"n1": runs.judged()}))
    assert "0 of 1 ready" in said
    assert "No check ran, so this report cannot say what is wrong." in said
    assert "No problems: every check that applies ran" in pages.words(runs.run({"n1": runs.MIXED["n1"]}))


def test_a_fabric_that_could_not_be_asked_is_not_well_though_all_hosts_are_ready() -> None:
    good = {"n1": runs.MIXED["n1"]}
    for fabric, why in (
        (runs.fabric(error="n1: umad cannot be opened"), "n1: umad cannot be opened"),
        ({**runs.fabric(), "fabrics": [nobody_judged()]}, "No check ran"),
    ):
        said = pages.words(runs.run(good, fabric=fabric))
        assert "1 of 1 ready" in said
        chips, _, rest = said.partition("Judged ")[2].partition("What is wrong")
        assert "abric unknown" in chips
        wrong = rest.partition("Hosts and checks")[0]
        assert why in wrong
        assert "No problems" not in wrong
    assert "No problems: every check that applies ran" in pages.words(runs.run(good, fabric=runs.fabric()))


def nobody_judged() -> dict[str, Any]:
    """A fabric of which no check was made."""
    (one,) = runs.fabric(runs.check())["fabrics"]
    return {**one, "verdict": "unknown", "checks": []}


def test_waived_failures_are_not_told_as_none() -> None:
    waived = runs.judged(runs.check("fail", waived="until 2026-12-31: ordered"))
    said = pages.words(runs.run({"n1": waived}))
    assert "No open problems: 1 failed check is waived." in said
    assert "none failed" not in said


def test_of_very_many_causes_and_places_the_rest_is_counted() -> None:
    hosts = {
        f"n{number}": runs.judged(
            runs.check("fail", cause=f"cause {number}", remedy=f"remedy {number}"),
            runs.check("fail", "ib.port.rate", cause="all of them", remedy="one for all"),
        )
        for number in range(130)
    }
    said = pages.words(runs.run(hosts))
    assert "123 more causes" in said
    assert "and 31 more, in the JSON report" in said
    assert "and 110 more" in said


def test_of_the_commands_of_a_cause_none_is_left_out_without_a_word() -> None:
    def reported(hosts: int) -> str:
        slow = {
            f"n{at}": runs.judged(runs.check("fail", "pci.link.width", f"0000:{at:02}:00.0")) for at in range(hosts)
        }
        return pages.words(runs.run(slow))

    six, ten = reported(6), reported(10)
    assert all(f"lspci -vv -s 0000:{at:02}:00.0" in six for at in range(6))
    assert "and 1 more" not in six
    assert ten.count("lspci -vv -s 0000:") == 8
    assert "and 2 more" in ten


def test_headings_go_down_by_one_and_every_part_has_its_name() -> None:
    seen = pages.parse(page.render(FULL))
    levels = [int(one.tag[1]) for one in seen.elements if re.fullmatch("h[1-6]", one.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = set(seen.ids())
    for one in seen.elements:
        for name in ("aria-labelledby", "for"):
            for meant in one.attributes.get(name, "").split():
                assert meant in ids or meant == "host-name", meant
        if one.tag == "th":
            assert one.attributes["scope"] in ("col", "row")
        if one.tag == "a" and "host=" not in one.attributes["href"]:
            assert one.attributes["href"][1:] in ids


def test_without_script_the_findings_of_a_large_trouble_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "STATIC", 10)
    bad = {f"n{number}": runs.judged(*[runs.check("unknown")] * 4) for number in range(5)}
    seen = pages.parse(page.render(runs.run(bad)))
    assert [one for one in seen.ids() if one.startswith("host=")] == ["host=n0", "host=n1", "host=n2"]
    assert "and 10 more, in the JSON report" in seen.words
    assert all(f"n{number} unknown" in seen.words for number in range(5))
