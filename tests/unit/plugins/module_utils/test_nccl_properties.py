# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every host and every policy, whatever they are."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl import check_derived
from ansible_collections.ibready.cluster.plugins.module_utils._areas.nccl.observe_host import look
from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl import Desired
from ansible_collections.ibready.cluster.plugins.module_utils._expect.nccl_policy import (
    NcclPolicy,
    PolicyError,
    from_variables,
)
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS
from ansible_collections.ibready.cluster.plugins.module_utils._ground.reading import Reading
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import conf
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.derive import derive
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.fleet import FleetView
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.host import (
    CONFIRMED,
    LOW,
    MEDIUM,
    SAID,
    NcclHost,
    from_dict,
)
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.manage import Wanted, manage
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.release import NEWEST
from ansible_collections.ibready.cluster.plugins.module_utils._parse import strtoll
from ansible_collections.ibready.cluster.plugins.module_utils._rails import nccl_number
from tests.gauntlet.render import boards, node, render
from tests.gauntlet.tree import Tree
from tests.unit.nccl_strategies import DERIVED, fleets, hosts, policies

pytestmark = pytest.mark.thorough

many = settings(max_examples=200, deadline=None, database=None)


@many
@given(host=hosts, policy=policies, fleet=fleets)
def test_only_what_exists_is_named_and_every_line_is_read_as_it_is_meant(
    host: NcclHost, policy: NcclPolicy, fleet: FleetView | None
) -> None:
    found = derive(host, policy, fleet)
    names = [one.name for one in found.settings]
    assert len(set(names)) == len(names)
    assert set(names) <= {*DERIVED, *policy.variables}
    assert not set(names) & set(policy.forbid)
    assert not {one.name for one in found.untold} & {*policy.forbid, *policy.variables}
    for one in found.settings:
        assert one.reason
        assert one.reason.isprintable()
        assert len(one.reason.encode()) < 1000
        assert re.fullmatch(r"=?[^\s=\"'`]{1,900}", one.value)
    reported = {one.name: one.value for one in found.settings if one.name not in policy.variables}
    known = host.ports.value or ()
    if "NCCL_IB_HCA" in reported:
        listed = reported["NCCL_IB_HCA"].removeprefix("=").split(",")
        real = {one.device for one in known} | {f"{one.device}:{one.num}" for one in known}
        assert listed
        assert set(listed) <= real
        assert len(listed) <= 32
        left = {one.port for one in found.left_out}
        for port in known:
            inside = port.device in listed or f"{port.device}:{port.num}" in listed
            assert inside != (port.name in left), "every port is a rail or left out with a reason"
    if "NCCL_SOCKET_IFNAME" in reported and host.interfaces.value is not None:
        name = reported["NCCL_SOCKET_IFNAME"].removeprefix("=")
        assert name in {one.name for one in host.interfaces.value}
    if "NCCL_IB_DISABLE" in reported:
        assert host.ports.value == ()
    for port in found.left_out:
        assert port.confidence in (SAID, CONFIRMED, MEDIUM, LOW)


@many
@given(host=hosts, policy=policies, fleet=fleets)
def test_the_same_host_gets_the_same_file_also_over_the_wire(
    host: NcclHost, policy: NcclPolicy, fleet: FleetView | None
) -> None:
    reported = from_dict(json.loads(json.dumps(host.to_dict())))
    assert reported == host
    assert derive(reported, policy, fleet) == derive(host, policy, fleet)
    assert json.dumps(derive(host, policy, fleet).to_dict())


@many
@given(host=hosts, policy=policies)
def test_the_order_in_which_ports_were_found_does_not_matter(host: NcclHost, policy: NcclPolicy) -> None:
    some = host.ports.value
    other = replace(host, ports=Reading(some[::-1])) if some is not None else host
    assert derive(host, policy, None).settings == derive(other, policy, None).settings


ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=5,
)
KEYS = [f"nccl_{one}" for one in ("rails", "ib_tc", "ib_sl", "topo_file", "storage_hcas")]
KEYS += ["nccl_conf_variables", "nccl_conf_forbid", "nccl_socket_ifname", "nccl_gdr_level"]


@many
@given(raw=st.dictionaries(st.sampled_from(KEYS), ANY))
def test_any_policy_is_taken_or_refused_by_name(raw: dict[str, object]) -> None:
    try:
        policy = from_variables(raw)
    except PolicyError as exc:
        refused = str(exc)
    else:
        found = derive(NcclHost(), policy, None)
        assert {one.name for one in found.settings} >= set(policy.variables)
        return
    assert any(key in refused for key in raw)


@pytest.mark.parametrize("name", boards())
def test_the_rails_of_every_simulated_board_are_found(name: str) -> None:
    board = node(name)
    host = look(render(board), from_inventory(board.expect))
    found = {one.name: one.value for one in derive(host, NcclPolicy(), None).settings}
    rails = [one.name for one in board.rails]
    if rails:
        # Where the host has a single HCA, NCCL takes it by itself.
        wanted = None if len(board.hcas) == 1 else "=" + ",".join(rails)
        assert found.get("NCCL_IB_HCA") == wanted
    else:
        assert "NCCL_IB_HCA" not in found


@many
@given(host=hosts, policy=policies, fleet=fleets)
def test_what_is_written_is_what_is_judged_right(host: NcclHost, policy: NcclPolicy, fleet: FleetView | None) -> None:
    release = host.release or NEWEST
    found = derive(host, policy, fleet)
    text = manage("", Wanted(found.settings), release).text
    settings = Reading(conf.settings(text, release))
    judged = list(check_derived.judge(host, Desired(policy), settings, fleet))
    assert [one for one in judged if one.result == FAIL] == []
    assert {one.subject for one in judged if one.result == PASS} >= {one.name for one in found.settings}
    # The next converge finds nothing to do.
    again = manage(text, Wanted(found.settings), release)
    assert (again.text, again.lost) == (text, False)


@given(
    st.lists(
        st.sampled_from(["NCCL_IB_TC", "=", " ", "\n", "\r\n", "#", "0x6a", "010", "7", "-", "\0", "x"]), max_size=14
    )
)
def test_a_number_of_the_file_is_read_as_the_whole_file_is(parts: list[str]) -> None:
    text = "".join(parts)
    tree = Tree(files={"/etc/nccl.conf": text.encode()})
    said = conf.settings(text, NEWEST).get("NCCL_IB_TC")
    wanted = -5 if said is None else strtoll.number(said).value
    assert nccl_number.read(tree, "NCCL_IB_TC", -5).value == wanted
