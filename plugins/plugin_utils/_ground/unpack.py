# SPDX-License-Identifier: GPL-3.0-or-later
"""Unpack the archive of an evidence bundle, which a host that is hostile may have made."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import tarfile
import tempfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Any

from ...module_utils._evidence import manifest
from ...module_utils._ground.bound import Bound
from ...module_utils._ground.command import Unavailable
from . import child

ENDING = ".tar.gz"
# A bundle of a host has some thousand files and a few MiB, 12 parts deep; a log may have more.
MEMBERS: Bound = 200_000
BYTES: Bound = 1024 * 1024 * 1024
# What is no deeper can be removed again.
_PARTS: Bound = 40
_LENGTH: Bound = 1024
_PART: Bound = 255
# Of a header before a member, which tells a long name and a time; and of all such headers together.
_HEADER: Bound = 2 * 1024
_HEADERS: Bound = 4 * 1024 * 1024
# The largest archive that is taken needs a tenth of it.
_SECONDS: Bound = 300
_EXTENDED = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
_SPARSE = tarfile.GNUTYPE_SPARSE
_BLOCK = 1 << 20
# What the archive is to blame for, and not the controller.
_THEIRS = (errno.EEXIST, errno.EINVAL, errno.EISDIR, errno.ENAMETOOLONG, errno.ENOTDIR)
_SHOWN = 80


class UnpackError(ValueError):
    """The archive is none that collect writes; the message names it and the member."""


def replace(archive: Path, folder: Path, host: str) -> Path:
    """Put the bundle of ``host`` into ``folder``/``host``, and the archive of it beside that.

    They take the place of what is there; ``archive`` has to be on the folder's file system. Nothing
    else in the folder is touched, and all is as it was where the archive is refused: with
    UnpackError where it is not this host's bundle and nothing more, or with OSError.
    """
    check_name(host)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".ibready-", dir=folder) as name:
        place = Path(name)
        unpack(archive, place, host)
        begun, home = place / host, folder / host
        reported = _told(archive, begun)
        if reported != host:
            raise UnpackError(f"{archive} says that it is of {reported[:_SHOWN]!r}, and not of {host}")
        archive.chmod(0o600)
        with contextlib.ExitStack() as undo:
            for new, old in ((begun, home), (archive, folder / f"{host}{ENDING}")):
                if os.path.lexists(old):
                    kept = old.rename(place / f"before-{old.name}")
                    undo.callback(kept.rename, old)
                new.rename(old)
                undo.callback(old.rename, new)
            undo.pop_all()
    return home


def check_name(host: str) -> None:
    """Raise UnpackError for a host whose name is none of a folder."""
    if host in ("", ".", "..") or PurePosixPath(host).name != host:
        raise UnpackError(f"{host!r} is no name for a folder")


def unpack(archive: Path, place: Path, only: str = "") -> None:
    """Files and folders of an archive into an empty folder, bounded in number, size and time.

    A process of its own reads it, which is ended at the deadline: what archives are read by has had holes before.
    ``only``: the one name that everything has to be below; "" for any. Raises UnpackError, OSError.
    """
    try:
        refused, number, why = child.within(_SECONDS, lambda: _tried(archive, place, only))
    except child.ChildError as exc:
        raise UnpackError(f"{archive} cannot be unpacked: {exc}") from exc
    if refused:
        raise UnpackError(why)
    if why:
        raise OSError(number, why)


def _tried(archive: Path, place: Path, only: str) -> tuple[bool, int, str]:
    """Whether the archive is to blame, the number of the error where it is not, and why; "" where all is there."""
    try:
        with gzip.open(archive) as text, _Archive(fileobj=text) as stream:
            _unpack(archive, stream, place, only)
    except UnpackError as exc:
        return True, 0, str(exc)
    except OSError as exc:
        theirs = isinstance(exc, gzip.BadGzipFile) or exc.errno in _THEIRS
        why = f"{archive} cannot be unpacked: {exc}" if theirs else exc.strerror or str(exc)
        return theirs, exc.errno or 0, why
    except (
        EOFError,
        OverflowError,
        RecursionError,
        ValueError,
        tarfile.TarError,
        zlib.error,
    ) as exc:
        return True, 0, f"{archive} cannot be unpacked: {exc}"
    return False, 0, ""


class _Header(tarfile.TarInfo):
    """Of the headers that tarfile is clever about only those of collect's, and no larger: it reads them whole."""

    # Python names it so; within, it hides the module.
    def _proc_member(self, tarfile: Any) -> Any:
        if self.type in _EXTENDED:
            tarfile.headers += 1
            tarfile.header_bytes += self.size
            if not 0 <= self.size <= _HEADER or tarfile.header_bytes > _HEADERS:
                raise UnpackError(f"{tarfile.name} holds a header that is too long for a bundle")
        elif self.type == _SPARSE:
            self._sparse()
        return super()._proc_member(tarfile)  # type: ignore[misc]

    def _sparse(self, *_unused: Any) -> None:
        raise UnpackError(f"the archive holds {self.name[:_SHOWN]!r}, a sparse file: a bundle has none")

    _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _sparse


class _Archive(tarfile.TarFile):
    tarinfo = _Header
    headers = header_bytes = 0


def _unpack(archive: Path, stream: _Archive, place: Path, only: str) -> None:
    left = BYTES
    made: set[PurePosixPath] = set()
    for number, member in enumerate(stream):
        left -= max(member.size, 0)
        name = _name(archive, member, only)
        folder = name if member.isdir() else name.parent
        # With those that are only on the way to a file.
        new = () if folder in made else (*reversed(folder.parents), folder)
        made.update(new)
        if number + stream.headers + len(made) > MEMBERS or left < 0:
            raise UnpackError(f"{archive} holds more than a bundle does")
        for path in new:
            (place / path).mkdir(mode=0o700, exist_ok=True)
        if not member.isdir():
            _write(stream, member, place / name)


def _name(archive: Path, member: tarfile.TarInfo, only: str) -> PurePosixPath:
    """Where a member belongs; an UnpackError names it where that is no place of a bundle."""
    shown = f"{archive} holds {member.name[:_SHOWN]!r}"
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts or "\0" in member.name or not name.parts:
        raise UnpackError(f"{shown}, a way out of it")
    sizes = [len(os.fsencode(part)) for part in name.parts]
    if len(sizes) > _PARTS or sum(sizes) + len(sizes) > _LENGTH or max(sizes) > _PART:
        raise UnpackError(f"{shown}, which is too deep or too long for a bundle")
    if not (member.isdir() or member.isfile()):
        kind = "a link" if member.issym() or member.islnk() else "a device or pipe"
        raise UnpackError(f"{shown}, {kind}: a bundle has files and folders only")
    if only and name.parts[0] != only:
        raise UnpackError(f"{shown}, which is not below {only}")
    return name


def _write(stream: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(handle, "wb") as written:
        source = stream.extractfile(member)
        while source is not None and (block := source.read(_BLOCK)):
            written.write(block)


def _told(archive: Path, bundle: Path) -> str:
    """The host that the bundle says it is of."""
    try:
        return manifest.load(str(bundle)).host
    except Unavailable as exc:
        raise UnpackError(f"{archive} is no bundle: {exc}") from exc
