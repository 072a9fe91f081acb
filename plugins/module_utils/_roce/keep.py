# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that set RoCE's values at each boot, and what is remembered of the MTU before."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict, Mapping, Sequence, Tuple

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._data import roce_files as data
from ansible_collections.ibready.cluster.plugins.module_utils._roce import mtu, program
from ansible_collections.ibready.cluster.plugins.module_utils._roce.program import Wanted

SUBJECT = "roce"
UNIT_TEXT = """\
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
RULE_TEXT = """\
# Written by ibready.cluster.roce_settings. The next run undoes changes made by hand.
# A device that comes late, or again (openibd), has lost its settings.
ACTION=="add", SUBSYSTEM=="infiniband", TAG+="systemd", \\
  ENV{SYSTEMD_WANTS}+="ibready-roce@%k.service"
"""

# What each file holds and what it should; of a link, its aim.
Files = Dict[str, Tuple[str, str]]


def files(wanted: Sequence[Wanted], mtus: Mapping[str, int], root: str) -> Files:
    """The files that are not as they should be."""
    # From the directory here in tests, from the zip that Ansible packs on a node.
    loader: Any = program.__spec__ and program.__spec__.loader
    texts = {
        program.CONFIG: program.render(list(wanted)),
        data.PROGRAM: loader.get_source(program.__name__),
        data.UNIT: UNIT_TEXT.format(python=sys.executable, program=data.PROGRAM),
        data.RULE: RULE_TEXT,
    }
    texts = texts if wanted else dict.fromkeys(texts, "")
    kept = mtu.files(mtus, root)
    texts.update({path: "" for path in mtu.ours(root)})
    texts.update(kept)
    found: Files = {}
    for path, after in texts.items():
        before = _state.read(_state.below(root, path))
        if before != after:
            found[path] = (before, after)
    link = _state.below(root, data.WANTED)
    aim, after = os.readlink(link) if os.path.islink(link) else "", data.UNIT if wanted else ""
    if aim != after:
        found[data.WANTED] = (aim, after)
    return found


def write(changed: Files, root: str) -> None:
    """Put the files in place, each at once. Raises OSError."""
    for path, (before, after) in changed.items():
        place = _state.below(root, path)
        if path != data.WANTED:
            if is_mtu(path):
                mtu.write({path: after}, root)
            else:
                _state.write(place, after, 0o755 if path == data.PROGRAM else 0o644)
            continue
        if before:
            os.unlink(place)
        if after:
            _state.make_folder(os.path.dirname(place))
            os.symlink(after, place)


def put_back(changed: Files, root: str) -> None:
    """Have these files as they were, however many of them were written. Raises OSError."""
    for path, (before, after) in changed.items():
        place = _state.below(root, path)
        if path != data.WANTED:
            now = _state.read(place)
        else:
            now = os.readlink(place) if os.path.islink(place) else ""
        if now == after != before:
            write({path: (after, before)}, root)


def is_mtu(path: str) -> bool:
    """Whether it is a file of the network service."""
    return path.startswith((data.NETWORKD_FOLDER, os.path.dirname(data.MANAGER_FILE)))


def mtus_before(root: str) -> dict[str, list[int]]:
    """By interface, the MTU before ours and ours."""
    known = _state.load(SUBJECT, root).get("mtu", {})
    return known if isinstance(known, dict) else {}


def remember(mtus: Mapping[str, Sequence[int]], root: str) -> None:
    """Keep these, for good."""
    known = {name: list(pair) for name, pair in mtus.items()}
    _state.save(SUBJECT, {"mtu": known} if known else {}, root)
