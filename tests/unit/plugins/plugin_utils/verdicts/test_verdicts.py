# SPDX-License-Identifier: GPL-3.0-or-later
"""What `ansible -m ibverify` prints of 1, 3 and 200 hosts, and of answers that are none of ours."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground import check as model
from ansible_collections.ibready.cluster.plugins.module_utils._verify import brief, fold
from ansible_collections.ibready.cluster.plugins.module_utils._verify.verdict import verdict_object
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import verdicts

NEXT = "Next: `ibready explain ID` or docs/checks.md explains each check; -v prints all of them"
GOOD = [model.Check(f"ib.port.{number}", "mlx5_0/1", model.PASS, "error") for number in range(191)]
SKIPPED = [model.Check(f"gpu.{number}", "host", model.SKIP, "error") for number in range(102)]
DOWN = model.Check("ib.port.state", "mlx5_5/1", model.FAIL, "error", "Down", "Active", "", "no link", "see the cable")


def answer(host: str, *more: model.Check) -> dict[str, Any]:
    """As the module makes it."""
    checks = [*GOOD, *SKIPPED, *more]
    findings = [fold.told(line) for line in fold.folded(model.trouble(checks))]
    return brief.short(verdict_object(host, checks, {}), findings)


def shown(hosts: dict[str, dict[str, Any]]) -> list[str]:
    return [line for line, _ in verdicts.render({name: verdicts.told(entry) for name, entry in hosts.items()})]


def test_a_good_host_is_one_line() -> None:
    assert shown({"node7": answer("node7")}) == ["node7 ready 191 pass 102 skip"]


def test_three_equal_hosts_are_one_line_and_the_sum() -> None:
    hosts = {name: answer(name) for name in ("node1", "node2", "login")}
    assert shown(hosts) == ["login,node[1-2] ready 191 pass 102 skip", "3 hosts: 3 ready"]


def test_of_two_hundred_those_that_differ_come_last_with_what_is_wrong() -> None:
    hosts = {f"node{number:03}": answer(f"node{number:03}") for number in range(1, 201)}
    for name in ("node017", "node018"):
        hosts[name] = answer(name, DOWN)
    first, bad, finding, total, following = shown(hosts)
    assert first == "node[001-016,019-200] ready 191 pass 102 skip"
    assert bad == "node[017-018] not_ready 191 pass 1 fail 102 skip"
    assert finding.startswith("  ib.port.state mlx5_5/1: ")
    assert "see the cable" in finding
    assert (total, following) == ("200 hosts: 198 ready, 2 not_ready", NEXT)


def test_hosts_with_other_findings_are_told_apart() -> None:
    other = model.Check("ib.port.state", "mlx5_4/1", model.FAIL, "error", "Down", "Active")
    heads = [line for line in shown({"n1": answer("n1", DOWN), "n2": answer("n2", other)}) if not line.startswith(" ")]
    assert [line.split()[0] for line in heads] == ["n1", "n2", "2", "Next:"]


def test_a_waived_failure_is_said() -> None:
    waived = model.Check(**{**DOWN.to_dict(), "waived": "until 2027-01-01: ordered"})
    lines = shown({"n1": answer("n1", waived)})
    assert lines[1] == "  waived: ib.port.state mlx5_5/1: until 2027-01-01: ordered"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"verdict": "fine"}, "verdict"),
        ({"verdict": None}, "verdict"),
        ({"counts": [1]}, "counts"),
        ({"counts": {"pass": "191"}}, "counts"),
        ({"counts": {"good": 191}}, "counts.good"),
        ({"findings": "none"}, "findings"),
        ({"findings": [{}]}, "findings[0]"),
        ({"waived": 3}, "waived"),
        ({"counts": {}}, "counts"),
        ({"counts": {"pass": 3, "fail": -3}}, "counts.fail"),
        ({"counts": {"pass": 3, "fail": 7}}, "counts"),
        ({"counts": {"pass": 3, "unknown": 9}}, "counts"),
        ({"verdict": "degraded", "counts": {"pass": 0}}, "counts"),
    ],
)
def test_an_answer_that_is_none_of_ours_is_no_verdict(change: dict[str, Any], field: str) -> None:
    head, why, total = shown({"n1": {**answer("n1"), **change}, "n2": answer("n2")})[1:]
    assert head == "n1 malformed"
    assert field in why
    assert "Next: see what answers there" in why
    assert total == "2 hosts: 1 ready, 1 malformed"


def test_a_missing_field_is_none_either() -> None:
    lacking = answer("n1")
    del lacking["counts"]
    assert verdicts.told(lacking).verdict == "malformed"


def test_what_was_only_skipped_is_called_skipped_with_its_reason() -> None:
    checks = [model.skipped("gpu.driver.answers", "host", "no NVIDIA GPU on the PCI bus")] * 3
    said = brief.short(verdict_object("n1", checks, {}), model.absent(checks))
    assert shown({"n1": said, "n2": said})[:3] == [
        "n[1-2] skipped 3 skip",
        "  3 skipped: no NVIDIA GPU on the PCI bus",
        "2 hosts: 2 skipped",
    ]
    assert verdicts.told({**said, "counts": {"pass": 1, "skip": 3}}).verdict == "ready"


def test_a_host_that_did_not_answer_stands_among_the_others() -> None:
    hosts = {"n1": verdicts.told(answer("n1")), "n2": verdicts.unreachable("no route\x1b[31m"), "n3": None}
    hosts["n3"] = verdicts.unreachable("no route\x1b[31m")
    lines = [line for line, _ in verdicts.render(hosts)]
    assert lines[1:-1] == ["n[2-3] unreachable", "  no route?[31m", "3 hosts: 1 ready, 2 unreachable"]
    assert lines[-1] == "Next: `ansible HOST -m ping -vvv` shows each step of the connection"


def test_no_host_is_no_line() -> None:
    assert verdicts.render({}) == []


def test_a_host_cannot_fill_the_terminal() -> None:
    lines = shown({"n1": {**answer("n1"), "findings": ["x" * 10_000] * 500}})
    assert len(lines) < 70
    assert max(map(len, lines)) < 2_100
    assert "  and 436 more" in lines


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {"verdict": st.sampled_from(["ready", "not_ready", "x"]) | JSON},
        optional={"counts": st.dictionaries(st.sampled_from(["pass", "fail"]), st.integers()) | JSON,
                  "findings": st.lists(st.text(max_size=30), max_size=3) | JSON, "waived": JSON},
    )
)  # fmt: skip
def test_whatever_a_host_says_is_printed_on_lines_of_its_own(said: dict[str, Any]) -> None:
    for line in shown({"n1": said}):
        assert line.isprintable()
