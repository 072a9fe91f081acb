# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions, models and settings of one host, as texts that equal hosts have alike; no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._data import stack_components
from ...module_utils._data.fleet_settings import OWN_ARGS
from ...module_utils._data.nccl_variables import OWN
from ...module_utils._fleet.fleet_same import HOST, NONE, NOT_INSTALLED, Facts
from ...module_utils._ground.check import PASS, UNKNOWN, Check
from ...module_utils._parse.packages import is_named
from ...module_utils._parse.proc_limits import UNLIMITED
from .._ground.dicts import as_dict, as_list, reading
from .hosts import Host

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
        "fleet.imex.version": _imex(host),
        "fleet.rdma.version": _rdma(host.checks),
        "fleet.nccl.version": _package(host, "nccl"),
        "fleet.nccl.settings": _nccl(host),
        "fleet.gpu.model": _gpus(machine),
        "fleet.gpu.vbios": _vbios(host, machine),
        "fleet.host.bios": _bios(machine),
        "fleet.host.cpus": _cpus(host),
        "fleet.host.args": _args(host),
        "fleet.host.sysctl": _sysctls(host),
        "fleet.container.engine": _engines(host),
    }
    found = {check: {HOST: value} for check, value in whole.items() if value is not None}
    return {**found, "fleet.host.limits": _limits(host)}


def memory(host: Host) -> int | None:
    """In MiB, 0 where the host did not tell; None where it was not asked."""
    if "memory_mb" not in host.node:
        return None
    size = host.node["memory_mb"]
    return size if isinstance(size, int) else 0


def _cpus(host: Host) -> str | None:
    return str(host.node["cpus"] or "") if "cpus" in host.node else None


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


def _imex(host: Host) -> str | None:
    """Of the hosts of a rack alone."""
    return _package(host, "imex") if as_dict(host.facts.get("nvlink")).get("rack") is not None else None


def _rdma(checks: Sequence[Check]) -> str | None:
    mine = [check for check in checks if check.id == _RDMA and check.result in (PASS, UNKNOWN)]
    return mine[0].observed if mine else None


def _packages(host: Host) -> list[Mapping[str, Any]] | None:
    """None where nobody asked for the stack; empty where it could not be told."""
    stack = as_dict(host.facts.get("stack"))
    if not stack:
        return None
    return [as_dict(entry) for entry in as_list(as_dict(stack.get("packages")).get("value"))]


def _package(host: Host, part: str) -> str | None:
    found = _packages(host)
    if not found:
        return None if found is None else ""
    return _version(found, part) or NOT_INSTALLED


def _version(packages: Iterable[Mapping[str, Any]], part: str) -> str:
    names = stack_components.PACKAGES.get(part, (part,))
    mine = (package for package in packages if any(is_named(str(package.get("name")), name) for name in names))
    return next((str(entry.get("version")) for entry in mine), "")


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
    models = [str(gpu or "unknown model") for gpu in machine["gpus"]]
    counted = {model: models.count(model) for model in sorted(models)}
    return ", ".join(f"{times}x {model}" for model, times in counted.items()) or NONE


def _vbios(host: Host, machine: Mapping[str, Any]) -> str | None:
    """However many GPUs have each: how many there are is another check's."""
    reported = as_dict(host.facts.get("gpu")).get("gpus")
    if not _may_have_gpus(machine) or reported == []:
        return None
    pairs = {(entry.get("name"), entry.get("vbios")) for entry in map(as_dict, as_list(reported))}
    if not pairs or not all(vbios and vbios != "N/A" for _unused, vbios in pairs):
        return ""
    models = len({name for name, _unused in pairs})
    texts = {f"{name} {vbios}" if models > 1 else str(vbios) for name, vbios in pairs}
    return ", ".join(sorted(texts))


def _bios(machine: Mapping[str, Any]) -> str | None:
    return reading(machine["bios"]) if "bios" in machine else None


def _args(host: Host) -> str | None:
    kernel = as_dict(as_dict(host.facts.get("host")).get("kernel"))
    if not kernel:
        return None
    reported = reading(kernel.get("cmdline"))
    if not reported:
        return reported
    args = {word for word in reported.split() if word.partition("=")[0] not in OWN_ARGS}
    return "\n".join(sorted(args)) or NONE


def _sysctls(host: Host) -> str | None:
    reported = as_dict(as_dict(as_dict(host.facts.get("host")).get("kernel")).get("sysctls"))
    values = {name: reading(entry) for name, entry in reported.items()}
    if not values:
        return None
    if "" in values.values():
        return ""
    return "\n".join(f"{name} = {'not there' if v is None else v}" for name, v in values.items())


def _limits(host: Host) -> dict[str, str]:
    """Of what systemd gives by default, and of each service that starts jobs."""
    services = as_dict(as_dict(host.facts.get("host")).get("services"))
    reported = {"default": services.get("defaults"), **as_dict(services.get("limits"))}
    found = {name: reading(entry, _limit) for name, entry in reported.items() if entry is not None}
    return {name: value for name, value in found.items() if value is not None}


def _limit(value: Any) -> str:
    reported = as_dict(value)
    shown = ("unlimited" if reported.get(limit) == UNLIMITED else reported.get(limit) for limit in _LIMITS)
    return "memlock {}/{}, nofile {}/{}".format(*shown)


def _nccl(host: Host) -> str | None:
    """What jobs take from nccl.conf, without what names this host's own devices."""
    nccl = as_dict(host.facts.get("nccl"))
    if "settings" not in nccl:
        return None
    raw = as_dict(nccl["settings"])
    if raw.get("value") is None:
        return reading(raw)
    lines = {f"{name}={value}" for name, value in as_dict(raw["value"]).items() if name not in OWN}
    return "\n".join(sorted(lines)) or NONE
