# SPDX-License-Identifier: GPL-3.0-or-later
"""The page as somebody with a mouse uses it: filter, open a host, follow a cause, change looks."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from tests.browser import runs
from tests.browser.conftest import Open
from tests.browser.looking import columns, filtered, hosts, settled

FAULTS = {"node03": "ib.port.rate", "node07": "ib.port.state", "node09": "host.cpu.governor"}
NODES = {"node03": "node03", "node07": "node07", "node09": "node[09-12]"}
_PORTS = "/sys/class/infiniband/mlx5_{}/ports/1"
# Of eight CPU clocks none is quoted.
QUOTED = {
    "node03": {f"{_PORTS.format(3)}/rate", "$ ibstat", "waiver"},
    "node07": {f"{_PORTS.format(5)}/state", "$ ibstat"},
    "node09": set[str](),
}


def of(verdict: str) -> set[str]:
    """The hosts of this verdict."""
    reported = runs.three_faults()["hosts"]
    return {name for name, one in reported.items() if one["verdict"] == verdict}


def test_the_grid_has_every_host(open_page: Open) -> None:
    assert hosts(open_page()) == set(runs.three_faults()["hosts"])


def test_a_name_filters_the_hosts_and_an_empty_filter_shows_all(open_page: Open) -> None:
    page = open_page()
    filtered(page, "node1")
    assert hosts(page) == {f"node1{digit}" for digit in range(7)}
    filtered(page, "NODE07")
    assert hosts(page) == {"node07"}
    filtered(page, "zzz")
    assert hosts(page) == set()
    filtered(page, "")
    assert len(hosts(page)) == 16


@pytest.mark.parametrize("verdict", ["ready", "degraded", "not_ready"])
def test_a_verdict_filters_the_hosts(open_page: Open, verdict: str) -> None:
    page = open_page()
    page.locator("select#filter-verdict").select_option(verdict)
    assert hosts(page) == of(verdict)
    filtered(page, "node0")
    assert hosts(page) == {name for name in of(verdict) if name.startswith("node0")}


def test_an_area_leaves_its_checks_in_the_grid(open_page: Open) -> None:
    page = open_page()
    ids = {one["id"] for host in runs.three_faults()["hosts"].values() for one in host["checks"]}
    page.locator("select#filter-check").select_option("all")
    for area in ("", "gpu", "ib"):
        page.locator("select#filter-area").select_option(area)
        settled(page)
        assert set(columns(page)) == {one for one in ids if one.startswith(area)}


def test_the_grid_begins_with_the_checks_of_which_something_is_wrong(open_page: Open) -> None:
    wrong = {
        one["id"]
        for host in runs.three_faults()["hosts"].values()
        for one in host["checks"]
        if one["result"] in ("fail", "unknown")
    }
    assert set(columns(open_page())) == wrong


def test_a_host_opens_with_every_check_and_closes(open_page: Open) -> None:
    page = open_page()
    page.locator("#grid").get_by_role("link", name="node07", exact=True).click()
    host = page.locator("#host")
    expect(host).to_be_visible()
    expect(host.get_by_role("heading", name="node07")).to_be_visible()
    assert page.url.endswith("#host=node07")
    for check in runs.three_faults()["hosts"]["node07"]["checks"]:
        expect(host.get_by_text(check["id"], exact=True).first).to_be_attached()
    page.keyboard.press("Escape")
    expect(host).to_be_hidden()
    assert "host=" not in page.url


def test_the_address_of_a_host_opens_it_and_the_way_back_closes_it(open_page: Open) -> None:
    page = open_page(at="#host=node03")
    expect(page.locator("#host")).to_contain_text("node03")
    page.goto(page.url.partition("#")[0] + "#summary")
    expect(page.locator("#host")).to_be_hidden()
    page.go_back()
    expect(page.locator("#host")).to_contain_text("node03")


@pytest.mark.parametrize("name", FAULTS)
def test_a_cause_leads_to_the_hosts_finding_its_evidence_and_its_remedy(open_page: Open, name: str) -> None:
    check = next(
        one
        for one in runs.three_faults()["hosts"][name]["checks"]
        if one["id"] == FAULTS[name] and one["result"] == "fail"
    )
    page = open_page()
    cause = page.locator("#causes .cause").filter(has_text=check["cause"]).first
    expect(cause.locator(".nodes")).to_contain_text(NODES[name])
    cause.locator("summary").click()
    # What stands between backticks is code, with a button behind it.
    expect(cause).to_contain_text(check["remedy"].rpartition("`")[2])
    cause.get_by_role("link", name=name, exact=True).click()
    host = page.locator("#host")
    expect(host).to_be_visible()
    for said in (check["id"], check["subject"], check["observed"], check["expected"]):
        expect(host.get_by_text(said).first).to_be_visible()
    expect(host.locator(".finding h3", has_text=check["id"])).to_contain_text("fail")
    expect(host.get_by_text(check["cause"]).first).to_be_visible()
    expect(host.get_by_text(check["remedy"].rpartition("`")[2]).first).to_be_visible()
    finding = host.locator(f".finding[data-check='{check['id']}']").filter(has_text=check["subject"])
    assert set(check["evidence"]) == QUOTED[name]
    evidence = finding.locator(".evidence")
    expect(evidence.locator("p")).to_be_hidden()
    evidence.locator("summary").click()
    for source in CATALOG[check["id"]].looks_at:
        expect(evidence.locator("p")).to_contain_text(source.split("|")[0])
    for what in check["evidence"]:
        expect(evidence.get_by_text(what, exact=True)).to_be_visible()
    assert evidence.locator("pre").all_text_contents() == list(check["evidence"].values())


def test_a_verdict_on_the_first_screen_filters_the_grid(open_page: Open) -> None:
    page = open_page()
    page.locator("#verdicts a[data-verdict=not_ready]").click()
    assert hosts(page) == of("not_ready")


def test_the_language_changes_to_chinese_and_back(open_page: Open) -> None:
    page = open_page()
    before = _words(page)
    page.locator("button#language").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    expect(page.locator("#summary h1")).to_have_text("16 台中 10 台就绪")
    chinese = _words(page)
    assert len(chinese) == len(before)
    same = {one for one, other in zip(before, chinese, strict=True) if one == other}
    # Names of things that have none in Chinese, and empty signs.
    assert not any(re.search("[a-z]{3} [a-z]{2}", one) for one in same), same
    page.locator("button#language").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    assert _words(page) == before


def test_causes_and_what_to_do_are_said_in_chinese_and_back(open_page: Open) -> None:
    page = open_page()
    causes = page.locator("#causes")
    before = causes.text_content()
    page.locator("button#language").click()
    expect(causes.locator("h3", has_text="一条 rail 没有链路")).to_have_count(1)
    for part in ("h3", ".act", ".costs", ".remedy"):
        said = causes.locator(part).all_text_contents()
        assert said
        assert [one for one in said if not re.search("[\u4e00-\u9fff]", one)] == [], part
    # Of tools, as they said it; and commands.
    expect(causes).to_contain_text("对端没有响应")
    expect(causes).to_contain_text("mlxlink -d mlx5_5 -m -c")
    page.locator("button#language").click()
    assert causes.text_content() == before


def test_the_filter_finds_what_a_chinese_page_says(open_page: Open) -> None:
    page = open_page(locale="zh-CN")
    page.locator("#filter").fill("发行版默认的调频策略")
    expect(page.locator("#grid-count")).to_have_text("16 台主机中的 4 台")


def test_what_opens_later_is_in_the_chosen_language(open_page: Open) -> None:
    page = open_page()
    page.locator("button#language").click()
    page.locator("#grid").get_by_role("link", name="node07", exact=True).click()
    expect(page.locator("#host")).to_contain_text("未就绪")
    expect(page.locator("#host").get_by_text("not ready")).to_have_count(0)
    finding = page.locator("#host article[data-check='ib.port.state']")
    expect(finding).to_contain_text("端口为 Active")
    expect(finding).to_contain_text("看 ibstat 和交换机端口")
    page.keyboard.press("Escape")
    page.locator("button#language").click()
    page.locator("#grid").get_by_role("link", name="node07", exact=True).click()
    expect(finding).to_contain_text("look at ibstat and the switch port")


def test_a_chinese_browser_gets_chinese(open_page: Open) -> None:
    page = open_page(locale="zh-CN")
    expect(page.locator("#summary h1")).to_have_text("16 台中 10 台就绪")


def test_the_theme_changes_from_what_the_system_has_to_dark_and_light(open_page: Open) -> None:
    page = open_page(color_scheme="light")
    button = page.locator("button#theme")
    seen = [_background(page)]
    for _ in range(3):
        button.click()
        seen.append(_background(page))
    assert {_is_dark(one) for one in seen[:3]} == {True, False}
    assert seen[3] == seen[0]


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_theme_follows_the_system(open_page: Open, scheme: str, dark: bool) -> None:
    page = open_page(color_scheme=scheme)
    assert _is_dark(_background(page)) is dark


def _words(page: Page) -> list[str]:
    """The page's own words."""
    return [one or "" for one in page.locator("main [data-t]").all_text_contents()]


def _background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def _is_dark(colour: str) -> bool:
    red, green, blue = (int(one) for one in colour.partition("(")[2].rstrip(")").split(",")[:3])
    return red + green + blue < 3 * 128
