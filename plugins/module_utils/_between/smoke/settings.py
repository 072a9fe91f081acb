# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask a host what its files and environment tell UCX and Open MPI, as the job's user."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any, Callable, Dict, List, Mapping

from ..._evidence.sources import Evidence
from ..._ground.command import Output, Unavailable

Run = Callable[[List[str], float], Output]
Reported = Dict[str, Any]

UCX = ("UCX_TLS", "UCX_NET_DEVICES")
ENVIRONMENT = "the job's environment"
_UCX_FILE = "ucx.conf"
_ETC = "/etc/ucx"
_DEVICES = "/sys/class/infiniband"
_PARAMETER = re.compile(r"^mca:(pml|btl):base:param:\1:(value|source):(.*)$", re.MULTILINE)
_LIMIT_S = 60.0


def look(run: Run, evidence: Evidence, folder: str, user: str, home: str, given: Mapping[str, str]) -> Reported:
    """``ucx``: name to value and, where a file says so, its path; ``mca``: pml and btl, value and
    source; ``devices``: RDMA devices. A tool that does not answer is left out.

    ``folder``: of mpirun, where ompi_info is, too. ``home``: the user's, whose files count.
    ``given``: the job's own environment.
    """
    who = ["runuser", "-u", user, "--", "env", f"HOME={home}"]
    who += [f"{name}={value}" for name, value in given.items()]
    reported: Reported = {"ucx": {}, "mca": {}, "devices": []}
    with contextlib.suppress(Unavailable):
        reported["devices"] = evidence.list(_DEVICES)
    lines = _ask(run, [*who, "ucx_info", "-c"]).split("\n")
    for name in UCX:
        values = [line.partition("=")[2].strip() for line in lines if line.startswith(f"{name}=")]
        if values:
            path = ENVIRONMENT if name in given else _file(evidence, name, (_ETC, home))
            reported["ucx"][name] = {"value": values[-1], "source": path}
    for framework in ("pml", "btl"):
        words = ["--parsable", "--param", framework, "base", "--level", "9"]
        text = _ask(run, [*who, os.path.join(folder, "ompi_info"), *words])
        found = {what: value.strip() for _name, what, value in _PARAMETER.findall(text)}
        if "value" in found:
            source = ENVIRONMENT if f"OMPI_MCA_{framework}" in given else found.get("source", "")
            reported["mca"][framework] = {"value": found["value"], "source": source}
    return reported


def _ask(run: Run, argv: list[str]) -> str:
    """What a tool prints; "" where it cannot be asked."""
    try:
        done = run(argv, _LIMIT_S)
    except Unavailable:
        return ""
    return done.stdout if done.rc == 0 else ""


def _file(evidence: Evidence, name: str, folders: tuple[str, ...]) -> str:
    """The last of UCX's files that sets a variable; "" where none does."""
    found = ""
    for folder in folders:
        path = f"{folder}/{_UCX_FILE}"
        try:
            lines = evidence.read(path).split("\n")
        except Unavailable:
            continue
        if any(line.partition("=")[0].strip() == name for line in lines if "=" in line):
            found = path
    return found
