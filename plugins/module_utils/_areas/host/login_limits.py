# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather what a login by ssh may lock: by pam_limits where sshd asks it, else as sshd itself."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterable, Mapping, NamedTuple

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
_ASKED = re.compile(r"^\s*-?session\s[^#\n]*\bpam_limits\.so\b(?:[^#\n]*\bconf=(/[^\s\]]{1,400}))?", re.MULTILINE)
_LINE = re.compile(r"^\s*([^\s#]{1,64})\s+(soft|hard|-)\s+([a-z]{1,20})\s+(\S{1,20})\s*(?:#.*)?$", re.MULTILINE | re.I)
EVERYBODY = "*"
GROUPS = "/etc/group"
_FIRST_OF_USERS = 1000
# Of sshd's settings the first counts; the folder is included before the rest of the file.
SSHD = "/etc/ssh/sshd_config"
SSHD_FOLDER = "/etc/ssh/sshd_config.d"
_USE_PAM = re.compile(r"^[ \t]*UsePAM(?:[ \t]+|[ \t]*=[ \t]*)\"?(\w+)", re.MULTILINE | re.IGNORECASE)
_NO_LIMIT = ("unlimited", "infinity", "-1")


class Line(NamedTuple):
    """``domain``: whom it is for (a user, @group, * for everybody but root). ``kind``: soft, hard, or - for both."""

    domain: str
    kind: str
    item: str
    value: str
    path: str
    text: str


def observe(evidence: Evidence, pid: int) -> Reading[tuple[LoginLimit, ...]]:
    """Of everybody, then of each user and group that has less. ``pid``: sshd's main process."""
    own = ask.file(evidence, f"/proc/{pid}/limits", proc_limits.parse)
    if own.value is None:
        return Reading(None, own.why)
    asked = _asks_pam(evidence)
    if asked.value is None:
        return Reading(None, asked.why)
    given = lines(evidence, asked.value) if asked.value else Reading(())
    if given.value is None:
        return Reading(None, given.why)
    start = {"soft": LoginLimit(own.value.memlock_soft), "hard": LoginLimit(own.value.memlock_hard)}
    everybody = {**start, **_set(given.value, EVERYBODY)}
    found = _least(everybody)
    domains = dict.fromkeys(line.domain for line in given.value if line.item == "memlock")
    narrower = []
    for domain in domains:
        mine = _least({**everybody, **_set(given.value, domain)})
        # Of others than everybody the line counts before, whichever file it is in.
        if domain != EVERYBODY and mine.memlock < min(found.memlock, UNLIMITED) and not _nobodys(evidence, domain):
            narrower.append(replace(mine, domain=domain))
    return Reading((found, *narrower))


def _set(given: Iterable[Line], domain: str) -> dict[str, LoginLimit]:
    """The last soft and hard limit of a domain."""
    found: dict[str, LoginLimit] = {}
    for line in given:
        size = _bytes(line.value)
        if line.domain == domain and line.item == "memlock" and size is not None:
            kinds = ("soft", "hard") if line.kind == "-" else (line.kind,)
            found.update(dict.fromkeys(kinds, LoginLimit(size, line.path, line.text)))
    return found


def _least(limits: Mapping[str, LoginLimit]) -> LoginLimit:
    """pam_limits takes the soft limit down to the hard one, whoever set that."""
    soft, hard = limits["soft"], limits["hard"]
    low = {(limit.path, limit.line): None for limit in (soft, hard) if limit.path and limit.memlock < UNLIMITED}
    return replace(hard if hard.memlock < soft.memlock else soft, low=tuple(low))


def _nobodys(evidence: Evidence, domain: str) -> bool:
    """A group that a package made for its own program, and that nobody is in: 25-pw-rlimits.conf, for instance."""
    if not domain.startswith("@"):
        return False
    for line in (ask.text(evidence, GROUPS).value or "").split("\n"):
        name, *words = line.split(":")
        if name == domain[1:] and len(words) == 3:
            return words[1].isdecimal() and int(words[1]) < _FIRST_OF_USERS and not words[2].strip()
    return False


def _asks_pam(evidence: Evidence) -> Reading[str]:
    """The file that pam_limits begins with, where a session of sshd's goes through it, by its file or one that it
    includes; "" where it does not."""
    used = _uses_pam(evidence)
    if not used.value:
        return used.map(lambda _used: "")
    first = ask.text(evidence, f"{PAM}/sshd")
    if first.value is None:
        return Reading("") if first.missing else Reading(None, first.why)
    texts = [first.value]
    for name in dict.fromkeys(_INCLUDE.findall(first.value)):
        more = ask.text(evidence, f"{PAM}/{name}")
        if more.value is None and not more.missing:
            return Reading(None, more.why)
        texts.append(more.value or "")
    asked = [match.group(1) or CONF for text in texts for match in _ASKED.finditer(text)]
    return Reading(asked[-1] if asked else "")


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


def lines(evidence: Evidence, conf: str = CONF) -> Reading[tuple[Line, ...]]:
    """Every line of pam_limits' files, in the order in which it reads them; of its own file (conf=) that alone."""
    names = ask.names(evidence, FOLDER) if conf == CONF else Reading([])
    if names.value is None and not names.missing:
        return Reading(None, names.why)
    found = []
    for path in (conf, *(f"{FOLDER}/{name}" for name in names.value or () if name.endswith(".conf"))):
        text = ask.text(evidence, path)
        if text.value is None and not text.missing:
            return Reading(None, text.why)
        for match in _LINE.finditer(text.value or ""):
            domain, kind, item, value = match.groups()
            found.append(Line(domain, kind.lower(), item.lower(), value, path, " ".join(match.group(0).split())))
    return Reading(tuple(found))


def _bytes(text: str) -> int | None:
    """pam_limits counts in KiB; None for what it would not take."""
    if text in _NO_LIMIT:
        return UNLIMITED
    return int(text) * 1024 if text.isdecimal() else None
