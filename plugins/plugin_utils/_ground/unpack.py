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
from typing import IO, cast

from ...module_utils._evidence import manifest
from ...module_utils._ground.command import Unavailable

ENDING = ".tar.gz"
# A bundle of a host has some thousand files and a few MiB, 12 parts deep; a log may have more.
MEMBERS = 200_000
BYTES = 1024 * 1024 * 1024
# What is no deeper can be removed again.
_PARTS = 40
_LENGTH = 1024
_PART = 255
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
    """Files and folders of an archive into an empty folder, bounded in number and size.

    ``only``: the one name that everything has to be below; "" for any. Raises UnpackError, OSError.
    """
    try:
        with gzip.open(archive) as text:
            _unpack(archive, cast("IO[bytes]", _Small(archive, text)), place, only)
    except UnpackError:
        raise
    except OSError as exc:
        if not isinstance(exc, gzip.BadGzipFile) and exc.errno not in _THEIRS:
            raise
        raise UnpackError(f"{archive} cannot be unpacked: {exc}") from exc
    except (
        EOFError,
        OverflowError,
        RecursionError,
        ValueError,
        tarfile.TarError,
        zlib.error,
    ) as exc:
        raise UnpackError(f"{archive} cannot be unpacked: {exc}") from exc


class _Small:
    """A stream of which nothing large is read at once: tarfile takes headers whole into memory."""

    def __init__(self, archive: Path, stream: gzip.GzipFile) -> None:
        self._archive, self._stream = archive, stream
        self.seek, self.tell = stream.seek, stream.tell

    def read(self, size: int) -> bytes:
        """As of a file."""
        if not 0 <= size <= 2 * _BLOCK:
            raise UnpackError(f"{self._archive} holds a header that is larger than a bundle's")
        return self._stream.read(size)


def _unpack(archive: Path, text: IO[bytes], place: Path, only: str) -> None:
    left = BYTES
    made: set[PurePosixPath] = set()
    with tarfile.open(fileobj=text, mode="r:") as stream:
        for number, member in enumerate(stream):
            left -= max(member.size, 0)
            name = _name(archive, member, only)
            folder = name if member.isdir() else name.parent
            # With those that are only on the way to a file.
            new = () if folder in made else (*reversed(folder.parents), folder)
            made.update(new)
            if number + len(made) > MEMBERS or left < 0:
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
