# SPDX-License-Identifier: GPL-3.0-or-later
"""Read ``packages/*.yml``: which stand-in packages there are, for apt (deb) and for dnf (rpm)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

from sandbox.errors import SandboxError

Kind = Literal["deb", "rpm"]
HERE = Path(__file__).parent
PACKAGES = HERE / "packages"
_FIELDS = {
    "deb", "rpm", "version", "summary", "depends", "recommends", "conflicts", "provides",
    "payload", "programs", "repack", "nccl", "stream", "values",
}  # fmt: skip


@dataclass(frozen=True)
class Relation:
    """What a package depends on: a name, and where it matters an operator and a version."""

    name: str
    operator: str = ""
    version: str = ""


@dataclass(frozen=True)
class Package:
    """One stand-in package, with everything filled in.

    ``version`` is as the package manager writes it, ``epoch:version-release`` where there are such.
    ``payload`` names the tree of files that it brings; ``repack`` the packages of the distribution
    whose real files it brings instead; ``nccl`` the release of NCCL whose real library it brings.
    ``values`` replace @NAME@ in the payload's texts.
    ``programs`` are files of ``programs/``, by where the package brings them.
    ``streams`` are its dnf module streams. ``path`` is its repository's on the server.
    """

    kind: Kind
    name: str
    version: str
    path: str
    summary: str = ""
    depends: tuple[Relation, ...] = ()
    recommends: tuple[Relation, ...] = ()
    conflicts: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    payload: str = ""
    programs: Mapping[str, str] = field(default_factory=dict)
    repack: tuple[str, ...] = ()
    nccl: str = ""
    streams: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Repository:
    """One repository: where, signed by whose key, and the file with that key's public half."""

    kind: Kind
    path: str
    label: str
    signer: str
    packages: tuple[Package, ...]


def rpm_version(version: str) -> tuple[str, str, str]:
    """Return epoch ("" for none), version and release of ``epoch:version-release``."""
    epoch, colon, rest = version.rpartition(":")
    number, _, release = rest.partition("-")
    return (epoch if colon else ""), number, release or "1"


def kernel_values(release: str, inbox: str = "0") -> dict[str, str]:
    """Return a kernel's name as packages may spell it; `inbox` is the real rdma-core's version."""
    return {
        "kernel": release,
        "kernel_deb": re.sub(r"[^a-z0-9.+-]", "-", release.lower()),
        "kernel_rpm": _rpm_kernel(release),
        "inbox": inbox,
    }


def _rpm_kernel(release: str) -> str:
    version, _, rest = release.removesuffix(".x86_64").partition("-")
    return f"{version}-{re.sub(r'[^A-Za-z0-9._+]', '_', rest) or '0'}"


def load(kind: Kind, extra: Mapping[str, str] | None = None, folder: Path = PACKAGES) -> list[Repository]:
    """Return the repositories of a kind; SandboxError names the file and entry that is wrong."""
    extra = extra if extra is not None else kernel_values(os.uname().release)
    made: dict[str, list[Package]] = {}
    about: dict[str, tuple[str, str]] = {}
    for file in sorted(folder.glob("*.yml")):
        document = yaml.safe_load(file.read_text())
        names = _translation(document)
        for entry in document["sets"]:
            whole = {**document, **entry}
            for release in whole["releases"]:
                values = _filled({**extra, **whole.get("values", {}), **release}, file.name)
                path = _formatted(_of(whole["path"], kind), values, file.name)
                about.setdefault(
                    path,
                    (_formatted(whole["label"], values, file.name), _of(whole["signer"], kind)),
                )
                made.setdefault(path, []).extend(
                    _packages(kind, list(_flat(whole["packages"])), values, path, names, file.name)
                )
    return [Repository(kind, path, *about[path], tuple(_checked(packages, path))) for path, packages in made.items()]


def _checked(packages: Iterable[Package], path: str) -> Iterator[Package]:
    """Pass packages on, once each; two different ones of one name and version are a mistake."""
    seen: dict[tuple[str, str], Package] = {}
    for package in packages:
        key = (package.name, package.version)
        if seen.setdefault(key, package) != package:
            raise SandboxError(f"{path}: two different packages {package.name} {package.version}")
        if seen[key] is package:
            yield package


def _packages(
    kind: Kind,
    entries: list[dict[str, Any]],
    values: dict[str, str],
    path: str,
    names: Mapping[str, str],
    where: str,
) -> Iterator[Package]:
    here = [entry for entry in entries if _name(entry, kind)]
    versions = {
        _formatted(_name(entry, kind), values, where): _formatted(_of(entry["version"], kind), values, where)
        for entry in here
    }
    for entry in here:
        wrong = set(entry) - _FIELDS
        if wrong:
            raise SandboxError(f"{where}: {_name(entry, kind)}: unknown {', '.join(sorted(wrong))}")
        own = {key: _of(value, kind) for key, value in entry.get("values", {}).items()}
        name = _formatted(_name(entry, kind), values, where)

        def words(field: str, entry: dict[str, Any] = entry, values: dict[str, str] = values) -> list[str]:
            given = entry.get(field, [])
            chosen = given.get(kind, []) if isinstance(given, dict) else given
            return [_formatted(str(word), values, where) for word in chosen]

        yield Package(
            kind=kind,
            name=name,
            version=versions[name],
            path=path,
            summary=entry.get("summary", "the distribution's files under the vendor's version"),
            depends=tuple(_relations(words("depends"), kind, names, versions, where)),
            recommends=tuple(_relations(words("recommends"), kind, names, versions, where)),
            conflicts=tuple(names.get(word, word) if kind == "rpm" else word
                            for word in words("conflicts")),
            provides=tuple(words("provides")),
            payload=entry.get("payload", ""),
            programs=entry.get("programs", {}),
            repack=tuple(words("repack")),
            nccl=_formatted(str(entry.get("nccl", "")), values, where),
            streams=tuple(_formatted(_of(entry.get("stream", ""), kind), values, where).split()),
            values=_filled({**values, **own}, where),
        )  # fmt: skip


def _relations(
    words: Iterable[str],
    kind: Kind,
    names: Mapping[str, str],
    versions: Mapping[str, str],
    where: str,
) -> Iterator[Relation]:
    """Read ``name``, ``name ==`` (exactly this release's) and ``name >=`` (it or a later one)."""
    for word in words:
        name, _, operator = word.partition(" ")
        if kind == "rpm":
            name = names.get(name, name)
        if not name:  # part of another rpm
            continue
        if operator and (operator not in ("==", ">=") or name not in versions):
            raise SandboxError(f"{where}: cannot tell which version '{word}' means")
        yield Relation(name, operator.replace("==", "="), versions[name] if operator else "")


def _translation(document: dict[str, Any]) -> dict[str, str]:
    """Return deb name -> rpm name of a file's packages, "" for what is part of another rpm."""
    return {
        entry["deb"]: entry["rpm"]
        for each in document["sets"]
        for entry in _flat(each["packages"])
        if entry.get("deb") and entry.get("rpm") is not None
    }


def _name(entry: dict[str, Any], kind: Kind) -> str:
    """Return a package's name, "" where there is none of this kind; rpm's is deb's by default."""
    return str(entry.get(kind, entry.get("deb")) or "")


def _flat(entries: list[Any]) -> Iterator[dict[str, Any]]:
    """Return a list's dictionaries, also those of lists in it: YAML cannot join lists."""
    for entry in entries:
        if isinstance(entry, list):
            yield from _flat(entry)
        else:
            yield entry


def _of(value: Any, kind: Kind) -> str:
    return str(value[kind] if isinstance(value, dict) else value)


def _formatted(text: str, values: Mapping[str, str], where: str) -> str:
    try:
        return text.format_map(values)
    except (KeyError, ValueError) as exc:
        raise SandboxError(f"{where}: '{text}' names the unknown value {exc}") from None


def _filled(values: dict[str, Any], where: str) -> dict[str, str]:
    """Fill values that name other values in."""
    texts = {key: str(value) for key, value in values.items()}
    for _ in range(3):
        texts = {key: _formatted(text, texts, where) for key, text in texts.items()}
    return texts
