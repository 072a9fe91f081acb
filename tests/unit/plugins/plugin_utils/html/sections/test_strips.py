# SPDX-License-Identifier: GPL-3.0-or-later
"""Distributions of what is measured, and who stands apart."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import strips
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections.strips import section
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import runs
from tests.unit.markup import Piece


def pinged(**means: Any) -> dict[str, Any]:
    """A run in which these hosts asked once each."""
    return {"hosts": {}, "pings": [{"client": name, "rtt_avg_ms": mean} for name, mean in means.items()]}


def test_a_straggler_stands_apart_before_a_check_judges_it() -> None:
    run = pinged(n1=0.012, n2=0.013, n3=0.011, n4=0.012, n5="0.012", n6=0.031)
    (strip,) = strips.read(run)
    assert (strip.apart, len(strip.values)) == (["n6"], 5)
    found = section(run, Speech())
    assert found is not None
    assert found.odd
    text = Piece(found.html).text
    assert "Outliers: n6" in " ".join(text.split())
    assert found.html.count("class='apart'") == 1


def test_noise_is_no_signal() -> None:
    run = pinged(n1=0.012, n2=0.0125, n3=0.012, n4=0.012, n5=0.0119)
    (strip,) = strips.read(run)
    assert strip.apart == []
    found = section(run, Speech())
    assert found is not None
    assert not found.odd


def test_few_values_and_none_are_no_distribution() -> None:
    assert strips.read(pinged(n1=0.012, n2=0.5, n3=None, n4=-1)) == []
    assert section(pinged(), Speech()) is None


def test_benchmarks_and_modules_are_told_by_check_subject_and_unit() -> None:
    def bench(said: str) -> dict[str, Any]:
        return {"checks": [runs.check("pass", "fabric.bench.bandwidth", "rail 1", observed=said).to_dict()]}

    def warm(said: str) -> dict[str, Any]:
        return runs.judged(runs.check("pass", "ib.port.optics", "host", observed=said))

    rates = {"n1": "390 Gb/s", "n2": "391.5 Gb/s", "n3": "389 Gb/s", "n4": "201 Gb/s, one way", "n5": "nothing"}
    run = {
        "hosts": {f"n{at}": warm(f"8 ports: temperature {50 + at}, voltage 3261.2") for at in range(5)},
        "benchmarks": {"hosts": {name: bench(said) for name, said in rates.items()}},
    }
    module, rate = strips.read(run)
    assert (module.name, module.middle, module.apart) == ("module", 52.0, [])
    assert (rate.of, rate.unit, rate.apart) == ("fabric.bench.bandwidth rail 1", "Gb/s", ["n4"])


@pytest.mark.parametrize("said", runs.NASTY)
def test_names_stay_text(said: str) -> None:
    run = {"pings": [{"client": f"{said}{at}", "rtt_avg_ms": 0.1 + at * (at == 5)} for at in range(6)], "hosts": {}}
    found = section(run, Speech())
    assert found is not None
    assert "<script>" not in found.html
