# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the repositories of a plan have its packages, by their indexes. What is in them is not trusted by that."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible.module_utils.urls import open_url

from ....module_utils._ground.text import few
from ....module_utils._parse.version_text import fits
from ..resolve.policy import DISTRIBUTION

_LIMIT = 256 * 1024 * 1024
_SHOWN = 4
_DEB = re.compile(r"^Package: (\S+)$.*?^Version: (\S+)$", re.M | re.S)
_RPM = re.compile(r"<name>([^<]+)</name>.*?<version [^>]*?ver=\"([^\"]+)\" rel=\"([^\"]+)\"", re.S)
_PRIMARY = re.compile(r"<data type=\"primary\">.*?href=\"([^\"]+\.gz)\"", re.S)


def fetch(address: str) -> bytes:
    """What an address holds; raises OSError, and ValueError where that is too much."""
    answer = open_url(address, timeout=10, http_agent="ibready")  # type: ignore[no-untyped-call]
    return _whole(answer.read)


def lacking(told: Mapping[str, Any], stack: Mapping[str, Any], get: Callable[[str], bytes] = fetch) -> list[str]:
    """The packages that no repository has in the planned version, each with those that there are.

    ``told``: what install() says. Raises OSError or ValueError where an index cannot be read.
    """
    there: dict[str, list[str]] = {}
    for repository in told["repositories"]:
        for name, version in _index(repository, get):
            there.setdefault(name, []).append(version)
    # The host's own archive is none of these.
    own = "nvidia_driver" if (stack.get("driver") or {}).get("flavour") == DISTRIBUTION else ""
    return [
        f"{package['name']} {package['version']} (there is {few(there.get(package['name'], ['none']), _SHOWN)})"
        for part, said in told["parts"].items()
        for package in said["packages"]
        if part != own
        and package["version"]
        and not any(fits(version, package["version"]) for version in there.get(package["name"], ()))
    ]


def _index(repository: Mapping[str, Any], get: Callable[[str], bytes]) -> Iterator[tuple[str, str]]:
    url = repository["url"]
    if repository["kind"] == "apt":
        for stanza in _opened(get(f"{url}{repository['suite'].lstrip('/')}Packages.gz")).split("\n\n"):
            yield from (found.groups() for found in _DEB.finditer(stanza))  # type: ignore[misc]
        return
    primary = _PRIMARY.search(get(f"{url}repodata/repomd.xml").decode())
    if primary is None:
        raise ValueError(f"{url}repodata/repomd.xml names no index that is compressed by gzip")
    for name, version, release in _RPM.findall(_opened(get(f"{url}{primary.group(1)}"))):
        yield name, f"{version}-{release}"


def _opened(data: bytes) -> str:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        return _whole(stream.read).decode()


def _whole(read: Callable[[int], bytes]) -> bytes:
    data = read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise ValueError(f"an index of more than {_LIMIT >> 20} MiB")
    return data
