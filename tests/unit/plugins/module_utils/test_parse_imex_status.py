# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-imex-ctl, as people posted it."""

from __future__ import annotations

import json

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import imex_status
from ansible_collections.ibready.cluster.plugins.module_utils._parse.imex_status import Connection, Node
from tests.unit.parsers import SAMPLES

SAMPLE = (SAMPLES / "imex_status.txt").read_text()
LEGEND = SAMPLE[: SAMPLE.index("9/23/2026")]

# From a published log of a Kubernetes compute domain of one node (release 570).
ONE = (
    LEGEND
    + """3/25/2025 10:39:43.659
Nodes:
Node #0   - 10.136.206.48   - READY

 Nodes From\\To  0
       0        C
Domain State: UP
"""
)
# Two lines of `-N -H` that somebody picked (release 580.173.02).
HOSTNAMES = """Node #0   - 10.66.6.8          - READY                - Version: 580.173.02      - Hostname: theia0271
Node #1   * 10.66.6.9 *        - READY                - Version: 580.173.02      - Hostname: theia0272
"""
# The shape of NVIDIA/ai-cloud-validation's tests, whose schema was confirmed with a live `-N -j -H`.
DOWN = {
    "nodes": {
        "1": {
            "status": "UNAVAILABLE",
            "host": "10.0.0.2",
            "connections": {
                "0": {"host": "10.0.0.1", "status": "INVALID", "changed": False},
                "1": {"host": "10.0.0.2", "status": "INVALID", "changed": False},
            },
            "hostName": "N/A",
        },
        "0": {
            "status": "READY",
            "host": "10.0.0.1",
            "version": "570.172",
            "connections": {
                "0": {"host": "10.0.0.1", "status": "CONNECTED", "changed": False},
                "1": {"host": "10.0.0.2", "status": "NEVER_CONNECTED", "changed": False},
            },
            "hostName": "gpu-node-a",
        },
    },
    "timestamp": "9/4/2026 00:00:00.000",
    "status": "DOWN",
}


def test_a_domain_that_is_up() -> None:
    told = imex_status.parse(ONE)
    assert (told.domain, told.nodes, told.cut, told.unread) == ("UP", (Node(0, "10.136.206.48", "READY"),), False, 0)
    assert told.connections == (Connection(0, 0, "connected"),)
    assert imex_status.wrong(told) == ()


def test_a_domain_that_lacks_a_node() -> None:
    told = imex_status.parse(SAMPLE)
    assert told.nodes[1] == Node(1, "198.18.48.98", "READY", "570.172", asked=True)
    assert told.nodes[2] == Node(2, "198.18.48.221", "UNAVAILABLE")
    facts = imex_status.facts(told)
    assert (facts["connected"], len(facts["not_connected"])) == (4, 5)
    assert facts["not_connected"][0] == {"from": 0, "to": 2, "state": "never connected"}
    assert imex_status.wrong(told) == (
        "the IMEX domain is DEGRADED",
        "1 of 3 IMEX nodes is UNAVAILABLE: 2 (198.18.48.221)",
    )


def test_ready_nodes_of_two_releases() -> None:
    text = SAMPLE.replace("UNAVAILABLE ", "READY ").replace("C   N", "C   !V!").replace("I   I   I", "!V! !V! C")
    told = imex_status.parse(text)
    assert {way.state for way in told.apart} == {"version mismatch"}
    assert imex_status.wrong(told)[1] == (
        "IMEX nodes have no connection (version mismatch): 0 to 2, 1 to 2, 2 to 0, 2 to 1"
    )


def test_nodes_alone() -> None:
    told = imex_status.parse(HOSTNAMES)
    assert [(node.hostname, node.asked, node.version) for node in told.nodes] == [
        ("theia0271", False, "580.173.02"),
        ("theia0272", True, "580.173.02"),
    ]
    assert told.cut
    assert imex_status.facts(told)["cut"] is True


def test_json() -> None:
    told = imex_status.parse(json.dumps(DOWN))
    assert [(node.index, node.host, node.state, node.hostname) for node in told.nodes] == [
        (0, "10.0.0.1", "READY", "gpu-node-a"),
        (1, "10.0.0.2", "UNAVAILABLE", ""),
    ]
    assert [way.state for way in told.connections] == ["connected", "never connected", "invalid", "invalid"]
    assert imex_status.wrong(told) == ("the IMEX domain is DOWN", "1 of 2 IMEX nodes is UNAVAILABLE: 1 (10.0.0.2)")


def test_one_daemon() -> None:
    assert imex_status.wrong(imex_status.parse("READY\n")) == ()
    told = imex_status.parse("WAITING_FOR_RECOVERY\n")
    assert imex_status.facts(told)["daemon"] == "WAITING_FOR_RECOVERY"
    assert imex_status.wrong(told) == ("the IMEX daemon is WAITING_FOR_RECOVERY",)


def test_a_text_that_is_cut() -> None:
    told = imex_status.parse("$ nvidia-imex-ctl -N\n" + SAMPLE[: SAMPLE.index("       2        I")])
    assert (told.domain, len(told.nodes), len(told.connections), told.unread, told.cut) == ("", 3, 6, 1, True)
    told = imex_status.parse(SAMPLE[: SAMPLE.index("ABLE          - Version: \n")])
    assert (len(told.nodes), told.unread, imex_status.wrong(told)) == (2, 1, ())
    shortened = SAMPLE.replace("       1        C   C   N\n", "       ...\n")
    assert (imex_status.parse(shortened).cut, imex_status.parse(shortened).unread) == (True, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ACTIVE\n",
        "READY, set, go\n",
        "the node is\nREADY\n",
        "[]",
        "{",
        '{"nodes": [], "status": "UP"}',
        '{"nodes": {}, "status": "fine"}',
        "Node 0: Connection to 1 (MGM) is connected\n",
    ],
)
def test_another_tools_text(text: str) -> None:
    with pytest.raises(ParseError):
        imex_status.parse(text)


def test_two_domains_are_never_one() -> None:
    with pytest.raises(ParseError, match="another domain"):
        imex_status.parse(SAMPLE + ONE)
