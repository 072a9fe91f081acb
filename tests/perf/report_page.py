# SPDX-License-Identifier: GPL-3.0-or-later
"""What the report of 2,000 hosts costs the browser that opens it, beside the JSON report in it.

The hosts are simulated (tests/browser/runs.py) and judged by the project's own checks: about 100 a
host of two rails in the areas ib and gpu, and all areas of one with eight rails. Chromium is the
distribution's, headless. Each number is the median of some openings of the file in a new window.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "collections")]

from playwright.sync_api import Browser, Error, Page

from ansible_collections.ibready.cluster.plugins.plugin_utils._run import folded
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_json, rendered
from tests.browser import chromium, nodes, runs
from tests.perf.controller import family, share_mb

HOSTS = 2000
OLD = "one of two rails is of another generation"
KINDS = {
    "100 checks": (nodes.Kind("hgx-a100-4", ("ib", "gpu")), (OLD,)),
    "all checks": (nodes.Kind(), (runs.CABLE, runs.SLOW, runs.POWER)),
}
OPENINGS = 5
_HEADS = (
    *("hosts x checks", "opened", "MB"),
    *("first paint s", "usable s", "filter or find ms", "memory MB"),
)
# No reader waits longer.
PATIENCE_MS = 120_000
# Of 80 MB of JSON, Chromium takes 2.4 GB of memory; more is not tried on a machine that others use.
MOST_MB = 200
# Set after the first frame in which the grid is there.
_THERE = """
(() => {
  const look = () => {
    const grid = document.querySelector("#grid");
    if (grid && grid.textContent) setTimeout(() => { window.gridThere = performance.now(); });
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})();
"""
_PAINT = """
() => new Promise((told) => new PerformanceObserver((list) => {
  const found = list.getEntriesByName("first-contentful-paint")[0];
  if (found) told(found.startTime);
}).observe({type: "paint", buffered: true}))
"""
_FRAME = "const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));"
# From the key to the frame that shows what is left.
_FILTER = f"""
async (text) => {{
  {_FRAME}
  const filter = document.querySelector("#filter");
  const changed = new Promise((done) => new MutationObserver(done).observe(
    document.querySelector("#grid"),
    {{childList: true, subtree: true, characterData: true, attributes: true}}));
  const begun = performance.now();
  filter.value = text;
  filter.dispatchEvent(new Event("input", {{bubbles: true}}));
  await changed;
  await frame();
  return performance.now() - begun;
}}
"""
# What a reader does where there is no filter.
_FIND = f"""
async (text) => {{
  {_FRAME}
  const begun = performance.now();
  if (!window.find(text)) throw new Error(text + " is not found");
  await frame();
  return performance.now() - begun;
}}
"""


@dataclasses.dataclass(frozen=True)
class Cost:
    """Of one opening, in seconds (filter: milliseconds) and MB; ``usable`` is 0 without a grid."""

    paint: float
    usable: float
    filter_ms: float
    memory: float


def main(words: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hosts", type=int, default=HOSTS)
    parser.add_argument("--kind", choices=KINDS, action="append")
    parser.add_argument("--openings", type=int, default=OPENINGS)
    parser.add_argument("--keep", type=Path, help="where the files are kept")
    parser.add_argument("--beside", type=Path, action="append", default=[], help="another page of the same run")
    asked = parser.parse_args(words)
    print(f"\n| {' | '.join(_HEADS)} |\n|---|---|{'---:|' * (len(_HEADS) - 2)}", flush=True)
    with tempfile.TemporaryDirectory() as place, chromium.started() as browser:
        for name in asked.kind or KINDS:
            folder = (asked.keep or Path(place)) / name.replace(" ", "-")
            folder.mkdir(parents=True, exist_ok=True)
            for label, path in files(folder, name, asked.hosts, asked.beside):
                print(f"| {label} | {row(browser, path, asked)} |", flush=True)
    return 0


def files(folder: Path, name: str, hosts: int, beside: list[Path]) -> Iterator[tuple[str, Path]]:
    """The run as the files that a reader may open."""
    kind, faults = KINDS[name]
    begun = time.process_time()
    run = runs.large(hosts, kind, faults)
    checks = sum(len(one["checks"]) for one in run["hosts"].values()) / hosts
    judged = time.process_time()
    texts = rendered.render(run, ["html"])
    print(
        f"{hosts} hosts: judged in {judged - begun:.0f} s of CPU, "
        f"the page rendered in {time.process_time() - judged:.0f} s",
        file=sys.stderr,
    )
    page = Path(rendered.write(folder / rendered.NAME, texts)["html"])
    json = folder / f"{rendered.NAME}{rendered.JSON}"
    json.write_text(render_json.render(folded.fold(run)))
    del run, texts
    size = f"{hosts:,} x {checks:.0f}"
    yield f"{size} | the page", page
    for one in beside:
        yield f"{size} | {one.name}", one
    yield f"{size} | the JSON report", json


def row(browser: Browser, path: Path, asked: argparse.Namespace) -> str:
    """The numbers of one file."""
    # One of the hosts, in the second half.
    name = f"node{asked.hosts * 617 // 1000:0{len(str(asked.hosts))}}"
    size = path.stat().st_size / 1e6
    if size > MOST_MB:
        return f"{size:.1f} | not opened | | | "
    try:
        seen = [cost(browser, path, name) for _ in range(asked.openings)]
    except Error as exc:
        return f"{size:.1f} | {str(exc).splitlines()[0]} | | | "
    paint, usable, filtered, memory = (
        statistics.median(getattr(one, field.name) for one in seen) for field in dataclasses.fields(Cost)
    )
    there = f"{usable:.2f}" if usable else ""
    return f"{size:.1f} | {paint:.2f} | {there} | {filtered:.0f} | {memory:.0f}"


def cost(browser: Browser, path: Path, name: str) -> Cost:
    """Open it once and look for a host; raises Error where that takes longer than anybody waits."""
    before = memory()
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    try:
        page = context.new_page()
        page.add_init_script(_THERE)
        page.goto(path.as_uri(), timeout=PATIENCE_MS)
        paint = page.evaluate(_PAINT) / 1000
        filters = page.locator("#filter").count() > 0
        usable = max(paint, _usable(page)) if filters else 0.0
        looked = page.evaluate(_FILTER if filters else _FIND, name)
        return Cost(paint, usable, looked, memory() - before)
    finally:
        context.close()


def _usable(page: Page) -> float:
    page.wait_for_function("window.gridThere")
    return float(page.evaluate("window.gridThere")) / 1000


def memory() -> float:
    """MB of all processes of the browser, each one's own part of what they share."""
    mine = [pid for pid in family(os.getpid()) if "chromium" in _command(pid)]
    return sum(share_mb(pid) for pid in mine)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
