# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock: which stack each class of hosts was given; read, kept to, moved and compared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from ..._ground import yaml as _yaml

SCHEMA = "ibready/lock/1"
NAME = "stack.lock.yml"
PREVIOUS = "stack.lock.previous.yml"
_HEAD = """\
# Written by ibready: the stack of each class of hosts. Later runs keep to it.
# `-e stack_relock=true` resolves anew and shows the difference. Change variables, not this file.
# The sum tells damage. Without that line the file is read as it is.
"""
_VERDICTS = ("known", "allowed")


class LockError(ValueError):
    """The lock file cannot be used; the message names it and the next step."""


@dataclass(frozen=True)
class Class:
    """A class of equal hosts and its stack (docs/architecture.md). ``system``: ubuntu24.04."""

    hosts: tuple[str, ...]
    system: str
    kernel: str
    arch: str
    gpus: tuple[str, ...]
    hcas: tuple[str, ...]
    stack: Mapping[str, Any]
    verdict: str
    because: tuple[str, ...]

    @property
    def digest(self) -> str:
        """Tells one stack from another."""
        said = json.dumps(self.stack, sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        return {
            "hosts": list(self.hosts),
            "os": self.system,
            "kernel": self.kernel,
            "arch": self.arch,
            "gpus": list(self.gpus),
            "hcas": list(self.hcas),
            "stack": {key: dict(value) for key, value in self.stack.items()},
            "verdict": self.verdict,
            "because": list(self.because),
        }


@dataclass(frozen=True)
class Lock:
    """All classes, by name. ``matrix``: the digest of the matrix that it was resolved with."""

    created: str
    matrix: str
    classes: Mapping[str, Class] = field(default_factory=dict)

    def of_host(self, host: str) -> tuple[str, Class] | None:
        """The class that a host belongs to."""
        for name, kind in self.classes.items():
            if host in kind.hosts:
                return name, kind
        return None

    def to_dict(self) -> dict[str, Any]:
        classes = {name: self.classes[name].to_dict() for name in sorted(self.classes)}
        return {
            "schema": SCHEMA,
            "created": self.created,
            "matrix": self.matrix,
            "classes": classes,
        }


def text(lock: Lock) -> str:
    """The file."""
    # Through JSON, which takes Ansible's own kinds of text for text.
    plain = json.loads(json.dumps(lock.to_dict()))
    # Before all that it is of: no cut leaves a lock without it.
    whole = {
        "schema": plain.pop("schema"),
        "sum": _sum(parse({"schema": SCHEMA, **plain})),
        **plain,
    }
    body = yaml.safe_dump(whole, sort_keys=False, width=110, allow_unicode=True)
    return f"{_HEAD}---\n{body}"


def read(path: Path) -> Lock | None:
    """The lock in a file, None where there is none; raises LockError."""
    try:
        raw = _yaml.load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, yaml.YAMLError) as exc:
        raise LockError(f"{path} cannot be read: {exc}. {_NEXT}") from None
    try:
        lock = parse(raw)
    except (KeyError, TypeError, ValueError) as exc:
        raise LockError(f"{path} is no lock of this version: {exc!r}. {_NEXT}") from None
    # Earlier releases wrote none.
    if raw.get("sum", _sum(lock)) != _sum(lock):
        raise LockError(
            f"{path} is not as it was written, for its sum is another: it is damaged, or was "
            f"changed by hand. {_NEXT}; whoever means the change takes out the line `sum:`"
        )
    return lock


def _sum(lock: Lock) -> str:
    """The SHA256 of what the lock says, however its file is laid out."""
    return hashlib.sha256(json.dumps(lock.to_dict(), sort_keys=True).encode()).hexdigest()


_NEXT = "Next: put back the file from your version control, or move it away and resolve anew with -e stack_relock=true"


def parse(raw: Any) -> Lock:
    """The lock in loaded YAML; raises KeyError, TypeError or ValueError."""
    if not isinstance(raw, Mapping) or raw["schema"] != SCHEMA:
        raise ValueError(f"schema is not {SCHEMA}")
    classes = {str(name): _class(each) for name, each in _pairs(raw["classes"])}
    seen: dict[str, str] = {}
    for name, kind in classes.items():
        for host in kind.hosts:
            if host in seen:
                raise ValueError(f"{host} is in two classes: {seen[host]} and {name}")
            seen[host] = name
    return Lock(_text(raw["created"]), _text(raw["matrix"]), classes)


def _class(raw: Mapping[str, Any]) -> Class:
    verdict = _text(raw["verdict"])
    if verdict not in _VERDICTS:
        raise ValueError(f"verdict {verdict!r}")
    stack = {
        str(part): {str(key): _text(value) for key, value in _pairs(fields)} for part, fields in _pairs(raw["stack"])
    }
    return Class(
        hosts=_texts(raw["hosts"]),
        system=_text(raw["os"]),
        kernel=_text(raw["kernel"]),
        arch=_text(raw["arch"]),
        gpus=_texts(raw["gpus"]),
        hcas=_texts(raw["hcas"]),
        stack=stack,
        verdict=verdict,
        because=_texts(raw["because"]),
    )


def _pairs(value: Any) -> list[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise TypeError(f"a {type(value).__name__} where a dictionary belongs")
    return list(value.items())


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"a {type(value).__name__} where a list belongs")
    return tuple(map(_text, value))


def _text(value: Any) -> str:
    if isinstance(value, Collection) and not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} where a text belongs")
    return str(value)


def with_classes(old: Lock | None, classes: Mapping[str, Class], matrix: str, now: str) -> Lock:
    """The lock with these classes in place of what it says of their hosts.

    Hosts that took no part stay where they are; a class that lost all its hosts goes.
    """
    moved = {host for kind in classes.values() for host in kind.hosts}
    kept: dict[str, Class] = {}
    for name, kind in (old.classes if old else {}).items():
        rest = tuple(host for host in kind.hosts if host not in moved)
        if rest:
            kept[name] = replace(kind, hosts=rest)
    for name, kind in classes.items():
        others = kept[name].hosts if name in kept else ()
        kept[name] = replace(kind, hosts=tuple(sorted({*others, *kind.hosts})))
    lock = Lock(now, matrix, kept)
    if old is not None and old.to_dict()["classes"] == lock.to_dict()["classes"]:
        return old
    return lock


def changes(old: Lock | None, new: Lock) -> list[str]:
    """What differs between two locks, one line each; hosts that only joined are told, too."""
    lines = []
    before = old.classes if old else {}
    for name in sorted({*before, *new.classes}):
        was, now = before.get(name), new.classes.get(name)
        if now is None and was is not None:
            lines.append(f"{name}: gone, with {', '.join(was.hosts)}")
        elif now is not None and was is None:
            lines.append(f"{name}: new, with {', '.join(now.hosts)}")
        elif now is not None and was is not None:
            lines += [f"{name}: {line}" for line in _stack_changes(was.stack, now.stack)]
            joined = sorted(set(now.hosts) - set(was.hosts))
            left = sorted(set(was.hosts) - set(now.hosts))
            lines += [f"{name}: {', '.join(joined)} joined"] if joined else []
            lines += [f"{name}: {', '.join(left)} left"] if left else []
    return lines


def _stack_changes(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    lines = []
    for part in dict.fromkeys((*was, *now)):
        before, after = was.get(part), now.get(part)
        if before != after:
            lines.append(f"{part} {shown(before)} -> {shown(after)}")
    return lines


def shown(fields: Mapping[str, Any] | None) -> str:
    """One part of a stack in a few words."""
    if not fields:
        return "none"
    if "found" in fields:
        there = {key: value for key, value in fields.items() if key != "found"}
        return f"{shown({'version': fields['found'], **there})}, as found"
    if "branch" in fields:
        whose = " of the distribution" if fields.get("flavour") else ""
        return f"{fields['version']} {fields['modules']}{whose}"
    if "flavour" in fields:
        return f"{fields['flavour']} {fields.get('version', '')}".strip()
    if "method" in fields:
        return str(fields["method"])
    build = f"+cuda{fields['cuda']}" if fields.get("cuda") else ""
    return f"{fields['version']}{build}"
