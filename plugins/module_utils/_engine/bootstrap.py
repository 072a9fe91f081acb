# SPDX-License-Identifier: GPL-3.0-or-later
"""What a visit sends each time: run the kept engine, if it is the one that the controller names.

The controller sends this text to a Python's standard input with a call of ``main`` behind it. The
engine is an archive of sources, kept by its SHA256 below /run, where only root writes and no reboot
leaves it. It is run from the bytes that the sum was taken of, never by its path; what is not as the
controller named it, or where anybody else could have written, is not run.

It imports no more than it needs: this is what every visit pays.
"""

from __future__ import annotations

import sys

# A program that comes by standard input finds modules where it was started, which may be anybody's place.
sys.path[:] = [place for place in sys.path if place not in ("", ".")]

import marshal
import os
import stat
from binascii import a2b_base64
from hashlib import sha256

FOLDER = "/run/ibready-engine"
SERVE = "ansible_collections/ibready/cluster/plugins/module_utils/_engine/serve.py"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_SUM = 32


def entered(place: str) -> int:
    """A handle of the folder; raises OSError where anybody but us could have written there."""
    above = os.open(os.path.dirname(place), _READ | os.O_DIRECTORY)
    try:
        seen = os.fstat(above)
        if seen.st_uid not in (0, os.geteuid()) or seen.st_mode & 0o022:
            raise PermissionError(f"others may write where {place} is")
        inside = os.open(os.path.basename(place), _READ | os.O_DIRECTORY, dir_fd=above)
    finally:
        os.close(above)
    seen = os.fstat(inside)
    if seen.st_uid != os.geteuid() or seen.st_mode & 0o077:
        os.close(inside)
        raise PermissionError(f"{place} is not ours alone")
    return inside


def _read(inside: int, name: str) -> bytes:
    # Anything but a file could keep the reader waiting.
    with open(os.open(name, _READ | os.O_NONBLOCK, dir_fd=inside), "rb") as stream:
        seen = os.fstat(stream.fileno())
        if not stat.S_ISREG(seen.st_mode) or seen.st_uid != os.geteuid() or seen.st_mode & 0o022:
            raise PermissionError(f"{name} is not a file of ours alone")
        return stream.read()


def kept(place: str, name: str) -> bytes:
    """A file of the folder, whole; empty where there is none that only we could have written."""
    try:
        inside = entered(place)
        try:
            return _read(inside, name)
        finally:
            os.close(inside)
    except OSError:
        return b""


def code_name(digest: str) -> str:
    """The file of an engine's compiled code: one for each Python, for no other reads its code."""
    # importlib.util has the number from there, and takes longer to import than all of this.
    magic = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER.hex()
    return f"{digest}.{sys.implementation.cache_tag}-{magic}-{sys.flags.optimize}"


def sealed(digest: str, codes: bytes) -> bytes:
    """What begins the file of compiled code: a sum of it and of the engine's name."""
    return sha256(digest.encode() + codes).digest()


def compiled(place: str, digest: str) -> dict[str, bytes]:
    """The engine's compiled code; empty where it is not as it was written."""
    whole = kept(place, code_name(digest))
    body = whole[_SUM:]
    # Damaged code can end the interpreter: nothing of it is looked at before its sum.
    if sealed(digest, body) != whole[:_SUM]:
        return {}
    codes = marshal.loads(body)
    return codes if isinstance(codes, dict) else {}


def main(digest: str, question: str, carried: str = "", place: str = FOLDER) -> None:
    """Answer the question (JSON) by that engine: the kept one, or the one that the visit carries."""
    archive = a2b_base64(carried) if carried else kept(place, digest)
    if sha256(archive).hexdigest() != digest:
        sys.stdout.write('\n{"ibready_engine": "%s"}\n' % ("damaged" if carried else "absent"))
        return
    codes = compiled(place, digest)
    if codes.get(SERVE):
        code = marshal.loads(codes[SERVE])
    else:
        import json
        import zlib

        code = compile(json.loads(zlib.decompress(archive))[SERVE], SERVE, "exec", dont_inherit=True)
    room = dict(globals(), __name__="ibready_engine")
    exec(code, room)
    room["serve"](digest, archive, codes, question, place, bool(carried))
