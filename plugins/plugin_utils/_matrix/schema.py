# SPDX-License-Identifier: GPL-3.0-or-later
"""What an entry of each matrix file may hold, as Ansible argument specs. Data only."""

from __future__ import annotations

from typing import Any

from ansible_collections.ibready.cluster.plugins.plugin_utils._matrix.model import CONFIDENCES

Spec = dict[str, dict[str, Any]]

_FACT: Spec = {
    "source": {"type": "str", "required": True},
    "confidence": {"type": "str", "required": True, "choices": list(CONFIDENCES)},
    "field_confidence": {"type": "dict"},
    "notes": {"type": "str"},
}
_STR: dict[str, Any] = {"type": "str"}
_NEED: dict[str, Any] = {"type": "str", "required": True}
_LIST: dict[str, Any] = {"type": "list", "elements": "str"}
_NEED_LIST: dict[str, Any] = {"type": "list", "elements": "str", "required": True}
_DICTS: dict[str, Any] = {"type": "list", "elements": "dict"}
_MODULES: dict[str, Any] = {**_NEED_LIST, "choices": ["open", "proprietary"]}

# By file and section. A section that is not listed here is refused.
SECTIONS: dict[str, Spec] = {
    "rdma.releases": {
        "flavour": {**_NEED, "choices": ["inbox", "mlnx_ofed", "doca"]},
        "version": _STR,
        "nic_driver": _STR,
        "package_version": _STR,
        "lts": {"type": "bool", "default": False},
        "prerelease": {"type": "bool", "default": False},
        "eol": _STR,
        "firmware": _STR,
        "systems": _NEED_LIST,
        "not_systems": _LIST,
        "tested_systems": _LIST,
        "tested": {"type": "dict"},
    },
    "rdma.patches": {"systems": _NEED_LIST},
    "drivers.branches": {
        "kind": {**_NEED, "choices": ["LTSB", "PB", "NFB", "unknown"]},
        "eol": _STR,
        "cuda": _STR,
        "modules": _MODULES,
        "lacks": _LIST,
        "releases": _LIST,
    },
    "gpus.models": {"driver": _NEED, "modules": _MODULES},
    "hcas.models": {"doca": _NEED, "mlnx_ofed": _NEED, "doca_unsure": _STR},
    "cuda.majors": {"driver": _NEED},
    "cuda.architectures": {"cuda": _NEED},
    "cuda.gpudirect": {
        "kernel": _STR,
        "cuda": _STR,
        "modules": _LIST,
        "lacks": _LIST,
        "rdma": _LIST,
    },
    "nccl.releases": {"builds": _NEED_LIST},
    "container_toolkit.releases": {},
    "container_toolkit.engines": {"toolkit": _NEED, "engine": _NEED},
    "extras.dcgm": {},
    "extras.gdrcopy": {},
    "extras.nvlsm": {},
    "systems.distributions": {
        "ids": _NEED_LIST,
        "name": _NEED,
        "family": {**_NEED, "choices": ["apt", "dnf"]},
        "cuda": _NEED,
    },
    "systems.packages": {"systems": _NEED_LIST},
    "stacks.stacks": {
        "date": _NEED,
        "system": _STR,
        "rdma": {"type": "dict"},
        "driver": _STR,
        "cuda": _STR,
        "nccl": _STR,
        "container_toolkit": _STR,
        "dcgm": _STR,
        "gdrcopy": _STR,
    },
    "repositories.repositories": {
        "title": _NEED,
        "path": _NEED,
        "folders": {**_DICTS, "required": True},
        "arch": {"type": "dict", "required": True},
        "arch_rpm": {"type": "dict"},
        "key": _NEED,
        "keys": _DICTS,
        "suite": _NEED,
        "fingerprints": _LIST,
    },
    "packages.packages": {
        "part": _NEED,
        "component": _NEED,
        "repository": _NEED,
        "when": {"type": "dict"},
        "apt": {**_DICTS, "required": True},
        "dnf": {**_DICTS, "required": True},
    },
    "packages.owned": {
        "part": _NEED,
        "component": _NEED,
        "when": {"type": "dict"},
        "version": _STR,
        "names": _NEED_LIST,
        "conflicts": _LIST,
        "stream": _STR,
        "streams": {"type": "dict"},
        "stream_systems": _LIST,
    },
    "kubernetes.gpu_operators": {
        "stack": _NEED,
        "drivers": _NEED_LIST,
        "containerd": _NEED,
        "kubernetes": _STR,
    },
    "kubernetes.network_operators": {
        "doca": _NEED,
        "driver_image": _NEED,
        "images": _NEED,
        "gpu_operator": _NEED,
        "kubernetes": _STR,
    },
    "rules.rules": {"says": _NEED, "effect": {**_NEED, "choices": ["refuse", "warn"]}},
}
# Fields that hold a version specifier, "any" or "none".
SPECIFIERS = {
    "gpus.models": ("driver",),
    "hcas.models": ("doca", "mlnx_ofed", "doca_unsure"),
    "cuda.majors": ("driver",),
    "cuda.architectures": ("cuda",),
    "cuda.gpudirect": ("kernel", "cuda"),
    "container_toolkit.engines": ("toolkit", "engine"),
    "kubernetes.gpu_operators": ("containerd", "kubernetes"),
    "kubernetes.network_operators": ("gpu_operator", "kubernetes"),
}


def spec(section: str) -> Spec:
    """The options of an entry of this section; KeyError where there is no such section."""
    return {**_FACT, **SECTIONS[section]}
