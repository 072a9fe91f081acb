# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._act.firewall import nft_text
from ansible_collections.ibready.cluster.plugins.module_utils._act.firewall.desired import Wanted
from ansible_collections.ibready.cluster.plugins.module_utils._act.firewall.tool import FirewallError

HERE = Path(__file__).with_name("firewall")
INPUT = nft_text.Table("inet", "filter")
# What opened.json was made from.
WANTED = Wanted(
    ("10.0.0.0/24", "198.18.96.11", "198.18.96.12/31"),
    ((22, 22), (29500, 29500), (32768, 60999)),
    ((4791, 4791),),
)


NOT_EQUAL = '"op": "!=", "left": {"payload": {"protocol": "ip", "field"'


def recorded(name: str) -> nft_text.Ruleset:
    return nft_text.parse((HERE / f"{name}.json").read_text())


def bent(name: str, old: str, new: str) -> nft_text.Ruleset:
    text = json.dumps(json.loads((HERE / f"{name}.json").read_text()))
    assert old in text
    return nft_text.parse(text.replace(old, new))


def test_the_way_is_opened_where_the_site_closes_it() -> None:
    (base,) = recorded("closed").targets
    assert (str(base), base.policy, base.others, base.jumps) == ("inet filter input", "drop", 4, ())
    script = nft_text.opened(base, WANTED)
    assert script[2] == ("add element inet filter ibready_nodes4 { 10.0.0.0/24, 198.18.96.11, 198.18.96.12/31 }")
    assert script[-1] == 'insert rule inet filter input jump ibready_input comment "ibready"'
    rules = [line for line in script if line.startswith("add rule")]
    assert len(rules) == 4
    assert all("saddr @ibready_nodes" in line and " accept " in line for line in rules)
    assert not any("drop" in line or "delete" in line for line in script)


def test_what_is_there_is_read_back() -> None:
    ruleset = recorded("opened")
    (base,) = ruleset.targets
    assert nft_text.state(base, ruleset.ours[INPUT]) == [
        "inet filter input",
        "IPv4 tcp 22, 29500, 32768-60999",
        "IPv6 tcp 22, 29500, 32768-60999",
        "IPv4 udp 4791",
        "IPv6 udp 4791",
        "from 10.0.0.0/24",
        "from 198.18.96.11",
        "from 198.18.96.12/31",
        "reached",
    ]
    assert nft_text.expected(base, WANTED) == nft_text.state(base, ruleset.ours[INPUT])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"198.18.96.11"', '"198.18.96.19"'),
        ('"right": 4791', '"right": 4792'),
        ('"@ibready_nodes4"', '"10.0.0.1"'),
        ('"op": "==", "left": {"payload": {"protocol": "ip", "field"', NOT_EQUAL),
        ('"target": "ibready_input"', '"target": "elsewhere"'),
        ('[{"jump"', '[{"match": {}}, {"jump"'),
        ('[{"jump"', '[{"counter": null}, {"jump"'),
    ],
    ids=[
        "another node",
        "another port",
        "a rule of others in our chain",
        "all but the nodes",
        "not reached",
        "reached by some packets",
        "counted",
    ],
)
def test_what_differs_shows(old: str, new: str) -> None:
    ruleset = recorded("opened")
    other = bent("opened", old, new)
    seen = nft_text.state(ruleset.targets[0], ruleset.ours[INPUT])
    changed = nft_text.state(other.targets[0], other.ours[INPUT])
    # A counter in the jump does not change where it leads.
    assert (changed == seen) is ("counter" in new)


def test_all_of_ours_goes_and_nothing_else() -> None:
    script = nft_text.closed(recorded("opened"))
    assert script == [
        "delete rule inet filter input handle 26",
        "flush chain inet filter ibready_input",
        "delete chain inet filter ibready_input",
        "delete set inet filter ibready_nodes4",
        "delete set inet filter ibready_nodes6",
    ]
    assert nft_text.closed(recorded("closed")) == []


def test_a_doubled_jump_is_made_one() -> None:
    base = recorded("opened").targets[0]
    twice = nft_text.Base(base.table, base.name, base.policy, base.others, (22, 23))
    script = nft_text.opened(twice, WANTED)
    assert [line for line in script if "input handle" in line] == [
        "delete rule inet filter input handle 22",
        "delete rule inet filter input handle 23",
    ]
    assert sum(line.startswith("insert rule") for line in script) == 1


def test_a_rule_that_somebody_put_before_ours_is_passed_again() -> None:
    items = json.loads((HERE / "opened.json").read_text())["nftables"]
    at = next(n for n, one in enumerate(items) if one.get("rule", {}).get("chain") == "input")
    rule = {"family": "inet", "table": "filter", "chain": "input", "handle": 99}
    items.insert(at, {"rule": {**rule, "expr": [{"drop": None}]}})
    ruleset = nft_text.parse(json.dumps({"nftables": items}))
    (base,) = ruleset.targets
    assert "reached" not in nft_text.state(base, ruleset.ours[INPUT])
    script = nft_text.opened(base, WANTED)
    assert script[-2:] == [
        "delete rule inet filter input handle 26",
        'insert rule inet filter input jump ibready_input comment "ibready"',
    ]


@pytest.mark.parametrize(
    ("expr", "stops"),
    [
        # As nft 1.0.6 shows `iptables -A INPUT -j REJECT`, and newer ones that translate it.
        ([{"counter": {}}, {"xt": {"type": "target", "name": "REJECT"}}], True),
        ([{"counter": {}}, {"reject": {"type": "icmp", "expr": "host-prohibited"}}], True),
        ([{"counter": {}}, {"drop": None}], True),
        ([{"xt": {"type": "match", "name": "conntrack"}}, {"counter": {}}, {"drop": None}], False),
        ([{"counter": {}}, {"jump": {"target": "KUBE-FIREWALL"}}], False),
        ([{"xt": None}], False),
    ],
)
def test_what_stops_all_that_reaches_it(expr: list[Any], stops: bool) -> None:
    where = {"family": "ip", "table": "filter"}
    hook = {"type": "filter", "hook": "input", "prio": 0, "policy": "accept"}
    items = [
        {"chain": {**where, "name": "INPUT", **hook}},
        {"rule": {**where, "chain": "INPUT", "handle": 2, "expr": expr}},
    ]
    (base,) = nft_text.parse(json.dumps({"nftables": items})).bases
    assert base.stops is stops


def test_tables_of_other_programs_are_left_alone() -> None:
    found = {str(one): one.owner for one in recorded("iptables").bases}
    assert found == {"inet filter input": "", "ip filter INPUT": "iptables"}
    (target,) = recorded("iptables").targets
    assert target.table == INPUT
    owned = bent("closed", '"name": "filter", "handle"', '"name": "filter", "flags": "owner", "handle"')
    assert (owned.targets, [one.owner for one in owned.bases]) == ((), ["another program"])


def test_a_chain_that_stops_nothing_needs_no_way() -> None:
    only = {"family": "inet", "table": "t", "name": "in", "handle": 1}
    hook = {"type": "filter", "hook": "input", "prio": 0, "policy": "accept"}
    ruleset = nft_text.parse(json.dumps({"nftables": [{"chain": {**only, **hook}}]}))
    assert (len(ruleset.bases), ruleset.targets) == (1, ())


@pytest.mark.parametrize("text", ["", "[]", '{"nftables": [{"chain": {}}]}', '{"nftables": [3]}'])
def test_what_is_no_ruleset_is_said(text: str) -> None:
    with pytest.raises(FirewallError, match="cannot be read"):
        nft_text.parse(text)


@pytest.mark.parametrize(
    ("elem", "expected"),
    [
        ("10.0.0.1", ["10.0.0.1/32"]),
        ({"range": ["10.0.0.1", "10.0.0.3"]}, ["10.0.0.1/32", "10.0.0.2/31"]),
        ({"elem": {"val": "10.0.0.1", "comment": "x"}}, ["10.0.0.1/32"]),
    ],
)
def test_elements_of_a_set(elem: Any, expected: list[str]) -> None:
    assert [str(one) for one in nft_text._networks(elem)] == expected
