# SPDX-License-Identifier: GPL-3.0-or-later
"""What the log of the smoke job proves: right sums, and over what the hosts spoke; no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from ansible_collections.ibready.cluster.plugins.module_utils._parse.mpi_log import (
    MpiLog,
    Transport,
)
from ansible_collections.ibready.cluster.plugins.module_utils._smoke.fallback import Fallback

PASS, FAIL, UNKNOWN = "pass", "fail", "unknown"
TCP = frozenset(("tcp",))
# UCX's names, and that of Open MPI's own verbs transport before release 5.
RDMA = frozenset(
    (
        *("rc", "rc_x", "rc_v", "rc_verbs", "rc_mlx5", "dc", "dc_x", "dc_mlx5"),
        *("ud", "ud_x", "ud_v", "ud_verbs", "ud_mlx5", "srd", "openib"),
    )
)


@dataclass(frozen=True)
class Verdict:
    """``result``: PASS, FAIL or UNKNOWN, with ``why`` in a sentence. ``transports``: in words, what
    hosts spoke to each other by; empty where the log does not tell. ``cause``: the id of what keeps
    the job from RDMA (_smoke/fallback), "" where that is not known."""

    result: str
    why: str
    transports: tuple[str, ...] = ()
    cause: str = ""


def judge(
    log: MpiLog,
    ranks: int,
    hosts: int,
    *,
    rails: bool,
    rails_why: str = "",
    simulated: str = "",
    fallback: Fallback | None = None,
) -> Verdict:
    """``ranks``, ``hosts``: how many there had to be. ``rails``: whether RDMA is expected of every
    host, and ``rails_why``: why that is not known; of simulated HCAs it is not, for no data goes
    through them. ``fallback``: why RDMA was not taken, if it was not."""
    told = _in_words(log.between)
    wrong = _wrong(log, ranks, hosts)
    if wrong:
        return Verdict(FAIL, wrong, told)
    if not log.between:
        why = "every sum is right, and the log does not tell over what the hosts spoke"
        return Verdict(UNKNOWN, why)
    strange = [one for one in log.between if one.name not in TCP | RDMA]
    slow = [one for one in log.between if one.name in TCP]
    if rails and not simulated:
        if slow:
            who = ", ".join(sorted({one.host for one in slow}))
            why = f"RDMA is expected, and {who} fell back to TCP"
            if fallback is not None:
                why += f": {fallback.cause}; next: {fallback.remedy}"
                return Verdict(FAIL, why, told, fallback.id)
            why += "; next: `ucx_info -d` there, as the same user, shows why UCX finds no RDMA"
            return Verdict(FAIL, f"{why} transport", told)
        if strange:
            names = ", ".join(sorted({one.name for one in strange}))
            why = f"RDMA is expected, and whether {names} is RDMA is not known"
            return Verdict(UNKNOWN, why, told)
    silent = _silent(log)
    if silent:
        why = f"every sum is right, and the log does not tell over what {', '.join(silent)} spoke"
        return Verdict(UNKNOWN, why, told)
    if rails_why and (slow or strange) and not simulated:
        why = f"whether RDMA is expected is unknown ({rails_why}), and the hosts spoke"
        return Verdict(UNKNOWN, f"{why} {'; '.join(told)}", told)
    why = f"{ranks} processes on {hosts} hosts, every sum is right, over {'; '.join(told)}"
    if slow and (rails or rails_why):
        why += f"; TCP is all there is: no data goes through simulated HCAs ({simulated})"
    elif slow:
        why += "; RDMA is not expected: not every host has a rail"
    return Verdict(PASS, why, told)


def _wrong(log: MpiLog, ranks: int, hosts: int) -> str:
    """What is wrong with the processes themselves; "" where nothing is."""
    bad = [one for one in log.ranks if not one.right]
    if bad:
        said = bad[0].said or "no more is told"
        return f"rank {bad[0].rank} on {bad[0].host} has a wrong sum: {said}"
    silent = sorted(set(range(ranks)) - {one.rank for one in log.ranks})
    if silent:
        return f"rank {', '.join(map(str, silent[:8]))} did not say that its sum is right"
    sizes = sorted({one.size for one in log.ranks})
    if sizes != [ranks]:
        return f"the processes were {' or '.join(map(str, sizes))} and not {ranks}"
    seen = {one.host for one in log.ranks}
    return "" if len(seen) == hosts else f"they ran on {len(seen)} hosts and not on {hosts}"


def _silent(log: MpiLog) -> list[str]:
    """The hosts whose processes told nothing of the way to others; Open MPI may cut a name at its
    first dot."""
    told = {one.host.partition(".")[0] for one in log.between}
    return sorted({one.host for one in log.ranks if one.host.partition(".")[0] not in told})


def _in_words(between: Iterable[Transport]) -> tuple[str, ...]:
    """``tcp (eth0) by ucx``, each once."""
    return tuple(
        dict.fromkeys(
            f"{one.name}{f' ({one.device})' if one.device else ''} by {one.layer}"
            for one in between
        )
    )
