# SPDX-License-Identifier: GPL-3.0-or-later
"""What bench.yml takes from the hosts' variables: rails, rates and the plan over them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet.bench import reported
from ansible_collections.ibready.cluster.plugins.plugin_utils._playbooks.filters import bench_plan
from tests.unit.samples import node

EXPECT = {"hcas": 2, "link_layer": "InfiniBand", "rate_gbps": 400}
DOWN = {"ibready_node": {"unreachable": True, "msg": "Connection refused"}}


def host(index: int, layer: str = "InfiniBand", **bent: Any) -> dict[str, Any]:
    facts = node(index).to_dict()
    for ca in facts["cas"]:
        for port in ca["ports"]:
            port["link_layer"] = layer
            if layer == "Ethernet":
                port["lid"] = 0
    return {
        "ansible_host": f"10.0.0.{index}",
        "ibready_node": {"node": {"kernel": "6.8.0", "root": True, "simulated": ""}},
        "ibready_ibverify": {"checks": [], "facts": {"ib": facts, "machine": {"gpus": []}}},
        "ibready_expect": {**EXPECT, "link_layer": layer},
        **bent,
    }


@pytest.mark.parametrize("layer", ["InfiniBand", "Ethernet"])
def test_rails_of_either_link_layer_are_measured(layer: str) -> None:
    known = {"n1": host(1, layer), "n2": host(2, layer), "n9": DOWN}
    made = bench_plan(known, list(known), ["write_bw", "send_lat"], 3, 2, 20000)
    assert [set(one["ask"]) for one in made["rounds"]] == [{"n1"}, {"n2"}]
    asked = made["rounds"][0]["ask"]["n1"]
    assert [(one["rail"], one["test"], one["tcp_port"]) for one in asked] == [
        ("mlx5_0/1", "write_bw", 20000),
        ("mlx5_0/1", "send_lat", 20001),
        ("mlx5_1/1", "write_bw", 20002),
        ("mlx5_1/1", "send_lat", 20003),
    ]
    assert {one["address"] for one in asked} == {"10.0.0.2"}


def test_a_test_that_there_is_not_is_refused() -> None:
    with pytest.raises(AnsibleFilterError, match="write_bandwidth"):
        bench_plan({"n1": host(1)}, ["n1"], ["write_bandwidth"])


def test_a_host_says_what_it_is() -> None:
    one, gone = reported.gather({"n1": host(1), "n9": DOWN}, ["n1", "n9"])
    assert one.rates == {"mlx5_0/1": 400, "mlx5_1/1": 400}
    assert one.stack["kernel"] == "6.8.0"
    assert one.stack["hcas"]
    assert "Connection refused" in gone.absent


def test_a_host_that_was_not_looked_at_has_no_rails_and_says_so() -> None:
    (one,) = reported.gather({"n1": host(1, ibready_ibverify={"msg": "it broke"})}, ["n1"])
    assert (one.rates, one.why, one.gpus, one.gpus_why) == ({}, "it broke", None, "it broke")


def test_the_site_may_name_other_devices() -> None:
    named = host(1, bench_devices=["mlx5_1"])
    gone = host(2, bench_devices=["rxe0"])
    one, two = reported.gather({"n1": named, "n2": gone}, ["n1", "n2"])
    assert set(one.rates) == {"mlx5_1/1"}
    assert two.why == "it has no rxe0, which bench_devices names"


def test_the_same_stack_has_the_same_digest() -> None:
    one, two = reported.gather({"n1": host(1), "n2": host(2)}, ["n1", "n2"])
    other = host(2)
    other["ibready_node"] = {"node": {"kernel": "6.8.1"}}
    (three,) = reported.gather({"n2": other}, ["n2"])
    assert one.digest == two.digest != three.digest
