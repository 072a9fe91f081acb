# SPDX-License-Identifier: GPL-3.0-or-later
"""What of an nccl.conf only all nodes together can tell."""

from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, UNKNOWN, Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import nccl_plan
from tests.gauntlet import render
from tests.gauntlet.node import Node

INDEX = "NCCL_IB_GID_INDEX"


def told(node: Node) -> tuple[dict[str, Any], list[Check]]:
    judged = _verify.verify(render.render(node), from_inventory(node.expect), ["nccl"])
    return judged.facts["nccl"], judged.checks


def old_roce(index: str | None = "3") -> Node:
    """A RoCE node whose NCCL does not look for the address by itself."""
    node = render.node("hgx-h200-8-roce")
    node.cuda = "12.2"
    node.expect = {key: one for key, one in node.expect.items() if key != "roce_gid_index"}
    node.more = {"nccl_conf": {INDEX: index}}
    return node


def results(checks: list[Check]) -> set[str]:
    return {one.result for one in checks if one.id == "nccl.conf.derived" and one.subject == INDEX}


def test_a_node_alone_cannot_tell_the_index_and_all_together_can() -> None:
    facts, checks = told(old_roce())
    assert results(checks) == {UNKNOWN}
    found = nccl_plan.judged({"a": facts, "b": facts}, {"a": checks, "b": checks})
    assert results(found["a"]) == results(found["b"]) == {PASS}
    assert len(found["a"]) == len(checks)


def test_the_node_whose_file_differs_is_named() -> None:
    facts, checks = told(old_roce())
    other, wrong = told(old_roce(None))
    found = nccl_plan.judged({"a": facts, "b": other}, {"a": checks, "b": wrong})
    assert (results(found["a"]), results(found["b"])) == ({PASS}, {FAIL})


def test_hosts_that_told_nothing_and_infiniband_keep_what_they_have() -> None:
    facts, checks = told(render.node("hgx-h100-8"))
    given = {"a": checks, "b": [], "c": checks}
    found = nccl_plan.judged({"a": facts, "b": {}, "c": {"host": 1}}, given)
    assert found == given
