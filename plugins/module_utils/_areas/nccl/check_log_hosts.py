# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge what the hosts of a job have in common: rails, interfaces, NCCL's release."""

from __future__ import annotations

from ..._data import nccl_log as data
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Check, failed, passed, skipped, unknown
from ..._parse._nccl_facts import NcclLog, Rank
from ..._parse.version_text import numbers
from ..._rails.ib import wanted_hcas
from .check_log_ranks import by, count, names, on_one_host

LOG = "nccl_log"
_HCAS = "nccl.log.hcas"
_BOOTSTRAP = "nccl.log.bootstrap"
_VERSION = "nccl.log.version"
_NOT_OPENED = "ib_device_not_opened"
# From here on NCCL compares the ranks' releases and fails where they differ.
_COMPARES = (2, 23, 4)


def hcas(log: NcclLog, expect: Expectations) -> Check:
    """nccl.log.hcas: of every host in the log."""
    count_of = wanted_hcas(expect)
    if count_of is None:
        shut = [entry for entry in log.failures if entry.code == _NOT_OPENED and not expect.ignores(entry.hca)]
        if shut:
            observed = "; ".join(f"{entry.rank or LOG}: {entry.hca} cannot be opened" for entry in shut)
            first = shut[0]
            return failed(
                _HCAS, LOG, observed, "every HCA in sight", CAPABILITY, cause=first.cause, remedy=first.remedy
            )
        return skipped(_HCAS, LOG, "nobody expects a number of HCAs (ibready_expect.hcas)")
    reported = {host: _names(ranks, expect) for host, ranks in by(log.ranks, _host).items()}
    seen = "; ".join(
        f"{host}: {'not told' if found is None else ', '.join(found) or 'none'}" for host, found in reported.items()
    )
    wanted, exact = count_of
    expected = f"{wanted.value} on every host" if exact else f"at least {wanted.value} on each"
    known = {host: found for host, found in reported.items() if found is not None}
    wrong = {
        host: found
        for host, found in known.items()
        if len(found) < wanted.value or (exact and len(found) > wanted.value)
    }
    if wrong:
        observed = "; ".join(f"{host}: {len(found)} ({', '.join(found) or 'none'})" for host, found in wrong.items())
        return failed(_HCAS, LOG, observed, expected, wanted.source)
    if len(known) < len(reported):
        silent = ", ".join(host for host in reported if host not in known)
        return unknown(_HCAS, LOG, f"no line lists the HCAs of {silent}", observed=seen)
    return passed(_HCAS, LOG, seen, expected, wanted.source)


def _host(rank: Rank) -> str:
    return rank.host or rank.name


def _names(ranks: list[Rank], expect: Expectations) -> list[str] | None:
    """The HCAs that every rank of a host was given; None where a rank's list is not told.

    Processes of a host see the same devices, so one that has fewer has lost some.
    """
    lists = [rank.said.hcas for rank in ranks]
    if not lists or any(entry is None for entry in lists):
        return None
    every = set.intersection(*({hca.name for hca in found or ()} for found in lists))
    return sorted(name for name in every if not expect.ignores(name))


def bootstrap(log: NcclLog) -> Check:
    """nccl.log.bootstrap: of every rank."""
    expected = "an interface that leads to the other hosts"
    lost = [rank for rank in log.ranks if "ifname_not_found" in rank.errors]
    if lost:
        cause = next(entry.cause for entry in data.KNOWN if entry.id == "ifname_not_found")
        return failed(_BOOTSTRAP, LOG, f"none: {names(lost)}", expected, CAPABILITY, cause=cause)
    bad = {rank.name: why for rank in log.ranks if (why := _no_way_out(rank))}
    one_host = on_one_host(log)
    if bad and one_host is None:
        why = "nobody can tell whether other hosts took part"
        return unknown(_BOOTSTRAP, LOG, why, observed=_interfaces(log))
    if bad and not one_host:
        some = [rank for rank in log.ranks if rank.name in bad]
        return failed(_BOOTSTRAP, LOG, f"{', '.join(sorted(set(bad.values())))}: {names(some)}", expected, CAPABILITY)
    silent = [rank for rank in log.ranks if rank.said.bootstrap is None]
    if silent:
        return unknown(_BOOTSTRAP, LOG, f"no line tells the interface of {names(silent)}")
    if one_host:
        return skipped(_BOOTSTRAP, LOG, "all ranks are on one host: any interface will do")
    return passed(_BOOTSTRAP, LOG, _interfaces(log), expected, CAPABILITY)


def _interfaces(log: NcclLog) -> str:
    found = by(log.ranks, lambda entry: entry.said.bootstrap.name if entry.said.bootstrap else "?")
    return "; ".join(f"{name}: {names(some)}" for name, some in found.items())


def _no_way_out(rank: Rank) -> str:
    """What kind of interface it is that other hosts cannot be met on; "" for any other."""
    name = rank.said.bootstrap.name if rank.said.bootstrap else ""
    for begin, kind in data.NO_WAY_OUT:
        if name == begin or (begin != "lo" and name.startswith(begin)):
            return f"{name} ({kind})"
    return ""


def version(log: NcclLog) -> Check:
    """nccl.log.version: of all ranks together."""
    expected = "one release"
    told = set(log.said.versions)
    # A line that another one was printed into may have lost the CUDA that it was built with.
    versions = sorted(text for text in told if not any(other.startswith(f"{text}+") for other in told))
    if len(versions) > 1:
        some = by(log.ranks, lambda entry: entry.said.version)
        reported = (f"{version}: {names(some[version])}" if version in some else version for version in versions)
        return failed(_VERSION, LOG, "; ".join(reported), expected, CAPABILITY)
    if "version_mismatch" in log.errors:
        return failed(_VERSION, LOG, "NCCL found several", expected, CAPABILITY)
    if not versions:
        return unknown(_VERSION, LOG, "no line tells NCCL's release")
    silent = [rank for rank in log.ranks if rank.said.version is None]
    if numbers(versions[0])[:3] >= _COMPARES:
        silent = [entry for entry in silent if not entry.said.complete]
    if silent and len(log.ranks) > 1:
        return unknown(_VERSION, LOG, f"no line tells the release of {names(silent)}")
    return passed(_VERSION, LOG, f"{versions[0]}: {count(log)}", expected, CAPABILITY)
