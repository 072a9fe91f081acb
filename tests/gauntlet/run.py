# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the simulated nodes, healthy and broken, and count what was found."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._fleet.checks import SWITCH
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import FAIL, PASS, UNKNOWN, Check, sentence
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from tests.gauntlet import cuts, fault, render
from tests.gauntlet.node import Node
from tests.gauntlet.switches import site
from tests.gauntlet.tree import Tree

_HEALTHY = {"healthy": "healthy boards", "odd": "odd, and healthy", "sites": "healthy with switches"}
_JUDGED: dict[str, tuple[fault.Fault, list[Check]]] = {}


@dataclass
class Outcome:
    """What came of one node: the check that was to be found, and what should not be there."""

    name: str
    area: str
    found: bool = True
    why: str = ""
    false_alarms: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return self.found and not self.false_alarms


def judge(described: Node, tree: Tree) -> list[Check]:
    """Every check of a simulated node."""
    return _verify.verify(tree, from_inventory(described.expect)).checks


def judged(one: fault.Fault) -> list[Check]:
    """Every check of a broken node; several tests look at the same."""
    if one.name not in _JUDGED:
        _JUDGED[one.name] = (one, judge(*fault.broken(one)))
    known, checks = _JUDGED[one.name]
    return checks if known == one else judge(*fault.broken(one))


def healthy(name: str) -> Outcome:
    """A healthy node: every finding is a false alarm, and something must have passed."""
    described = render.node(name)
    checks = judge(described, render.render(described))
    bad = [sentence(one) for one in checks if one.result in (FAIL, UNKNOWN)]
    passes = sum(one.result == PASS for one in checks)
    return Outcome(name, "healthy", passes > 0, "" if passes else "nothing was looked at", bad)


def odd(one: fault.Oddity) -> Outcome:
    """A healthy node that is unlike others: every finding is a false alarm, unless the change changes nothing."""
    described, tree = fault.broken(one)
    plain = render.render(render.node(one.board))
    looks = [(told.commands, told.files, told.later, told.later_commands) for told in (tree, plain)]
    same = looks[0] == looks[1] and not one.expect
    bad = [sentence(check) for check in judge(described, tree) if check.result in (FAIL, UNKNOWN)]
    return Outcome(one.name, "odd", not same, "the node is like its board" if same else "", bad)


def healthy_site(runs: str) -> Outcome:
    """A healthy node and its switches: as a healthy node, and each check of a switch port that is told of passes."""
    checks = site.judge(site.healthy(runs))
    bad = [sentence(one) for one in checks if one.result in (FAIL, UNKNOWN)]
    passed = {one.id for one in checks if one.result == PASS}
    lost = [entry.id for entry in SWITCH if entry.id not in (*passed, *site.SYSTEMS[runs].silent)]
    return Outcome(runs, "sites", not lost, f"nothing passes {', '.join(lost)}" if lost else "", bad)


def faulty(one: fault.Fault) -> Outcome:
    """A broken node: the named check must fail and say why; nothing else may be found."""
    checks = site.judge(one) if isinstance(one, site.Fault) else judged(one)
    mine = [check for check in checks if check.id == one.check and check.result == FAIL]
    named = [check for check in mine if not one.subject or check.subject == one.subject]
    reported = [check for check in named if one.cause in f"{check.cause} {check.observed} {check.expected}"]
    why = ""
    if not mine:
        seen = {check.result for check in checks if check.id == one.check} or {"absent"}
        why = f"{one.check} is {', '.join(sorted(seen))}"
    elif not named:
        why = f"{one.check} fails, but for {', '.join(check.subject for check in mine)}"
    elif not reported:
        why = f"no finding says {one.cause!r}: {sentence(named[0])}"
    elif not any(one.remedy in check.remedy and one.severity in ("", check.severity) for check in reported):
        why = f"not {one.severity} {one.remedy!r}: {reported[0].severity} {sentence(reported[0])}"
    false = [
        sentence(check)
        for check in checks
        if check.result in (FAIL, UNKNOWN) and check.id not in (one.check, *one.also)
    ]
    if one.subject:
        false += [sentence(check) for check in mine if check.subject != one.subject]
    return Outcome(one.name, one.area, not why, why, false)


def _said(check: Check) -> str:
    return f"{check.cause} {check.observed} {check.expected}"


def outcomes() -> list[Outcome]:
    """All of it: the healthy nodes, those that are unlike others, then the faults."""
    plain = [healthy(name) for name in render.boards()]
    odds = [odd(one) for one in fault.oddities()]
    return [*plain, *odds, *map(healthy_site, site.SYSTEMS), *map(faulty, [*fault.load(), *site.load()])]


def table(done: Sequence[Outcome]) -> str:
    """Found, missed and false alarms by area, as Markdown."""
    lines = ["| area | nodes | found | missed | false alarms |", "|---|---:|---:|---:|---:|"]
    for area in sorted({one.area for one in done}, key=lambda name: (name not in _HEALTHY, name)):
        mine = [one for one in done if one.area == area]
        found = sum(one.found for one in mine)
        false = sum(len(one.false_alarms) for one in mine)
        label = _HEALTHY.get(area, f"faults: {area}")
        reported = ("-", "-") if area in _HEALTHY else (str(found), str(len(mine) - found))
        lines.append(f"| {label} | {len(mine)} | {reported[0]} | {reported[1]} | {false} |")
    return "\n".join(lines)


def main(args: Sequence[str]) -> int:
    """Run what the words name (all without any), print the table; 0 only if all is right.

    The word ``cuts`` alone ends every output of every node early, at every line: that takes the
    better part of an hour.
    """
    if list(args) == ["cuts"]:
        return _cuts()
    done = _some(args) if args else outcomes()
    if not done:
        known = ", ".join([*render.boards(), *site.SYSTEMS, *sorted({one.area for one in fault.load()}), site.AREA])
        print(f"no board, area or fault is named like that; known are {known}", file=sys.stderr)
        return 1
    for one in done:
        if not one.found:
            print(f"MISSED  {one.area}: {one.name}: {one.why}")
        for said in one.false_alarms:
            print(f"FALSE   {one.area}: {one.name}: {said}")
    print(table(done))
    return 0 if done and all(one.good for one in done) else 1


def _cuts() -> int:
    wrong = [
        f"{name}: {source}: {said}"
        for name, source in cuts.walk(everything=True)
        for said in cuts.wrong(name, source, None)
    ]
    wrong += [f"{one.name}: {said}" for one in fault.load() for said in cuts.hidden(one, None)]
    for said in wrong:
        print(f"DECEIVED  {said}")
    print(f"{len(wrong)} passes or skips by outputs that end early")
    return 1 if wrong else 0


def _some(words: Sequence[str]) -> list[Outcome]:
    names = [name for name in render.boards() if name in words or "healthy" in words]

    def named(one: fault.Fault | fault.Oddity) -> bool:
        return any(word in (one.area, one.board) or word in one.name for word in words)

    odds = [odd(one) for one in fault.oddities() if named(one)]
    sites = [healthy_site(runs) for runs in site.SYSTEMS if runs in words or "healthy" in words or site.AREA in words]
    hung = [faulty(one) for one in site.load() if named(one) or one.runs in words]
    return [healthy(name) for name in names] + odds + sites + [faulty(one) for one in fault.load() if named(one)] + hung
