# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring a host to what is planned of RoCE, by files for each boot too, and back where a value is not taken."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Callable, Mapping, Sequence

from ..._data import roce_files as data
from ..._ground import fileset, host_program, source, state, whole
from ..._ground.command import Unavailable
from ..._ground.fileset import Files
from ..._ground.host_program import HostError, Setting
from ..ipoib.desired import IpoibError
from . import mtu, program
from .desired import Plan
from .program import Host, Wanted, unwanted

_SUBJECT = "roce"
_UNIT_TEXT = """\
# Written by ibready.cluster.roce_settings. The next run undoes changes made by hand.
[Unit]
Description=RoCE settings that every boot resets (ibready, for %I)
After=systemd-modules-load.service sys-kernel-config.mount network.target openibd.service
Before=remote-fs-pre.target
ConditionVirtualization=!container

[Service]
Type=oneshot
ExecStart={python} {program} apply

[Install]
DefaultInstance=boot
WantedBy=multi-user.target
"""
_RULE_TEXT = """\
# Written by ibready.cluster.roce_settings. The next run undoes changes made by hand.
# A device that comes late, or again (openibd), has lost its settings.
ACTION=="add", SUBSYSTEM=="infiniband", TAG+="systemd", \\
  ENV{SYSTEMD_WANTS}+="ibready-roce@%k.service"
"""
_NOT_TAKEN = (HostError, IpoibError, Unavailable, OSError)


def files(wanted: Sequence[Wanted], mtus: Mapping[str, int], root: str) -> Files:
    """The files that are not as they should be."""
    texts = {
        program.CONFIG: program.render(list(wanted)),
        data.PROGRAM: source.joined(whole, host_program, program),
        data.UNIT: _UNIT_TEXT.format(python=sys.executable, program=data.PROGRAM),
        data.WANTED: data.UNIT,
        data.RULE: _RULE_TEXT,
    }
    texts = texts if wanted else dict.fromkeys(texts, "")
    return fileset.look({**texts, **dict.fromkeys(mtu.ours(root), ""), **mtu.files(mtus, root)}, root)


def is_mtu(path: str) -> bool:
    """Whether it is a file of the network service."""
    return path.startswith((data.NETWORKD_FOLDER, os.path.dirname(data.MANAGER_FILE)))


def _mtus_before(root: str) -> dict[str, list[int]]:
    """By interface, the MTU before ours and ours."""
    known = state.load(_SUBJECT, root).get("mtu", {})
    return known if isinstance(known, dict) else {}


def _remember(mtus: Mapping[str, Sequence[int]], root: str) -> None:
    """Keep these, for good."""
    known = {name: list(pair) for name, pair in mtus.items()}
    state.save(_SUBJECT, {"mtu": known} if known else {}, root)


@dataclass(frozen=True)
class Work:
    """Everything that is to change. ``back``: what goes back to what it was before."""

    wrong: list[Setting]
    back: list[Setting]
    mtus: list[mtu.Change]
    files: Files

    @property
    def anything(self) -> bool:
        return bool(self.wrong or self.back or self.mtus or self.files)


def given_back(plan: Plan, root: str) -> list[mtu.Change]:
    """The interfaces that are no longer asked for, and still have our MTU."""
    found = []
    for netdev, (before, after) in _mtus_before(root).items():
        if netdev in plan.mtus or not os.path.isdir(state.below(root, f"/sys/class/net/{netdev}")):
            continue
        late = mtu.look({netdev: before})
        found += [change for change in late if change.before == after]
    return found


def bring(host: Host, plan: Plan, work: Work, root: str, tell: Callable[[], None]) -> list[Setting]:
    """Set all, and tell what each value was. HostError where one is not taken: what was set in this
    run is put back then. ``tell``: has the services read the files that were written."""
    done: list[Setting] = []
    moved: list[mtu.Change] = []
    earlier = _mtus_before(root)
    try:
        for setting in work.wrong:
            done += host.apply([setting])
        known = _mtus_before(root)
        for change in work.mtus:
            known.setdefault(change.netdev, [change.before, change.after])[1] = change.after
            _remember(known, root)
            moved.append(change)
            mtu.set_now(change)
        # Only now: what the host does not take must not be tried at each boot.
        fileset.write(work.files, root)
        tell()
    except _NOT_TAKEN as exc:
        undone = _undone(host, done, moved, work.files, earlier, root)
        raise HostError(f"{exc}. {undone}") from exc
    host.restore(unwanted(plan.wanted))
    kept = {name: pair for name, pair in _mtus_before(root).items() if name in plan.mtus}
    _remember(kept, root)
    return done


def _undone(
    host: Host,
    done: list[Setting],
    moved: list[mtu.Change],
    files: Files,
    earlier: dict[str, list[int]],
    root: str,
) -> str:
    try:
        fileset.put_back(files, root)
        for change in moved:
            mtu.set_now(mtu.Change(change.netdev, change.after, change.before))
        _remember(earlier, root)
        host.undo(done)
    except _NOT_TAKEN as exc:
        return f"What was set before in this run could not be put back: {exc}"
    return "What was set before in this run is put back"
