# SPDX-License-Identifier: GPL-3.0-or-later
"""What people really ask for: the verdict, the parts, and no line that contradicts them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import load
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.versions import within
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.make import Group, _resolved
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.plan.table import _class
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.answer import Answer, resolve
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.resolve.policy import PREFIX, from_variables
from tests.unit.plugins.plugin_utils.resolve.hosts import platform

TODAY = "2026-11-29"
REQUESTS = yaml.safe_load((Path(__file__).parent / "requests.yml").read_text())
NOT_YET: tuple[str, ...] = ()


def cases() -> list[Any]:
    late = pytest.mark.xfail(strict=True)
    return [pytest.param(one, id=one["id"], marks=[late] if one["id"] in NOT_YET else []) for one in REQUESTS]


@pytest.mark.parametrize("asked", cases())
def test_a_public_request_is_answered_as_vendors_documents_do(asked: dict[str, Any]) -> None:
    host = platform(**asked["host"])
    policy = from_variables({PREFIX + name: value for name, value in asked["wishes"].items()})
    found = resolve(host, policy, load.own(), TODAY)
    verdict = found.verdict if isinstance(found, Answer) else "refused"
    text = "\n".join(_class(_resolved(Group(host.name, host, policy, ()), load.own(), TODAY)))
    assert verdict == asked["verdict"], text
    if isinstance(found, Answer):
        for part, wanted in asked["parts"].items():
            assert (part in found.stack) == (wanted is not None), text
            for key, value in (wanted or {}).items():
                assert found.stack[part][key].startswith(value), text
        assert all(within(found.stack[key]["version"], wanted) for key, wanted in asked.get("within", {}).items()), text
    else:
        assert found.rule == asked["rule"], text
    assert [said for said in asked.get("says", ()) if said not in text] == [], text
    assert [said for said in asked.get("never", ()) if said in text] == [], text


def test_the_requests_are_all_there() -> None:
    assert len(REQUESTS) == 35
    assert all(one["source"] for one in REQUESTS)
    assert {one["verdict"] for one in REQUESTS} == {"allowed", "refused"}
