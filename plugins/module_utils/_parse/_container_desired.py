# SPDX-License-Identifier: GPL-3.0-or-later
"""What the site says of the containers that its jobs run in: `ibready_expect.container`."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, replace
from typing import Any, Callable, Mapping

from .._ground import strict

DOCKER, PODMAN, CONTAINERD = "docker", "podman", "containerd"
ENGINES = (DOCKER, PODMAN, CONTAINERD)
HOST = "host"
# Nobody's number on most systems; a job's user has no more rights than this one.
NOBODY = 65534
_IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._:/@-]{0,400}")
_NETWORK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,200}")
_DEVICE = re.compile(r"(?:/dev/[A-Za-z0-9_./:-]{1,200}|[a-z0-9][a-z0-9./-]{1,100}=[A-Za-z0-9_.:-]{1,100})")
_OPTION = re.compile(r"[^\x00-\x1f\x7f]{1,1000}")


class DesiredError(ValueError):
    """The site's word on containers cannot be understood; the message names the key."""


@dataclass(frozen=True)
class Desired:
    """``engine``: one of ENGINES, "" for the one that is found. ``image``: "" for a tiny one of
    the host's own files. ``pull``: whether an image that is not on the host may be fetched.
    ``network``: HOST, or what the engine calls the jobs' network. ``devices``: paths or names of
    CDI in place of what the host has; () for that. ``options``: more words of the engine's own
    command line. ``user``: the number of the user beside root.
    """

    engine: str = ""
    image: str = ""
    pull: bool = False
    network: str = HOST
    devices: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    user: int = NOBODY

    def to_text(self) -> str:
        """As one line of JSON, for who asks."""
        return json.dumps(asdict(self), sort_keys=True)

    def kept(self) -> Desired:
        """As it may stay beside what was seen: of ``options``, which may hold secrets, a digest."""
        if not self.options:
            return self
        digest = hashlib.sha256(json.dumps(self.options).encode()).hexdigest()
        return replace(self, options=(digest[:16],))


def from_text(text: str) -> Desired:
    """Rebuild what `Desired.to_text` made."""
    raw = strict.loads(text)
    if not isinstance(raw, dict):
        raise DesiredError(f"a wish must have keys, not {raw!r}")
    return read(raw)


def read(raw: Mapping[str, Any]) -> Desired:
    """Check what the inventory says; raises DesiredError."""
    strange = sorted(str(key) for key in raw if key not in _READ)
    if strange:
        raise DesiredError(f"{strange[0]} is not known; known are {', '.join(_READ)}")
    return Desired(**{key: _READ[key](key, value) for key, value in raw.items() if value is not None})


def _engine(key: str, value: Any) -> str:
    if value not in ("", *ENGINES):
        raise DesiredError(f"{key} must be one of {', '.join(ENGINES)}, not {value!r}")
    return str(value)


def _image(key: str, value: Any) -> str:
    return _matching(key, value, _IMAGE, "a reference to an image") if value != "" else ""


def _network(key: str, value: Any) -> str:
    return _matching(key, value, _NETWORK, "the name of a network")


def _matching(key: str, value: Any, pattern: re.Pattern[str], what: str) -> str:
    if not isinstance(value, str) or pattern.fullmatch(value) is None:
        raise DesiredError(f"{key} must be {what}, not {value!r}")
    return value


def _words(pattern: re.Pattern[str], what: str) -> Callable[[str, Any], tuple[str, ...]]:
    def convert(key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, (list, tuple)):
            raise DesiredError(f"{key} must be a list, not {value!r}")
        return tuple(_matching(f"{key}[{at}]", entry, pattern, what) for at, entry in enumerate(value))

    return convert


def _pull(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise DesiredError(f"{key} must be true or false, not {value!r}")
    return value


def _user(key: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
        raise DesiredError(f"{key} must be the number of a user other than root, not {value!r}")
    return value


_READ: dict[str, Callable[[str, Any], Any]] = {
    "engine": _engine,
    "image": _image,
    "pull": _pull,
    "network": _network,
    "devices": _words(_DEVICE, "a path below /dev or a name of CDI (vendor/class=name)"),
    "options": _words(_OPTION, "a word of the engine's command line"),
    "user": _user,
}
