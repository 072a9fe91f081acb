# SPDX-License-Identifier: GPL-3.0-or-later
"""What a verify said of the hosts, as a plan takes it; and a plan and what came of it as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import Any

from ....module_utils._ground.check import FAIL, NOT_READY, UNKNOWN, from_dict, trouble
from ....module_utils._ground.text import escaped, few, printable
from ..._ground.dicts import as_dict
from .node import ClusterError
from .plan import Held, Host, Plan, Step

_ERROR = "error"
_SHOWN = 8
# Longer than a verify takes to write it.
_FRESH = timedelta(hours=1)
_SINCE = "somebody changed it or another node meanwhile"
_ANEW = "run playbooks/cordon.yml, which looks at the hosts anew"


def refuse_stale(report: Mapping[str, Any], now: datetime) -> None:
    """ClusterError where the verdicts may be none of what the hosts are now."""
    try:
        age = now - datetime.fromisoformat(report["created"])
    except (TypeError, ValueError):
        raise ClusterError(
            f"the report was written at {report['created']!r}, which is no time. Next: {_ANEW}"
        ) from None
    if abs(age) > _FRESH:
        raise ClusterError(f"the report was written at {report['created']}, and it is {now}. Next: {_ANEW}")


def hosts(report: Mapping[str, Any], called: Mapping[str, str], never: Sequence[str]) -> list[Host]:
    """The hosts of a run object. ``called``: the name as a node that the site gives a host. ``never``: checks (globs)
    that take no node out, for all nodes share what they look at. ClusterError for two hosts that are one node.

    Without a name of the site's a host is the node of its name in the inventory: one that could say its name itself
    could have another node taken out.
    """
    found: dict[str, Host] = {}
    for name, told in report["hosts"].items():
        node = called.get(name) or name.lower()
        if node in found:
            raise ClusterError(
                f"{found[node].name} and {name} would both be the node {node}. Next: set kubernetes_rdma_node on each"
            )
        bad = _bad(told, never) if told["verdict"] == NOT_READY else ()
        simulated = printable(str(as_dict(told["facts"].get("node")).get("simulated") or ""))
        found[node] = Host(name, node, told["verdict"], bad, simulated, _seen(told))
    return list(found.values())


def _bad(told: Mapping[str, Any], never: Sequence[str]) -> tuple[str, ...]:
    failed = [check for check in trouble(map(from_dict, told["checks"])) if check.result == FAIL]
    ids = [printable(check.id) for check in failed if check.severity == _ERROR]
    return tuple(dict.fromkeys(one for one in ids if not any(fnmatchcase(one, entry) for entry in never)))


def _seen(told: Mapping[str, Any]) -> frozenset[str]:
    unknown = {check["id"] for check in told["checks"] if check["result"] == UNKNOWN}
    return frozenset(printable(check["id"]) for check in told["checks"] if check["id"] not in unknown)


def plan(planned: Plan, most: int, *, dry: bool) -> str:
    """All that will be done, then what will not and why."""
    head = f"CORDON: {len(planned.steps)} of {planned.known} nodes change, {len(planned.held)} are left as they are"
    room = f"; {planned.out} take no pods now, and {most} may (cordon_most)"
    lines = [f"{head}{room}{'; the server looks first' if dry else ''}"]
    lines += [f"  {_of(step)}: {step.does} ({step.why})" for step in planned.steps]
    return "\n".join([*map(escaped, lines), *([left(planned.held)] if planned.held else [])])


def left(held: Iterable[Held]) -> str:
    """What is not done and why, hosts of one reason together."""
    found: dict[tuple[str, str], list[str]] = {}
    for entry in held:
        found.setdefault((entry.why, entry.next), []).append(_of(entry))
    lines = [f"  {few(who, _SHOWN)}: {why}; next: {then}" for (why, then), who in found.items()]
    return "\n".join(map(escaped, ["LEFT AS THEY ARE:", *lines]))


def only(planned: Plan, looked: Mapping[str, Any], busy: Callable[[Step], tuple[str, str] | None]) -> Plan:
    """Of the acts those that ``looked``, what an earlier look answered, has shown, and that nobody else speaks against
    (``busy``: why and what to do); of what is left as it is only what came since."""
    shown = {(step["host"], step["back"], step["does"]) for step in looked["steps"]}
    steps, held = [], []
    for step in planned.steps:
        why = busy(step) if (step.host, step.back, step.does) in shown else (_SINCE, "run this again")
        if why is None:
            steps.append(step)
        elif step.host not in looked["errors"]:
            held.append(Held(step.host, step.node, *why))
    known = {(entry["host"], entry["why"]) for entry in looked["held"]}
    held += [entry for entry in planned.held if (entry.host, entry.why) not in known]
    return replace(planned, steps=steps, held=held)


def done(steps: Iterable[Step], errors: Mapping[str, str], *, dry: bool) -> str:
    """What became of every act."""
    what = "the server would take it" if dry else "done"
    lines = [f"  {_of(step)}: {step.does}: {what}" for step in steps]
    lines += [f"  {host}: FAILED: {why}" for host, why in errors.items()]
    return "\n".join(map(escaped, lines))


def _of(entry: Step | Held) -> str:
    return entry.host if entry.host == entry.node else f"{entry.host} (node {entry.node})"
