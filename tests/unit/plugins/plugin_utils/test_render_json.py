# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_json

HOST = {"verdict": "ready", "checks": [{"observed": 'a "b"\n\\ é'}], "facts": {}}


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"schema": "x", "hosts": {}, "pings": []},
        {"schema": "x", "hosts": {"node1": HOST, 'no"de2': HOST}, "pings": [{"sent": 3}]},
    ],
    ids=["empty", "no host", "hosts"],
)
def test_what_is_written_is_read_back_in_the_same_order(report: dict[str, Any]) -> None:
    text = render_json.render(report)

    assert json.loads(text) == report
    assert list(json.loads(text)) == list(report)


def test_every_host_has_a_line_of_its_own() -> None:
    text = render_json.render({"hosts": {"node1": HOST, "node2": HOST}})

    assert sum('"verdict": "ready"' in line for line in text.splitlines()) == 2
