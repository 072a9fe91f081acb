# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence bundles in a folder of the controller: found, unpacked and judged like live hosts."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ansible_collections.ibready.cluster.plugins.module_utils import _manifest, _verify
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Bundle,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._expect import Expectations
from ansible_collections.ibready.cluster.plugins.module_utils._verdict import verdict_object
from ansible_collections.ibready.cluster.plugins.module_utils._waivers import Waiver
from ansible_collections.ibready.cluster.plugins.plugin_utils import _hosts, _unpack

ENDING = ".tar.gz"
_AGAIN = "collect the bundle again (playbooks/collect.yml)"

Site = Callable[[str], tuple[Expectations, Sequence[Waiver]]]


class BundlesError(ValueError):
    """The folder holds no bundles that can be judged; the message says why and what next."""


@dataclass(frozen=True)
class Found:
    """One bundle: a folder, or an archive of one. ``name``: what its path calls it."""

    name: str
    path: Path

    @property
    def packed(self) -> bool:
        return self.path.name.endswith(ENDING)


def find(folder: Path) -> list[Found]:
    """The bundles in a folder by name, each once: unpacked where it is there in both shapes.

    The folder may be a bundle itself, or an archive of one. Raises BundlesError.
    """
    if folder.is_file() and folder.name.endswith(ENDING):
        return [Found(_name(folder), folder)]
    if not folder.is_dir():
        raise BundlesError(f"{folder} is no folder; next: name the folder that collect.yml wrote")
    if _is_bundle(folder):
        return [Found(folder.resolve().name, folder)]
    try:
        inside = sorted(folder.iterdir())
    except OSError as exc:
        raise BundlesError(f"{folder} cannot be listed: {exc.strerror}") from exc
    found = {one.name: Found(one.name, one) for one in inside if one.is_dir() and _is_bundle(one)}
    for one in inside:
        if one.is_file() and one.name.endswith(ENDING):
            found.setdefault(_name(one), Found(_name(one), one))
    if not found:
        raise BundlesError(
            f"{folder} holds no bundle (HOST/{_manifest.NAME} or HOST{ENDING}); "
            "next: ansible-playbook playbooks/collect.yml -i INVENTORY"
        )
    return [found[name] for name in sorted(found)]


def judge(found: Sequence[Found], site: Site) -> list[_hosts.Host]:
    """Every bundle as a host of the fleet. ``site`` tells what is expected of a host by its name.

    A bundle that cannot be read is a host of which nothing is known. Raises BundlesError where two
    bundles are of one host.
    """
    hosts: dict[str, tuple[_hosts.Host, Path]] = {}
    for one in found:
        host = _judge(one, site)
        if host.name in hosts:
            raise BundlesError(
                f"{hosts[host.name][1]} and {one.path} are both of {host.name}; "
                "next: leave one of them in the folder"
            )
        hosts[host.name] = (host, one.path)
    return [host for host, _ in hosts.values()]


def _judge(one: Found, site: Site) -> _hosts.Host:
    try:
        with opened(one) as bundle:
            manifest = bundle.manifest
            expect, waivers = site(manifest.host)
            judged = _verify.verify(bundle, expect)
            return _hosts.recorded(
                manifest.host,
                verdict_object(manifest.host, judged.checks, judged.facts),
                collected_at=manifest.collected_at,
                expect=expect,
                waivers=waivers,
            )
    except (OSError, _unpack.UnpackError, Unavailable) as exc:
        return _hosts.Host(one.name, absent=f"its bundle cannot be read: {exc}", remedy=_AGAIN)


@contextlib.contextmanager
def opened(one: Found) -> Iterator[Bundle]:
    """The bundle, unpacked for as long as this lasts where it is an archive."""
    if not one.packed:
        yield Bundle(one.path)
        return
    with TemporaryDirectory(prefix="ibready-") as place:
        _unpack.unpack(one.path, Path(place))
        inside = [path for path in Path(place).iterdir() if path.is_dir()]
        if len(inside) != 1:
            raise _unpack.UnpackError(f"{one.path} holds {len(inside)} folders and not one")
        yield Bundle(inside[0])


def _is_bundle(folder: Path) -> bool:
    return any((folder / name).exists() for name in (_manifest.NAME, "commands", "files"))


def _name(archive: Path) -> str:
    return archive.name.removesuffix(ENDING)
