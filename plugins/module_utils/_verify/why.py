# SPDX-License-Identifier: GPL-3.0-or-later
"""What texts that somebody pasted say, what is wrong by them, and what to ask next. No I/O.

heard.py reads them; here they are judged by the checks of a host, as far as they can look.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, Iterable, Mapping, Sequence

from .._areas.nccl import check_harm
from .._data.nccl_reading import SYSTEM_FILE
from .._evidence.pasted import NOT_GIVEN, Pasted
from .._evidence.sources import COMMANDS
from .._expect.expectations import Expectations
from .._ground import check as model
from .._ground.check import Check
from .._ground.text import UNSAID, printable
from .._parse import names, nccl_settings
from .._slow.kinds import COMMUNICATION_BOUND
from . import slow
from .catalog import CATALOG
from .fold import Line, folded
from .heard import AREAS, OF_JOBS, Heard, evidence, gone_by, partly
from .said import said
from .slow import Job
from .verify import verify

__all__ = ["Heard", "Host", "job", "judged", "verdict"]

_NEXT = 3
# A cause with ten of a log's lines and the next step behind them is shorter; what a stranger wrote need not be.
_LONGEST_TOLD = 4000
_NOBODY = "nobody expects"
# What all ranks of a communicator call it, where the log has it.
_JOB = re.compile(r"\bcommId (0x[0-9a-f]{1,16})\b")
# Forms of failures that keep a task from starting.
_BEFORE_START = ("hook", "runtime", "engine", "launcher")


@dataclass(frozen=True)
class Host:
    """``name``: "" where no line tells it. ``read``: tools whose texts were read. ``bad``: what is
    wrong, a line a cause. ``open``: what the texts themselves do not tell, with what would tell it.
    ``ask``: commands whose output would tell most. ``told``: what tools themselves call wrong, of
    texts that no check goes by; ``says``: what such a text says. ``partly``: what was read in part."""

    name: str
    read: tuple[str, ...]
    checks: tuple[Check, ...]
    bad: tuple[Line, ...] = ()
    open: tuple[Check, ...] = ()
    ask: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()

    @property
    def quiet(self) -> bool:
        """Whether it only has texts of a job, of which nothing is to tell but the job itself."""
        return set(self.read) <= OF_JOBS and not (self.bad or self.told or self.open or self.partly)

    @property
    def passed(self) -> int:
        return sum(check.result == model.PASS for check in self.checks)


def job(heard: Heard) -> Job | None:
    """What the job is bound by, or who waits for whom in it; None where no text tells a time."""
    times = heard.times
    if any(one.form in _BEFORE_START for one in heard.failed) and not any(each.steps for _label, each in times):
        # Beside what kept a task from starting, its exit status is no cause.
        times = [(label, replace(each, ends=tuple(end for end in each.ends if not end.bare))) for label, each in times]
    found = slow.answer(times, heard.settings)
    logs = [texts["nccl_log"] for texts in _of_one_job(heard.texts).values() if "nccl_log" in texts]
    if found is None or found.kind != COMMUNICATION_BOUND or not logs:
        return found
    # NCCL's own word comes before any advice on how often to communicate.
    read = [names.facts("nccl_log", text) for text in logs]
    if any(error is not None or not _over_tcp(told) for told, error in read):
        return found
    line = "NCCL's log says that its network is Socket, which is TCP: where hosts have HCAs, that is the cause."
    change = "Have NCCL use RDMA: NCCL_DEBUG=INFO tells why it took no HCA, `ibready verify` what a host lacks"
    return replace(found, because=(line, *found.because), changes=(change, *found.changes))


def _over_tcp(told: Mapping[str, Any]) -> bool:
    hosts = {rank["host"] for rank in told["ranks"] if rank["host"]}
    return told["network"] == "Socket" and not told["network_mixed"] and len(hosts) > 1


def judged(heard: Heard, expect: Expectations) -> list[Host]:
    """Every host, those of which something is wrong first."""
    heard = replace(heard, texts=_of_one_job(heard.texts))
    hosts = [_host(name, texts, expect, _beside(name, heard.texts)) for name, texts in heard.texts.items()]
    hosts += [_host(name, texts, expect, []) for host in hosts for name, texts in _alone(host, heard, expect)]
    return sorted(hosts, key=lambda host: not (host.bad or host.told))


def _of_one_job(every: Mapping[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """The texts with NCCL's logs in one that tell of different ranks of as many: each process wrote its own."""
    found = {name: dict(texts) for name, texts in every.items()}
    logs = [name for name, texts in found.items() if "nccl_log" in texts]
    jobs: dict[int, tuple[str, set[int], set[str]]] = {}
    for name in logs if len(logs) > 1 else ():
        ranks = names.facts("nccl_log", found[name]["nccl_log"])[0]["ranks"]
        numbers = {rank["rank"] for rank in ranks}
        sizes = {rank["nranks"] for rank in ranks}
        size = sizes.pop() if len(sizes) == 1 else None
        if size is None or None in numbers or len(numbers) == size:
            continue
        ids = set(_JOB.findall(found[name]["nccl_log"]))
        first, others, known = jobs.setdefault(size, (name, set(), set()))
        if first != name:
            if numbers & others or (ids and known and not ids & known):
                continue
            found[first]["nccl_log"] += "\n" + found[name].pop("nccl_log")
        others |= numbers
        known |= ids
    return {name: texts for name, texts in found.items() if texts}


def _alone(host: Host, heard: Heard, expect: Expectations) -> Iterable[tuple[str, dict[str, str]]]:
    """A fault that a text tells by itself does not vanish beside another text of its host, which is of another time.

    A job's log is judged by what its host has, and by nothing else.
    """
    found = {check.id for check in host.checks if check.result == model.FAIL}
    for tool in host.read if len(host.read) > 1 else ():
        text = heard.texts[host.name][tool]
        if tool not in (*OF_JOBS, "nccl_log"):
            checks = verify(evidence({tool: text}), expect, AREAS).checks
            alone = {check.id for check in checks if check.result == model.FAIL}
            if alone and not alone & found:
                yield f"{host.name or 'the host'} ({tool} alone)", {tool: text}


def verdict(hosts: Sequence[Host], heard: Heard, of: Job | None = None) -> str:
    """By what is wrong; unknown where a text was not read, or says too little for any check. ``of``: the job."""
    failing = [check for host in hosts for check in host.checks if check.result == model.FAIL]
    if failing and not heard.failed:
        return model.verdict(failing)
    if heard.failed or any(host.told for host in hosts) or (of is not None and of.stuck):
        return model.NOT_READY
    if of is not None and of.late:
        return model.DEGRADED
    known = of is not None and of.known
    looked = (hosts or known) and all(_looked(host, known) for host in hosts)
    return model.READY if looked and not heard.unread and not heard.doubts else model.UNKNOWN


def _looked(host: Host, known: bool) -> bool:
    """Whether all of its texts told something; those of a job do where it is known what the job is bound by."""
    job = known and all(tool in OF_JOBS for tool in host.read)
    return (job or host.passed > 0) and not host.open and not host.partly


def _beside(name: str, every: Mapping[str, Mapping[str, str]]) -> list[Pasted]:
    """What was given of the other hosts that this one's log of a job names."""
    log = every[name].get("nccl_log")
    if log is None or len(every) == 1:
        return []
    ranks = names.facts("nccl_log", log)[0]["ranks"]
    named = {rank["host"].partition(".")[0] for rank in ranks if rank["host"]}
    return [
        Pasted(texts, other) for other, texts in every.items() if other != name and other.partition(".")[0] in named
    ]


def _of_settings(texts: Mapping[str, str]) -> Iterable[Check]:
    """What the settings do to a job, whatever its hosts have."""
    read = nccl_settings.parse(texts["nccl_settings"]).settings if "nccl_settings" in texts else ()
    return check_harm.of_nobody({one.name: one.value for one in read})


def _as_pasted(check: Check) -> Check:
    """The check of settings that stood in no file."""
    return replace(check, subject=re.sub(rf"^{SYSTEM_FILE}", "the settings", check.subject))


def _claimed(check: Check) -> Check:
    """The catalog's causes are all that it knows: which of them it is, no text says."""
    known = CATALOG[check.id].causes
    if check.result != model.FAIL or check.cause != known[0]:
        return check
    return replace(check, cause=f"{UNSAID}{'; '.join(known)}")


def _host(name: str, texts: dict[str, str], expect: Expectations, beside: Sequence[Pasted]) -> Host:
    found = verify(evidence(texts, name, beside), expect, AREAS).checks
    checks = (*(_as_pasted(_claimed(check)) for check in found), *_of_settings(texts))
    bad = folded(model.trouble([check for check in checks if check.result == model.FAIL]))
    open_ = tuple(_open(checks, texts))
    read = {tool: names.read(tool, text) for tool, text in texts.items()}
    return Host(
        name,
        tuple(texts),
        checks,
        tuple(bad),
        open_,
        _ask(checks, open_, texts),
        tuple(f"{tool}: {printable(wrong, _LONGEST_TOLD)}" for tool, of in read.items() for wrong in of.wrong),
        (*(line for tool, of in read.items() for line in _says(tool, of)), *_passed_over(checks)),
        (*(part for tool, of in read.items() for part in partly(tool, of.facts)), *_mute(texts)),
    )


def _says(tool: str, of: names.Read) -> Iterable[str]:
    line = "" if of.error else said(tool, of.facts) or (slow.said(of.times) if of.times is not None else "")
    if line:
        yield f"{tool}: {line}"


def _passed_over(checks: Iterable[Check]) -> Iterable[str]:
    """What a check saw and lets pass, because the host has nothing better."""
    return (
        f"{check.subject}: {check.observed}; {check.cause}"
        for check in checks
        if check.result == model.SKIP and check.observed
    )


def _mute(texts: Mapping[str, str]) -> Iterable[str]:
    """Logs beside other texts of which no check goes by a line: of what they are about nothing is known."""
    for tool in texts if len(texts) > 1 else ():
        if tool.endswith("_log") and tool not in OF_JOBS and not gone_by(tool, texts[tool])[0]:
            yield f"the text of {tool} says too little for any check"


def _open(checks: Iterable[Check], texts: dict[str, str]) -> Iterable[Check]:
    """What cannot be told though all that the check goes by was given."""
    for check in checks:
        needed = CATALOG[check.id].looks_at
        given = needed and all(any(one in texts for one in item.split("|")) for item in needed)
        if given and check.result == model.UNKNOWN and not any(words in check.cause for words in (NOT_GIVEN, _NOBODY)):
            yield replace(check, remedy=_whole(needed, texts)) if check.remedy == model.LOOK_AGAIN else check


def _whole(needed: Iterable[str], texts: Mapping[str, str]) -> str:
    """What would tell where a text was given that does not."""
    given = dict.fromkeys(one for item in needed for one in item.split("|") if one in texts)
    return "; ".join(
        "give the job's log from its first line, of every rank, with NCCL_DEBUG=INFO"
        if tool == "nccl_log"
        else f"give all that `{' '.join(COMMANDS[tool].argv) if tool in COMMANDS else tool}` prints"
        for tool in given
    )


def _ask(checks: Sequence[Check], unsure: Iterable[Check], texts: dict[str, str]) -> tuple[str, ...]:
    """What the checks ask for that fail or cannot tell; then the commands without which most checks could not
    look, of the areas that something is wrong in."""
    troubled = [*(check for check in checks if check.result == model.FAIL), *unsure]
    typed = dict.fromkeys(words for check in troubled for words in CATALOG[check.id].ask if words not in texts)
    wrong = {_area(check) for check in checks if check.result == model.FAIL}
    areas = wrong or {_area(check) for check in checks if check.result == model.PASS}
    found: Counter[str] = Counter()
    for check in checks:
        if check.result != model.UNKNOWN or (areas and _area(check) not in areas):
            continue
        for item in CATALOG[check.id].looks_at:
            sources = item.split("|")
            tools = [one for one in sources if one in COMMANDS and one in names.NAMES]
            if tools and not set(sources) & set(texts):
                found[tools[0]] += 1
    for name, _count in found.most_common(_NEXT):
        typed.setdefault(" ".join(COMMANDS[name].argv))
    return tuple(typed)[:_NEXT]


def _area(check: Check) -> str:
    return check.id.partition(".")[0]
