# SPDX-License-Identifier: GPL-3.0-or-later
"""What a job left of its times: judged once, in the words of `ibready why`, and laid at the doors of its hosts."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...module_utils._expect import waivers as _waivers
from ...module_utils._expect.expectations import CAPABILITY
from ...module_utils._ground.bound import Bound
from ...module_utils._ground.check import Check, failed, passed, unknown
from ...module_utils._ground.text import few
from ...module_utils._slow.kinds import COMPUTATION, STRAGGLER
from ...module_utils._verify import why
from ...module_utils._verify.slow import Job
from .._hosts.hosts import Host
from .finding import JOB
from .job_log import named

_BOUND = "nccl.job.bound"
_SUBJECT = "steps of the job"
_EXPECTED = "steps of computation, for which nobody waits"
# Of a trace; what is longer is no text of a job's.
_LONGEST: Bound = 512 * 2**20
_SHOWN = 3
_AGAIN = "ask again some seconds later (docs/slow.md): only ranks that stay where they are hang"


class TimesError(ValueError):
    """A text that was named cannot be read; the message says which, and the next step."""


def read(paths: Sequence[str]) -> why.Heard:
    """All of the texts; raises TimesError."""
    heard = why.Heard()
    for path in paths:
        try:
            if Path(path).stat().st_size > _LONGEST:
                raise TimesError(f"diagnose_times: {path} is larger than {_LONGEST >> 20} MB; next: give a part of it")
            data = Path(path).read_bytes()
        except OSError as exc:
            raise TimesError(
                f"diagnose_times: {path} cannot be read: {exc.strerror}; next: put what the job left there, "
                "or leave it out"
            ) from exc
        heard.give(path, data)
    return heard


def judge(heard: why.Heard, hosts: Sequence[Host], today: datetime.date) -> dict[str, list[Check]]:
    """The check of each host that the others wait for; else one of the job itself."""
    check, shown = _check(why.job(heard), heard)
    names = [name for name in (named(entry, hosts) for entry in shown) if name]
    waivers = {host.name: host.waivers for host in hosts}
    return {name: _waivers.apply([check], waivers.get(name, ()), name, today) for name in names or [JOB]}


def _check(job: Job | None, heard: why.Heard) -> tuple[Check, tuple[str, ...]]:
    if job is None:
        cause = f"no text tells a time ({few(heard.unread, _SHOWN)})" if heard.unread else "no text tells a time"
        return unknown(_BOUND, _SUBJECT, cause, remedy="docs/slow.md says what to switch on"), ()
    because = "; ".join((*job.stuck, *job.because)[:_SHOWN])
    remedy = "; ".join(job.changes[:1])
    if job.again or (job.stuck and not job.stands):
        return unknown(_BOUND, _SUBJECT, because, remedy=_AGAIN, observed=job.head), ()
    if job.stands:
        observed = f"stands still: {job.head}"
        check = failed(_BOUND, _SUBJECT, observed, _EXPECTED, CAPABILITY, cause=because, remedy=remedy)
        return replace(check, severity="error"), job.hosts
    if not job.known:
        following = "; ".join(job.missing) or "docs/slow.md says what to switch on"
        return unknown(_BOUND, _SUBJECT, job.head, remedy=following), ()
    if job.kind == COMPUTATION and not job.late and heard.unread:
        return unknown(_BOUND, _SUBJECT, f"not all was read: {few(heard.unread, _SHOWN)}", observed=job.head), ()
    if job.kind == COMPUTATION and not job.late:
        return passed(_BOUND, _SUBJECT, job.head, _EXPECTED, CAPABILITY), ()
    kind = STRAGGLER if job.kind == COMPUTATION else job.kind
    observed = f"{kind}: {job.head}"
    shown = job.hosts if kind == STRAGGLER else ()
    return failed(_BOUND, _SUBJECT, observed, _EXPECTED, CAPABILITY, cause=because, remedy=remedy), shown
