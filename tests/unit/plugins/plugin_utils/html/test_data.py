# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page's script reads is all of the hosts' checks, and comes back as it was shown."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from markupsafe import Markup

from ansible_collections.ibready.cluster.plugins.plugin_utils._run.shape import VERDICTS
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html import data, model
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.environment import Section
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import text
from tests.unit import pages, runs


def unpacked(packed: dict[str, Any], number: int) -> dict[str, Any]:
    """One check, by the words of data.py."""
    raw = packed["checks"][number]
    # Of strings are all but the numbers of id and code.
    said = ["" if at in (0, 2) else packed["strings"][one] for at, one in enumerate(raw)]
    said += [""] * (9 - len(said))
    pairs = said[9:]
    return {
        "id": packed["ids"][raw[0]][0],
        "subject": said[1],
        "result": data.CODES[raw[2] % 4],
        "severity": "warning" if raw[2] >= 4 else "error",
        **dict(zip(("observed", "expected", "expected_from"), said[3:6], strict=True)),
        **dict(zip(("cause", "remedy", "waived"), said[6:9], strict=True)),
        "evidence": dict(zip(pairs[::2], pairs[1::2], strict=True)),
    }


def shown(check: dict[str, Any]) -> dict[str, Any]:
    """A check of a run object as a page shows it."""
    evidence = {text(name): text(said) for name, said in check["evidence"].items()}
    return {**{name: text(said) for name, said in check.items()}, "evidence": evidence}


@settings(deadline=None)
@given(runs.hostile())
def test_every_check_of_every_host_comes_back(run: dict[str, Any]) -> None:
    packed = pages.unpacked(data.script(model.read(run), []))
    assert len(packed["hosts"]) == len(run["hosts"])
    for one, (name, host) in zip(packed["hosts"], run["hosts"].items(), strict=True):
        assert packed["strings"][one[0]] == text(name)
        assert VERDICTS[one[1]] == host["verdict"]
        mine = [unpacked(packed, number) for number in one[-1]]
        assert mine == [shown(check) for check in host["checks"]]


@settings(deadline=None)
@given(runs.hostile())
def test_nothing_in_it_ends_the_element_that_holds_it(run: dict[str, Any]) -> None:
    packed = data.script(model.read(run), [])
    assert re.fullmatch("[A-Za-z0-9+/=]+", packed)
    pages.unpacked(packed)


def test_what_is_the_same_is_there_once() -> None:
    many = {f"n{number}": runs.MIXED["n2"] for number in range(500)}
    packed = data.collected(model.read(runs.run(many)))
    assert len(packed["checks"]) == 2
    assert len(packed["strings"]) == len(set(packed["strings"]))
    assert all(one[-1] == [0, 1] for one in packed["hosts"])


def test_ids_are_in_the_order_of_the_catalog_and_those_of_other_releases_last() -> None:
    host = runs.judged(*(runs.check(check_id=one) for one in ("ib.port.rate", "host.iommu.mode")))
    for check, name in zip(host["checks"], ("a.newer.one", "ib.port.rate"), strict=True):
        check["id"] = name
    packed = data.collected(model.read(runs.run({"n1": host, "n2": runs.MIXED["n2"]})))
    assert [one for one, *_ in packed["ids"]] == [
        *("ib.port.state", "ib.port.rate", "fabric.sm.answers", "a.newer.one")
    ]
    assert packed["ids"][-1] == ["a.newer.one", "", []]
    assert packed["ids"][0][1]


def test_a_source_is_told_as_an_operator_would_ask_for_it() -> None:
    host = runs.judged(*(runs.check(check_id=one) for one in ("ib.port.state", "gpu.device.count")))
    packed = data.collected(model.read(runs.run({"n1": host})))
    reported = {one: looks for one, _, looks in packed["ids"]}
    assert reported["ib.port.state"][0].startswith("/sys/class/infiniband/*/ports/*/state | ibstat |")
    assert reported["gpu.device.count"] == ["nvidia-smi -q -x | nvidia-smi -q"]


def test_data_of_a_section_is_there_and_visible() -> None:
    one = Section("x", Markup("X"), Markup(""), data={"a\u202e": ["</script>\x00", 1, None, 0.5]})
    packed = data.script(model.read(runs.run(runs.MIXED)), [one])
    assert "</script" not in packed
    assert pages.unpacked(packed)["sections"] == {
        "x": {"a\\u202e": ["</script>\\x00", 1, None, 0.5]},
    }


@pytest.mark.thorough
def test_the_size_of_2000_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    """Printed; asserted is only that it is not the run object over again."""
    checks = 100
    hosts = {
        f"node{number}": runs.judged(
            *(runs.check(subject=f"mlx5_{one}/1") for one in range(checks - 5)),
            *(runs.check("fail", observed=f"{number} errors", subject=f"p{one}") for one in range(5)),
        )
        for number in range(2000)
    }
    run = runs.run(hosts)
    html = pages.page.render(run)
    whole = len(json.dumps(run))
    with capsys.disabled():
        print(f" 2,000 x {checks}: {len(html) / 1e6:.1f} MB of page for {whole / 1e6:.0f} MB")
    assert len(html) < whole / 8
