# SPDX-License-Identifier: GPL-3.0-or-later
"""Have DKMS build for the next kernel what it lacks, and say why where it could not."""

from __future__ import annotations

import os
import re
from typing import Callable, Sequence

from ..._areas.stack import kmods_gaps
from ..._areas.stack.kmods_facts import KmodFacts
from ..._areas.stack.kmods_gaps import Found, Gap
from ..._ground.command import Output, Unavailable, find_program
from . import dkms
from .run import Runner

Look = Callable[[], KmodFacts]

_EXCLUSIVE = "BUILD_EXCLUSIVE"
_ERROR = re.compile(r"^Error! ?(.*)$", re.MULTILINE)
_STEM = re.compile(r"([^/\s]{1,120})\.ko(?:\.(?:gz|xz|zst))?")
_INITRAMFS = (
    ("update-initramfs", "-u", "-k", "{}"),
    ("dracut", "--force", "--kver", "{}"),
)


def buildable(found: Found) -> list[Gap]:
    """The gaps that DKMS can close, in the order in which to build."""
    return [gap for gap in found.gaps if gap.kind == kmods_gaps.UNBUILT and gap.dkms is not None]


def close(found: Found, look: Look, run: Runner, root: str, without: Sequence[str]) -> Found:
    """Build what can be built, and look again: a gap that stays says why DKMS failed."""
    said = {}
    for gap in buildable(found):
        if gap.dkms is None:
            raise AssertionError("what can be built has a DKMS module")
        words = ["-m", gap.dkms.name, "-v", gap.dkms.version, "-k", gap.kernel]
        if dkms.built(root, gap.dkms, gap.kernel):
            # DKMS would not install again what it takes for installed.
            words.append("--force")
        said[(gap.subject, gap.kernel)] = run(["dkms", "install", *words])
    after = kmods_gaps.find(look(), without)
    reported = []
    for gap in after.gaps:
        answer = said.get((gap.subject, gap.kernel))
        reported.append(gap if answer is None else _failed(gap, answer, root))
    return Found(tuple(reported), after.unknown)


def initramfs(root: str, names: Sequence[str], kernel: str) -> list[str]:
    """How to make the initramfs of a kernel again; [] where it cannot hold any of these modules.

    It holds a module of such a name only if the kernel has one of its own: that was there when the
    initramfs was made, and would be loaded from it.
    """
    path = os.path.join(root, f"lib/modules/{kernel}/modules.order")
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            own = {name.replace("-", "_") for name in _STEM.findall(stream.read())}
    except OSError:
        own = set(names)
    if own.isdisjoint(names):
        return []
    for program, *words in _INITRAMFS:
        try:
            return [find_program(program), *(word.format(kernel) for word in words)]
        except Unavailable:
            continue
    return []


def _failed(gap: Gap, answer: Output, root: str) -> Gap:
    if gap.dkms is None:
        raise AssertionError("what can be built has a DKMS module")
    text = f"{answer.stdout}\n{answer.stderr}"
    if _EXCLUSIVE in text:
        cause = f"{gap.subject} is not for {gap.kernel}: its dkms.conf says so ({_EXCLUSIVE})"
        following = f"install a release of {gap.dkms.name} that knows this kernel, or keep the kernel that runs"
        return Gap(gap.kind, gap.subject, gap.kernel, cause, following, gap.required, gap.dkms)
    path, found = dkms.make_log(root, gap.dkms, gap.kernel)
    words = "; ".join(found.lines)
    if not path:
        errors = _ERROR.findall(text)
        words = (errors[0] if errors else text.strip().rpartition("\n")[2]).strip()[:300]
    seen = f"{path} says {words}" if path else f"it said: {words or 'nothing'}"
    seen += f". So {found.cause}" if found.cause else ""
    cause = f"DKMS could not build {gap.subject} for {gap.kernel} (status {answer.rc}); {seen}"
    following = (
        f"see {path or '/var/lib/dkms'} on the host: most often this release of {gap.dkms.name}"
        " does not know the kernel yet; install one that does, or keep the kernel that runs"
        if not found.following
        else f"{found.following}; see {path}"
    )
    return Gap(gap.kind, gap.subject, gap.kernel, cause, following, gap.required, gap.dkms)
