# SPDX-License-Identifier: GPL-3.0-or-later
"""Evidence bundles in a folder of the controller: found, unpacked and judged like live hosts."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ...module_utils._evidence import manifest
from ...module_utils._evidence.sources import Bundle
from ...module_utils._expect.expectations import Expectations, with_bundle
from ...module_utils._expect.waivers import Waiver
from ...module_utils._verify import verify as _verify
from ...module_utils._verify.verdict import verdict_object
from .._ground import unpack
from .._hosts import hosts as _hosts

ENDING = unpack.ENDING
_AGAIN = "collect the bundle again (playbooks/collect.yml)"
_RENAME = "name the bundle after the host that it is of, where you know whose it is"
_TIME = re.compile(r"[0-9A-Za-z:. +-]{0,40}")

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
    found = {path.name: Found(path.name, path) for path in inside if path.is_dir() and _is_bundle(path)}
    for path in inside:
        if path.is_file() and path.name.endswith(ENDING):
            found.setdefault(_name(path), Found(_name(path), path))
    if not found:
        raise BundlesError(
            f"{folder} holds no bundle (HOST/{manifest.NAME} or HOST{ENDING}); "
            "next: ansible-playbook playbooks/collect.yml -i INVENTORY"
        )
    return [found[name] for name in sorted(found)]


def judge(found: Sequence[Found], site: Site) -> list[_hosts.Host]:
    """Every bundle as a host of the fleet, by the name of its path and by no other.

    ``site`` tells what is expected of a host by that name, and its bundle what the site leaves open.
    Of a bundle that cannot be read, or that says that it is of another host, nothing is known: it
    costs its own host and no other.
    """
    return [_judge(item, site) for item in found]


def _judge(found: Found, site: Site) -> _hosts.Host:
    if not manifest.HOST.fullmatch(found.name):
        # Escaped: terminals and pages show it.
        name = ascii(found.name)
        return _hosts.Host(name, absent="its bundle's name is none of a host", remedy=_RENAME)
    expect, waivers = site(found.name)
    try:
        with opened(found) as bundle:
            reported = bundle.manifest
            if reported.host != found.name:
                why = f"its bundle says that it is of {reported.host!a}"
                return _hosts.Host(found.name, absent=why, remedy=_RENAME)
            expect = with_bundle(expect, reported.expect)
            judged = _verify.verify(bundle, expect)
            return _hosts.recorded(
                found.name,
                verdict_object(found.name, judged.checks, judged.facts),
                collected_at=reported.collected_at if _TIME.fullmatch(reported.collected_at) else "",
                expect=expect,
                waivers=waivers,
            )
    except Exception as exc:  # Whatever a stranger's bundle makes go wrong.
        said = str(exc) or type(exc).__name__
        return _hosts.Host(found.name, absent=f"its bundle cannot be read: {said}", remedy=_AGAIN)


@contextlib.contextmanager
def opened(found: Found) -> Iterator[Bundle]:
    """The bundle, unpacked for as long as this lasts where it is an archive."""
    if not found.packed:
        yield Bundle(found.path)
        return
    with TemporaryDirectory(prefix="ibready-") as place:
        unpack.unpack(found.path, Path(place))
        inside = [path for path in Path(place).iterdir() if path.is_dir()]
        if len(inside) != 1:
            raise unpack.UnpackError(f"{found.path} holds {len(inside)} folders and not one")
        yield Bundle(inside[0])


def _is_bundle(folder: Path) -> bool:
    try:
        return any((folder / name).exists() for name in (manifest.NAME, "commands", "files"))
    except OSError:
        # One that cannot be looked into is told of, and not passed over.
        return True


def _name(archive: Path) -> str:
    return archive.name.removesuffix(ENDING)
