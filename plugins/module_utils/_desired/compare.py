# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold a host against what is wanted of it: what differs, and of what nobody can tell.

Modules of ours say it themselves, in check mode and all in this one process, so that comparing and
doing never disagree.
"""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Mapping

from .._ground.check import FAIL, sentence
from . import asked
from .plain import KINDS, Unknown

# What a task of a role may call and be compared by.
MODULES = (
    *("beegfs_conf", "boot_tuning", "container_cdi", "container_engines", "firewall_rules"),
    "hca_firmware",
    *("ipoib_interfaces", "kernel_args", "limits_look", "module_blacklist", "modules_look"),
    *("mpi_conf", "nccl_conf", "nvidia_modules", "packages_whole", "port_type", "rdma_users"),
    *("reboot_state", "roce_settings", "secure_boot", "slurm_health_conf", "soft_roce"),
    *("stack_packages", "stack_snapshot", "sysctl_dropin", "units", "written_files"),
)
# Refused: the role would stop there, and somebody has to mend it first.
DIFFERS, UNKNOWN, REFUSED = "differs", "unknown", "refused"
_OURS = "ibready.cluster."
# Asked of the whole host, for whatever was brought: whether it takes effect. No role mends what it finds.
EFFECT, VERIFY = f"{_OURS}hostverify", "verify"
# What this answers is nothing to be mended: the tasks after it go by it.
_LOOKS = f"{_OURS}limits_look"
# One file of a diff, for people.
_SHOWN = 4096


def compare(items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of every item that is not as it is wanted: role, task, state, why, and a diff."""
    return [
        {"role": item["role"], "task": item["task"], **told}
        for item in items
        for told in (_undone(item["want"]) if item["kind"] == EFFECT else (one(item),))
        if told is not None
    ]


def _undone(want: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What was brought and takes no effect, by the checks of a verify: each with its cause and next step."""
    from .._verify import effect  # Nobody else pays for its import.

    try:
        found = effect.undone(want)
    except Exception as exc:
        yield {"state": UNKNOWN, "why": f"{type(exc).__name__}: {exc}", "diff": []}
        return
    for check in found:
        yield {"state": DIFFERS if check.result == FAIL else UNKNOWN, "why": sentence(check), "diff": []}


def one(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """None where there is nothing to do."""
    try:
        answer = _answer(str(item["kind"]), item["want"])
    except Unknown as exc:
        return {"state": UNKNOWN, "why": str(exc), "diff": []}
    except Exception as exc:
        return {"state": UNKNOWN, "why": f"{type(exc).__name__}: {exc}", "diff": []}
    if answer.get("failed"):
        return {"state": REFUSED if answer.get("by_hand") else UNKNOWN, "why": str(answer.get("msg")), "diff": []}
    unlike = [name for name, value in item.get("rest", {}).items() if not _same(value, answer.get(name))]
    if not answer.get("changed") and not unlike:
        return None
    why = "; ".join(f"{name} is {_short(answer.get(name))}" for name in unlike)
    found: dict[str, Any] = {"state": DIFFERS, "why": why, "diff": _cut(answer.get("diff"))}
    if item["kind"] == _LOOKS:
        found["looked"] = {name: answer.get(name) for name in item["rest"]}
    return found


def _answer(kind: str, want: Mapping[str, Any]) -> dict[str, Any]:
    if kind in KINDS:
        return KINDS[kind](want)
    name = kind[len(_OURS) :]
    if name not in MODULES:
        raise Unknown(f"{kind} cannot be compared")
    root = __name__.rpartition(".module_utils.")[0]
    return asked.ask(f"{root}.modules.{name}", want)


def _same(wanted: Any, found: Any) -> bool:
    """Of a mapping only what is named counts, unless it names nothing; of a list not the order."""
    if wanted and isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return all(_same(value, found.get(name)) for name, value in wanted.items())
    if isinstance(wanted, list) and isinstance(found, list):
        # Names and lines, whose order is the program's own.
        return sorted(map(str, wanted)) == sorted(map(str, found))
    return bool(wanted == found)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _cut(diffs: Any) -> list[dict[str, str]]:
    every = diffs if isinstance(diffs, list) else [diffs] if diffs else []
    return [
        {key: str(value)[:_SHOWN] for key, value in each.items()}
        for each in every
        if isinstance(each, Mapping) and each.get("before") != each.get("after")
    ]
