# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that the agent tells Prometheus: the verdict, what it cost, and the host's traffic."""

from __future__ import annotations

import os
from collections import Counter

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._agent import textfile, traffic
from ansible_collections.ibready.cluster.plugins.module_utils._agent.look import Look
from ansible_collections.ibready.cluster.plugins.module_utils._agent.textfile import Family
from ansible_collections.ibready.cluster.plugins.module_utils._checks import _model
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._version import VERSION

FILE = "ibready.prom"
_VERDICTS = (_model.READY, _model.DEGRADED, _model.NOT_READY, _model.UNKNOWN_VERDICT)


def of_look(seen: Look) -> list[Family]:
    """The verdict and its checks, when it was given and what it cost."""
    info = Family("ibready_agent_info", "The agent that wrote this file.")
    info.add(1, version=VERSION, **({"simulated": seen.simulated} if seen.simulated else {}))
    verdict = Family("ibready_verdict", "1 for the verdict of the last look.")
    for one in _VERDICTS:
        verdict.add(int(one == seen.verdict), verdict=one)
    checks = Family("ibready_checks", "How many checks of an area ended how; waived ones apart.")
    counts = Counter(
        (one.id.split(".")[0], "waived" if one.waived else one.result) for one in seen.checks
    )
    for (area, result), count in sorted(counts.items()):
        checks.add(count, area=area, result=result)
    trouble = Family("ibready_trouble", "A check that failed, or that could not be looked at.")
    for key in sorted({(one.id, one.subject, one.result, one.severity) for one in seen.trouble}):
        trouble.add(1, **dict(zip(("check", "subject", "result", "severity"), key)))
    found = [info, verdict, checks, trouble]
    for name, words, value in (
        ("timestamp_seconds", "When the last look ended, in seconds since 1970.", seen.looked_at),
        ("duration_seconds", "How long the last look took.", seen.seconds),
        ("cpu_seconds", "CPU time of the last look, with the tools it ran.", seen.cpu_seconds),
        ("peak_memory_bytes", "The most memory that a process of it had.", seen.peak_bytes),
    ):
        found.append(Family(f"ibready_look_{name}", words))
        found[-1].add(value)
    return found


def write(directory: str, seen: Look, evidence: Evidence) -> list[str]:
    """Write the file at once; why some sources are missing. Raises OSError, FormatError."""
    if not os.path.isdir(directory):
        raise NotADirectoryError(f"{directory}: no such directory")
    place = os.path.join(directory, FILE)
    if seen.why:
        # What kept it from looking may hang this as well, and the last verdict would stand on.
        _state.write(place, textfile.render(of_look(seen)), 0o644)
    carried, why = traffic.families(evidence)
    _state.write(place, textfile.render([*of_look(seen), *carried]), 0o644)
    return why
