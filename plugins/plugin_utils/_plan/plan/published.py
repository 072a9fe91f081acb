# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the repositories of a plan have its packages, by their indexes. What is in them is not trusted by that."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible.module_utils.urls import open_url

from ....module_utils._ground.bound import Bound
from ....module_utils._ground.text import few
from ....module_utils._parse.version_text import fits
from ..matrix import index
from ..resolve.policy import DISTRIBUTION

_INDEX: Bound = 256 * 1024 * 1024
_SHOWN = 4
_PRIMARY = re.compile(r"<data type=\"primary\">.*?href=\"([^\"]+\.gz)\"", re.S)


def fetch(address: str) -> bytes:
    """What an address holds; raises OSError."""
    with open_url(address, timeout=10, http_agent="ibready") as stream:  # type: ignore[no-untyped-call]
        return _all_of(stream.read)


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
        packages = _opened(get(f"{url}{repository['suite'].lstrip('/')}Packages.gz"))
        yield from index.of_apt(packages.decode()) if packages.strip() else ()
        return
    primary = _PRIMARY.search(get(f"{url}repodata/repomd.xml").decode())
    if primary is None:
        raise ValueError(f"{url}repodata/repomd.xml names no index that is compressed by gzip")
    yield from index.of_dnf(_opened(get(f"{url}{primary.group(1)}")))


def _opened(data: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return _all_of(stream.read)
    except (EOFError, zlib.error) as exc:
        raise ValueError(f"the index is damaged: {exc}") from None


def _all_of(read: Callable[[int], bytes]) -> bytes:
    data = read(_INDEX + 1)
    if len(data) > _INDEX:
        raise ValueError(f"the index has more than {_INDEX >> 20} MiB")
    return data
