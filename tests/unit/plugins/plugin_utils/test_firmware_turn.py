# SPDX-License-Identifier: GPL-3.0-or-later
"""One host first: whose turn it is to be given new firmware."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._site.firmware_turn import turns as told

ALL = ["n1", "n2", "n3"]


def card(flash: str = "1.1.1", running: str = "", psid: str = "A", wanted: str = "2.2.2") -> dict[str, str]:
    return {"device": "d", "psid": psid, "flash": flash, "running": running or flash, "wanted": wanted}


def looked(*cards: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"__rdma_firmware": {"cards": list(cards)}, **more}


OLD, NEW = looked(card()), looked(card("2.2.2"))
WRITTEN = {"__rdma_firmware_written": {"cards": [card("2.2.2", "1.1.1")]}, **OLD}


def turns(hostvars: dict[str, Any], batch: list[str]) -> list[str]:
    return [name for name, waits_for in told(hostvars, ALL, batch).items() if not waits_for]


def test_where_no_host_runs_it_the_first_of_the_batch_goes_alone() -> None:
    hosts = {name: OLD for name in ALL}
    assert turns(hosts, ALL) == ["n1"]
    assert told(hosts, ALL, ALL) == {"n1": "", "n2": "n1", "n3": "n1"}
    assert turns(hosts, ["n2", "n3"]) == ["n2"]


def test_where_a_host_runs_it_all_others_go() -> None:
    assert turns({"n1": NEW, "n2": OLD, "n3": OLD}, ["n2", "n3"]) == ["n2", "n3"]
    seen = {"ibready_firmware": {"cards": [card("2.2.2")]}}
    assert turns({"n1": seen, "n2": OLD, "n3": OLD}, ["n2", "n3"]) == ["n2", "n3"]


@pytest.mark.parametrize(
    ("more", "goes"),
    [
        pytest.param({}, ["n2"], id="not booted"),
        pytest.param({"__reboot_gate_after": {"needed": True}}, ["n2"], id="booted, and does not run it"),
        pytest.param({"__reboot_gate_after": {"needed": False}}, ["n2", "n3"], id="booted into it"),
        pytest.param(
            {"__reboot_gate_after": {"needed": False}, "ibready_converge_error": "x"}, ["n2"], id="stopped afterwards"
        ),
    ],
)
def test_a_host_of_an_earlier_batch_counts_once_it_came_through_its_boot(more: dict[str, Any], goes: list[str]) -> None:
    assert turns({"n1": {**WRITTEN, **more}, "n2": OLD, "n3": OLD}, ["n2", "n3"]) == goes


def test_every_board_is_proved_by_itself() -> None:
    hosts = {"n1": NEW, "n2": looked(card(), card(psid="B")), "n3": looked(card(psid="B"), card())}
    assert turns(hosts, ALL) == ["n1", "n2"]


CARD = st.builds(
    card, flash=st.sampled_from(["1.1.1", "2.2.2"]), psid=st.sampled_from("AB"), wanted=st.sampled_from(["", "2.2.2"])
)


@given(st.fixed_dictionaries({name: st.lists(CARD, max_size=3).map(lambda cards: looked(*cards)) for name in ALL}))
def test_nobody_waits_for_nobody(hosts: dict[str, Any]) -> None:
    """Some host that lacks firmware may go, and whoever waits, waits for a host that lacks it."""
    lacks = [
        name
        for name in ALL
        if any(entry["wanted"] not in ("", entry["flash"]) for entry in hosts[name]["__rdma_firmware"]["cards"])
    ]
    assert not lacks or set(turns(hosts, ALL)) & set(lacks)
    assert set(told(hosts, ALL, ALL).values()) <= {"", *lacks}


@given(
    st.recursive(st.none() | st.text() | st.integers(), lambda some: st.lists(some) | st.dictionaries(st.text(), some))
)
def test_what_a_host_makes_up_stops_nobody(wild: Any) -> None:
    hosts = {"n1": {"__rdma_firmware": wild, "ibready_firmware": {"cards": wild}}, "n2": OLD, "n3": OLD}
    assert turns(hosts, ["n2", "n3"]) == ["n2"]
