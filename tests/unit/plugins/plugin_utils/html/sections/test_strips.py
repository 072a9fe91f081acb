# SPDX-License-Identifier: GPL-3.0-or-later
"""Distributions of what is measured, and who stands apart."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.models import strips
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.html.sections.strips import section
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.speech.speech import Speech
from tests.unit import mapped, runs
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


def machine(product: str = "HGX H100 8-GPU", *ports: dict[str, Any], **facts: Any) -> dict[str, Any]:
    """A host of this product with these ports, or with eight of 400 Gb/s."""
    return mapped.host(product=product, ports={f"mlx5_{at}": one for at, one in enumerate(ports)} or None, **facts)


def named(run: dict[str, Any], name: str) -> list[strips.Strip]:
    return [strip for strip in strips.read(run) if strip.name == name]


def test_a_rail_that_trained_slower_stands_apart_and_equal_rates_are_a_line() -> None:
    hosts = {f"n{at}": machine() for at in range(6)}
    (rate,) = named(runs.run(hosts), "rate")
    assert (rate.alike, rate.middle, rate.apart) == (True, 400.0, [])
    found = section(runs.run(hosts), Speech())
    assert found is not None
    assert "6 hosts, all 400 Gb/s." in Piece(found.html).text
    assert "<svg" not in found.html
    assert not found.odd
    hosts["n3"] = machine("HGX H100 8-GPU", mapped.port(), mapped.port(rate=100.0), mapped.port("Down", 10.0))
    (rate,) = named(runs.run(hosts), "rate")
    assert (rate.alike, rate.apart, rate.values["n3"]) == (False, ["n3"], 100.0)


def test_equals_are_held_against_each_other_and_never_against_another_kind() -> None:
    hosts = {f"h{at}": machine() for at in range(6)}
    hosts |= {f"a{at}": machine("DGX A100", mapped.port(rate=200.0)) for at in range(5)}
    hosts["a4"] = machine("DGX A100", mapped.port(rate=50.0))
    big, small = named(runs.run(hosts), "rate")
    assert (set(big.values), big.apart) == ({f"h{at}" for at in range(6)}, [])
    assert (set(small.values), small.apart) == ({f"a{at}" for at in range(5)}, ["a4"])
    assert (big.kind.split(",")[0], small.kind.split(",")[0]) == ("HGX H100 8-GPU x86_64", "DGX A100 x86_64")


def test_hosts_of_which_nothing_was_measured_are_counted_and_named() -> None:
    hosts = {f"n{at}": machine() for at in range(5)} | {"off": runs.judged(runs.check("unknown"))}
    (rate,) = named(runs.run(hosts), "rate")
    assert rate.lacking == ("off",)
    found = section(runs.run(hosts), Speech())
    assert found is not None
    assert "1 host not measured: off." in " ".join(Piece(found.html).text.split())
    assert named(runs.run({"off": hosts["off"], "n1": hosts["n1"]}), "rate") == []


def gpu(*degrees: int | None, gpus: int = 8) -> dict[str, Any]:
    """A host whose GPUs are so warm."""
    node = {"gpus": [{"address": f"0000:{at}3:00.0"} for at in range(gpus)]}
    return mapped.host(node=node, gpu={"gpus": [{"temperature": one} for one in degrees]})


def test_the_hottest_gpu_counts_and_a_host_without_gpus_lacks_none() -> None:
    hosts = {f"n{at}": gpu(30, 31 + at % 2, None) for at in range(5)}
    hosts |= {"hot": gpu(30, 84), "silent": gpu(None), "login": gpu(gpus=0)}
    (heat,) = named(runs.run(hosts), "gpu")
    assert (heat.apart, heat.lacking, heat.values["hot"]) == (["hot"], ("silent",), 84)
    assert "login" not in heat.values


def links(lanes: int, gts: float = 32.0, idle: float = 2.5) -> dict[str, Any]:
    """A GPU with nothing to do, and an HCA."""
    node = {"gpus": [{"address": "0000:13:00.0"}], "hcas": [{"address": "0000:15:00.0"}]}
    pci = {"links": {"0000:13:00.0": {"gts": idle, "lanes": 16}, "0000:15:00.0": {"gts": gts, "lanes": lanes}}}
    return mapped.host(node=node, pci=pci)


def test_a_link_with_fewer_lanes_or_less_speed_stands_apart_but_not_an_idle_gpu() -> None:
    hosts = {f"n{at}": links(16) for at in range(5)} | {"narrow": links(8), "slow": links(16, 16.0)}
    hosts["busy"] = links(16, idle=32.0)
    assert [strip.apart for strip in named(runs.run(hosts), "lanes")] == [["narrow"]]
    assert [strip.apart for strip in named(runs.run(hosts), "speed")] == [["slow"]]


def test_bit_errors_are_held_by_their_power_of_ten() -> None:
    def seen(*errors: float | None) -> dict[str, Any]:
        found = mapped.host()
        for detail, rate in zip(found["facts"]["ib"]["details"].values(), errors, strict=False):
            detail["optics"] = mapped.told(None if rate is None else {"raw_ber": rate})
        return found

    hosts = {f"n{at}": seen(2e-9, 1e-9 * (1 + at / 4), None) for at in range(6)}
    hosts |= {"bad": seen(2e-9, 3e-6), "none": seen(None, 0.0)}
    (bits,) = named(runs.run(hosts), "bits")
    assert (bits.apart, bits.lacking) == (["bad"], ("none",))
    assert bits.says(bits.values["bad"]) == "3.0e-06"


@pytest.mark.parametrize("waived", ["", "until 2026-12-31: ordered"])
def test_a_host_that_stands_apart_and_of_which_a_check_tells_opens_nothing(waived: str) -> None:
    hosts = {f"n{at}": machine() for at in range(6)}
    for more, odd in (([], True), ([runs.check("fail", "ib.port.rate", waived=waived)], False)):
        hosts["n3"] = mapped.host(*more, ports={"mlx5_0": mapped.port(rate=100.0)})
        found = section(runs.run(hosts), Speech())
        assert found is not None
        assert found.odd == odd
        assert "Outliers: n3" in " ".join(Piece(found.html).text.split())


def test_what_nobody_stands_apart_in_is_folded_behind_what_somebody_does() -> None:
    hosts = {f"n{at}": machine() for at in range(6)}
    run = {**runs.run(hosts), **{key: pinged(n1=0.01, n2=0.01, n3=0.01, n4=0.9)[key] for key in ("pings",)}}
    found = section(run, Speech())
    assert found is not None
    assert found.html.index("<svg") < found.html.index("<details>") < found.html.index("400 Gb/s")
    assert "n4" in found.html.split("<details>")[0]
