# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what a login by ssh may lock: by pam_limits where sshd asks it, else as sshd itself."""

from __future__ import annotations

import re
from dataclasses import replace

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from ..._parse import proc_limits
from ..._parse.proc_limits import UNLIMITED
from .facts import LoginLimit

PAM = "/etc/pam.d"
CONF = "/etc/security/limits.conf"
FOLDER = "/etc/security/limits.d"
_INCLUDE = re.compile(r"^\s*(?:@include\s+|\S+\s+(?:include|substack)\s+)([A-Za-z0-9_.-]{1,64})", re.MULTILINE)
_ASKED = re.compile(r"^\s*-?session\s.*\bpam_limits\.so\b", re.MULTILINE)
_LINE = re.compile(r"^\s*\*\s+(soft|hard|-)\s+memlock\s+(\S{1,20})\s*(?:#.*)?$", re.MULTILINE)
# Of sshd's settings the first counts; the folder is included before the rest of the file.
SSHD = "/etc/ssh/sshd_config"
SSHD_FOLDER = "/etc/ssh/sshd_config.d"
_USE_PAM = re.compile(r"^[ \t]*UsePAM(?:[ \t]+|[ \t]*=[ \t]*)\"?(\w+)", re.MULTILINE | re.IGNORECASE)
_NO_LIMIT = ("unlimited", "infinity", "-1")


def observe(evidence: Evidence, pid: int) -> Reading[LoginLimit]:
    """``pid``: sshd's main process."""
    own = ask.file(evidence, f"/proc/{pid}/limits", proc_limits.parse)
    if own.value is None:
        return Reading(None, own.why)
    asked = _asks_pam(evidence)
    if asked.value is None:
        return Reading(None, asked.why)
    soft, hard = LoginLimit(own.value.memlock_soft), LoginLimit(own.value.memlock_hard)
    if asked.value:
        given = _given(evidence)
        if given.value is None:
            return Reading(None, given.why)
        soft, hard = given.value.get("soft", soft), given.value.get("hard", hard)
    low = {(limit.path, limit.line): None for limit in (soft, hard) if limit.path and limit.memlock < UNLIMITED}
    # pam_limits takes the soft limit down to the hard one, whoever set that.
    return Reading(replace(hard if hard.memlock < soft.memlock else soft, low=tuple(low)))


def _asks_pam(evidence: Evidence) -> Reading[bool]:
    """Whether a session of sshd's goes through pam_limits, by its file or one that it includes."""
    used = _uses_pam(evidence)
    if not used.value:
        return used
    first = ask.text(evidence, f"{PAM}/sshd")
    if first.value is None:
        return Reading(False) if first.missing else Reading(None, first.why)
    texts = [first.value]
    for name in dict.fromkeys(_INCLUDE.findall(first.value)):
        more = ask.text(evidence, f"{PAM}/{name}")
        if more.value is None and not more.missing:
            return Reading(None, more.why)
        texts.append(more.value or "")
    return Reading(any(_ASKED.search(text) for text in texts))


def _uses_pam(evidence: Evidence) -> Reading[bool]:
    """Distributions switch it on; sshd without that line has its own limits."""
    names = ask.names(evidence, SSHD_FOLDER)
    if names.value is None and not names.missing:
        return Reading(None, names.why)
    paths = [f"{SSHD_FOLDER}/{name}" for name in names.value or () if name.endswith(".conf")]
    for path in (*paths, SSHD):
        text = ask.text(evidence, path)
        if text.value is None:
            return Reading(None, text.why)
        said = _USE_PAM.search(text.value)
        if said is not None:
            return Reading(said.group(1).lower() != "no")
    return Reading(False)


def _given(evidence: Evidence) -> Reading[dict[str, LoginLimit]]:
    """The last soft and hard limit for everybody (*), in the order in which pam_limits reads its
    files."""
    names = ask.names(evidence, FOLDER)
    if names.value is None and not names.missing:
        return Reading(None, names.why)
    paths = [CONF, *(f"{FOLDER}/{name}" for name in names.value or () if name.endswith(".conf"))]
    found: dict[str, LoginLimit] = {}
    for path in paths:
        text = ask.text(evidence, path)
        if text.value is None and not text.missing:
            return Reading(None, text.why)
        for match in _LINE.finditer(text.value or ""):
            size = _bytes(match.group(2))
            if size is not None:
                entry = LoginLimit(size, path, " ".join(match.group(0).split()))
                kinds = ("soft", "hard") if match.group(1) == "-" else (match.group(1),)
                found.update(dict.fromkeys(kinds, entry))
    return Reading(found)


def _bytes(text: str) -> int | None:
    """pam_limits counts in KiB; None for what it would not take."""
    if text in _NO_LIMIT:
        return UNLIMITED
    return int(text) * 1024 if text.isdecimal() else None
