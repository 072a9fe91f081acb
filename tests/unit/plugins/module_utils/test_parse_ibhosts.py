# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibhosts
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibhosts import Adapter

# The layout that infiniband-diags 56.1 prints; the values are made up.
TWO = """\
Ca\t: 0x0200000000010000 ports 1 "gpu-a1 mlx5_3"
Ca\t: 0x0200000000020000 ports 2 "gpu [b2] HCA-1"
"""
HOSTS = (Adapter("0x0200000000010000", 1, "gpu-a1 mlx5_3"), Adapter("0x0200000000020000", 2, "gpu [b2] HCA-1"))
NO_PORT = "/usr/sbin/ibnetdiscover: iberror: failed: discover failed\n"
WARNING = "ibwarn: [7] mad_rpc_open_port2: can't open UMAD port ((null):0)\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TWO, id="as printed"),
        pytest.param(TWO.replace("\t", " "), id="blanks"),
        pytest.param(TWO.replace(" ports 2", "\n ports 2"), id="wrapped"),
        pytest.param(WARNING + TWO, id="warning before it"),
        pytest.param(TWO + TWO.splitlines()[1] + "\n", id="a line twice"),
        pytest.param(TWO.replace(" ports 1", " ports 1 devid 0x1021 vendid 0x2c9"), id="-H"),
    ],
)
def test_every_layout_gives_the_same_hosts(text: str) -> None:
    assert ibhosts.parse(text).hosts == HOSTS


def test_an_empty_name_is_a_name() -> None:
    assert ibhosts.parse(TWO.replace("gpu-a1 mlx5_3", "")).hosts[0].name == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("", "ibhosts: empty output", id="empty"),
        pytest.param("no such thing", "line 1 'no such thing': no 'Ca", id="foreign text"),
        pytest.param(TWO[:20], "line 1 .*: not 'Ca : 0xGUID", id="cut"),
        pytest.param(TWO + TWO.replace("a1", "a7"), "line 3 .*already listed otherwise", id="two fabrics"),
    ],
)
def test_what_cannot_be_told_is_refused(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        ibhosts.parse(text)


def test_a_discovery_that_failed_says_why() -> None:
    parsed = ibhosts.parse(WARNING + NO_PORT)
    assert parsed.hosts == ()
    assert parsed.error_lines == (WARNING.strip(), NO_PORT.strip())
    assert ibhosts.facts(parsed)["error"] is True


def test_the_facts_count_and_name_the_hosts() -> None:
    facts = ibhosts.facts(ibhosts.parse(TWO))
    assert facts["n"] == 2
    assert facts["hosts"][1] == {"guid": "0x0200000000020000", "ports": 2, "name": "gpu [b2] HCA-1"}
    assert "error" not in facts


def test_a_line_that_is_cut_leaves_the_others() -> None:
    found = ibhosts.parse(TWO[:-8])
    assert found.hosts == HOSTS[:1]
    assert found.error_lines[0].startswith("line 2 cannot be read: Ca : 0x")
