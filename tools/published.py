# SPDX-License-Identifier: GPL-3.0-or-later
"""What NVIDIA has published, read from files that somebody downloaded; foreign text, bounded.

releases.json of the data center drivers, Packages and Release of an apt repository, primary.xml of a yum repository;
as they are, or as .gz, .xz or .bz2. matrix/packages.yml says which package tells the release of which part.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import printable
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix import index
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.model import Matrix
from ansible_collections.ibready.cluster.plugins.plugin_utils._plan.matrix.versions import version

MOST = 128 << 20
_OPENERS: dict[bytes, Callable[[BytesIO], Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ": lzma.open, b"BZh": bz2.open}
_KINDS = {"lts branch": "LTSB", "production branch": "PB", "new feature branch": "NFB"}
# By repository and component of packages.yml: the section of the matrix, the entry, and what a package says of it.
_TELLS: dict[tuple[str, str], tuple[str, str, dict[str, Any]]] = {
    ("cuda", "driver"): ("drivers.branches", "{branch}", {"releases": ["{version}"]}),
    ("cuda", "nccl"): ("nccl.releases", "{version}", {"builds": ["{cuda}"]}),
    ("cuda", "dcgm"): ("extras.dcgm", "{version}", {}),
    ("cuda", "gdrcopy"): ("extras.gdrcopy", "{version}", {}),
    ("container_toolkit", "container_toolkit"): ("container_toolkit.releases", "{version}", {}),
    ("doca", "rdma"): ("rdma.releases", "doca-{version}", {"flavour": "doca", "version": "{version}"}),
}
_WORDS = {"branch": r"\d+", "version": r"\d+(?:\.\d+)+", "cuda": r"\d+\.\d+", "cuda_major": r"\d+"}
_WORD = r"[\w.]+"


class Problem(ValueError):
    """A file cannot be used; the message names it and the entry."""


@dataclass
class Published:
    """A file: ``document`` is what a row names as its source; ``said``: by section and entry, its fields."""

    document: str
    day: str = ""
    said: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def add(self, section: str, name: str, fields: Mapping[str, Any]) -> None:
        known = self.said.setdefault((section, name), {})
        for key, value in fields.items():
            known[key] = sorted({*known.get(key, []), *value}, key=version) if isinstance(value, list) else value


def read(paths: list[Path], matrix: Matrix, day: str) -> list[Published]:
    """What the files say; raises Problem. ``day``: of those of which no Release file tells it."""
    found: dict[str, Published] = {}
    days: dict[str, str] = {}
    for path in paths:
        digest, raw = _bytes(path)
        text = raw.decode("utf-8", "replace").lstrip()
        if text.startswith("{"):
            found[digest] = _drivers(path, text)
        elif text.startswith("<"):
            found[digest] = _index(path, "dnf", index.of_dnf(raw), matrix)
        elif re.search("^SHA256:", text, re.MULTILINE) and not re.search("^Package:", text, re.MULTILINE):
            days.update(_release(path, text))
        else:
            found[digest] = _index(path, "apt", index.of_apt(text), matrix)
    for digest, each in found.items():
        each.day = days.get(digest, day)
    return list(found.values())


def _bytes(path: Path) -> tuple[str, bytes]:
    """The sum of the file, and what is in it."""
    try:
        with path.open("rb") as file:
            raw = file.read(MOST + 1)
        digest = hashlib.sha256(raw).hexdigest()
        opener = next((opener for magic, opener in _OPENERS.items() if raw.startswith(magic)), None)
        raw = opener(BytesIO(raw)).read(MOST + 1) if opener else raw
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as exc:
        raise Problem(f"{path}: cannot be read: {exc}") from None
    if len(raw) > MOST:
        raise Problem(f"{path}: more than {MOST >> 20} MiB")
    if not raw.strip() or b"\0" in raw[:4096]:
        raise Problem(f"{path}: no text, nor .gz, .xz or .bz2 of one")
    return digest, raw


def _drivers(path: Path, text: str) -> Published:
    """NVIDIA's releases.json: branches, each with its type and its releases."""
    found = Published("releases.json of the data center drivers")
    try:
        branches = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise Problem(f"{path}: no JSON: {exc}") from None
    for branch, info in branches.items():
        where = f"{path}: {printable(branch)}"
        told = info if isinstance(info, dict) else {}
        kind, drivers = _KINDS.get(str(told.get("type")).lower()), told.get("driver_info")
        if not re.fullmatch(r"\d{3,4}", branch) or kind is None or not isinstance(drivers, list):
            raise Problem(f"{where}: no branch, or without driver_info and a type of {', '.join(_KINDS)}")
        for number, driver in enumerate(drivers, 1):
            release = str(driver.get("release_version") if isinstance(driver, dict) else None)
            if not re.fullmatch(rf"{branch}(\.\d{{1,6}})+", release):
                raise Problem(f"{where}: driver_info {number}: release_version is {printable(release)}")
            found.add("drivers.branches", branch, {"kind": kind, "releases": [release]})
    return found


def _release(path: Path, text: str) -> dict[str, str]:
    """By the sum of each index that a Release file names, its day."""
    dated = re.search(r"^Date: (.+)$", text, re.MULTILINE)
    try:
        day = parsedate_to_datetime(dated[1] if dated else "").date().isoformat()
    except ValueError:
        raise Problem(f"{path}: Date is missing, or no date") from None
    return dict.fromkeys(re.findall(r"^ ([0-9a-f]{64}) +\d+ ", text, re.MULTILINE), day)


def _index(path: Path, family: str, packages: Iterator[tuple[str, str]], matrix: Matrix) -> Published:
    """What the packages of an index tell of releases; one of a pre-release (~rc) tells nothing."""
    tells = [
        (re.compile(_pattern(entry)), str(fact.get("repository")), told)
        for fact in matrix.all("packages.packages").values()
        for told in [_TELLS.get((fact.get("repository"), fact.get("component")))]
        for entry in (fact.get(family) if told else ())
        if entry["version"]
    ]
    found, repositories = Published(""), set()
    try:
        there = list(packages)
    except ValueError as exc:
        raise Problem(f"{path}: {exc}") from None
    for name, full in there:
        for pattern, repository, told in tells:
            match = None if "~" in full else pattern.fullmatch(f"{name} {full}")
            if match and told:
                section, key, fields = told
                words = {"branch": match["version"].partition(".")[0], **match.groupdict()}
                said = {
                    one: [text.format(**words) for text in value] if isinstance(value, list) else value.format(**words)
                    for one, value in fields.items()
                }
                found.add(section, key.format(**words), said)
                repositories.add(str(matrix.all("repositories.repositories")[repository].get("title")))
    if not found.said:
        raise Problem(f"{path}: none of its packages tells a release of what the matrix has")
    found.document = f"{family} index of {', '.join(sorted(repositories))}"
    return found


def _pattern(entry: Mapping[str, str]) -> str:
    """An entry of packages.yml as a pattern over name and version; what follows the version is the packager's."""

    def group(match: re.Match[str]) -> str:
        return f"(?P<{match[1]}>{_WORDS.get(match[1], _WORD)})"

    name, release = (re.sub(r"\\\{(\w+)\\\}", group, re.escape(entry[key])) for key in ("name", "version"))
    return rf"{name} (?:\d+:)?{release}(?:[-+].*)?"
