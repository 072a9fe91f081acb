# SPDX-License-Identifier: GPL-3.0-or-later
"""Write an evidence bundle: all that the checks look at, as they looked at it.

The observers run against a recorder, so a bundle holds what they ask for and nothing is listed
twice; what they looked for in vain is in the manifest.
"""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import shutil
import tarfile
from typing import Any, Iterator, List, Mapping

from .._evidence import manifest as _manifest
from .._evidence.redact import masked, masked_bytes, masked_values
from .._evidence.sources import Cached, Evidence, Missing, Output, Unavailable, entry_name
from .._expect.expectations import from_inventory
from .._ground import whole
from .._ground.version import VERSION
from . import verify as _verify

# What no check reads today and a person will want to see.
_MORE = ("ibstatus", "ibv_devinfo", "rdma_link", "mst_status", "nvlink_caps", "nvsmi_q")

Names = List[str]  # inside the class below `list` is a method


class CollectError(Exception):
    """The bundle could not be written; the message says where and why."""


class Recorder:
    """Asks another source, and remembers every answer for the bundle."""

    def __init__(self, source: Evidence) -> None:
        self._source = source
        self.recorded = source.recorded
        self.commands: dict[str, Output] = {}
        self.files: dict[str, bytes] = {}
        self.lists: dict[str, list[str]] = {}
        self.links: dict[str, str] = {}
        self.modes: dict[str, int] = {}
        self.absent: set[str] = set()
        self.unavailable: dict[str, str] = {}
        self.later: tuple[Recorder, float] | None = None

    def run(self, name: str, *args: str) -> Output:
        """Give the command's output, and keep it without its secrets."""
        entry = entry_name(name, *args)
        with self._noting(entry):
            output = self._source.run(name, *args)
        kept = Output(output.rc, masked(output.stdout), masked(output.stderr))
        return self.commands.setdefault(entry, kept)

    def read(self, path: str) -> str:
        """Give the file's text, and keep it without its secrets."""
        with self._noting(path):
            text = masked(self._source.read(path))
        self.files[path] = text.encode()
        return text

    def read_bytes(self, path: str) -> bytes:
        """Give the file's bytes, and keep them; where they are text, without its secrets."""
        with self._noting(path):
            self.files[path] = masked_bytes(self._source.read_bytes(path))
        return self.files[path]

    def list(self, path: str) -> Names:
        """Give and keep the names."""
        with self._noting(path):
            self.lists[path] = self._source.list(path)
        return self.lists[path]

    def link(self, path: str) -> str:
        """Give and keep the link's text."""
        with self._noting(path):
            self.links[path] = self._source.link(path)
        return self.links[path]

    def mode(self, path: str) -> int:
        """Give and keep the permissions."""
        with self._noting(path):
            self.modes[path] = self._source.mode(path)
        return self.modes[path]

    def again(self, seconds: float) -> tuple[Evidence, float]:
        """Give the second look; it is recorded as a bundle within the bundle."""
        with self._noting("again"):
            source, after = self._source.again(seconds)
        self.later = (Recorder(source), after)
        return self.later

    @contextlib.contextmanager
    def _noting(self, what: str) -> Iterator[None]:
        try:
            yield
        except Missing:
            self.absent.add(what)
            raise
        except Unavailable as exc:
            self.unavailable[what] = masked(exc.reason)
            raise


def collect(
    source: Evidence,
    directory: str,
    host: str,
    collected_at: str,
    expect: Mapping[str, Any] | None = None,
) -> list[str]:
    """Look at everything and write ``directory``/``host`` and a .tar.gz of it, replacing both.

    ``expect``: as `ibready_expect`. It is kept, and says what is looked at: without ``container`` no
    container is started, without ``nccl.peers`` no way to another node is asked for. Returns what
    could not be told, one line each. Raises CollectError where it cannot be written,
    ExpectationError on what cannot be expected.
    """
    if not _manifest.HOST.fullmatch(host):
        raise CollectError(f"{host!r} is no name for a directory")
    recorder = Recorder(source)
    looker = Cached(recorder)
    _verify.verify(looker, from_inventory(expect))
    for name in _MORE:
        with contextlib.suppress(Unavailable):
            looker.run(name)
    place = os.path.join(directory, host)
    begun = f"{place}.part"
    try:
        os.makedirs(directory, exist_ok=True)
        shutil.rmtree(begun, ignore_errors=True)
        os.makedirs(begun, mode=0o700)
        _write(recorder, begun, host, collected_at, expect or {})
        if os.path.lexists(place):
            shutil.rmtree(place)
        os.rename(begun, place)
        _pack(directory, host)
    except OSError as exc:
        shutil.rmtree(begun, ignore_errors=True)
        raise CollectError(f"the bundle was not written to {place}: {exc}") from exc
    return [f"{what}: {why}" for what, why in sorted(recorder.unavailable.items())]


def _pack(directory: str, host: str) -> None:
    """HOST.tar.gz beside HOST, whole or not at all."""
    begun = os.path.join(directory, f"{host}.tar.gz.part")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(begun)
    handle = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(handle, "wb") as stream, tarfile.open(fileobj=stream, mode="w:gz") as archive:
            archive.add(os.path.join(directory, host), arcname=host)
        os.replace(begun, os.path.join(directory, f"{host}.tar.gz"))
    except OSError:
        whole.drop(begun)
        raise


def _write(recorder: Recorder, place: str, host: str, collected_at: str, expect: Mapping[str, Any]) -> None:
    sums: dict[str, str] = {}

    def put(path: str, data: bytes) -> None:
        _put(os.path.join(place, path), data)
        sums[path] = _manifest.sum_of(data)

    for folder in ("commands", "files"):
        os.makedirs(os.path.join(place, folder))
    for entry, output in recorder.commands.items():
        put(f"commands/{entry}/stdout", output.stdout.encode())
        put(f"commands/{entry}/stderr", output.stderr.encode())
        put(f"commands/{entry}/rc", f"{output.rc}\n".encode())
    for path, data in recorder.files.items():
        put(posixpath.normpath(f"files/{path}"), data)
    for path, names in recorder.lists.items():
        # A name that nobody read is a directory: nothing can be read from it by mistake.
        for name in ["", *names]:
            item = posixpath.normpath(f"files/{path}/{name}")
            sums.setdefault(item, "")
            if not os.path.lexists(os.path.join(place, item)):
                os.makedirs(os.path.join(place, item))
    if recorder.later is not None:
        second, after = recorder.later
        _write(second, os.path.join(place, "again"), host, collected_at, {})
        put("again/seconds", f"{after:.3f}\n".encode())
    manifest = _manifest.Manifest(
        host=host,
        collected_at=collected_at,
        ibready=VERSION,
        absent=frozenset(recorder.absent),
        unavailable=recorder.unavailable,
        links=recorder.links,
        modes=recorder.modes,
        peers=tuple((expect.get("nccl") or {}).get("peers") or ()),
        # Containers' options may hold secrets; what was asked of them is beside what they got.
        expect={key: masked_values(value, key) for key, value in expect.items() if key != "container"},
        sums=sums,
    )
    text = json.dumps(manifest.to_dict(), indent=1, sort_keys=True) + "\n"
    _put(os.path.join(place, _manifest.NAME), text.encode())


def _put(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "xb") as stream:
        stream.write(data)
