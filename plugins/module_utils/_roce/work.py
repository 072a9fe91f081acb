# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring a host to what is planned of RoCE, and back where a value is not taken."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Callable

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._command import Unavailable
from ansible_collections.ibready.cluster.plugins.module_utils._ipoib.wish import IpoibError
from ansible_collections.ibready.cluster.plugins.module_utils._roce import keep, mtu
from ansible_collections.ibready.cluster.plugins.module_utils._roce.program import (
    Host,
    RoceError,
    Setting,
)
from ansible_collections.ibready.cluster.plugins.module_utils._roce.wish import Plan

_NOT_TAKEN = (RoceError, IpoibError, Unavailable, OSError)


@dataclass(frozen=True)
class Work:
    """Everything that is to change. ``back``: what goes back to what it was before."""

    wrong: list[Setting]
    back: list[Setting]
    mtus: list[mtu.Change]
    files: keep.Files

    @property
    def anything(self) -> bool:
        return bool(self.wrong or self.back or self.mtus or self.files)


def given_back(plan: Plan, root: str) -> list[mtu.Change]:
    """The interfaces that are no longer asked for, and still have our MTU."""
    found = []
    for netdev, (before, after) in keep.mtus_before(root).items():
        if netdev in plan.mtus or not os.path.isdir(_state.below(root, f"/sys/class/net/{netdev}")):
            continue
        late = mtu.look({netdev: before})
        found += [one for one in late if one.before == after]
    return found


def bring(host: Host, plan: Plan, work: Work, root: str, tell: Callable[[], None]) -> list[Setting]:
    """Set all, and tell what each value was. RoceError where one is not taken: what was set in this
    run is put back then. ``tell``: has the services read the files that were written."""
    done: list[Setting] = []
    moved: list[mtu.Change] = []
    earlier = keep.mtus_before(root)
    try:
        for one in work.wrong:
            done += host.apply([one])
        known = keep.mtus_before(root)
        for change in work.mtus:
            known.setdefault(change.netdev, [change.before, change.after])[1] = change.after
            keep.remember(known, root)
            moved.append(change)
            mtu.set_now(change)
        # Only now: what the host does not take must not be tried at each boot.
        keep.write(work.files, root)
        tell()
    except _NOT_TAKEN as exc:
        undone = _undone(host, done, moved, work.files, earlier, root)
        raise RoceError(f"{exc}. {undone}") from exc
    host.restore(plan.wanted)
    kept = {name: pair for name, pair in keep.mtus_before(root).items() if name in plan.mtus}
    keep.remember(kept, root)
    return done


def _undone(
    host: Host,
    done: list[Setting],
    moved: list[mtu.Change],
    files: keep.Files,
    earlier: dict[str, list[int]],
    root: str,
) -> str:
    try:
        keep.put_back(files, root)
        for one in moved:
            mtu.set_now(mtu.Change(one.netdev, one.after, one.before))
        keep.remember(earlier, root)
        host.undo(done)
    except _NOT_TAKEN as exc:
        return f"What was set before in this run could not be put back: {exc}"
    return "What was set before in this run is put back"
