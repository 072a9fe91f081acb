# SPDX-License-Identifier: GPL-3.0-or-later
"""partitions.conf, read back by the rules of opensm 3.3.23 (osm_prtn_config.c)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.opensm import partitions
from ansible_collections.ibready.cluster.plugins.module_utils._data import opensm as data

DEFAULT = {"name": "Default", "pkey": 0x7FFF, "full": ["ALL"]}
# What opensm compares a word with is as long as the word: a beginning of one is enough for it.
FLAGS = ("mtu", "rate", "scope", "Q_Key", "TClass", "sl", "FlowLabel", "ipoib", "defmember")
MEMBERS = ("ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF")


def as_opensm(text: str) -> list[dict[str, Any]]:
    """The partitions that opensm makes of a text; a port's last mention counts."""
    for line in text.splitlines():
        assert len(line) < 4094, "fgets into 4096 bytes, less one"
    body = "".join(line.partition("#")[0] + "\n" for line in text.splitlines())
    found = []
    for statement in body.split(";")[:-1]:
        head, colon, listed = statement.partition(":")
        assert colon, "no partition definition found"
        (first, *flags) = [part.strip() for part in head.split(",")]
        name, _equals, pkey = (part.strip() for part in first.partition("="))
        one: dict[str, Any] = {"name": name, "pkey": int(pkey, 0), "flags": {}, "members": {}}
        for flag in flags:
            word, _equals, value = (part.strip() for part in flag.partition("="))
            known = next(full for full in FLAGS if full.startswith(word))
            one["flags"][known] = value
        for member in listed.split(","):
            word, _equals, kind = (part.strip() for part in member.partition("="))
            assert kind in ("full", "limited")
            keyword = next((full for full in MEMBERS if full.startswith(word)), None)
            port = keyword or int(word, 0)
            one["members"].pop(port, None)
            one["members"][port] = kind
        found.append(one)
    assert body.rpartition(";")[2].strip() == ""
    return found


def member(kind: str, port: str) -> tuple[Any, str]:
    return (port if port in MEMBERS else int(port, 16)), kind


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", fullmatch=True)
ports = st.one_of(
    st.sampled_from(MEMBERS),
    st.integers(1, (1 << 64) - 1).map(lambda number: f"{number:#x}"),
    st.integers(1, (1 << 64) - 1),
)


@st.composite
def listings(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Partitions that a site may say, with the default one somewhere among them."""
    pkeys = draw(st.lists(st.integers(1, 0x7FFE), unique=True, max_size=5))
    pkeys.insert(draw(st.integers(0, len(pkeys))), 0x7FFF)
    called = draw(st.lists(names, unique=True, min_size=len(pkeys), max_size=len(pkeys)))
    found = []
    for name, pkey in zip(called, pkeys, strict=True):
        listed = draw(st.lists(ports, min_size=1, max_size=40, unique_by=_same))
        cut = draw(st.integers(0, len(listed)))
        if pkey == 0x7FFF:
            listed = [port for port in listed if port != "SELF"] or ["ALL"]
        one = {"name": name, "pkey": pkey, "full": listed[:cut], "limited": listed[cut:]}
        if draw(st.booleans()):
            one["ipoib"] = True
            one["mtu"] = draw(st.sampled_from([0, *data.MTU_CODES]))
            one["rate"] = draw(st.sampled_from([0, *data.RATE_CODES]))
            one["sl"] = draw(st.integers(0, 15))
        found.append(one)
    return found


def _same(port: Any) -> Any:
    return port if port in MEMBERS else int(str(port), 0)


@given(listings())
def test_opensm_reads_what_was_said(listed: list[dict[str, Any]]) -> None:
    read = partitions.read(listed)
    back = as_opensm(partitions.render(read))
    assert back[0]["pkey"] == 0x7FFF
    assert [one["name"] for one in back] == [one.name for one in read]
    for one, made in zip(read, back, strict=True):
        wished = dict(member("full", port) for port in one.full)
        wished.update(member("limited", port) for port in one.limited)
        if one.pkey == 0x7FFF:
            wished["SELF"] = "full"
        assert made["members"] == wished
        assert made["pkey"] == one.pkey
        flags = made["flags"]
        assert ("ipoib" in flags) == one.ipoib
        assert flags.get("mtu") == (str(data.MTU_CODES[one.mtu]) if one.mtu else None)
        assert flags.get("rate") == (str(data.RATE_CODES[one.rate]) if one.rate else None)
        assert flags.get("sl") == (str(one.sl) if one.sl else None)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=4))
def test_nothing_else_than_a_refusal_comes_of_nonsense(nonsense: Any) -> None:
    for key in ("name", "pkey", "ipoib", "rate", "mtu", "sl", "full", "limited"):
        given = {"name": "x", "pkey": 1, "ipoib": True, "full": ["ALL"], key: nonsense}
        try:
            read = partitions.read([DEFAULT, given])
        except partitions.PartitionError:
            continue
        as_opensm(partitions.render(read))


def test_without_any_everybody_is_a_full_member_of_the_default_one() -> None:
    (only,) = as_opensm(partitions.render(partitions.read([])))
    assert only["members"] == {"ALL": "full", "SELF": "full"}
    assert only["flags"] == {"ipoib": ""}


def test_what_is_named_for_one_port_comes_after_what_goes_for_all() -> None:
    text = partitions.render(
        partitions.read(
            [
                DEFAULT,
                {"name": "a", "pkey": 2, "full": ["0x2", "SELF"], "limited": ["ALL", "ALL_CAS"]},
            ]
        )
    )
    listed = [line.strip(" ,;") for line in text.splitlines() if line.startswith("    ")]
    assert listed[2:] == ["ALL=limited", "ALL_CAS=limited", "0x0000000000000002=full", "SELF=full"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        pytest.param({"pkey": 0x8001}, "say pkey: 0x0001", id="with the bit of members"),
        pytest.param({"pkey": 0}, "not between 0x0001 and 0x7fff", id="no pkey"),
        pytest.param({"pkey": "compute"}, "not between", id="a word"),
        pytest.param({"pkey": True}, "not between", id="yes is no number"),
        pytest.param({"pkey": 0x7FFF}, "both have pkey 0x7fff", id="the default one twice"),
        pytest.param({"name": "Default"}, "two partitions Default", id="a name twice"),
        pytest.param({"name": "a b"}, "its name is 'a b'", id="a name with a blank"),
        pytest.param({"name": "7"}, "its name is '7'", id="a name that opensm takes for a pkey"),
        pytest.param({"full": ["0x1", "0x01"]}, "named twice under full", id="a port twice"),
        pytest.param({"full": ["0x1"], "limited": [1]}, "both a full and a limited", id="both"),
        pytest.param({"full": ["A"]}, "neither a port GUID", id="what opensm would take for ALL"),
        pytest.param({"full": ["0x" + "1" * 17]}, "neither a port GUID", id="too long a GUID"),
        pytest.param({"full": ["fe80::1"]}, "neither a port GUID", id="a GID"),
        pytest.param({"full": "ALL"}, "give a list", id="no list"),
        pytest.param({"full": []}, "has no member", id="nobody"),
        pytest.param({"mtu": 4096}, "IPoIB broadcast group, and it has none", id="not for IPoIB"),
        pytest.param({"ipoib": True, "mtu": 4092}, "not one of 256", id="IPoIB's own MTU"),
        pytest.param({"ipoib": True, "rate": 99}, "not one of 2.5", id="no rate"),
        pytest.param({"ipoib": "yes"}, "neither true nor false", id="a word for a flag"),
        pytest.param({"members": []}, "'members' is not one of", id="a key of nobody's"),
    ],
)
def test_what_opensm_would_take_otherwise_is_refused(more: dict[str, Any], said: str) -> None:
    one = {"name": "compute", "pkey": 1, "full": ["0x1"], **more}
    with pytest.raises(partitions.PartitionError) as caught:
        partitions.read([DEFAULT, one])
    assert said in str(caught.value)


def test_the_default_partition_has_to_be_named() -> None:
    with pytest.raises(partitions.PartitionError, match="no partition has pkey 0x7fff"):
        partitions.read([{"name": "compute", "pkey": 1, "full": ["ALL"]}])


@pytest.mark.parametrize("lesser", ["0x202", "SELF"])
def test_a_subnet_manager_is_a_full_member_of_the_default_one(lesser: str) -> None:
    given = [{"name": "Default", "pkey": 0x7FFF, "full": ["ALL"], "limited": [lesser]}]
    with pytest.raises(partitions.PartitionError, match="limited member of the default partition"):
        partitions.read(given, ["0x0000000000000202"])
