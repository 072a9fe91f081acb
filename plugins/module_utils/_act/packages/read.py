# SPDX-License-Identifier: GPL-3.0-or-later
"""Read repositories and parts of a plan; whatever a package manager could misread is refused."""

from __future__ import annotations

import re
from typing import Any, Mapping, Sequence
from urllib.parse import urlsplit

from .model import APT, DNF, PackageError, Part, Pin, Repository, Wanted

# Nothing here can begin with a dash, hold a blank, or end a line of a file that we write.
_LABEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+.-]{0,127}")
_GLOB = re.compile(r"[A-Za-z0-9*][A-Za-z0-9_+.*?-]{0,127}")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_+.:~^-]{0,127}|")
_SUITE = re.compile(r"[A-Za-z0-9./][A-Za-z0-9._/-]{0,127}")
_STREAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}|")
_URL = re.compile(r"[\x21-\x7e]{1,2000}")
_FINGERPRINT = re.compile(r"[0-9A-F]{40}")
_PUBLIC_KEY = re.compile(r"(?:-----BEGIN PGP PUBLIC KEY BLOCK-----\n[\x20-\x7e\n]*)?")
_REPOSITORY = {"name", "kind", "url", "suite", "components", "key", "fingerprints", "exclude"}
_REPOSITORY |= {"gpgcheck", "repo_gpgcheck", "alone", "public_key"}
# A package of signed modules is of one kernel, which only the host knows.
_KERNEL = "{kernel}"
_PART = {"packages", "pins", "conflicts", "modules", "hold"}


def repositories(raw: Sequence[Mapping[str, Any]], kind: str) -> tuple[Repository, ...]:
    """Those of a kind (apt or dnf), in order; PackageError (input) for what cannot be meant."""
    found = tuple(_repository(entry) for entry in raw)
    names = [repository.name for repository in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise _input(f"repository {twice[0]} is named twice")
    return tuple(repository for repository in found if repository.kind == kind)


def parts(raw: Mapping[str, Any], kernels: Sequence[str] = ()) -> tuple[Part, ...]:
    """All parts, in order; PackageError (input) for what cannot be meant.

    ``kernels``: those that run; a package whose name has ``{kernel}`` is meant for each of them.
    """
    return tuple(_part(str(name), value, kernels) for name, value in raw.items())


def label(text: object, what: str) -> str:
    """A name that becomes part of a file's name."""
    return _fit(_LABEL, text, what)


def _input(cause: str) -> PackageError:
    return PackageError("input", cause, "correct the plan's install section")


def _fit(pattern: re.Pattern[str], value: object, what: str) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise _input(f"{what}: {value!r} cannot be meant")
    return value


def _list(value: object, what: str) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise _input(f"{what}: {value!r} is no list")
    return list(value)


def _keys(value: object, known: set[str], what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _input(f"{what}: {value!r} is no dictionary")
    strange = sorted(str(key) for key in value if key not in known)
    if strange:
        raise _input(f"{what}: {strange[0]} is not known; known are {', '.join(sorted(known))}")
    return value


def _repository(raw: object) -> Repository:
    given = _keys(raw, _REPOSITORY, "repository")
    name = _fit(_LABEL, given.get("name"), "name of a repository")
    what = f"repository {name}"
    kind = given.get("kind")
    if kind not in (APT, DNF):
        raise _input(f"{what}: kind {kind!r} is neither {APT} nor {DNF}")
    prints = tuple(
        _fit(_FINGERPRINT, str(entry).replace(" ", "").upper(), f"{what}, fingerprints")
        for entry in _list(given.get("fingerprints", []), f"{what}, fingerprints")
    )
    if not prints:
        raise _input(f"{what} has no pinned key fingerprint")
    signed = bool(given.get("gpgcheck", True)), bool(given.get("repo_gpgcheck", True))
    if not any(signed):
        raise _input(f"{what}: neither packages nor index would be checked against its key")
    public_key = _fit(_PUBLIC_KEY, given.get("public_key", ""), f"{what}, public_key")
    return Repository(
        name=name,
        kind=kind,
        url=_url(given.get("url"), f"{what}, url"),
        key="" if public_key else _url(given.get("key"), f"{what}, key"),
        fingerprints=prints,
        suite=_fit(_SUITE, given.get("suite") or "./", f"{what}, suite"),
        components=_texts(_SUITE, given.get("components", []), f"{what}, components"),
        exclude=_texts(_GLOB, given.get("exclude", []), f"{what}, exclude"),
        gpgcheck=signed[0],
        repo_gpgcheck=signed[1],
        alone=bool(given.get("alone", False)),
        public_key=public_key,
    )


def _url(value: object, what: str) -> str:
    text = _fit(_URL, value, what)
    split = urlsplit(text)
    if split.scheme not in ("http", "https", "file") or not (split.netloc or split.path):
        raise _input(f"{what}: {text!r} is not an http, https or file address")
    if set(text) & set("[]\"'`$\\"):
        raise _input(f"{what}: {text!r} cannot be meant")
    return text


def _texts(pattern: re.Pattern[str], value: object, what: str) -> tuple[str, ...]:
    return tuple(_fit(pattern, entry, what) for entry in _list(value, what))


def _part(name: str, raw: object, kernels: Sequence[str]) -> Part:
    what = f"part {_fit(_LABEL, name, 'name of a part')}"
    given = _keys(raw, _PART, what)
    modules = _keys(given.get("modules") or {}, {"stream"}, f"{what}, modules")
    packages = []
    for item in _list(given.get("packages", []), f"{what}, packages"):
        # A name by itself is the package in whatever version there is.
        named = {"name": item} if isinstance(item, str) else item
        entry = _keys(named, {"name", "version"}, f"{what}, packages")
        version = _version(entry.get("version", ""), f"{what}, {entry.get('name')}")
        for called in _of_kernels(entry.get("name"), kernels):
            packages.append(Wanted(_fit(_NAME, called, f"{what}, package"), version))
    pins = []
    for each in _list(given.get("pins", []), f"{what}, pins"):
        entry = _keys(each, {"names", "version"}, f"{what}, pins")
        names = _texts(_GLOB, entry.get("names", []), f"{what}, pins")
        pins.append(Pin(names, _version(entry.get("version", ""), f"{what}, pins")))
    return Part(
        name=name,
        packages=tuple(packages),
        pins=tuple(pins),
        conflicts=_texts(_GLOB, given.get("conflicts", []), f"{what}, conflicts"),
        stream=_fit(_STREAM, modules.get("stream", ""), f"{what}, module stream"),
        hold=bool(given.get("hold", True)),
    )


def _of_kernels(name: object, kernels: Sequence[str]) -> list[object]:
    if kernels and isinstance(name, str) and _KERNEL in name:
        return [name.replace(_KERNEL, kernel) for kernel in dict.fromkeys(kernels)]
    return [name]


def _version(value: object, what: str) -> str:
    return _fit(_VERSION, value, f"{what}, version")
