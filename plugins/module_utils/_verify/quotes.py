# SPDX-License-Identifier: GPL-3.0-or-later
"""The host's own words behind a finding: lines of what its check looks at, as they were read.

Which sources those are, the catalog says (``looks_at``). Nothing is asked for this: only what was
read anyway is quoted. Where no line can be told to be about the finding, nothing is; nor from where
secrets may be: environments of services, proxies of package managers.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterator, Sequence

from .._evidence.excerpt import Text, excerpt, printable
from .._evidence.sources import COMMANDS, Cached, Output
from .._ground.catalog import entry
from .._ground.check import FAIL, UNKNOWN, Check

# What may be quoted, and nothing else: none of it holds a service's environment, or an address with
# a login, as what systemd tells of units and the files of package managers do.
_OPEN_FILES = (
    *("/sys/", "/proc/sys/", "/proc/driver/", "/proc/fs/beegfs/", "/proc/cmdline"),
    *("/lib/modules/", "/var/lib/dpkg/status", "/var/log/fabricmanager.log"),
    *("/etc/nccl.conf", "/etc/nvidia-imex/", "/etc/pam.d/", "/etc/ssh/sshd_config"),
)
_OPEN_COMMANDS = {
    *("dcb", "dmesg", "ibhosts", "iblinkinfo", "ibnetdiscover", "ibqueryerrors", "ibstat"),
    *("ibstatus", "ibv_devinfo", "ip_addr", "lsmod", "mlnx_qos", "mlxlink", "perfquery"),
    *("mstconfig", "mstreg", "spcx_cc"),
    *("rdma_link", "sminfo", "fabricmanager_status", "nvlink_caps", "nvlink_errors"),
    *("nvlink_status", "nvsmi_q", "nvsmi_xml", "topo", "ofed_info", "ompi_info", "rpm_qa"),
    *("timedatectl_show", "ucx_info"),
}
# A report holds those of every host.
_QUOTES = 2
# Files that five checks or more look at: they lead only to what a check is about.
SCAFFOLD = (
    "/sys/bus/pci/devices",
    "/sys/bus/pci/devices/*/class",
    "/sys/bus/pci/devices/*/config",
    "/sys/bus/pci/devices/*/device",
    "/sys/bus/pci/devices/*/vendor",
    "/sys/class/infiniband",
    "/sys/class/infiniband/*/ports",
    "/sys/class/infiniband/*/ports/*/link_layer",
)


class _Told:
    """What was told, by the evidence name or the path that was asked for; ``later``: second looks."""

    def __init__(self, seen: Cached) -> None:
        self.by_name: dict[str, list[tuple[list[str], object]]] = {}
        self.later: list[tuple[_Told, float]] = []
        for (kind, *rest), answer in seen.answers():
            if kind == "again" and isinstance(answer, tuple):
                self.later.append((_Told(answer[0]), answer[1]))
            elif kind in ("run", "read", "link"):
                self.by_name.setdefault(rest[0], []).append((rest[1:], answer))


def quoted(checks: Sequence[Check], seen: Cached) -> list[Check]:
    """The same checks; findings without evidence of their own with that of `seen`."""
    bare = [check.result in (FAIL, UNKNOWN) and not check.evidence for check in checks]
    if not any(bare):
        # All that was told is sorted for a finding alone: of a healthy host that is a fifth of the whole look.
        return list(checks)
    told = _Told(seen)
    texts: dict[str, list[Text]] = {}
    return [
        replace(check, evidence=_quotes(check, told, texts)) if mine else check for check, mine in zip(checks, bare)
    ]


def _quotes(check: Check, told: _Told, texts: dict[str, list[Text]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for source in _sources(check.id):
        if source not in texts:
            texts[source] = list(_texts(source, told))
        for text in texts[source]:
            lines = excerpt(text, check) if len(found) < _QUOTES else ""
            if lines:
                found.setdefault(text.name, lines)
    return found


def _sources(check_id: str) -> Iterator[str]:
    """What a check looks at, the most special first: it stands last, after what leads there."""
    for item in reversed(entry(check_id).looks_at):
        is_file = item.startswith("/") and "|" not in item
        if not is_file or item not in SCAFFOLD:
            yield from filter(_is_open, item.split("|"))


def _is_open(source: str) -> bool:
    if source.startswith("/"):
        return source.startswith(_OPEN_FILES)
    return source in _OPEN_COMMANDS


def _texts(source: str, told: _Told) -> Iterator[Text]:
    """What was told by a command of this evidence name, or by the files of this pattern."""
    for name, things in _named(source, told):
        for words, answer in told.by_name.get(name, ()):
            if source.startswith("/"):
                yield Text(printable(name), things, str(answer))
            elif isinstance(answer, Output):
                things = tuple(word for word in words if not word.startswith("-"))
                line = printable(" ".join(["$", *COMMANDS[source].argv, *words]))
                yield Text(line, things, _said(answer), answer.rc != 0)
    for later, seconds in told.later:
        for text in _texts(source, later):
            yield text._replace(name=f"{text.name} ({seconds:.0f} s later)")


def _named(source: str, told: _Told) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What was asked for that is meant, with what stands for each ``*``."""
    if "*" not in source:
        yield source, ()
        return
    pattern = re.compile("([^/]+)".join(map(re.escape, source.split("*"))))
    begin = source.partition("*")[0]
    for name in told.by_name:
        match = pattern.fullmatch(name) if name.startswith(begin) else None
        if match:
            yield name, match.groups()


def _said(output: Output) -> str:
    return output.stdout if output.stdout.strip() else output.stderr
