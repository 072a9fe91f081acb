# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the interfaces to what is wished: the service, its files, and back where it failed."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
import tempfile
import time
from typing import Iterable, Mapping, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._command import (
    Output,
    Unavailable,
    find_program,
    run_program,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data import ipoib as data
from ansible_collections.ibready.cluster.plugins.module_utils._evidence import Evidence
from ansible_collections.ibready.cluster.plugins.module_utils._ipoib import files, ports
from ansible_collections.ibready.cluster.plugins.module_utils._ipoib.wish import IpoibError, Link
from ansible_collections.ibready.cluster.plugins.module_utils._observe import _ask

_LIMIT = 60.0
_PAUSE = 1.0
_VERSION = re.compile(r"systemd (\d+)")


def run(*argv: str, stdin: str = "") -> Output:
    """A program of the host; Unavailable where it is not there or does not end."""
    words = [find_program(argv[0]), *argv[1:]]
    if not stdin:
        return run_program(argv[0], words, _LIMIT)
    with open(stdin, "rb") as stream:
        return run_program(argv[0], words, _LIMIT, stdin=stream)


def _must(*argv: str, stdin: str = "") -> None:
    told = run(*argv, stdin=stdin)
    if told.rc != 0:
        said = (told.stderr.strip() or told.stdout.strip())[-300:]
        raise IpoibError(f"`{' '.join(argv)}` ended with status {told.rc}: {said}")


def _active(unit: str) -> bool:
    return run("systemctl", "is-active", "--quiet", unit).rc == 0


def systemd() -> int:
    """systemd's version; 0 where it cannot be told."""
    match = _VERSION.match(run("systemctl", "--version").stdout)
    return int(match.group(1)) if match else 0


def detect(root: str = "/", otherwise: str = "with ipoib_manage: false") -> str:
    """The service that has the host's interfaces; IpoibError where it is none that we know.

    ``otherwise``: how a site leaves them to itself.
    """
    networkd = _active("systemd-networkd.service")
    if _active("NetworkManager.service") and not networkd:
        return data.MANAGER
    if not networkd:
        raise IpoibError(
            "neither NetworkManager nor systemd-networkd runs on this host. Next: have one of them"
            f" run, or leave its interfaces to the site (ifupdown) {otherwise}"
        )
    with contextlib.suppress(Unavailable):
        find_program("netplan")
        if glob.glob(os.path.join(root, "etc/netplan/*.yaml")):
            return data.NETPLAN
    return data.NETWORKD


def refuse_backend(backend: str, links: Sequence[Link], version: int) -> None:
    """IpoibError where the service has no words for what is wished. ``version``: systemd's."""
    if backend == data.MANAGER:
        return
    if any(one.mode == data.CONNECTED for one in links):
        raise IpoibError(
            "systemd-networkd leaves a port's mode as it is, whatever its files and netplan's say"
            " (seen of systemd 252 and 257). Next: say mode: datagram, or let NetworkManager have"
            " the host's interfaces"
        )
    if version < data.NETWORKD_LEAST and any(one.pkey for one in links):
        raise IpoibError(
            f"systemd {version} knows no partitions of IPoIB, {data.NETWORKD_LEAST} does. Next:"
            " leave out pkeys on this host, or let NetworkManager have its interfaces"
        )


def ours(root: str = "/") -> dict[str, str]:
    """Every file that this role has written, whatever the service."""
    found = {}
    for backend in data.BACKENDS:
        for pattern in files.globs(backend):
            for path in sorted(glob.glob(os.path.join(root, pattern.lstrip("/")))):
                found["/" + os.path.relpath(path, root)] = _state.read(path)
    return found


def validate(backend: str, texts: Mapping[str, str]) -> str:
    """Let the service's own tool read the texts; what it could not tell, "" where it did.

    IpoibError where it refuses one. Nothing of the host is touched.
    """
    with tempfile.TemporaryDirectory() as folder:
        for path, text in texts.items():
            _state.write(os.path.join(folder, path.lstrip("/")), text, 0o600)
        if backend == data.NETPLAN:
            for path in glob.glob("/etc/netplan/*.yaml"):
                if path not in texts:
                    shutil.copy(path, os.path.join(folder, "etc/netplan"))
            _must("netplan", "generate", "--root-dir", folder)
        if backend == data.MANAGER:
            for path in (one for one in texts if one.endswith(".nmconnection")):
                place = os.path.join(folder, path.lstrip("/"))
                told = run(
                    "nmcli", "--offline", "connection", "modify", "connection.zone", "", stdin=place
                )
                if told.rc != 0 and "offline" in told.stderr:
                    return "this nmcli cannot judge a profile offline (it needs release 1.40)"
                if told.rc != 0:
                    raise IpoibError(f"nmcli refuses {path}: {told.stderr.strip()[-300:]}")
    return (
        "" if backend != data.NETWORKD else "systemd-networkd judges its files when it reads them"
    )


def write(texts: Mapping[str, str], root: str = "/") -> None:
    for path, text in texts.items():
        _state.write(os.path.join(root, path.lstrip("/")), text, files.mode(path))


def apply(backend: str, changed: Iterable[str], profiles: Mapping[str, str]) -> None:
    """Have the service read its files. ``changed``: interfaces that are there; ``profiles``: of
    NetworkManager, the file of each connection."""
    if backend == data.MANAGER:
        _must("nmcli", "connection", "reload")
        for name in profiles:
            _must("nmcli", "--wait", "20", "connection", "up", name)
        return
    if backend == data.NETPLAN:
        _must("netplan", "generate")
    _must("networkctl", "reload")
    for name in changed:
        _must("networkctl", "reconfigure", name)


def late(evidence: Evidence, links: Sequence[Link], parents: Mapping[str, str]) -> str:
    """What is not yet as wished, in words; "" where all is."""
    known = ports.addresses(evidence)
    for one in links:
        name = one.name(parents[one.port])
        if name not in known:
            return f"there is no interface {name}"
        mode = _ask.text(evidence, f"/sys/class/net/{name}/mode").value
        if mode != one.mode:
            return f"{name} is in {mode or 'no known'} mode, not {one.mode}"
        if one.mtu and known[name].mtu != one.mtu:
            return (
                f"{name} has MTU {known[name].mtu}, not {one.mtu}: its partition's broadcast group"
                " may allow no more (mtu in subnet_manager_partitions)"
            )
        held = {f"{at.local}/{at.prefix}" for at in known[name].addresses}
        missing = [text for text in one.addresses if text not in held]
        if missing:
            return f"{name} has no address {missing[0]}"
    return ""


def settle(
    evidence: Evidence, links: Sequence[Link], parents: Mapping[str, str], wait: float
) -> None:
    """Wait until all is as wished; IpoibError that says what is not."""
    deadline = time.monotonic() + wait
    while True:
        what = late(evidence, links, parents)
        if not what:
            return
        if time.monotonic() >= deadline:
            raise IpoibError(f"{what} after {wait:g} s")
        time.sleep(_PAUSE)
