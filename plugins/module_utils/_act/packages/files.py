# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that tell a package manager of a repository, and what a part must keep to.

Texts are made here without touching the host; `put` writes one whole or not at all.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Sequence
from urllib.parse import urlsplit

from ..._ground import whole
from ..._ground.regular import open_regular
from .model import PackageError, Part, Pin, Repository

HEADER = "# Written by ibready.cluster.stack_packages. The next run undoes changes made by hand.\n"
MODE = 0o644
# Above 1000, apt goes back to an older version where it must.
_PRIORITY = 1001
APT_SOURCES = "/etc/apt/sources.list.d"
APT_KEYRINGS = "/etc/apt/keyrings"
APT_PREFERENCES = "/etc/apt/preferences.d"
YUM_REPOS = "/etc/yum.repos.d"
RPM_KEYS = "/etc/pki/rpm-gpg"
DNF_MODULES = "/etc/dnf/modules.d"
# Repositories that no plan names: a visit for the plan leaves these alone, and the other way round.
SITE = "site-"


@dataclass(frozen=True)
class File:
    """A file as it is to be; ``data`` None: it is to be gone."""

    path: str
    data: bytes | None


def apt_key(name: str) -> str:
    return f"{APT_KEYRINGS}/ibready-{name}.gpg"


def apt_source(name: str) -> str:
    return f"{APT_SOURCES}/ibready-{name}.list"


def apt_preferences(part: str) -> str:
    # apt leaves out names with other characters.
    return f"{APT_PREFERENCES}/ibready-{part}"


def dnf_key(name: str) -> str:
    return f"{RPM_KEYS}/RPM-GPG-KEY-ibready-{name}"


def dnf_repo(name: str) -> str:
    return f"{YUM_REPOS}/ibready-{name}.repo"


def dnf_module(name: str) -> str:
    return f"{DNF_MODULES}/{name}.module"


def of_site(path: str) -> bool:
    """Whether a file of ours is of a repository that the site names."""
    return f"ibready-{SITE}" in os.path.basename(path)


def source_list(repository: Repository, key: str) -> str:
    """One line for apt, with the only keyring that may have signed the repository."""
    words = ["deb", f"[signed-by={key}]", repository.url, repository.suite]
    return HEADER + " ".join([*words, *repository.components]) + "\n"


def repo_file(repository: Repository, key: str, *, all_streams: bool = False) -> str:
    """The section for dnf; ``all_streams``: packages of modules that are not enabled count too."""
    lines = [
        f"[ibready-{repository.name}]",
        f"name=ibready {repository.name}",
        f"baseurl={repository.url}",
        "enabled=1",
        f"gpgcheck={int(repository.gpgcheck)}",
        f"repo_gpgcheck={int(repository.repo_gpgcheck)}",
        f"gpgkey=file://{key}",
        # A repository that cannot be read must not be passed over in silence.
        "skip_if_unavailable=0",
    ]
    if repository.exclude:
        lines.append(f"excludepkgs={' '.join(repository.exclude)}")
    # Where nothing else is asked, nobody tells which packages are of which module.
    if all_streams or repository.alone:
        lines.append("module_hotfixes=1")
    return HEADER + "\n".join(lines) + "\n"


def module_file(name: str, stream: str) -> str:
    """What ``dnf module enable NAME:STREAM`` writes."""
    return f"[{name}]\nname={name}\nstream={stream}\nprofiles=\nstate=enabled\n"


def version_pattern(version: str) -> str:
    """The apt pattern of all versions that a beginning leaves open; as `fits` judges it."""
    text = re.sub(r"([.+^$*?()\[\]{}|\\])", r"\\\1", version)
    return f"/^([0-9]+:)?{text}($|[^0-9A-Za-z])/"


def preferences(part: Part, repositories: Sequence[Repository]) -> str:
    """apt's pins of a part, or "" where it has none.

    Names with a version keep to that version, also as dependencies; names without one keep to the
    plan's repositories.
    """
    pins = [Pin((package.name,), package.version) for package in part.packages if package.version]
    pins += part.pins
    blocks = []
    for pin in pins:
        if not pin.names:
            continue
        froms = [f"version {version_pattern(pin.version)}"] if pin.version else _origins(repositories)
        for where in froms:
            blocks.append(
                f"Explanation: part {part.name} of the plan\n"
                f"Package: {' '.join(pin.names)}\nPin: {where}\nPin-Priority: {_PRIORITY}\n"
            )
    return HEADER + "\n" + "\n".join(blocks) if blocks else ""


def _origins(repositories: Sequence[Repository]) -> list[str]:
    hosts = []
    for repository in repositories:
        split = urlsplit(repository.url)
        host = "" if split.scheme == "file" else split.hostname or ""
        hosts.append(f'origin "{host}"')
    return sorted(set(hosts))


def read(path: str) -> bytes | None:
    """A file's content, or None where there is none; PackageError where it cannot be read."""
    try:
        with open(open_regular(path), "rb") as stream:
            return stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as exc:
        raise PackageError("failed", f"{path} cannot be read: {exc.strerror or exc}", "look at it on the host") from exc


def put(path: str, data: bytes | None) -> None:
    """Write a file whole or not at all, readable by all; None removes it."""
    home = os.path.dirname(path)
    try:
        if data is None:
            whole.remove(path)
            return
        whole.make_folder(home)
        whole.put(path, data, MODE)
    except OSError as exc:
        raise PackageError(
            "failed",
            f"{path} cannot be written: {exc.strerror}",
            f"see that {home} can be written and has space",
            changed=True,
        ) from exc
