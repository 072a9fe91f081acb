# SPDX-License-Identifier: GPL-3.0-or-later
"""The BeeGFS client's files as they are to be; no I/O of its own."""

from __future__ import annotations

import re
from typing import Any, Callable, Mapping, Sequence

from .._ground.keyvalue import ConfError
from .._parse.beegfs_conf import argument, changed, value_of

CLIENT = "beegfs-client.conf"
BUILD = "beegfs-client-autobuild.conf"
INTERFACES = "ibready-interfaces.conf"
RDMA_INTERFACES = "ibready-rdma-interfaces.conf"
AUTO = "auto"
_INTERFACE = re.compile(r"[A-Za-z0-9_.@-]{1,15}")
# Source: the comments of beegfs-client-autobuild.conf name both. Confidence: confirmed.
OFED_HEADERS = ("/usr/src/ofa_kernel/default/include", "/usr/src/openib/include")
_BUILD_ARGS, _OFED = "buildArgs", "OFED_INCLUDE_PATH"


def files(given: Mapping[str, Any], read: Callable[[str], str], is_dir: Callable[[str], bool]) -> dict[str, str]:
    """Path -> text; {} where the host has no client. ``given``: the module's options."""
    home = given["directory"]
    text = read(f"{home}/{CLIENT}")
    if not text:
        return {}
    found: dict[str, str] = {}
    values = {"connUseRDMA": "true" if given["rdma"] else "false"}
    for option, name, key in (
        ("interfaces", INTERFACES, "connInterfacesFile"),
        ("rdma_interfaces", RDMA_INTERFACES, "connRDMAInterfacesFile"),
    ):
        if given[option]:
            found[f"{home}/{name}"] = _listed(given[option])
            values[key] = f"{home}/{name}"
    values.update({name: _text(value) for name, value in given["settings"].items()})
    found[f"{home}/{CLIENT}"] = changed(text, values)
    build = read(f"{home}/{BUILD}")
    include = _include(given["ofed_include"], is_dir) if given["rdma"] else ""
    if build and include and value_of(build, _BUILD_ARGS) is not None:
        found[f"{home}/{BUILD}"] = changed(build, argument(build, _BUILD_ARGS, _OFED, include))
    return found


def sentence(installed: bool, paths: Sequence[str]) -> str:
    """What is left to do after these files changed."""
    if not installed:
        return "no BeeGFS client is installed: its packages are the site's"
    if not paths:
        return "the BeeGFS client's files are as they should be"
    names = ", ".join(path.rpartition("/")[2] for path in paths)
    build = "; build the client's module anew (`beegfs-client rebuild`)"
    todo = build if any(path.endswith(BUILD) for path in paths) else ""
    return f"{names} changed: this counts from the next mount on{todo}"


def _listed(names: Sequence[str]) -> str:
    for name in names:
        if not _INTERFACE.fullmatch(name):
            raise ConfError(f"{name!r} is no name of an interface")
    # Names and nothing else: whether BeeGFS takes comments in here is not documented.
    return "".join(f"{name}\n" for name in names)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _include(given: str, is_dir: Callable[[str], bool]) -> str:
    if given != AUTO:
        return given
    return next((place for place in OFED_HEADERS if is_dir(place)), "")
