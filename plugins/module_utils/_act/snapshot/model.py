# SPDX-License-Identifier: GPL-3.0-or-later
"""What a snapshot holds, to and from JSON, what tells a node from it, and what it needs of a package manager."""

from __future__ import annotations

import base64
from dataclasses import asdict, dataclass, field
from typing import Any, Collection, Mapping, Protocol, Sequence

from ..packages.model import Part, Request, Transaction, Wanted

FILE, LINK = "file", "link"
BARE, UNKNOWN = "bare", "unknown"


@dataclass(frozen=True)
class Persisted:
    """A managed file: ``data`` is its content, or a link's target. ``mode``: permission bits."""

    kind: str
    data: bytes
    mode: int
    uid: int
    gid: int

    def to_dict(self) -> dict[str, Any]:
        reported: dict[str, Any] = {"kind": self.kind, "uid": self.uid, "gid": self.gid}
        reported["mode"] = f"{self.mode:04o}"
        try:
            reported["text"] = self.data.decode("utf-8")
        except UnicodeDecodeError:
            reported["base64"] = base64.b64encode(self.data).decode("ascii")
        return reported

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Persisted:
        """Raises KeyError, TypeError or ValueError for what `to_dict` does not write."""
        if raw["kind"] not in (FILE, LINK):
            raise ValueError(f"kind {raw['kind']!r}")
        data = raw["text"].encode("utf-8") if "text" in raw else base64.b64decode(raw["base64"], validate=True)
        return cls(raw["kind"], data, int(raw["mode"], 8), int(raw["uid"]), int(raw["gid"]))


@dataclass(frozen=True, order=True)
class Package:
    """An installed package. ``name`` as the package manager takes it (libc6:i386, foo.x86_64)."""

    name: str
    version: str


@dataclass(frozen=True)
class Packages:
    """What the package database says. ``automatic``: brought as a dependency of others.

    ``residue``: names of which only configuration files are left (apt), or the keys in rpm's own
    database (dnf). ``held``: apt's holds; dnf's are in a file.
    """

    manager: str
    installed: frozenset[Package]
    automatic: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    residue: frozenset[str] = frozenset()

    def to_dict(self) -> dict[str, Any]:
        return {
            "manager": self.manager,
            "installed": [[package.name, package.version] for package in sorted(self.installed)],
            "automatic": sorted(self.automatic),
            "held": sorted(self.held),
            "residue": sorted(self.residue),
        }

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Packages:
        return cls(
            str(raw["manager"]),
            frozenset(Package(str(name), str(version)) for name, version in raw["installed"]),
            _names(raw["automatic"]),
            _names(raw["held"]),
            _names(raw["residue"]),
        )


@dataclass(frozen=True)
class Snapshot:
    """A node as it was under the plan ``digest`` (or BARE, UNKNOWN), the ``number``-th of its kind.

    ``globs``: what was looked for, so that a file that fits one and is not in ``files`` was not
    there. ``no_folders``: folders of such files that were not there. ``created``: ISO 8601, UTC.
    """

    number: int
    digest: str
    created: str
    packages: Packages
    globs: tuple[str, ...]
    files: Mapping[str, Persisted] = field(default_factory=dict)
    no_folders: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.number}-{self.digest}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "digest": self.digest,
            "created": self.created,
            "packages": self.packages.to_dict(),
            "globs": list(self.globs),
            "files": {path: file.to_dict() for path, file in sorted(self.files.items())},
            "no_folders": list(self.no_folders),
        }

    @classmethod
    def parse(cls, raw: Mapping[str, Any]) -> Snapshot:
        """Raises KeyError, TypeError or ValueError for what `to_dict` does not write."""
        return cls(
            int(raw["number"]),
            str(raw["digest"]),
            str(raw["created"]),
            Packages.parse(raw["packages"]),
            tuple(map(str, raw["globs"])),
            {str(path): Persisted.parse(file) for path, file in raw["files"].items()},
            tuple(map(str, raw["no_folders"])),
        )


@dataclass(frozen=True)
class State:
    """What the node was last brought to, and ``towards`` what it is on its way ("": nowhere).

    ``left``: the snapshot that was taken when it set out. A node on its way is of no digest.
    """

    digest: str = ""
    towards: str = ""
    left: str = ""

    def to_dict(self) -> dict[str, str]:
        return {key: value for key, value in asdict(self).items() if value}


def _names(raw: Any) -> frozenset[str]:
    if not isinstance(raw, list):
        raise TypeError(f"{raw!r} is not a list")
    return frozenset(map(str, raw))


class Pool(Protocol):
    """apt or dnf, as `SnapshotApt` and `SnapshotDnf` are. Every failure is a PackageError."""

    root: str
    cache: str

    def packages(self) -> Packages:
        """What the package database says now."""

    def plain(self, package: Package) -> str:
        """The name without an architecture."""

    def wanted(self, package: Package) -> Wanted:
        """The package in exactly this version and architecture, to be installed."""

    def unwanted(self, package: Package) -> str:
        """Exactly this package, to be removed."""

    def look_at(self, kept: Mapping[str, bytes]) -> list[str]:
        """Fetch the indexes as if these were the files of repositories; what went wrong."""

    def versions(self, names: Collection[str]) -> dict[str, tuple[str, ...]]:
        """What the repositories have of these names."""

    def simulate(self, request: Request) -> Transaction: ...

    def fetch(self, request: Request) -> None: ...

    def apply(self, request: Request, timeout: float) -> None: ...

    def wait(self, timeout: float) -> None: ...

    def damage(self) -> list[str]: ...

    def repair(self, ours: Sequence[Part]) -> list[str]: ...

    def owned(self, package: str) -> list[str]: ...

    def purge(self, residue: Sequence[str]) -> None:
        """Remove what removed packages left (`Packages.residue`)."""

    def mark(self, automatic: Sequence[str], manual: Sequence[str]) -> None:
        """Say which packages were brought as dependencies, and which were asked for."""

    def hold_names(self, add: Sequence[str], drop: Sequence[str]) -> None:
        """Hold and release packages by name."""

    def close(self) -> None: ...
