# SPDX-License-Identifier: GPL-3.0-or-later
"""What the site wants of its manifests: the options of the module kubernetes_manifests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import names
from .names import KubernetesError

AUTO, HOST, OPERATOR, POD = "auto", "host", "operator", "pod"
SHARED, SRIOV, HOSTDEV = "shared", "sriov", "hostdev"
SITE, NONE = "site", "none"
DMABUF, PEERMEM = "dmabuf", "peermem"
# What pods claim of NVIDIA's DRA driver.
CLAIMED_GPUS, DOMAINS = "gpus", "compute_domains"
# Who brings a part. The name of the option, and of the site's variable for the plan.
_BRINGS = [AUTO, HOST, OPERATOR]
_QUANTITY = re.compile(r"[1-9][0-9]{0,5}(Ki|Mi|Gi|Ti)")
_VERSION = re.compile(r"v?([0-9]{1,4}\.[0-9]{1,4}(\.[0-9]{1,4})?)")
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,14}")
_MOST_VFS = 127

SPEC: dict[str, dict[str, Any]] = {
    "plugin": {"type": "str", "choices": [SHARED, SRIOV, HOSTDEV], "default": SHARED},
    "interfaces": {"type": "list", "elements": "str", "default": []},
    "network": {"type": "str", "choices": [AUTO, HOST, POD], "default": AUTO},
    "ipam": {"type": "dict", "default": {}},
    "driver": {"type": "str", "choices": _BRINGS, "default": AUTO},
    "toolkit": {"type": "str", "choices": _BRINGS, "default": AUTO},
    "ofed": {"type": "str", "choices": _BRINGS, "default": AUTO},
    "peer_memory": {"type": "str", "choices": [AUTO, DMABUF, PEERMEM], "default": AUTO},
    "gpu_operator": {"type": "str", "default": AUTO},
    "network_operator": {"type": "str", "default": AUTO},
    "kubernetes_version": {"type": "str", "default": ""},
    "registry": {"type": "str", "default": ""},
    "nfd": {"type": "str", "choices": [OPERATOR, SITE, NONE], "default": OPERATOR},
    "operator_namespace": {"type": "str", "default": "nvidia-network-operator"},
    "namespace": {"type": "str", "default": "default"},
    "image": {"type": "str", "default": ""},
    "job_nodes": {"type": "int", "default": 2},
    "shm": {"type": "str", "default": "16Gi"},
    "pods_per_node": {"type": "int", "default": 63},
    "vfs": {"type": "int", "default": 8},
    "torch_command": {"type": "list", "elements": "str", "default": []},
    "mpi_command": {"type": "list", "elements": "str", "default": []},
    "nccl_conf": {"type": "bool", "default": True},
    "dra": {"type": "list", "elements": "str", "choices": [CLAIMED_GPUS, DOMAINS], "default": []},
}


@dataclass(frozen=True)
class Options:
    """As in SPEC; versions are without a ``v``, "" where none is asked for."""

    plugin: str = SHARED
    interfaces: tuple[str, ...] = ()
    network: str = AUTO
    ipam: Mapping[str, Any] = field(default_factory=dict)
    driver: str = AUTO
    toolkit: str = AUTO
    ofed: str = AUTO
    peer_memory: str = AUTO
    gpu_operator: str = ""
    network_operator: str = ""
    kubernetes_version: str = ""
    registry: str = ""
    nfd: str = OPERATOR
    operator_namespace: str = "nvidia-network-operator"
    namespace: str = "default"
    image: str = ""
    job_nodes: int = 2
    shm: str = "16Gi"
    pods_per_node: int = 63
    vfs: int = 8
    torch_command: tuple[str, ...] = ()
    mpi_command: tuple[str, ...] = ()
    nccl_conf: bool = True
    dra: tuple[str, ...] = ()


def read(given: Mapping[str, Any]) -> Options:
    """The options as a module has them; KubernetesError where one cannot be meant."""
    args = {name: given.get(name, spec["default"]) for name, spec in SPEC.items()}
    for name in ("gpu_operator", "network_operator", "kubernetes_version"):
        args[name] = _version(args[name], name, "1.34.2" if name == "kubernetes_version" else "26.4.1")
    for name in ("namespace", "operator_namespace"):
        names.label(args[name], name)
    if args["registry"]:
        names.repository(args["registry"], "registry")
    if args["image"]:
        names.image(args["image"], "image")
    for name, most in (("job_nodes", 10**4), ("pods_per_node", 10**4), ("vfs", _MOST_VFS)):
        if not 1 <= args[name] <= most:
            raise KubernetesError(f"{name} is {args[name]}, and must be 1 to {most}")
    if not _QUANTITY.fullmatch(args["shm"]):
        raise KubernetesError(f"shm is {args['shm']!r}, and must be a size such as 16Gi")
    for name in ("torch_command", "mpi_command"):
        args[name] = tuple(_word(arg, name) for arg in args[name])
    args["dra"] = tuple(args["dra"])
    args["interfaces"] = tuple(_interface(interface) for interface in args["interfaces"])
    _json_only(args["ipam"], "ipam")
    return Options(**args)


def _version(text: str, what: str, such: str) -> str:
    if text in (AUTO, ""):
        return ""
    found = _VERSION.fullmatch(text)
    if found is None:
        raise KubernetesError(f"{what} is {text!r}, and must be a version of numbers alone, such as {such}")
    return found.group(1)


def _word(text: str, what: str) -> str:
    if not text or any(line < " " or line == "\x7f" for line in text):
        raise KubernetesError(f"{what} has the word {text!r}: none may be empty or hold controls")
    return text


def _interface(text: str) -> str:
    if not _INTERFACE.fullmatch(text):
        raise KubernetesError(f"interfaces has {text!r}, which no network interface is called")
    return text


def _json_only(value: Any, what: str) -> None:
    """Refuse what JSON has no words for."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            _json_only(entry, f"{what}.{_word(str(key), what)}")
    elif isinstance(value, list):
        for item in value:
            _json_only(item, what)
    elif isinstance(value, str):
        if value:
            _word(value, what)
    elif value is not None and not isinstance(value, (bool, int, float)):
        raise KubernetesError(f"{what} is {value!r}, and must be text, a number, a list or a dict")
