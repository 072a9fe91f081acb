# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines that _ask/container/query prints inside a container, one by one."""

from __future__ import annotations

import re
from typing import Any, Callable

from . import proc_limits
from ._container_facts import Inside, Package

_HEX = re.compile(r"[0-9a-f]{1,16}")
_NUMBER = re.compile(r"[0-9]{1,15}")
_SIZE = re.compile(r"(?:^|,)size=([0-9]{1,15})([kmg%]?)(?:,|$)")
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
_ENV = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,200})=(.*)", re.DOTALL)
# User numbers are the machine's own: all of them, from 0 on.
_ALL_USERS = ["0", "0", "4294967295"]
# What a tmpfs without a size may hold: half of the memory (tmpfs(5)).
_SHARE = 2


class Builder:
    """Takes the lines in their order; ValueError says what is wrong with one."""

    def __init__(self) -> None:
        self._one: dict[str, Any] = {}
        self._limits: list[str] = []
        self._many: dict[str, list[str]] = {}
        self._named: dict[str, dict[str, Any]] = {}
        self._packages: list[Package] | None = None
        self._shm: tuple[str, str] | None = None

    def take(self, key: str, words: list[str]) -> None:
        """One line."""
        known = _KEYS.get(key)
        if known is None:
            raise ValueError("not a key of a container's")
        count, take = known
        if count and len(words) != count:
            raise ValueError(f"not {count} words")
        take(self, key, words)

    def done(self) -> Inside:
        """All of it; ValueError where something that is always told is not."""
        for key, what in (("uid", "Uid"), ("effective", "CapEff"), ("own_users", "uid_map")):
            if key not in self._one:
                raise ValueError(f"no {what}")
        if "opens_by" not in self._one or "conf" not in self._named:
            raise ValueError("some of it was left out")
        # The script sets this one itself: without it, no variable can be read as none is set.
        if "LC_ALL" not in self._named.get("env", {}):
            raise ValueError("its shell does not tell of its environment")
        conf = self._named["conf"]["state"]
        lines = tuple(self._many.get("conf.line", ()))
        return Inside(
            uid=self._one["uid"],
            effective=self._one["effective"],
            own_users=self._one["own_users"],
            limits=proc_limits.parse("\n".join(self._limits)),
            devices=self._named.get("device", {}),
            shm=self._shm_bytes(),
            shm_kind=self._shm[0] if self._shm else "",
            interfaces=self._named.get("net", {}),
            rdma=self._all("rdma"),
            libraries=self._all("library"),
            drivers=self._all("driver"),
            os=self._named.get("os", {}),
            packages=None if self._packages is None else tuple(self._packages),
            gpus=self._all("gpu"),
            smi=self._all("smi") if "smi.rc" in self._one else None,
            smi_rc=self._one.get("smi.rc", 0),
            conf=lines if conf == "readable" else None,
            conf_denied=conf == "unreadable",
            environment=self._named.get("env", {}),
            cuda_json=tuple(self._many.get("cuda.json", ())),
            cudart=self._all("cudart"),
            compat=self._all("compat"),
            libcuda=self._named.get("loads", {}) if "looked" in self._one else None,
            opens_by=self._one["opens_by"],
            opens=self._named.get("opens", {}),
            opens_said=self._all("opens.said"),
        )

    def _all(self, key: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self._many.get(key, ())))

    def _shm_bytes(self) -> int | None:
        if self._shm is None:
            return None
        kind, options = self._shm
        memory = self._one.get("memory")
        size = _SIZE.search(options)
        if kind != "tmpfs":
            return None
        if size is not None and size.group(2) != "%":
            return int(size.group(1)) * _UNITS[size.group(2)]
        if memory is None:
            return None
        return int(memory) // _SHARE if size is None else int(memory) * int(size.group(1)) // 100

    def _status(self, _key: str, words: list[str]) -> None:
        name, *values = words
        if name == "Uid:":
            self._one["uid"] = _number(values[1] if len(values) > 1 else "")
        elif name == "CapEff:":
            if len(values) != 1 or _HEX.fullmatch(values[0]) is None:
                raise ValueError("not a set of capabilities")
            self._one["effective"] = int(values[0], 16)

    def _line(self, key: str, words: list[str]) -> None:
        if key == "limits":
            self._limits.append(" ".join(words))
        else:
            self._many.setdefault(key, []).append("\t".join(words))

    def _users(self, _key: str, words: list[str]) -> None:
        numbers = words[0].split()
        if len(numbers) != 3 or not all(_NUMBER.fullmatch(number) for number in numbers):
            raise ValueError("not a map of users")
        self._one["own_users"] = numbers != _ALL_USERS

    def _memory(self, _key: str, words: list[str]) -> None:
        parts = words[0].split()
        if len(parts) != 3 or parts[2] != "kB":
            raise ValueError("not a size of memory")
        self._one["memory"] = _number(parts[1]) * 1024

    def _mount(self, _key: str, words: list[str]) -> None:
        self._shm = (words[0], words[1])

    def _pair(self, key: str, words: list[str]) -> None:
        self._named.setdefault(key, {})[words[0]] = words[1]

    def _first(self, key: str, words: list[str]) -> None:
        """The loader comes by a path a second time, and takes the first."""
        self._named.setdefault(key, {}).setdefault(words[0], words[1])

    def _looked(self, _key: str, words: list[str]) -> None:
        self._one["looked"] = _number(words[0])

    def _net(self, _key: str, words: list[str]) -> None:
        if words[1] not in ("rdma", "plain"):
            raise ValueError("not a kind of interface")
        self._named.setdefault("net", {})[words[0]] = words[1] == "rdma"

    def _set(self, key: str, words: list[str]) -> None:
        found = _ENV.fullmatch("\t".join(words))
        if found is None:
            raise ValueError("not a variable")
        self._named.setdefault(key, {})[found.group(1)] = _unquoted(found.group(2))

    def _conf(self, _key: str, words: list[str]) -> None:
        if words[0] not in ("none", "readable", "unreadable"):
            raise ValueError("not a state of a file")
        self._named["conf"] = {"state": words[0]}

    def _kind(self, _key: str, words: list[str]) -> None:
        self._packages = None if words[0] == "apk" else []

    def _package(self, _key: str, words: list[str]) -> None:
        if self._packages is None:
            raise ValueError("nobody said who tells of packages")
        if words[2] == "installed":
            self._packages.append(Package(words[0], words[1]))

    def _status_of(self, key: str, words: list[str]) -> None:
        self._one[key] = _number(words[0])

    def _by(self, _key: str, words: list[str]) -> None:
        self._one["opens_by"] = words[0]


def _number(text: str) -> int:
    if _NUMBER.fullmatch(text) is None:
        raise ValueError("not a number")
    return int(text)


def _unquoted(text: str) -> str:
    """As `export -p` prints it: in quotes of either kind, or bare."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return text


# How many words each has (0: any number), and who takes it.
_KEYS: dict[str, tuple[int, Callable[[Builder, str, list[str]], None]]] = {
    "status": (0, Builder._status),
    "limits": (0, Builder._line),
    "uid_map": (1, Builder._users),
    "device": (2, Builder._pair),
    "shm": (2, Builder._mount),
    "memory": (1, Builder._memory),
    "net": (2, Builder._net),
    "rdma": (1, Builder._line),
    "os": (1, Builder._set),
    "library": (1, Builder._line),
    "driver": (1, Builder._line),
    "packages": (1, Builder._kind),
    "package": (3, Builder._package),
    "gpu": (1, Builder._line),
    "smi.rc": (1, Builder._status_of),
    "smi": (0, Builder._line),
    "conf": (1, Builder._conf),
    "conf.line": (0, Builder._line),
    "env": (0, Builder._set),
    "cuda.looked": (1, Builder._looked),
    "cuda.json": (0, Builder._line),
    "cudart": (1, Builder._line),
    "compat": (1, Builder._line),
    "loads": (2, Builder._first),
    "opens.by": (1, Builder._by),
    "opens.rc": (1, Builder._status_of),
    "opens": (2, Builder._pair),
    "opens.said": (0, Builder._line),
}
