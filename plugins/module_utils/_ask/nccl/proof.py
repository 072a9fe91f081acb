# SPDX-License-Identifier: GPL-3.0-or-later
"""What the installed library takes from its configuration, asked of the library itself.

It is loaded in a child process, needs neither GPU nor libcuda for this, and reads its files on the
first call. A library that reads the wrong file, cuts a value or listens elsewhere (the address is
in its ncclUniqueId) shows it here, whatever is known of it.
"""

from __future__ import annotations

import ipaddress
import json
import math
import os
import re
import struct
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence

from ..._data.nccl_library import CONF, RESULTS
from ..._ground import bound, nobody, regular, source
from ..._ground.command import Unavailable, run_program
from ..._ground.paths import read_regular
from ..._ground.reading import Reading
from . import _child as child_program

# After eight random bytes comes a C struct sockaddr_in or sockaddr_in6.
_AT = 8
_SCOPE_AT = 24
_ORDER = sys.byteorder
# Linux's numbers of AF_INET and AF_INET6.
_IPV4, _IPV6 = 2, 10
# Port and address; the size with all that is used.
_SHAPES: dict[int, tuple[struct.Struct, int]] = {
    _IPV4: (struct.Struct(">2xH4s"), 8),
    _IPV6: (struct.Struct(">2xH4x16s"), 28),
}
TIMEOUT = 20.0
_WHAT = "libnccl"
# What decides whether the library opens NCCL_DEBUG_FILE, which may be a running job's log: with
# these set it does not, so that all other values can be asked for.
_QUIET = {"NCCL_DEBUG": "VERSION", "NCCL_DEBUG_LEVELS": "VERSION"}
_OWN_LOG = {"NCCL_DEBUG_FILE": "{log}"}
_TALK = {**_OWN_LOG, "NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,ENV,NET,BOOTSTRAP"}
_NETWORK = re.compile(r"NCCL INFO (?:Using network|NET/Plugin: Loaded net plugin) (\S+)")

_USING = re.compile(r"Bootstrap ?: Using ([^\s:]+):")

Values = Dict[str, Optional[bytes]]
Taken = Dict[str, bytes]
Etc = Mapping[str, Optional[bytes]]


@dataclass(frozen=True)
class Listener:
    """``address`` as text, without a zone; ``scope``: the interface's number, 0 for none."""

    address: str
    port: int
    scope: int = 0


def listener_in(unique: bytes) -> Listener:
    """Read the address; ValueError where there is none in it."""
    raw = unique[_AT:]
    if len(raw) < 2:
        raise ValueError("too short for an address")
    family = int.from_bytes(raw[:2], _ORDER)
    if family not in _SHAPES:
        raise ValueError(f"address family {family} is neither IPv4 nor IPv6")
    shape, size = _SHAPES[family]
    if len(raw) < size:
        raise ValueError("too short for an address")
    port, address = shape.unpack_from(raw)
    scope = int.from_bytes(raw[_SCOPE_AT:size], _ORDER)
    return Listener(str(ipaddress.ip_address(address)), port, scope)


@dataclass(frozen=True)
class Proof:
    """What the library did.

    ``version``: its own word. ``result``: what ncclGetUniqueId returned; 0 is good, ``meaning``
    says which other. ``values``: what getenv says afterwards of each name that was asked for, None
    where it is not set. ``taken``: every variable that the call set, by the library's own name of
    it; nothing but its files does that. ``listener``: where bootstrap listens, or with
    NCCL_COMM_ID that address; None where the call failed. ``interface`` and ``network``: by the
    log, "" where it does not say. ``log``: its lines at level INFO.
    """

    version: str
    result: int
    meaning: str
    values: Values
    taken: Taken
    listener: Listener | None
    interface: str
    network: str
    log: tuple[str, ...]


def prove(
    library: str,
    conf_path: str = CONF,
    names: Iterable[str] = (),
    *,
    env: Mapping[str, str] | None = None,
    etc: Etc | None = None,
    timeout: float = TIMEOUT,
) -> Reading[Proof]:
    """Load the library at this path and let it take its configuration; or why it could not.

    ``conf_path``: another file than CONF is shown to the library in CONF's place, as root only;
    ``etc``: so are these files of /etc by name (None: as if not there). ``env``: the whole
    environment of the job, HOME included. Names that are no ASCII are written as Python's
    surrogates. The library's plugins, where it finds any, are loaded as a job would load them.
    Seconds for all.

    Root loads it as nobody, whose home counts up to 2.29, and only where the file and every folder
    up to / are root's alone. Another user loads what it may, as itself.
    """
    try:
        request = _request(library, conf_path, list(names), env or {}, dict(etc or {}))
        deadline = time.monotonic() + timeout
        quiet = _child(request, _QUIET, deadline)
        level = _child(request, _OWN_LOG, deadline)
        talk = _child(request, _TALK, deadline)
        return Reading(_proof(quiet, level, talk))
    except Unavailable as exc:
        return Reading(None, str(exc))
    except ValueError as exc:
        return Reading(None, f"{_WHAT}: {exc}")


def _request(
    library: str,
    conf_path: str,
    names: list[str],
    env: Mapping[str, str],
    etc: dict[str, bytes | None],
) -> dict[str, Any]:
    if not os.path.isabs(library):
        raise ValueError(f"{library}: not an absolute path")
    if conf_path != CONF:
        etc[os.path.basename(CONF)] = read_regular(conf_path, conf_path)
    if etc and os.geteuid() != 0:
        raise ValueError(f"only root can show it another {', '.join(sorted(etc))}")
    bad = [entry for entry in etc if not {"", ".", ".."}.isdisjoint(entry.split("/"))]
    bad += [name for name in (*names, *env) if "=" in name or "\0" in name or not name]
    bad += [name for name, value in env.items() if "\0" in value]
    if bad:
        raise ValueError(f"not a name: {bad[0]!r}")
    return {
        "library": library,
        "names": [_hex(name) for name in names],
        "env": dict(env),
        "etc": {name: None if data is None else data.hex() for name, data in etc.items()},
        "parent": os.getpid(),
    }


def _hex(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").hex()


def _text(data: str) -> str:
    return bytes.fromhex(data).decode("utf-8", "surrogateescape")


def _child(request: dict[str, Any], more: Mapping[str, str], deadline: float) -> dict[str, Any]:
    """One process's answer; Unavailable where it gave none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise Unavailable(_WHAT, "gave no complete answer in time")
    env = [[_hex(name), _hex(value)] for name, value in {**request["env"], **more}.items()]
    asked = {**request, "env": env, "seconds": math.ceil(left)}
    with tempfile.TemporaryFile() as stream:
        stream.write(json.dumps(asked).encode())
        stream.seek(0)
        done = run_program(_WHAT, source.argv_of(bound, nobody, regular, child_program), left, env={}, stdin=stream)
    if done.rc != 0:
        said = done.stderr.strip().rpartition("\n")[2]
        how = f"signal {-done.rc}" if done.rc < 0 else f"status {done.rc}"
        raise Unavailable(_WHAT, f"the process that loaded it ended with {how} {said}".rstrip())
    return parse_answer(done.stdout)


def parse_answer(text: str) -> dict[str, Any]:
    """Read what the child wrote; Unavailable with its own reason, ValueError where it is cut."""
    try:
        reported = json.loads(text)
        if "error" in reported:
            raise Unavailable(_WHAT, str(reported["error"]))
        return {
            "version": int(reported["version"]),
            "result": int(reported["result"]),
            "id": bytes.fromhex(reported["id"]),
            "values": {
                _text(name): None if value is None else bytes.fromhex(value)
                for name, value in reported["values"].items()
            },
            "taken": {_text(name): bytes.fromhex(value) for name, value in reported["taken"]},
            "log": tuple(str(reported["log"]).splitlines()),
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise ValueError(f"the child's answer cannot be read ({type(exc).__name__})") from exc


def _proof(quiet: dict[str, Any], level: dict[str, Any], talk: dict[str, Any]) -> Proof:
    values, taken = dict(quiet["values"]), dict(quiet["taken"])
    for name in _QUIET:
        if name in values:
            values[name] = level["values"][name]
        if name in level["taken"]:
            taken[name] = level["taken"][name]
    result = quiet["result"]
    listener = listener_in(quiet["id"]) if result == 0 else None
    return Proof(
        version_text(quiet["version"]),
        result,
        RESULTS.get(result, f"result {result}"),
        values,
        taken,
        listener,
        _interface(talk["log"], listener),
        next((match[1] for match in map(_NETWORK.search, talk["log"]) if match), ""),
        talk["log"],
    )


def version_text(code: int) -> str:
    """Turn ncclGetVersion's number (21803, 2708 before 2.9) into ``2.18.3``."""
    major, rest = divmod(code, 10000) if code >= 10000 else divmod(code, 1000)
    return f"{major}.{rest // 100}.{rest % 100}"


def _interface(log: Sequence[str], listener: Listener | None) -> str:
    """What bootstrap says that it uses: with NCCL_COMM_ID not where the listener is."""
    if listener is None:
        return ""
    # A name may have a colon in it (eth0:1), an address as well.
    known = re.compile(rf"Bootstrap ?: Using (\S+):\[?{re.escape(listener.address)}[%\]<]")
    for pattern in (known, _USING):
        for line in log:
            match = pattern.search(line)
            if match is not None:
                return match.group(1)
    return ""
