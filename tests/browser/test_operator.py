# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody who was woken has of the page: at 16, 500 and 2,000 hosts, in both languages, at both widths."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Browser, Page, expect

from ansible_collections.ibready.cluster.plugins.module_utils._expect import waivers
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL
from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import diagnosis
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import rendered
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.chinese import chinese
from tests.browser import chromium, conftest, runs
from tests.browser.conftest import Open
from tests.browser.looking import every, hosts
from tests.unit import runs as unit

WIDTHS = {1440: 900, 390: 844}
SIZES = ("three-faults", "500-hosts", "2000-hosts")
DEAD = {"500-hosts": "node311", "2000-hosts": "node[0311,0811,1311,1811]"}
SCREENS = 4


@pytest.fixture(scope="module", params=SIZES)
def name(request: pytest.FixtureRequest) -> str:
    """A run of conftest.RUNS."""
    return str(request.param)


@pytest.fixture(scope="module", params=["en-GB", "zh-CN"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module", params=WIDTHS)
def width(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def page(browser: Browser, page_of: Callable[[str], Path], name: str, language: str, width: int) -> Iterator[Page]:
    """One page for all that is only looked at; it complains of nothing."""
    size = {"width": width, "height": WIDTHS[width]}
    with chromium.opened(browser, page_of(name), viewport=size, locale=language) as watched:
        yield watched.page
        assert watched.wrong == []


def test_causes_are_those_of_the_diagnosis_errors_first_with_nodes_and_what_to_do(
    page: Page, name: str, language: str
) -> None:
    told = diagnosis.diagnose(conftest.RUNS[name]())
    # What is shown at once; equal causes of several hosts are one.
    failed: dict[str, bool] = {}
    for cause in told.causes:
        title = chinese(cause.title) if language == "zh-CN" else cause.title
        seen = any(entry.check.result == FAIL or entry.split for entry in cause.evidence)
        failed[title] = failed.get(title, False) or seen
    for kind, whether in (("fail", True), ("unknown", False)):
        shown = page.locator(f"#causes .causes > li.{kind} h3").all_inner_texts()
        # Beside causes that nobody could look into stands what else is unknown.
        known = shown if whether else [one for one in shown if one in failed]
        assert known == [one for one in failed if failed[one] is whether]
    kinds = [one.get_attribute("class") or "" for one in every(page, "#causes .causes > li")]
    assert kinds == sorted(kinds, key=lambda kind: ("warning" in kind, "fail" not in kind))
    for one in every(page, "#causes .causes > li"):
        expect(one.locator(".nodes code, .nodes b").first).to_be_visible()
        expect(one.locator(".do .act, .do .command").first).to_be_visible()
        assert one.locator(".do").inner_text().strip()


def test_one_dead_gpu_is_one_cause_with_its_node_and_command(page: Page, name: str, language: str) -> None:
    row = page.locator("#causes li", has_text="fell off the PCI bus" if language == "en-GB" else "从 PCI 总线上掉线")
    nodes = row.locator(".nodes code")
    if name not in DEAD:
        expect(nodes).to_have_count(0)
        return
    expect(nodes).to_have_text(DEAD[name])
    expect(row.locator(".command")).to_have_count(1)
    expect(row.locator(".command code")).to_contain_text("lspci")
    assert "nccl_gdr_level" not in page.locator("#causes").inner_text()


def test_the_cluster_and_how_old_the_data_are_stand_first(page: Page, language: str) -> None:
    assert "sim-a" in page.title()
    expect(page.locator(".brand .cluster")).to_have_text("sim-a")
    expect(page.locator("#age")).to_have_text("3 hours ago" if language == "en-GB" else "3 小时前")
    assert "19:41" in page.locator("time").inner_text()
    assert page.locator(".groups a").count() >= 1


def test_it_is_four_screens_and_nothing_stands_out_at_the_side(page: Page, width: int) -> None:
    high, wide = page.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]")
    assert high <= SCREENS * WIDTHS[width]
    assert wide <= width


def test_what_is_well_is_a_line_and_its_pictures_are_folded(page: Page) -> None:
    folds = every(page, "main details.fold")
    for one in folds:
        odd = "odd" in (one.get_attribute("class") or "").split()
        says = one.locator("> summary .says")
        assert (says.text_content() or "").strip()
        if one.get_attribute("open") is None:
            expect(says).to_be_visible()
        else:
            assert odd
    said = page.locator("main").inner_text()
    assert "0 worst of 0" not in said
    assert "0xb859" not in said
    assert "Down 10" not in said


def test_what_is_measured_is_drawn_as_a_strip_with_a_dot_for_each_host(page: Page) -> None:
    strips = page.locator("#section-strips")
    expect(strips.locator("> details > summary")).to_be_visible()
    alike = strips.locator("[data-t='strips.alike']").count()
    assert strips.locator("svg path[stroke-linecap=round]").count() == strips.locator("h3").count() - alike
    assert 1 <= alike < strips.locator("h3").count()


def test_a_host_of_which_nothing_was_measured_is_named(page: Page, name: str) -> None:
    off = {"500-hosts": (1, "node402"), "2000-hosts": (4, "node0402, node0902, node1402, node1902")}
    lines = [" ".join((one.text_content() or "").split()) for one in every(page, "#section-strips .note")]
    told = [line for line in lines if re.search("not measured|未测量", line)]
    if name not in off:
        assert told == []
        return
    assert told
    assert all(off[name][1] in line for line in told)


OFTEN = {
    "en-GB": ("Changed often:", "({times} times in {of} runs)"),
    "zh-CN": ("状态反复\uff1a", "({of} 次运行中变化 {times} 次)"),
}
SINCE = {"en-GB": "(3 runs, since 2026-11-20 19:41 UTC)", "zh-CN": "(3 次运行\uff0c自 2026-11-20 19:41 UTC)"}


def test_who_fails_since_when_and_who_goes_up_and_down_stands_first(page: Page, name: str, language: str) -> None:
    said = " ".join(page.locator("#summary .lately").last.inner_text().split())
    often = {"three-faults": ("node07", 3, 6), "500-hosts": ("node017", 9, 10), "2000-hosts": ("node1017", 9, 10)}
    host, times, of = often[name]
    title, counts = OFTEN[language]
    assert f"{title} {host} {counts.format(times=times, of=of)}" in said
    since = {"500-hosts": "node311, node402", "2000-hosts": "node0311, node0811"}
    if name in since:
        assert f"{since[name]} {SINCE[language]}" in page.locator("#summary .lately").first.inner_text()
    else:
        expect(page.locator("#summary .lately")).to_have_count(1)


def test_how_hosts_went_is_a_table_of_signs_and_what_was_not_looked_at_is_none(page: Page, name: str) -> None:
    rows = page.locator("#section-went table.went tbody tr")
    row = rows.filter(has_text={"three-faults": "node07", "500-hosts": "node017", "2000-hosts": "node1017"}[name])
    signs = [(one.text_content() or "").strip() for one in row.first.locator("td").all()]
    assert signs == (list("·F···F") if name == "three-faults" else list("·F" * 5))
    assert page.locator("#section-went table.went thead th").count() == len(signs) + 1


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("language", "unseen"), [("en-GB", "not checked"), ("zh-CN", "未检查")])
def test_the_page_of_a_host_tells_which_findings_came_and_went(
    open_page: Open, width: int, language: str, unseen: str
) -> None:
    page = open_page("three-faults", "#host=node07", viewport={"width": width, "height": 844}, locale=language)
    rows = page.locator("#host table.went tbody tr")
    told = {(one.locator("th").text_content() or ""): one.locator("td").all_text_contents() for one in rows.all()}
    assert told.pop("Over the last runs" if language == "en-GB" else "最近几次运行") == list("·F···F")
    assert told["ib.port.state mlx5_5/1"] == ["", "F", "·", "·", "·", "F"]
    page.evaluate("location.hash = '#host=node05'")
    expect(page.locator("#host h2")).to_contain_text("node05")
    cell = page.locator("#host table.went tbody tr").first.locator("td").nth(3)
    expect(cell).to_have_text("-")
    expect(cell).to_have_attribute("aria-label", unseen)
    page.evaluate("location.hash = '#host=node02'")
    expect(page.locator("#host h2")).to_contain_text("node02")
    expect(page.locator("#host table.went")).to_have_count(0)
    expect(page.locator("#host .host-body")).to_contain_text("2026-11-17 19:41 UTC")


@pytest.mark.parametrize("name", ["500-hosts"], scope="module")
@pytest.mark.parametrize("width", [1440], scope="module")
@pytest.mark.parametrize("language", ["en-GB"], scope="module")
def test_a_picture_of_all_opens_where_it_is_asked_for(page: Page) -> None:
    fold = page.locator("#section-pings details details").first
    expect(fold.locator(".picture").first).to_be_hidden()
    fold.locator("> summary").click()
    expect(fold.locator(".picture").first).to_be_visible()
    # Switches by what people call them.
    assert "leaf-1-1" in (fold.text_content() or "")
    fold.locator("> summary").click()


@pytest.mark.parametrize("width", WIDTHS)
def test_both_ends_of_a_cable_that_the_last_run_saw(open_page: Open, width: int) -> None:
    page = open_page("three-faults", viewport={"width": width, "height": WIDTHS[width]})
    cable = page.locator("#causes .cable", has_text="node07")
    expect(cable).to_contain_text("node07 mlx5_5/1 ⟷ leaf-1-6/7 (from an earlier run)")


def test_nodes_and_commands_are_copied_with_a_click(open_page: Open) -> None:
    page = open_page("three-faults", permissions=["clipboard-read", "clipboard-write"])
    row = page.locator("#causes li", has_text="CPUs save power")
    for part, wanted in ((".nodes", "node[09-12]"), (".command", row.locator(".command code").inner_text())):
        row.locator(f"{part} button.copy").click()
        expect(row.locator(f"{part} button.copy")).to_have_text("copied")
        assert page.evaluate("navigator.clipboard.readText()") == wanted


def test_a_failure_is_waived_by_a_line_that_lacks_only_the_reason(open_page: Open) -> None:
    page = open_page("three-faults", permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{page.url}#host=node07&check=ib.port.state")
    page.locator("article[data-check='ib.port.state'] button.waive").click()
    expect(page.locator("article[data-check='ib.port.state'] button.waive")).to_have_text("copied")
    copied = yaml.safe_load(page.evaluate("navigator.clipboard.readText()"))
    with pytest.raises(waivers.WaiverError, match="reason is missing"):
        waivers.parse(copied, CATALOG)
    (waiver,) = waivers.parse([{**copied[0], "reason": "RMA 4711"}], CATALOG)
    assert (waiver.check, waiver.host, waiver.subject) == ("ib.port.state", "node07", "mlx5_5/1")
    today = datetime.fromtimestamp(page.evaluate("Date.now()") / 1000, UTC).date()
    assert (waiver.until - today).days == 30


@pytest.mark.parametrize("place", ["#causes .nodes button.copy", "article[data-check='ib.port.state'] button.waive"])
def test_without_a_clipboard_for_pages_it_is_copied_as_by_hand_or_nobody_says_so(open_page: Open, place: str) -> None:
    page = open_page("three-faults", permissions=["clipboard-read", "clipboard-write"])
    page.evaluate("window.kept = navigator.clipboard; void Object.defineProperty(navigator, 'clipboard', {})")
    if "article" in place:
        page.evaluate("location.hash = 'host=node07'")
    button = page.locator(place).first
    page.evaluate("window.kept.writeText('before')")
    called = button.inner_text()
    page.evaluate("document.execCommand = () => false, null")
    button.click()
    expect(button).to_have_text(called)
    page.evaluate("delete document.execCommand")
    button.click()
    expect(button).to_have_text("copied")
    assert "node" in page.evaluate("window.kept.readText()")


def test_what_could_not_be_looked_at_is_waived_by_nobody(open_page: Open) -> None:
    page = open_page("three-faults")
    page.goto(f"{page.url}#host=node07")
    expect(page.locator("article.unknown").first).to_be_visible()
    assert page.locator("article.unknown button.waive").count() == 0
    assert page.locator("article.fail button.waive").count() == page.locator("article.fail").count()


def test_a_group_filters_the_grid(open_page: Open) -> None:
    page = open_page("500-hosts")
    group = {f"node{number:03}" for number in range(305, 321)}
    page.locator("select#filter-group").select_option("rack20")
    assert hosts(page) == group
    page.locator("#filter-clear").click()
    page.locator(".groups a", has_text="rack20").click()
    assert hosts(page) == group


def test_a_cause_says_which_group_holds_all_its_hosts(open_page: Open) -> None:
    expect(open_page("three-faults").locator("#causes li", has_text="CPUs save power")).to_contain_text("all in rack03")
    # 129 to 160 are two racks.
    expect(open_page("500-hosts").locator("#causes .within")).to_have_count(0)


def test_what_the_grid_shows_is_saved_as_a_table(
    browser: Browser, page_of: Callable[[str], Path], tmp_path: Path
) -> None:
    with chromium.opened(browser, page_of("three-faults"), accept_downloads=True) as watched:
        watched.page.locator("select#filter-verdict").select_option("not_ready")
        with watched.page.expect_download() as saved:
            watched.page.locator("#csv").click()
        saved.value.save_as(tmp_path / "hosts.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "hosts.csv").read_text())))
    wanted = [name for name, host in runs.three_faults()["hosts"].items() if host["verdict"] == "not_ready"]
    assert sorted(row["host"] for row in rows) == sorted(wanted)
    assert {row["host"]: row["groups"] for row in rows}["node07"] == "rack02"
    assert any("ib.port.state mlx5_5/1: Down" in row["findings"] for row in rows)


def test_no_cell_of_the_table_is_a_formula_however_a_spreadsheet_splits_it(browser: Browser, tmp_path: Path) -> None:
    begins = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
    formulas = [f"{one}HYPERLINK(0)" for one in begins]
    between = ("", "\n", "\t", "\r", " ", "x;", 'x;"', "x; ", "x\n", "x\t")
    words = [f"{before}{formula}" for before in between for formula in formulas]
    seen = unit.judged(*(unit.check("fail", subject=word, observed=word) for word in words))
    texts = rendered.render(unit.run({word: seen for word in words}), ["html"])
    path = Path(rendered.write(tmp_path / "report", texts)["html"])
    with chromium.opened(browser, path, accept_downloads=True) as watched:
        with watched.page.expect_download() as saved:
            watched.page.locator("#csv").click()
        saved.value.save_as(tmp_path / "hosts.csv")
    said = (tmp_path / "hosts.csv").read_bytes().decode()
    quoted = [cell for row in csv.reader(io.StringIO(said, newline="")) for cell in row]
    assert len([cell for cell in quoted if "HYPERLINK" in cell]) >= 2 * len(words)
    # Where something else than a comma is between cells, quotes within them mean nothing.
    split = [cell.strip(' "') for cell in re.split(r"[;\t\r\n]", said)]
    assert [cell for cell in (*quoted, *split) if cell.lstrip().startswith(begins)] == []
