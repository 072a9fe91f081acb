# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions, models and settings of one host, as texts that equal hosts have alike; no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    PASS,
    UNKNOWN,
    Check,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_equal import (
    HOST,
    Facts,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.fleet_same import (
    NONE,
    NOT_INSTALLED,
)
from ansible_collections.ibready.cluster.plugins.module_utils._data import stack_components
from ansible_collections.ibready.cluster.plugins.module_utils._data.fleet_settings import (
    OWN_ARGS,
    OWN_NCCL,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.proc_limits import UNLIMITED
from ansible_collections.ibready.cluster.plugins.plugin_utils._dicts import (
    as_dict,
    as_list,
    reading,
)
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import Host

_RDMA = "stack.rdma.version"
_LIMITS = ("memlock_soft", "memlock_hard", "nofile_soft", "nofile_hard")
_KINDS = {"True": " open", "False": " proprietary"}
_ENGINES = ("docker", "containerd", "podman", "cri-o", "container_toolkit")


def facts(host: Host) -> Facts:
    """By check and subject; "" where the host did not tell, nothing where it has none of it."""
    machine = as_dict(host.facts.get("machine"))
    whole = {
        "fleet.driver.version": _driver(host, machine),
        "fleet.fabric_manager.version": _package(host, "fabric_manager"),
        "fleet.rdma.version": _rdma(host.checks),
        "fleet.nccl.version": _package(host, "nccl"),
        "fleet.nccl.settings": _nccl(host),
        "fleet.gpu.model": _gpus(machine),
        "fleet.gpu.vbios": _vbios(host, machine),
        "fleet.host.bios": _bios(machine),
        "fleet.host.args": _args(host),
        "fleet.host.sysctl": _sysctls(host),
        "fleet.container.engine": _engines(host),
    }
    found = {check: {HOST: value} for check, value in whole.items() if value is not None}
    return {**found, "fleet.host.limits": _limits(host)}


def _driver(host: Host, machine: Mapping[str, Any]) -> str | None:
    gpu = as_dict(host.facts.get("gpu"))
    module = as_dict(gpu.get("module"))
    version = module.get("version") or gpu.get("driver")
    if version:
        return f"{version}{_KINDS.get(str(module.get('open')), '')}"
    return "" if gpu and _may_have_gpus(machine) else None


def _may_have_gpus(machine: Mapping[str, Any]) -> bool:
    """None of ``gpus``: nobody could look for them."""
    gpus = machine.get("gpus", [])
    return gpus is None or bool(gpus)


def _rdma(checks: Sequence[Check]) -> str | None:
    mine = [one for one in checks if one.id == _RDMA and one.result in (PASS, UNKNOWN)]
    return mine[0].observed if mine else None


def _packages(host: Host) -> list[Mapping[str, Any]] | None:
    """None where nobody asked for the stack; empty where it could not be told."""
    stack = as_dict(host.facts.get("stack"))
    if not stack:
        return None
    return [as_dict(one) for one in as_list(as_dict(stack.get("packages")).get("value"))]


def _package(host: Host, part: str) -> str | None:
    found = _packages(host)
    if not found:
        return None if found is None else ""
    return _version(found, part) or NOT_INSTALLED


def _version(packages: Iterable[Mapping[str, Any]], part: str) -> str:
    names = stack_components.PACKAGES.get(part, (part,))
    mine = (one for one in packages if any(_is(str(one.get("name")), name) for name in names))
    return next((str(one.get("version")) for one in mine), "")


def _is(package: str, name: str) -> bool:
    rest = package[len(name) + 1 :].replace("-", "")
    return package == name or (package.startswith(f"{name}-") and rest.isdigit())


def _engines(host: Host) -> str | None:
    found = _packages(host)
    if not found:
        return None if found is None else ""
    versions = ((name, _version(found, name)) for name in _ENGINES)
    return ", ".join(f"{name} {version}" for name, version in versions if version) or NOT_INSTALLED


def _gpus(machine: Mapping[str, Any]) -> str | None:
    if not machine:
        return None
    if machine.get("gpus") is None:
        return ""
    models = [str(one or "unknown model") for one in machine["gpus"]]
    counted = {model: models.count(model) for model in sorted(models)}
    return ", ".join(f"{times}x {model}" for model, times in counted.items()) or NONE


def _vbios(host: Host, machine: Mapping[str, Any]) -> str | None:
    """However many GPUs have each: how many there are is another check's."""
    told = as_dict(host.facts.get("gpu")).get("gpus")
    if not _may_have_gpus(machine) or told == []:
        return None
    pairs = {(one.get("name"), one.get("vbios")) for one in map(as_dict, as_list(told))}
    if not pairs or not all(vbios and vbios != "N/A" for _, vbios in pairs):
        return ""
    models = len({name for name, _ in pairs})
    texts = {f"{name} {vbios}" if models > 1 else str(vbios) for name, vbios in pairs}
    return ", ".join(sorted(texts))


def _bios(machine: Mapping[str, Any]) -> str | None:
    return reading(machine["bios"]) if "bios" in machine else None


def _args(host: Host) -> str | None:
    kernel = as_dict(as_dict(host.facts.get("host")).get("kernel"))
    if not kernel:
        return None
    told = reading(kernel.get("cmdline"))
    if not told:
        return told
    args = {one for one in told.split() if one.partition("=")[0] not in OWN_ARGS}
    return "\n".join(sorted(args)) or NONE


def _sysctls(host: Host) -> str | None:
    told = as_dict(as_dict(as_dict(host.facts.get("host")).get("kernel")).get("sysctls"))
    values = {name: reading(one) for name, one in told.items()}
    if not values:
        return None
    if "" in values.values():
        return ""
    return "\n".join(f"{name} = {'not there' if v is None else v}" for name, v in values.items())


def _limits(host: Host) -> dict[str, str]:
    """Of what systemd gives by default, and of each service that starts jobs."""
    services = as_dict(as_dict(host.facts.get("host")).get("services"))
    told = {"default": services.get("defaults"), **as_dict(services.get("limits"))}
    found = {name: reading(one, _limit) for name, one in told.items() if one is not None}
    return {name: value for name, value in found.items() if value is not None}


def _limit(value: Any) -> str:
    told = as_dict(value)
    shown = ("unlimited" if told.get(one) == UNLIMITED else told.get(one) for one in _LIMITS)
    return "memlock {}/{}, nofile {}/{}".format(*shown)


def _nccl(host: Host) -> str | None:
    """What jobs take from nccl.conf, without what names this host's own devices."""
    nccl = as_dict(host.facts.get("nccl"))
    if "settings" not in nccl:
        return None
    raw = as_dict(nccl["settings"])
    if raw.get("value") is None:
        return reading(raw)
    lines = {
        f"{name}={value}" for name, value in as_dict(raw["value"]).items() if name not in OWN_NCCL
    }
    return "\n".join(sorted(lines)) or NONE
