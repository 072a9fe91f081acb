# SPDX-License-Identifier: GPL-3.0-or-later
"""Every number that the page tells of hosts, held against the verdicts and checks that it tells of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, UNKNOWN
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import compare, course
from ansible_collections.ibready.cluster.plugins.plugin_utils._run.shape import VERDICTS
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import page
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import words
from tests.unit import mapped, pages, runs

BAD = ("not_ready", "unknown")
SAVES = runs.check(FAIL, "host.cpu.governor", "host", severity="warning")
DOWN = {**{f"mlx5_{at}": mapped.port() for at in range(7)}, "mlx5_7": mapped.port("Down", None)}
UNREAD = {"mlx5_0/1": mapped.told(None, "Permission denied")}
KINDS = {
    "well": mapped.host(),
    "warned": mapped.host(SAVES),
    "down": mapped.host(ports=DOWN),
    "counting": mapped.host(counters={"mlx5_2/1": mapped.told({"symbol_error": 9, "link_downed": 0})}),
    "unread": mapped.host(counters=UNREAD),
    "older": mapped.host(mapped.same("fleet.driver.version", "535.1", FAIL, expected="580.95.05"), driver="535.1"),
    "links": mapped.host(links={3: (mapped.LINKS - 1, [5])}),
    "off": runs.judged(runs.check(UNKNOWN, "host.access.reachable", "host", cause="unreachable by ssh: no route")),
}
# One of so many hosts, beside the well ones.
TURNS = {7: "down", 9: "warned", 10: "counting", 11: "unread", 12: "off", 13: "older", 14: "links"}


@cache
def fleet(size: int) -> dict[str, Any]:
    """So many hosts in racks of 16, some of each kind; a run before this one, and one before that."""
    hosts = {f"node{at + 1:04}.example": KINDS[TURNS.get(at % 97 if at > 40 else at, "well")] for at in range(size)}
    healthy, first = dict.fromkeys(hosts, KINDS["well"]), {**hosts, "node0001.example": KINDS["down"]}
    found = runs.run(hosts, fabric=runs.fabric(runs.check(FAIL, "fabric.cable.width")))
    names = list(hosts)
    found["run"]["groups"] = {f"rack{at // 16:03}": names[at : at + 16] for at in range(0, size, 16)}
    found["run"]["size"] = size + 1
    before = [runs.run(some, fabric=runs.fabric(runs.check())) for some in (first, healthy)]
    history = None
    for run in (*before, found):
        history = course.carried(None if history is None else {"history": history}, run, 10)
    return {**found, "since": compare.compare(before[1], found), "history": history}


def expected(run: Mapping[str, Any]) -> dict[str, Callable[[dict[str, int]], bool]]:
    """What a word of the page that has numbers must fit, by its key."""
    hosts, groups, size = run["hosts"], run["run"]["groups"], len(run["hosts"])
    verdicts = Counter(host["verdict"] for host in hosts.values())
    kinds = Counter(name for host in hosts.values() for name, kind in KINDS.items() if kind is host)
    went = list(run["history"]["hosts"].values())
    ever = Counter("bad" if {*BAD} & {*one} else "warned" if "degraded" in one else "" for one in went)
    ways = Counter({way: sum(len(one[way]) for one in run["since"]["hosts"].values()) for way in compare.WAYS})
    rails = size - kinds["off"]
    ready = {"ready": verdicts["ready"], "all": size}
    told = {
        **dict.fromkeys(("summary.ready", "title", "title.named"), ready),
        "meta.size": {"n": size + 1},
        "went.says": {"n": ever["bad"], "warned": ever["warned"], "all": len(went), "runs": 3},
        "since.counts": {"n": len(run["since"]["hosts"]), **ways},
        "rails.says": {"n": size, "odd": kinds["down"] + kinds["off"]},
        "rails.counts": {"n": rails, "rails": 8, "odd": kinds["down"]},
        "rails.unseen": {"n": kinds["off"]},
        "counters.about": {"n": kinds["counting"], "read": rails},
        "counters.unread": {"n": kinds["unread"] + kinds["off"]},
        "nvlink.hosts": {"n": rails},
        "nvlink.unseen": {"n": kinds["off"]},
        "nvlink.blind": {"n": kinds["off"]},
        "fabric.counts": {"switches": 0, "adapters": 0, "links": 0, "wrong": 0},
    }
    having = Counter(check["id"] for host in hosts.values() for check in bad(host))
    odd = {name: [hosts[host]["verdict"] for host in some] for name, some in groups.items()}
    some: dict[str, Callable[[dict[str, int]], bool]] = {
        "groups.all": lambda said: said["n"] in {len(one) for one in odd.values() if {*one} != {"ready"}},
        "causes.hosts": lambda said: said["n"] in having.values(),
        "actions.readies": lambda said: 0 < said["n"] <= size - verdicts["ready"],
        "went.since": lambda said: 1 < said["n"] <= 3,
        "went.since_before": lambda said: 1 < said["n"] <= 3,
        "host.all": lambda said: said["n"] in {len(host["checks"]) for host in hosts.values()},
    }
    return {**{key: lambda said, values=values: said == values for key, values in told.items()}, **some}


def bad(host: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [check for check in host["checks"] if check["result"] in (FAIL, UNKNOWN)]


def number(said: str) -> int | None:
    plain = said.replace(",", "")
    return int(plain) if plain.isdecimal() else None


# Numbers of lists that are cut, and of what is no host.
OTHERS = ("more", "more_in_json", "causes.more", "causes.behind", "causes.checks", "stack.says", "stack.alike")
OTHERS += ("rails.well", "rails.hosts", "nvlink.some", "counters.to", "counters.beyond", "counters.usual")
OTHERS += ("strips.count", "strips.rest", "strips.says", "strips.alike", "strips.lacking")
SIZES = [16, 500, pytest.param(2000, marks=pytest.mark.thorough)]


@pytest.mark.parametrize("size", SIZES)
def test_every_number_on_the_page_fits_the_verdicts(size: int) -> None:
    run = fleet(size)
    seen, fits = pages.parse(page.render(run)), expected(run)
    told: dict[str, list[dict[str, int]]] = {}
    for one in seen.elements:
        key = one.attributes.get("data-t", "")
        values = {name[5:]: number(said) for name, said in one.attributes.items() if name.startswith("data-")}
        numbers = {name: said for name, said in values.items() if said is not None and name != "t"}
        if numbers and key not in OTHERS:
            assert key in fits, f"{words()[key][0]} has numbers that nothing here holds against the verdicts"
            told.setdefault(key, []).append(numbers)
    assert [(key, one) for key, some in told.items() for one in some if not fits[key](one)] == []
    # What is gained by all causes together is all that is not ready, but for nobody twice.
    assert sum(one["n"] for one in told["actions.readies"]) == size - expected_ready(run)
    assert {"summary.ready", "went.says", "since.counts", "rails.says", "counters.unread", "groups.all"} <= told.keys()


def expected_ready(run: Mapping[str, Any]) -> int:
    return sum(host["verdict"] == "ready" for host in run["hosts"].values())


@pytest.mark.parametrize("size", SIZES)
def test_chips_groups_and_the_grid_count_the_same_hosts(size: int) -> None:
    run = fleet(size)
    seen = pages.parse(page.render(run))
    verdicts = Counter(host["verdict"] for host in run["hosts"].values())
    first = seen.words.partition("Judged ")[2].partition("What is wrong")[0]
    names = {verdict: words()[f"verdict.{verdict}"][0] for verdict in VERDICTS}
    for verdict, count in verdicts.items():
        assert f" {count:,} {names[verdict]} " in first
    for name, some in run["run"]["groups"].items():
        mine = Counter(run["hosts"][host]["verdict"] for host in some)
        parts = [f"{mine[verdict]} {names[verdict]}" for verdict in reversed(VERDICTS[1:]) if mine[verdict]]
        if name in first:
            assert f"{name} {', '.join(parts)} of {len(some)}" in first
    grid = seen.data
    assert Counter(VERDICTS[host[1]] for host in grid["hosts"]) == verdicts
    results = (PASS, FAIL, UNKNOWN)
    for packed, host in zip(grid["hosts"], run["hosts"].values(), strict=True):
        codes = Counter(grid["checks"][number][2] % 4 for number in packed[-1])
        assert [codes[at] for at in range(3)] == [sum(one["result"] == it for one in host["checks"]) for it in results]
