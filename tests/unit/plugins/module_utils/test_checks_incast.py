# SPDX-License-Identifier: GPL-3.0-or-later
"""The judgement of an incast, whatever its counters say."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._data import incast as data
from ansible_collections.ibready.cluster.plugins.module_utils._data.roce_counters import COUNTERS, HW, LOSS
from ansible_collections.ibready.cluster.plugins.module_utils._fleet import incast
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.checks import INCAST
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.incast import Incast, Side
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from tests import cases

SOME = settings(max_examples=150 if cases.ALL else 50, deadline=None, database=None)
KEYS = (*data.by_ethtool(), *data.hw())
MOST = 2**64 - 1
RATE = 400.0
FULL = tuple((float(at), at * 49_000_000_000) for at in range(8))
COUNTS = st.dictionaries(st.sampled_from(KEYS), st.integers(0, MOST), max_size=25)
DRIVERS = st.sampled_from(["mlx5_core", "bnxt_en", "bnxt_re", "ionic", "ice", "hns3", ""])


@st.composite
def sides(draw: st.DrawFn, host: str) -> Side:
    """A port with any counters: many that rise, some that went back or away."""
    before = draw(COUNTS)
    after = {key: min(MOST, value + draw(st.integers(0, 5000))) for key, value in before.items()}
    bent = draw(st.dictionaries(st.sampled_from(KEYS), st.integers(0, MOST), max_size=3))
    after.update({key: value for key, value in bent.items() if draw(st.booleans())})
    for key in draw(st.lists(st.sampled_from(KEYS), max_size=2)):
        after.pop(key, None)
    return Side(
        host,
        "mlx5_0/1",
        driver=draw(DRIVERS),
        lossless=draw(st.sampled_from([None, (), (3,), (3, 4)])),
        told_by="inventory",
        before=before,
        after=after,
        why=draw(st.sampled_from(["", "", "", "permission denied"])),
        gbps=draw(st.none() | st.floats(0, 400) | st.floats(20, 350)),
        untested=draw(st.sampled_from(["", "", "no server"])),
    )


@st.composite
def incasts(draw: st.DrawFn) -> Incast:
    received = draw(
        st.just(FULL) | st.just(()) | st.lists(st.tuples(st.floats(0, 99), st.integers(0, MOST))).map(tuple)
    )
    rate = draw(st.sampled_from([RATE, RATE, None, 0.0]))
    return Incast(draw(sides("n1")), (draw(sides("n2")), draw(sides("n3"))), rate, received)


def every(entry: Incast) -> list[Check]:
    return [check for some in incast.judge([entry]).values() for check in some]


@given(incasts())
@SOME
def test_nothing_passes_without_a_full_port_and_somebody_held_back(entry: Incast) -> None:
    found = every(entry)
    load = next(check for check in found if check.id == incast.LOAD)
    if load.result != "pass":
        assert not [check for check in found if check.result == "pass"]
    else:
        assert entry.rate
        assert incast.full(entry.received, entry.rate)[0] >= data.FULL_S
        assert not any(side.untested for side in entry.senders)
        assert all(side.gbps is not None and 10 <= side.gbps < 360 for side in entry.senders)
        seen = incast._Seen(entry)
        assert seen.held() or seen.dropped


@given(incasts())
@SOME
def test_each_port_is_judged_by_each_check_once(entry: Incast) -> None:
    checks = incast.judge([entry])
    ids = {host: sorted(check.id for check in some) for host, some in checks.items()}
    assert ids["n1"] == sorted([incast.LOAD, incast.LOST, incast.PRIO, incast.ECN])
    assert ids["n2"] == ids["n3"] == sorted([incast.LOST, incast.PFC, incast.PRIO, incast.CNP])
    for check in every(entry):
        assert check.result == "pass" or check.cause
        if check.result == "fail":
            assert "before" in check.observed
            assert "after" in check.observed


@given(incasts())
@SOME
def test_loss_of_roce_is_always_found_and_never_made_up(entry: Incast) -> None:
    names = [counter.name for counter in COUNTERS if counter.harm == LOSS and counter.home == HW]
    for side, some in zip((entry.receiver, *entry.senders), incast.judge([entry]).values(), strict=True):
        told = next(check for check in some if check.id == incast.LOST)
        rises = [name for name in names if side.after.get(name, 0) > side.before.get(name, MOST)]
        if rises and not side.lame:
            assert told.result == "fail"
        if told.result == "pass":
            assert all(side.after[name] == side.before[name] for name in names if name in side.before)


@given(incasts(), st.sampled_from(KEYS))
@SOME
def test_a_counter_that_went_back_is_no_rise(entry: Incast, key: str) -> None:
    side = replace(entry.receiver, why="", before={key: 10}, after={key: 9})
    told = incast.moved(side, [key])
    assert (told.rises, told.total) == ((), 0)
    assert f"{key} 10 before, 9 after" in told.why
    assert incast.moved(replace(side, after={}), [key]).why
    assert incast.moved(replace(side, before={}), [key]) == ((), "")


@given(incasts())
@SOME
def test_a_port_whose_counters_were_cleared_tells_nothing(entry: Incast) -> None:
    for side, some in zip((entry.receiver, *entry.senders), incast.judge([entry]).values(), strict=True):
        back = any(side.after.get(key, -1) < value for key, value in side.before.items())
        if back or side.why:
            assert {check.result for check in some if check.id != incast.LOAD} == {"unknown"}


def _held(host: str, **more: int) -> Side:
    """A sender that was held back by pauses and CNPs, with what else it has before and after."""
    names = data.names_of("mlx5_core")
    idle = {"np_ecn_marked_roce_packets": 0, "np_cnp_sent": 0, "rp_cnp_handled": 0, "rp_cnp_ignored": 0}
    idle.update({names.paused.format(3): 0, names.left.format(3): 0, "packet_seq_err": 0})
    after = {**idle, names.paused.format(3): 9, names.left.format(3): 99, "rp_cnp_handled": 5, **more}
    return (
        Side("n2", "mlx5_0/1", "mlx5_core", (3,), before=idle, after=after, gbps=195.0)
        if host == "n2"
        else replace(_held("n2", **more), host=host)
    )


@pytest.mark.parametrize(
    ("gbps", "said"),
    [
        ((389.0, 0.01), "n2 mlx5_0/1 filled the port alone"),
        ((390.0, 390.0), "n2 mlx5_0/1 filled the port alone"),
        ((195.0, None), "n3 mlx5_0/1: what it sent is not known"),
        ((350.0, 9.9), "n3 mlx5_0/1 sent next to nothing"),
        ((350.0, 10.0), ""),
        ((359.9, 40.0), ""),
        ((195.0, 195.0), ""),
    ],
)
def test_only_senders_that_sent_at_once_make_an_incast(gbps: tuple[float | None, float | None], said: str) -> None:
    senders = tuple(replace(_held(name), gbps=some) for name, some in zip(("n2", "n3"), gbps, strict=True))
    found = incast.judge([Incast(_held("n1"), senders, RATE, FULL)])
    load = next(check for check in found["n1"] if check.id == incast.LOAD)
    assert load.result == ("unknown" if said else "pass")
    assert said in (load.cause or "")
    if said:
        assert not [check for some in found.values() for check in some if check.result == "pass"]


@pytest.mark.parametrize("key", ["rx_pause_ctrl_phy", "rx_global_pause", "rx_prio5_pause"])
@pytest.mark.parametrize("after", [12, None])
def test_a_pause_counter_that_went_back_is_no_proof_that_none_was_needed(key: str, after: int | None) -> None:
    names = data.names_of("mlx5_core")
    one = _held("n2", **{names.paused.format(3): 0})
    bent = {} if after is None else {f"{data.ETHTOOL} {key}": after}
    odd = replace(one, before={**one.before, f"{data.ETHTOOL} {key}": 5000}, after={**one.after, **bent})
    found = incast.judge([Incast(_held("n1"), (odd, _held("n3")), RATE, FULL)])
    assert {check.id: check.result for check in found["n2"]} == dict.fromkeys(
        (incast.LOST, incast.PFC, incast.PRIO, incast.CNP), "unknown"
    )
    assert all(key in (check.cause or "") and "driver" in (check.cause or "") for check in found["n2"])
    assert {check.id: check.result for check in found["n3"]}[incast.PFC] == "pass"


def test_what_other_ports_lost_or_ignored_still_fails_where_one_was_cleared() -> None:
    receiver = _held("n1")
    receiver = replace(
        receiver, before={**receiver.before, "out_of_sequence": 9}, after={**receiver.after, "out_of_sequence": 1}
    )
    ignores = _held("n2", rp_cnp_handled=0, rp_cnp_ignored=40)
    found = incast.judge([Incast(receiver, (ignores, _held("n3", packet_seq_err=7)), RATE, FULL)])
    assert {check.id: check.result for check in found["n2"]}[incast.CNP] == "fail"
    assert {check.id: check.result for check in found["n3"]}[incast.LOST] == "fail"
    assert {check.result for check in found["n1"] if check.id != incast.LOAD} == {"unknown"}


def test_where_a_sender_tells_nothing_nobody_says_that_it_was_not_paused() -> None:
    receiver = _held("n1")
    receiver = replace(
        receiver, before={**receiver.before, "out_of_sequence": 0}, after={**receiver.after, "out_of_sequence": 7}
    )
    mute = replace(_held("n2"), why="permission denied")
    found = incast.judge([Incast(receiver, (mute,), RATE, FULL)])
    lost, marks = (next(check for check in found["n1"] if check.id == which) for which in (incast.LOST, incast.ECN))
    assert lost.result == marks.result == "fail"
    assert "whether senders were paused is not known" in (lost.cause or "")
    assert "paused" not in (marks.cause or "")


@pytest.mark.parametrize(("by", "said"), [(0, "rose; ethtool"), (20, "rx_discards_phy 9 before, 29 after")])
def test_loss_below_its_limit_is_named(by: int, said: str) -> None:
    key = f"{data.ETHTOOL} rx_discards_phy"
    one = _held("n2")
    one = replace(one, before={**one.before, key: 9}, after={**one.after, key: 9 + by})
    found = incast.judge([Incast(_held("n1"), (one, _held("n3")), RATE, FULL)])
    told = next(check for check in found["n2"] if check.id == incast.LOST)
    assert told.result == "pass"
    assert ("rose by its limit" in told.observed) == bool(by)
    assert (said in told.observed) == bool(by)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, MOST)), max_size=20), st.floats(1, 800))
@SOME
def test_time_and_bytes_that_go_back_count_for_nothing(received: list[tuple[float, int]], rate: float) -> None:
    seconds, most = incast.full(received, rate)
    assert 0 <= seconds <= sum(max(0.0, two[0] - one[0]) for one, two in pairwise(received)) + 1e-6
    assert most >= 0
    assert incast.full(tuple(reversed(FULL)), RATE) == (0.0, 0.0)


@pytest.mark.parametrize(("share", "full"), [(0.9, 2.0), (0.899, 0.0)])
def test_full_is_nine_tenths(share: float, full: float) -> None:
    each = round(RATE * share / 8 * 1e9)
    assert incast.full([(0.0, 0), (1.0, each), (2.0, 2 * each)], RATE)[0] == full


@pytest.mark.parametrize(("told", "result"), [(0, "skip"), (data.CNP_FEW - 1, "unknown"), (data.CNP_FEW, "fail")])
def test_a_few_cnps_may_have_gone_to_the_others(told: int, result: str) -> None:
    names = data.names_of("mlx5_core")
    idle = {"np_ecn_marked_roce_packets": 0, "np_cnp_sent": 0, "rp_cnp_handled": 0, names.paused.format(3): 0}
    one = Side("n2", "mlx5_0/1", "mlx5_core", (3,), before=idle, after={**idle, names.paused.format(3): 9}, gbps=195.0)
    receiver = replace(one, host="n1", after={**idle, "np_cnp_sent": told, "np_ecn_marked_roce_packets": told})
    found = incast.judge([Incast(receiver, (one, replace(one, host="n3")), RATE, FULL)])
    assert next(check.result for check in found["n2"] if check.id == incast.CNP) == result


def test_without_flow_control_nobody_expects_pauses() -> None:
    one = Side("n2", "mlx5_0/1", "mlx5_core", ())
    found = incast.judge([Incast(replace(one, host="n1"), (one,), RATE, FULL)])
    assert {check.result for check in found["n2"] if check.id in (incast.PFC, incast.PRIO)} == {"skip"}


def test_every_id_is_judged_and_declared() -> None:
    ids = {entry.id for entry in INCAST}
    assert ids == {incast.LOAD, incast.LOST, incast.PFC, incast.PRIO, incast.ECN, incast.CNP}


@pytest.mark.parametrize("driver", data.NAMES)
def test_names_are_known_with_a_source(driver: str) -> None:
    names = data.NAMES[driver]
    assert names.source
    assert names.confidence in ("confirmed", "medium")
    assert set(names.marked + names.told + names.slowed + names.ignored + names.received) <= set(data.hw())
    told = [name.format(3) for name in (names.paused, names.pauses, names.arrived, names.left, names.every) if name]
    assert set(told) <= set(data.by_ethtool())
    assert incast._number(told[0]) == 3 if told else True
