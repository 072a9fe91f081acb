# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the host's own packages come from, so that the nodes' come from there too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.errors import SandboxError

# Debian's simulator knows NDR from this release on.
DEBIAN_SUITE = "trixie"


@dataclass(frozen=True)
class Archive:
    uri: str
    suite: str
    components: tuple[str, ...]


@dataclass(frozen=True)
class Distribution:
    """What a node is made of."""

    mirror: str
    suite: str
    components: tuple[str, ...]


@dataclass(frozen=True)
class Debian:
    """What a virtual machine is made of; `security` is the archive of its suite's updates.

    Where the host's sources name none, both are "": mmdebstrap knows where Debian is had.
    """

    mirror: str
    suite: str
    security: str


def parse(path: str, text: str) -> list[Archive]:
    """Read one file of apt's sources: one-line format, or deb822 when the name says so."""
    return _deb822(text) if path.endswith(".sources") else _one_line(text)


def _one_line(text: str) -> list[Archive]:
    found = []
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        match = re.fullmatch(r"deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)((?:\s+\S+)*)", line)
        if match:
            found.append(Archive(match[1], match[2], tuple(match[3].split())))
    return found


def _deb822(text: str) -> list[Archive]:
    found = []
    for stanza in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = {}
        last = ""
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1] in (" ", "\t") and last:
                fields[last] += " " + line.strip()
            elif ":" in line:
                last, _, value = line.partition(":")
                last = last.strip().lower()
                fields[last] = value.strip()
        if "deb" not in fields.get("types", "").split():
            continue
        if fields.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        found += [
            Archive(uri, suite, tuple(fields.get("components", "").split()))
            for uri in fields.get("uris", "").split()
            for suite in fields.get("suites", "").split()
        ]
    return found


def choose(archives: Iterable[Archive], os_release: Mapping[str, str]) -> Distribution:
    """Pick the archive of the host's own release."""
    family = os_release.get("ID", "")
    codename = os_release.get("VERSION_CODENAME", "")
    if family not in ("debian", "ubuntu"):
        raise SandboxError(
            f"the sandbox builds its nodes from the host's Debian or Ubuntu archive, and this "
            f"host says ID={family or 'nothing'}: run it on Debian or Ubuntu"
        )
    for archive in archives:
        if archive.suite == codename and "main" in archive.components:
            if family == "ubuntu":
                return Distribution(archive.uri, codename, ("main", "universe"))
            return Distribution(archive.uri, DEBIAN_SUITE, ("main",))
    raise SandboxError(
        f"no archive for {codename or 'this release'} with component main in /etc/apt/sources.list "
        "or /etc/apt/sources.list.d: nothing to build the nodes from"
    )


def host(root: Path = Path("/")) -> Distribution:
    """Read the host's sources."""
    chosen = choose(_archives(root), os_release(root))
    return Distribution(_through_mirror_list(chosen.mirror), chosen.suite, chosen.components)


def debian(root: Path = Path("/")) -> Debian:
    """Return where Debian is had: as the host's sources say, if it is Debian itself."""
    if os_release(root).get("ID") != "debian":
        return Debian("", DEBIAN_SUITE, "")
    codename = os_release(root).get("VERSION_CODENAME", "")
    secured = [archive for archive in _archives(root) if archive.suite == f"{codename}-security"]
    security = _through_mirror_list(secured[0].uri) if secured else ""
    return Debian(host(root).mirror, DEBIAN_SUITE, security)


def _archives(root: Path) -> list[Archive]:
    apt = root / "etc/apt"
    files = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*"))]
    found: list[Archive] = []
    for file in files:
        if file.suffix in (".list", ".sources") and file.is_file():
            found += parse(file.name, file.read_text(errors="replace"))
    return found


def os_release(root: Path = Path("/")) -> dict[str, str]:
    """Read the host's os-release."""
    lines = (root / "etc/os-release").read_text().splitlines()
    release = dict(line.split("=", 1) for line in lines if "=" in line)
    return {key: value.strip('"') for key, value in release.items()}


def _through_mirror_list(uri: str) -> str:
    """Cloud images name a file with a list of mirrors: take its first."""
    if not uri.startswith("mirror+file:"):
        return uri
    path = Path(uri.removeprefix("mirror+file:"))
    for line in path.read_text().splitlines():
        line = line.partition("#")[0].strip()
        if line:
            return line.split()[0]
    raise SandboxError(f"{path} names no mirror")
