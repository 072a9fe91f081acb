# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge who told of the HCAs: ibstat and the other sources, and whether they agree."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Cause, Check, failed, passed, skipped, unknown
from ..._ground.text import few
from ..._parse.ibstat import Ca, Port
from ..._rails.ib import Sorted, nobody_counts
from ..._rails.ib_ports import IBSTAT, IbFacts, is_infiniband, layer, port_name
from .check_port import set_key

# What a tool says that looked for a device and found none; anything else may have other reasons.
_NOT_THERE = ("No such file or directory", "No such device", "can't be found")
_NO_HARDWARE = "no HCA is on the PCI bus, and nobody says whether one should be"
_SHOWN = 6
_VERBS = "ibv_devinfo"
# What libibverbs says where the kernel has devices, and it has no provider for them.
_NO_PROVIDER = ("no userspace device-specific driver", "couldn't open config directory")
_SILENT = "ibstat fails without a word, or its library (libibumad) is of another RDMA stack than the kernel's modules"


def judge_tool(facts: IbFacts, expect: Expectations) -> Iterator[Check]:
    """Whether ibstat could be used, and whether it came to its end."""
    if _no_hardware(facts, expect):
        yield skipped("ib.tool.ibstat", "ibstat", _NO_HARDWARE)
        return
    facts = _without_unlisted(facts)
    if _nothing_to_list(facts):
        yield skipped("ib.tool.ibstat", "ibstat", _why_unlisted(facts))
        return
    if facts.ibstat_unknown:
        more = f"; the ports are judged by {facts.source}" if facts.cas else ""
        yield unknown("ib.tool.ibstat", "ibstat", facts.ibstat_unknown + more)
        return
    why = "" if facts.error_lines else _why_cut(facts)
    if why:
        yield unknown("ib.tool.ibstat", "ibstat", why)
        yield unknown("ib.tool.complete", "ibstat", why)
        return
    if not facts.error_lines:
        yield passed("ib.tool.ibstat", "ibstat", "understood")
        yield passed("ib.tool.complete", "ibstat", "came to its end")
        return
    last = facts.error_lines[-1]
    if not facts.cas:
        yield _no_device(last)
        return
    if facts.source == IBSTAT:
        yield passed("ib.tool.ibstat", "ibstat", "understood")
    else:
        why = f"it told of no device (ib.tool.complete); {facts.source} does"
        yield skipped("ib.tool.ibstat", "ibstat", why)
    seen = f"{len(facts.cas) - len(facts.filled)} devices, then: {last}"
    if facts.source != IBSTAT:
        seen = f"no device: {last}"
    rest = ""
    if facts.filled:
        rest = f"{', '.join(facts.filled)} could not be told by ibstat; the kernel's files tell"
    yield failed("ib.tool.complete", "ibstat", seen, "every device", CAPABILITY, cause=rest)


def _without_unlisted(facts: IbFacts) -> IbFacts:
    """What ibstat can be held against: all but the devices that it never lists."""

    def left(cas: tuple[Ca, ...]) -> tuple[Ca, ...]:
        return tuple(ca for ca in cas if ca.name not in facts.unlisted)

    told = {source: left(cas) for source, cas in facts.told.items()}
    return replace(facts, cas=left(facts.cas), sysfs=left(facts.sysfs), told=told)


def _nothing_to_list(facts: IbFacts) -> bool:
    """ibstat printed nothing, and rightly so."""
    why = facts.ibstat_unknown or facts.error_lines or facts.strange or facts.partial
    return bool(facts.unlisted) and not why and not facts.cas and not facts.sysfs


def _why_unlisted(facts: IbFacts) -> str:
    return f"ibstat lists InfiniBand and RoCE devices alone, and there is only {few(facts.unlisted, _SHOWN)}"


def _why_cut(facts: IbFacts) -> str:
    """What shows that the output is not all that ibstat had to say, "" where nothing does."""
    if facts.strange:
        return facts.strange
    if facts.partial:
        shown = ", ".join(facts.partial[:_SHOWN])
        return f"lines of {shown} are missing: the output was cut"
    reported = {ca.name for ca in _own(facts)}
    lost = [ca.name for ca in facts.sysfs if ca.name not in reported]
    if facts.cas and lost:
        return f"it did not tell of {', '.join(lost[:_SHOWN])}, which the kernel lists"
    return ""


def _own(facts: IbFacts) -> tuple[Ca, ...]:
    """The devices that ibstat told itself, and whole."""
    return tuple(ca for ca in facts.cas if ca.name not in facts.filled)


def _no_device(last: str) -> Check:
    if any(word in last for word in _NOT_THERE):
        return failed(
            "ib.tool.ibstat",
            "ibstat",
            last,
            "a list of devices",
            CAPABILITY,
            cause="ibstat found no device that it can use: it is not there, or its driver has no "
            "management device (ib_umad)",
        )
    return unknown("ib.tool.ibstat", "ibstat", f"ibstat stopped with: {last}", observed="0 devices before that")


def judge_presence(facts: IbFacts, expect: Expectations) -> Check:
    """Whether the host has an RDMA device at all."""
    expected = "at least 1 device"
    if facts.cas:
        names = ", ".join(ca.name for ca in facts.cas)
        by = "" if facts.source == IBSTAT else f" (by {facts.source})"
        return passed("ib.hca.present", "host", names + by, expected, CAPABILITY)
    if _no_hardware(facts, expect):
        return unknown("ib.hca.present", "host", _NO_HARDWARE, remedy=set_key("hcas"))
    if facts.ibstat_unknown or facts.error_lines:
        if facts.absent:
            return failed("ib.hca.present", "host", facts.absent[0], expected, CAPABILITY, cause=_why_absent(facts))
        why = facts.ibstat_unknown or f"ibstat stopped with: {facts.error_lines[-1]}"
        return unknown("ib.hca.present", "host", "; ".join(facts.garbled) or why)
    kernel = ", ".join(ca.name for ca in facts.sysfs)
    if kernel:
        cause = f"the kernel knows {kernel}, so ibstat cannot read them"
    elif facts.sysfs_unknown:
        cause = f"no RDMA driver is bound to any device ({facts.sysfs_unknown})"
    else:
        cause = _why_absent(facts)
    return failed(
        "ib.hca.present",
        "host",
        "ibstat printed nothing and ended with status 0",
        expected,
        CAPABILITY,
        cause=cause,
    )


def _why_absent(facts: IbFacts) -> str:
    """What libibverbs or the PCI bus says of it, "" where neither does."""
    if any(words in line for line in facts.absent for words in _NO_PROVIDER):
        return Cause(
            "libibverbs has no provider in this root for the kernel's devices: it is missing, or another release",
            "install ibverbs-providers (or the rdma-core of the host's OFED) in this root",
        )
    if facts.bus.value:
        found = ", ".join(facts.bus.value[:_SHOWN])
        return f"{found} on the PCI bus, but no RDMA driver has taken it over"
    if facts.bus.value is not None:
        return "there is no HCA on the PCI bus: not seated, broken, or off in the BIOS"
    if any("not implemented" in line or "NETLINK_RDMA" in line for line in facts.absent):
        return "the kernel's RDMA modules are not loaded (ib_core, ib_uverbs)"
    return ""


def _no_hardware(facts: IbFacts, expect: Expectations) -> bool:
    """Whether the host has no HCA, and nobody says that it should."""
    empty = facts.bus.value == () or (facts.bus.value is None and facts.bus.missing)
    return empty and not facts.cas and not facts.sysfs and nobody_counts(expect)


def judge_agreement(facts: IbFacts, ports: Sorted) -> Check:
    """Whether sysfs, and any other source that is there, says what ibstat says."""
    facts = _without_unlisted(facts)
    if _nothing_to_list(facts):
        return skipped("ib.sources.agree", "host", _why_unlisted(facts))
    if facts.silent:
        listed = ", ".join(ca.name for ca in facts.sysfs[:_SHOWN])
        observed = f"ibstat lists no device, sysfs lists {listed}"
        return failed("ib.sources.agree", "host", observed, "the same", CAPABILITY, cause=_SILENT)
    if facts.source != IBSTAT:
        why = f"nothing is compared with {facts.source}: {facts.ibstat_unknown or 'no ibstat'}"
        return unknown("ib.sources.agree", "host", why)
    if facts.sysfs_unknown:
        return unknown("ib.sources.agree", "host", facts.sysfs_unknown)
    wrong = list(_kernel_differs(facts))
    for source, cas in facts.told.items():
        wrong += _differences(facts, ports, source, cas)
    wrong += [f"ibstat lists {len(facts.cas)} devices, {line}" for line in facts.absent if not facts.simulated]
    if wrong:
        more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        observed, refused = "; ".join(wrong[:_SHOWN]) + more, _not_by_verbs(facts, ports)
        cause = remedy = ""
        if refused:
            cause = f"libibverbs does not take {', '.join(refused[:_SHOWN])}, so that NCCL does without"
            remedy = (
                f"`ls -l /dev/infiniband`, `ibv_devinfo -d {refused[0]}`; have its device file there and open to "
                "jobs, and libibverbs and its providers of one RDMA stack"
            )
        return failed("ib.sources.agree", "host", observed, "the same", CAPABILITY, cause=cause, remedy=remedy)
    cut = "" if facts.error_lines else _why_cut(facts)
    if cut:
        return unknown("ib.sources.agree", "host", f"ibstat: {cut}")
    if facts.cut:
        return unknown("ib.sources.agree", "host", f"{facts.cut[0]}: the text is cut: lines of it cannot be read")
    silent = _kernel_silent(facts)
    if silent:
        return unknown("ib.sources.agree", "host", f"the kernel's files do not tell of {', '.join(silent[:_SHOWN])}")
    reported = [ca.name for ca in facts.cas] + [port_name(*port) for port in _ports(facts.cas)]
    sources = ", ".join(["ibstat", "sysfs", *facts.told])
    return passed("ib.sources.agree", "host", f"{len(reported)} devices and ports in {sources}", "the same", CAPABILITY)


def _not_by_verbs(facts: IbFacts, ports: Sorted) -> list[str]:
    """The devices of rails that ibv_devinfo does not list, where it lists others."""
    listed = {ca.name for ca in facts.told.get(_VERBS, ())}
    rails = dict.fromkeys(ca.name for ca, _port in ports.rails)
    return [name for name in rails if listed and name not in listed]


def _ports(cas: tuple[Ca, ...]) -> list[tuple[Ca, Port]]:
    return [(ca, port) for ca in cas for port in ca.ports]


def _kernel_differs(facts: IbFacts) -> Iterator[str]:
    """What the kernel's files tell otherwise than ibstat; what they do not tell is the same."""
    told = facts.cas if facts.error_lines else _own(facts)
    partial = set() if facts.error_lines else {name.partition("/")[0] for name in facts.partial}
    kernel = {ca.name: ca for ca in facts.sysfs if ca.name not in partial}
    mine = {ca.name for ca in told} - partial
    yield from (f"{entry}: ibstat lists it, sysfs does not" for entry in sorted(mine - set(kernel)))
    yield from (f"{entry}: sysfs lists it, ibstat does not" for entry in sorted(set(kernel) - mine))
    ours = {port_name(*port): port for port in _ports(told) if port[0].name in mine}
    theirs = {port_name(*port): port for port in _ports(facts.sysfs) if port[0].name in kernel}
    for name in sorted(set(ours) | set(theirs)):
        if name not in theirs:
            device = kernel.get(ours[name][0].name)
            if device is not None and not _closed(device):
                yield f"{name}: ibstat lists it, sysfs does not"
        elif name not in ours:
            if theirs[name][0].name in mine:
                yield f"{name}: sysfs lists it, ibstat does not"
        else:
            for what, reported, said in _compared(ours[name][1], theirs[name][1]):
                if reported != said:
                    yield f"{name} {what}: ibstat {reported}, sysfs {said}"


def _kernel_silent(facts: IbFacts) -> list[str]:
    """Devices whose ports the kernel did not list, and ports whose state it did not tell."""
    reported = {port_name(*port) for port in _ports(facts.cas) if port[1].state}
    silent = {port_name(*port) for port in _ports(facts.sysfs) if not port[1].state}
    return [ca.name for ca in facts.sysfs if _closed(ca)] + sorted(reported & silent)


def _closed(ca: Ca) -> bool:
    return ca.n_ports is None and not ca.ports


def _differences(facts: IbFacts, ports: Sorted, source: str, cas: tuple[Ca, ...]) -> Iterator[str]:
    """What this source tells otherwise than ibstat; what it does not tell is no difference."""
    mine = {port_name(ca, port): port for ca in facts.cas for port in ca.ports}
    theirs = {port_name(ca, port): port for ca in cas for port in ca.ports}
    # A rail that libibverbs does not list is out of NCCL's reach, whatever ibstat says.
    for ca, port in ports.rails:
        if port_name(ca, port) not in theirs and source not in facts.cut:
            yield f"{port_name(ca, port)}: ibstat lists it, {source} does not"
    for name, port in theirs.items():
        if name not in mine:
            if not facts.partial:
                yield f"{name}: {source} lists it, ibstat does not"
            continue
        for what, ours, said in _compared(mine[name], port):
            if ours != said:
                yield f"{name} {what}: ibstat {ours}, {source} {said}"


def _compared(mine: Port, theirs: Port) -> Iterator[tuple[str, object, object]]:
    """The values that both tell."""
    pairs: list[tuple[str, object, object]] = [
        ("state", mine.state, theirs.state),
        ("physical state", mine.physical_state, theirs.physical_state),
        ("link layer", layer(mine), layer(theirs)),
    ]
    if mine.rate is not None and theirs.rate is not None:
        pairs.append(("rate", int(mine.rate), int(theirs.rate)))
    if is_infiniband(mine):
        pairs += [("LID", mine.lid, theirs.lid), ("SM lid", mine.sm_lid, theirs.sm_lid)]
    for what, ours, said in pairs:
        if ours not in ("", None) and said not in ("", None):
            yield what, ours, said
