# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the package repositories that ibready wrote, and what is wrong with their files."""

from __future__ import annotations

import re
from typing import Callable, Iterator

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from .facts import Repository

# As role stack_packages writes them (_act/packages/files.py): one line for apt, one section for dnf.
_FOLDERS = (("/etc/apt/sources.list.d", ".list"), ("/etc/yum.repos.d", ".repo"))
_OURS = "ibready-"
_DEB = re.compile(r"deb \[signed-by=(/[^\] ]{1,200})\] [a-z+]{2,10}:/{1,3}[^ ]{1,500}( [^ ]{1,100}){1,20}")
_URL = re.compile(r"[a-z]{2,10}:/{1,3}[^ ]{1,500}")
_KEY = "file://"

# The file of the key that must have signed it; ValueError says what is wrong.
_Read = Callable[[str], str]


def observe(evidence: Evidence) -> Reading[tuple[Repository, ...]]:
    """Every file of ours; missing where there is none."""
    found = []
    for folder, ending in _FOLDERS:
        names = ask.names(evidence, folder)
        if names.value is None and not names.missing:
            return Reading(None, names.why)
        for name in sorted(names.value or ()):
            if name.startswith(_OURS) and name.endswith(ending):
                found.append(_one(evidence, f"{folder}/{name}", _apt if ending == ".list" else _dnf))
    return Reading(tuple(found)) if found else Reading(None, "ibready wrote no repository on this host", True)


def _one(evidence: Evidence, path: str, read: _Read) -> Repository:
    text = ask.text(evidence, path)
    if text.value is None:
        return Repository(path, unknown="" if text.missing else text.why, wrong="it is gone" if text.missing else "")
    try:
        key = read(text.value)
    except ValueError as exc:
        return Repository(path, wrong=str(exc))
    data = ask.data(evidence, key)
    if data.value is None:
        return Repository(
            path, unknown="" if data.missing else data.why, wrong=f"its key {key} is gone" if data.missing else ""
        )
    return Repository(path, wrong="" if data.value else f"its key {key} is empty")


def _said(text: str) -> Iterator[str]:
    return (line.strip() for line in text.split("\n") if line.strip() and not line.startswith("#"))


def _apt(text: str) -> str:
    lines = list(_said(text))
    match = _DEB.fullmatch(lines[0]) if len(lines) == 1 else None
    if match is None:
        raise ValueError("it is not one line with an address and a key" if lines else "it is empty")
    return match[1]


def _dnf(text: str) -> str:
    lines = list(_said(text))
    pairs = dict(line.split("=", 1) for line in lines[1:] if "=" in line)
    key = pairs.get("gpgkey", "")
    sections = [line for line in lines if line.startswith("[")]
    if not lines:
        raise ValueError("it is empty")
    if lines[:1] != sections or not lines[0].startswith(f"[{_OURS}") or not _URL.fullmatch(pairs.get("baseurl", "")):
        raise ValueError("it is not one section with an address")
    if pairs.get("enabled", "1") != "1":
        raise ValueError("it is switched off")
    if not key.startswith(_KEY) or "1" not in (pairs.get("gpgcheck"), pairs.get("repo_gpgcheck")):
        raise ValueError("it does not demand a signature any more")
    if key == _KEY:
        raise ValueError("it names no key")
    return key[len(_KEY) :]
