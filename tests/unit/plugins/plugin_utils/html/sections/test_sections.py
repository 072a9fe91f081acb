# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every section: foreign text stays text, odd shapes do no harm, it is bounded."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._run.shape import VERDICTS
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.page import SECTIONS
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.environment import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech, words
from tests.unit import drawn_fabrics, mapped, runs
from tests.unit.markup import Piece

T = Speech()
Made = Callable[[Mapping[str, Any], Speech], Section | None]
LIMIT = 300_000
HOSTS = 2000


def name(one: Made) -> str:
    return one.__module__.rpartition(".")[2]


SECTION = pytest.mark.parametrize("made", SECTIONS, ids=name)


def sound(html: str) -> Piece:
    """Balanced, nothing that could run or load, and tables that can be read aloud."""
    piece = Piece(html)
    for tag, attrs in piece.tags:
        assert tag not in {"script", "style", "iframe", "object", "img", "link", "meta", "base"}
        assert not any(one.startswith("on") or one in {"style", "src"} for one in attrs), attrs
        assert attrs.get("href", "#").startswith("#")
        assert tag != "th" or attrs.get("scope") in {"row", "col", "rowgroup"}
    keys = (*piece.attrs("data-t"), *piece.attrs("data-t-aria-label"))
    assert set(keys) <= set(words())
    return piece


def full(said: str) -> dict[str, Any]:
    """A run object that has something of everything, and in which every foreign text is this."""
    ports = {said: {"num": said, "state": said, "rate": 1.0, "port_guid": said}}
    check = runs.check("fail", "ib.port.errors", f"{said}/{said}", observed=said, cause=said)
    host = mapped.host(
        *(check, mapped.same("fleet.driver.version", said, "fail", expected=said)),
        ports=ports,
        driver=said,
        product=said,
        counters={f"{said}/1": mapped.told(None, said)},
    )
    host["facts"]["ib"]["details"][f"{said}/2"] = {"counters": mapped.told({"symbol_error": 4})}
    host["facts"]["nvlink"] |= {
        "pairs": {said: said},
        "errors": [{"gpu": said, "link": said, "counter": said, "value": said}],
        "sxids": [{"switch": said, "sxid": said, "text": said}],
        "fabric_manager": {"state": said},
    }
    gone = runs.judged(runs.check("unknown", "nvlink.link.state", cause=said))
    run = runs.run({said: host, f"{said}2": gone, f"{said}3": mapped.host()})
    reached = {"client": said, "server": said, "rail": said, "port": said, "untested": ""}
    reached |= {"outcome": said, "state": said, "said": said, "kind": said, "culprit": said}
    untested = {**reached, "untested": said, "state": "untested"}
    found = [{"id": said, "subject": said, "before": said, "now": said}]
    differs = {"before": said, "now": said, "better": found, "worse": found, "gone": found}
    waiver = dict.fromkeys(("check", "host", "subject", "until", "reason", "state"), said)
    ping = {**reached, "sent": 1, "received": 1}
    return {
        **run,
        "pings": [{**ping, "client": f"{said}{at}", "rtt_avg_ms": 0.1 + (at == 5)} for at in range(6)],
        "tcp": [reached, untested],
        "rdma": [reached, untested],
        "since": {"created": said, "error": "", "hosts": {said: differs}},
        "history": {
            **{"runs": [said] * 4, "unread": [said]},
            "hosts": {said: ["ready", "not_ready", "ready", "not_ready"], f"{said}2": ["absent", *["unknown"] * 3]},
            "findings": [{"id": said, "subject": said, "results": ["none", "fail", "pass", "fail"], "hosts": [said]}],
        },
        "changes": {said: [{"task": said, "times": 1}]},
        "waivers": [waiver],
        "plan": {
            said: {
                **{"verdict": said, "because": [said], "digest": said, "hosts": [said]},
                "stack": {said: {"version": said}},
            }
        },
        "benchmarks": {
            **{"error": "", "created": said, "simulated": said, "what": [said]},
            "hosts": {said: {"measured": True, "checks": [check.to_dict() | {"id": "a.bench.b"}]}},
        },
    }


@SECTION
@pytest.mark.parametrize("said", [one for one in runs.NASTY if one], ids=repr)
def test_hostile_text_stays_text(made: Made, said: str) -> None:
    found = made(full(said), T)
    assert found is not None
    sound(found.html)
    assert "\x1b" not in found.html
    assert "\u202e" not in found.html


@SECTION
def test_a_run_that_holds_nothing_is_no_section_or_a_sound_one(made: Made) -> None:
    for run in (runs.run({}), {"hosts": {}, "pings": []}):
        found = made(run, T)
        if found is not None:
            sound(found.html)


ANY: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**30) | st.floats() | st.text(max_size=4),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(st.text(max_size=4), some),
    max_leaves=6,
)
KEYS = ("node", "machine", "ib", "roce", "gpu", "nvlink", "stack", "host")
DEEPER = {
    "ib": ("cas", "details", "devices"),
    "roce": ("ports",),
    "gpu": ("driver", "gpus", "module"),
    "nvlink": ("links", "errors", "pairs", "fabric_manager", "sxids"),
    "machine": ("gpus", "product", "bios"),
    "stack": ("packages",),
    "node": ("os", "kernel"),
}


@st.composite
def odd(draw: st.DrawFn) -> dict[str, Any]:
    """A run object in which some facts are null, gone, or of another shape."""
    host = mapped.host()
    facts = dict(host["facts"])
    for key in KEYS:
        way = draw(st.integers(0, 4))
        if way == 0:
            facts.pop(key, None)
        elif way == 1:
            facts[key] = draw(ANY)
        elif way == 2 and key in DEEPER:
            inner = draw(st.sampled_from(DEEPER[key]))
            facts[key] = {**facts.get(key, {}), inner: draw(ANY)}
    keys = ("since", "changes", "plan", "waivers", "benchmarks", "tcp", "rdma")
    more = {key: draw(ANY) for key in keys if draw(st.booleans())}
    return {**runs.run({"a": {**host, "facts": facts}, "b": mapped.host()}), **more}


OWN = [one for one in SECTIONS if name(one) not in ("pings", "fabric")]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(odd())
def test_null_and_absent_keys_do_no_harm(run: dict[str, Any]) -> None:
    for one in OWN:
        found = one(run, T)
        if found is not None:
            sound(found.html)


@cache
def large() -> dict[str, Any]:
    """2,000 hosts of which every fourth has something of its own, on every map."""
    drawn = random.Random(9)

    def host(at: int) -> dict[str, Any]:
        if at % 4:
            return mapped.host()
        ports = {
            f"mlx5_{rail}": mapped.port(drawn.choice(("Active", "Down", "")), drawn.choice((400.0, 200.0, None)))
            for rail in range(8)
        }
        values = {f"mlx5_{rail}/1": mapped.told({"symbol_error": at * at}) for rail in range(8)}
        odd = mapped.same("fleet.driver.version", f"570.{at} open", "fail", expected="580")
        links = {drawn.randrange(8): (16, [3, 4])}
        return mapped.host(odd, ports=ports, counters=values, driver=f"570.{at}", links=links)

    names = [f"node{at:04}" for at in range(HOSTS)]
    finding = {"id": "ib.port.state", "subject": "mlx5_0/1", "before": "pass", "now": "fail"}
    differs = {"before": "ready", "now": "not_ready", "better": [], "worse": [finding] * 9}
    reached = {"rail": "mlx5_0/1", "port": 1, "untested": "", "outcome": "dropped", "culprit": ""}
    pairs = [
        {**reached, "client": one, "server": other, "sent": 50, "received": 3, "state": "failed"}
        for one, other in pairwise(names)
    ]
    squares = []
    for rail in range(8):
        square = {**drawn_fabrics.matrix(64, "leaf", 32), "rail": f"mlx5_{rail}/1"}
        square["rtt_ms"] = [[drawn.random() for _ in range(64)] for _ in range(64)]
        for at in range(64):
            drawn_fabrics.lost(square, at, (at * 7) % 64, 7)
        squares.append(square)
    fabric = drawn_fabrics.bent(drawn_fabrics.fat_tree(HOSTS, 8, 32, 16, 2), *("down",) * 40)
    waiver = {"check": "a.b.c", "host": "n", "subject": "", "until": "2026-12-31", "reason": "r"}
    bench = runs.check("fail", "fabric.bench.bandwidth", "rail1").to_dict()
    run = runs.run({one: host(at) for at, one in enumerate(names)})
    return {
        **run,
        "pings": [{**pair, "rtt_avg_ms": 1} for pair in pairs],
        "ping_matrix": squares,
        "tcp": pairs,
        "rdma": pairs,
        "fabric": {"fabrics": [{**fabric, "name": "fabric", "verdict": "ready", "asked": "n1"}], "error": ""},
        "since": {"created": "x", "error": "", "hosts": {one: {**differs, "gone": []} for one in names}},
        "history": {
            **{"runs": [str(runs.NOW)] * 10, "unread": [], "findings": []},
            "hosts": {one: drawn.choices(VERDICTS, k=10) for one in names},
        },
        "changes": {one: [{"task": f"task {at}", "times": 1}] for at, one in enumerate(names)},
        "waivers": [{**waiver, "state": "unused"}] * HOSTS,
        "plan": {
            f"class {at}": {
                **{"verdict": "known", "because": ["x"] * 20, "digest": "0" * 64},
                **{"stack": {"nccl": {"version": "2.28"}}, "hosts": names},
            }
            for at in range(100)
        },
        "benchmarks": {
            **{"error": "", "created": "x", "simulated": "", "what": []},
            "hosts": {one: {"measured": True, "checks": [bench]} for one in names},
        },
    }


@SECTION
def test_of_2000_hosts_every_section_is_bounded(made: Made) -> None:
    found = made(large(), T)
    assert found is not None
    assert 100 < len(found.html.encode()) < LIMIT
    sound(found.html)
