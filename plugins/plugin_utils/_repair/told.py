# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan of repairs and what became of it, as text; and a ticket for what needs hands."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._ground.text import escaped, few
from .._diagnose.row import ActKind
from .._ground.dicts import as_dict
from .plan import Held, Plan, Step
from .record import FIXED

_SHOWN = 4
_SAID = 200


def plan(planned: Plan, kinds: Mapping[str, ActKind], tickets: int) -> str:
    """All that will be done, then what will not and why."""
    lines = [f"REPAIR: {_many(len(planned.steps), 'action')}, {len(planned.held)} held back, {tickets} by hand"]
    for step in planned.steps:
        drained = "; the host is drained first" if step.drains else ""
        lines.append(f"  {step.host}: {_act(step, kinds)}{drained}")
        lines.append(f"    for:  {step.title} [{step.cause}]; undone by: {step.undo}")
    if planned.held:
        lines.append("HELD BACK:")
    for entry in planned.held:
        lines.append(f"  {entry.host}: {_act(entry, kinds)}")
        lines.append(f"    for:  {entry.title} [{entry.cause}]")
        lines.append(f"    why:  {entry.why}; next: {entry.next}")
    return _text(lines)


def done(results: Sequence[tuple[Step, str, str]]) -> str:
    """What became of every act."""
    fixed = sum(result == FIXED for _step, result, _why in results)
    lines = [f"REPAIRED: {fixed} of {_many(len(results), 'action')} removed the cause"]
    for step, result, why in results:
        lines.append(f"  {step.host}: {result}: {step.title} [{step.cause}]{': ' if why else ''}{why}")
    return _text(lines)


def stopped(raw: Any) -> str:
    """What stopped a host, from the task that failed and its answer; of a loop, with the words of what failed."""
    if not isinstance(raw, Mapping):
        return ""
    result = as_dict(raw.get("result"))
    acts = [as_dict(act) for act in result.get("results") or () if as_dict(act).get("failed")]
    said = [f"{shlex.join(map(str, act.get('item') or ()))}: {_said(act)}" for act in acts]
    return f"{raw.get('task')}: {'; '.join(said) or _said(result)}"


def _said(result: Mapping[str, Any]) -> str:
    """The end of what a program or a module says."""
    return next((str(result[key])[-_SAID:] for key in ("stderr", "stdout", "msg") if result.get(key)), "no message")


def tickets(
    causes: Iterable[Mapping[str, Any]], places: Mapping[str, Mapping[str, Any]], held: Sequence[Held]
) -> Iterator[str]:
    """A text for every cause that needs hands: what, where with both ends of the cables, what was seen, what to do."""
    worn = {(entry.host, entry.cause): entry.why for entry in held if entry.hands}
    for cause in causes:
        tired = [worn[host, cause["id"]] for host in cause["hosts"] if (host, cause["id"]) in worn]
        if cause["acts"] and not tired:
            continue
        lines = [f"{cause['title']} [{cause['id']}] on {few(list(cause['hosts']), _SHOWN)}"]
        lines += [f"costs: {cause['costs']}"]
        for entry in cause["evidence"]:
            seen = f"{entry['observed']}, expected {entry['expected']}" if entry["expected"] else entry["observed"]
            lines.append(f"seen:  {entry['host']} {entry['check']} {entry['subject']}: {seen}")
            lines += _cables(places.get(entry["host"], {}), entry["subject"])
        lines += [f"tried: {why}" for why in tired]
        lines += [f"look:  {cause['command']}"] if cause["command"] else []
        lines += [f"do:    {cause['note']}"] if cause["note"] else []
        yield _text(dict.fromkeys(lines))


def _cables(place: Mapping[str, Any], subject: str) -> Iterator[str]:
    hca = subject.partition("/")[0]
    for name in (subject, hca):
        for far in place.get("cables", {}).get(name, ()):
            yield f"cable: {subject} to {far}"
            return


def _act(entry: Step | Held, kinds: Mapping[str, ActKind]) -> str:
    return shlex.join(entry.words) if entry.words else kinds[entry.kind].says


def _text(lines: Iterable[str]) -> str:
    return "\n".join(map(escaped, lines))


def _many(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
