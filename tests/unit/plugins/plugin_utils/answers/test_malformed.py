# SPDX-License-Identifier: GPL-3.0-or-later
"""One host's answers are bent, field by field: that costs this host, and no other."""

from __future__ import annotations

import copy
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ansible_collections.ibready.cluster.plugins.plugin_utils._answers import clean
from ansible_collections.ibready.cluster.plugins.plugin_utils._answers.typed import shown
from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose import diagnosis, render as diagnose
from ansible_collections.ibready.cluster.plugins.plugin_utils._fleet import cluster
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts, summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import build, changed, folded, shape, valid
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_json, render_text, rendered
from tests import cases
from tests.unit import fleets, mutations, runs
from tests.unit.mutations import NAMES, ODD, Path

pytestmark = pytest.mark.thorough

BOARDS = ("h100-pcie-2", "hgx-h200-8-roce")
# Of all mutations that reach the judges every so-many-th; all with IBREADY_EVERY_MUTATION=1.
FEW = 1 if os.environ.get("IBREADY_EVERY_MUTATION") else 50 if cases.ALL else 200
# What nobody reads by its type: kept, or not even that; or told of in words of its own.
OTHERWISE = (
    *("ibready_node.changed", "ibready_ibverify.changed", "ibready_ibverify.schema"),
    *("ibready_ibverify.host", "ibready_ibverify.verdict", "ibready_ibverify.facts.fabric"),
    *("ibready_ibverify.facts.container", "ibready_ibverify.facts.nccl.proof"),
    *("ibready_tcp_listening.id", "ibready_tcp_listening.address", "ibready_tcp_stopped"),
    *("ibready_pings.#.sent", "ibready_pings.#.received"),
    *("ibready_pings_again.#.sent", "ibready_pings_again.#.received"),
)
# An end of rdma_data tells its numbers, and gets what it was asked back.
NUMBERS = ("bytes", "gbps", "usec", "pings")
QUESTION = ("device", "port", "gid_index", "mtu", "address", "soft", "to")


@cache
def fleet(board: str) -> Mapping[str, Mapping[str, Any]]:
    return mutations.fleet(board)


@cache
def others(board: str) -> tuple[_hosts.Host, ...]:
    return tuple(_hosts.gather(fleet(board), [name for name in NAMES if name != ODD]))


def report(board: str, mine: Mapping[str, Any], *, compare: bool = False) -> dict[str, Any]:
    """The run object with this host between the honest ones."""
    first, last = others(board)
    hosts = [first, mutations.host(mine), last]
    found = cluster.report(
        hosts,
        size=len(NAMES),
        created=fleets.NOW,
        version="0.1.0",
        compare=compare,
        plan=fleet(board)[NAMES[0]]["ibready_ping_plan"],
        moves=fleet(board)[NAMES[0]]["ibready_rdma_plan"],
    )
    return build.complete(found, hosts, runs.RUN, plan=None, listened=changed.Reported(), ansible="2.19.14")


def warned(text: str) -> None:
    raise AssertionError(text)


def rendering(run: dict[str, Any], formats: Sequence[str] = tuple(rendered.FORMATS)) -> None:
    """All that is made of a run object; no format has to do without facts."""
    rendered.surely(render_text.render, run, warned)
    summary.bad(run)
    cleaned = clean.clean(run, render_json.render(folded.fold(run)))
    assert next(valid.wrong(folded.fold(cleaned), shape.RUN), "") == ""
    for name in formats:
        rendered.surely(rendered.FORMATS[name][1], cleaned, warned).encode(errors="replace")


def verdicts(run: Mapping[str, Any]) -> dict[str, str]:
    return {name: host["verdict"] for name, host in run["hosts"].items()}


def causes(run: Mapping[str, Any]) -> str:
    checks = run["hosts"][ODD]["checks"]
    return "\n".join(one["cause"] for one in checks if one["result"] == "unknown")


def place(at: Path) -> str:
    """How an AnswerError names it, after the variable."""
    found = ""
    for one in at[1:]:
        found += f"[{one}]" if isinstance(one, int) else f"{'.' if found else ''}{shown(one)}"
    return found


def is_read(at: Path) -> bool:
    """Whether the door reads it by its type."""
    dotted = ".".join(mutations.kind(at))
    if dotted.startswith("ibready_rdma_"):
        return at[-1] not in (*NUMBERS, *QUESTION)
    return not any(dotted == one or dotted.startswith(f"{one}.") for one in OTHERWISE)


def of_another_type(mine: Mapping[str, Any], at: Path) -> Iterator[str]:
    """By what this field can be replaced so that it has another type for sure."""
    here = mutations.value(mine, at)
    kinds = {"text": str, "number": int, "list of text": list, "object": dict, "true": bool}
    for how, kind in kinds.items():
        if here is None or isinstance(here, kind):
            continue
        # Of numbers one stands for the other; a counter may be printed as a mask.
        if isinstance(here, float) and how == "number":
            continue
        if "counters" in at and at[-1] == 1 and how == "text":
            continue
        yield how
    if isinstance(here, int | float) and not isinstance(here, bool):
        yield from ("nan", "infinity", "huge")
    if isinstance(here, str):
        yield from ("long", "half")
    yield "deep"


@pytest.mark.parametrize("board", BOARDS)
def test_every_field_of_another_type_is_named(board: str) -> None:
    mine = mutations.trimmed(fleet(board)[ODD])
    tried = 0
    for at in mutations.fields(mine):
        if not is_read(at):
            continue
        for how in of_another_type(mine, at):
            host = mutations.host(mutations.bent(mine, at, how))
            said = [host.absent, host.ib_error, host.ping_error]
            said += [host.tcp.host.error] if host.tcp else []
            said += [host.rdma.host.error] if host.rdma else []
            assert any(place(at) in one for one in said), (at, how, said)
            tried += 1
    assert tried > 4000


def mutated(board: str, few: int) -> list[tuple[Path, str]]:
    """Every so-many-th of what is no other type, drawn alike each time."""
    mine = fleet(board)[ODD]
    found = []
    for at in mutations.fields(mine):
        wrong = set(of_another_type(mine, at)) if is_read(at) else set()
        for how in mutations.VALUES:
            # Wrong types end alike: few of them do.
            rare = few * 20 if how in wrong and few > 1 else few
            if zlib.crc32(f"{at} {how}".encode()) % rare == 0:
                found.append((at, how))
    return found


# Another value of the same type that others are held against: what a host could truthfully say.
COMPARED = ("ib.cas", "tcp_listening.range.ports", "tcp_listening.ports", "roce.ports")


@pytest.mark.parametrize(("board", "few"), [(BOARDS[0], FEW), (BOARDS[1], FEW * 4)])
def test_the_report_is_made_whatever_one_host_answers(board: str, few: int) -> None:
    honest = report(board, fleet(board)[ODD])
    assert set(verdicts(honest).values()) == {"ready"}
    rendering(honest)
    odd: list[object] = []
    for number, (at, how) in enumerate(mutated(board, few)):
        compare = number % 5 == 0
        run = report(board, mutations.bent(fleet(board)[ODD], at, how), compare=compare)
        if compare:
            found = rendered.surely(diagnosis.diagnose, run, warned)
            diagnose.render(found, diagnose.MOST, ())
        rendering(run, tuple(rendered.FORMATS) if number % 8 == 0 else ("junit", "markdown"))
        theirs = {one for name, one in verdicts(run).items() if name != ODD}
        # Two are too few to be compared in what a diagnosis compares.
        fine = {"ready", "degraded"} if compare else {"ready"}
        if not any(one in ".".join(mutations.kind(at)) for one in COMPARED):
            odd += [] if theirs <= fine else [(at, how, theirs)]
        odd += [(at, how, causes(run))] if "cannot be used" in causes(run) else []
    assert odd == []


@pytest.mark.parametrize(("field", "word"), [("id", "ib.no.such"), ("result", "good"), ("severity", "fatal")])
def test_a_check_that_is_none_of_ours_is_named(field: str, word: str) -> None:
    mine = copy.deepcopy(dict(fleet(BOARDS[0])[ODD]))
    mine["ibready_ibverify"]["checks"][3][field] = word
    run = report(BOARDS[0], mine)
    assert verdicts(run) == {"n1": "ready", ODD: "unknown", "n3": "ready"}
    assert "checks[3]: no check of ours" in causes(run)


SICK = ("ibready_ibverify", "facts", "ib", "cas", 0, "ports", 0, "state")


@pytest.mark.parametrize("name", mutations.ANSWERS)
def test_a_sick_host_gets_no_better_by_an_answer_that_cannot_be_read(name: str) -> None:
    board = BOARDS[0]
    sick = mutations.bent(fleet(board)[ODD], SICK, "text")
    assert verdicts(report(board, sick))[ODD] == "not_ready"
    for how in ("null", "text", "number", "list of text", "object", "true", "deep", "missing"):
        run = report(board, mutations.bent(sick, (name,), how))
        rendering(run)
        assert verdicts(run)[ODD] in ("not_ready", "unknown"), (name, how)


PAIRS = [(at, how) for at in mutations.fields(fleet(BOARDS[0])[ODD]) for how in mutations.VALUES]


@given(st.tuples(st.sampled_from(PAIRS), st.sampled_from(PAIRS)))
@settings(max_examples=60 if FEW > 1 else 5000)
def test_two_fields_at_once(both: tuple[tuple[Path, str], tuple[Path, str]]) -> None:
    board = BOARDS[0]
    mine: Mapping[str, Any] = fleet(board)[ODD]
    for at, how in both:
        try:
            mine = mutations.bent(mine, at, how)
        except (IndexError, KeyError, TypeError):
            continue  # The first one took away what the second would bend.
    run = report(board, mine)
    rendering(run, ("markdown",))
    assert set(run["hosts"]) == set(NAMES)
    assert "cannot be used" not in causes(run)
