# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/simulated.md: which files of roles and which checks met something real, stand-ins alone, or nothing yet.

`IBREADY_RIG=kernel ./run molecule kernel` notes what runs (tools/rig/seen.py); `python -m tools.rigs kernel` takes
that over into tests/rigs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "collections"))

from ansible_collections.ibready.cluster.plugins.module_utils._verify.catalog import CATALOG

_KEPT = ROOT / "tests/rigs"
_SUM = re.compile(r"(<!-- rigs -->\n).*?(<!-- /rigs -->)", re.DOTALL)


@dataclass(frozen=True)
class Rig:
    """``real``: whether it has the real thing, in the words of ``what``; ``but``: not so the areas of these checks."""

    name: str
    real: bool
    command: str
    what: str
    but: tuple[str, ...] = ()

    def counts(self, name: str) -> bool:
        """Whether what it ran of this name met something real."""
        return self.real and not name.startswith(tuple(f"check {area}." for area in self.but))


RIGS = (
    Rig(
        "real",
        True,
        "./run molecule real",
        "NVIDIA's driver packages of Debian's and Ubuntu's archives, DKMS, kernel modules, Secure Boot; the GPU is"
        " simulated and never starts",
        ("gpu", "pci"),
    ),
    Rig(
        "kernel",
        True,
        "./run molecule kernel",
        "two virtual machines: kernel, boot loader, systemd, apt, firewall, MPI, RDMA verbs in software (rxe, siw)",
    ),
    Rig(
        "simulated",
        False,
        "./run test",
        "containers: real tools over a simulated InfiniBand fabric (ibsim), simulated GPUs and HCAs, stand-ins of the"
        " vendors' packages; simulated nodes of the gauntlet",
    ),
)
_REAL, _STAND_IN, _NEVER = "real", "stand-in", "never run"


def seen(rig: str) -> frozenset[str]:
    """What a rig ran, as it was taken over: files of roles, and "check ID"."""
    return frozenset((_KEPT / f"{rig}.txt").read_text().split("\n")) - {""}


def tasks() -> list[str]:
    """Every file of tasks of the roles, but those that only stand for others: an import is no task of its own."""
    files = sorted(ROOT.glob("roles/*/tasks/*.yml"))
    return [str(path.relative_to(ROOT)) for path in files if not all(map(_imports, yaml.safe_load(path.read_text())))]


def _imports(task: Mapping[str, object]) -> bool:
    return "ansible.builtin.import_tasks" in task


def _state(name: str, by: Mapping[str, frozenset[str]]) -> str:
    rigs = [rig for rig in RIGS if name in by[rig.name]]
    if not rigs:
        return _NEVER
    return _REAL if any(rig.counts(name) for rig in rigs) else _STAND_IN


def _states(by: Mapping[str, frozenset[str]]) -> tuple[dict[str, str], dict[str, str]]:
    """Of every file of tasks, and of every check: simulated nodes have a fault of each (tests/unit/gauntlet)."""
    checks = {name: _state(f"check {name}", by) for name in CATALOG}
    return {name: _state(name, by) for name in tasks()}, {
        name: _STAND_IN if state == _NEVER else state for name, state in checks.items()
    }


def _counts(states: Mapping[str, str]) -> tuple[int, int, int]:
    """How many met something real, met stand-ins alone, never ran."""
    real, stand_in, never = (sum(state == kind for state in states.values()) for kind in (_REAL, _STAND_IN, _NEVER))
    return real, stand_in, never


# In each README, by the number of checks, and how many of them judged something real.
READMES = {
    "README.md": (
        "**Status: it has never run on a real HCA; of real GPUs it has seen the output and jobs of one H200.** Of {0}"
        " checks, {1} have judged something real, the others only simulations"
        " ([docs/testing.md](docs/testing.md)). So start with a verify: it changes nothing."
    ),
    "README.zh-CN.md": (
        "**现状：从未在真实的 HCA 上运行过；真实的 GPU 只见过一块 H200 的输出与作业。**"
        "{0} 项检查中，{1} 项判断过真实的东西，其余只见过模拟硬件（[docs/testing.md](docs/testing.md)）。"
        "所以请从 verify 开始，它不做任何改动。"
    ),
}


def in_readme(path: Path) -> str:
    """A README's text with its sum."""
    _, checks = _states({rig.name: seen(rig.name) for rig in RIGS})
    told = READMES[path.name].format(len(checks), _counts(checks)[0])
    text, sums = _SUM.subn(lambda found: f"{found[1]}{told}\n{found[2]}", path.read_text())
    if sums != 1:
        raise ValueError(f"{path.name}: {sums} places of the sum of what is simulated, not one")
    return text


def render(note: str) -> str:
    """The page."""
    by = {rig.name: seen(rig.name) for rig in RIGS}
    files, checks = _states(by)
    text = ["# What is real, and what is simulated", "", note]
    text += [
        "Source: `tests/rigs`, what ran on each rig when it was last recorded (`tools/rigs.py`). No rig has a real"
    ]
    text += ["GPU, HCA, NVSwitch or switch.", "", "| rig | by | what it has | |", "|---|---|---|---|"]
    text += [f"| {rig.name} | `{rig.command}` | {rig.what} | {_kind(rig)} |" for rig in RIGS]
    real, stand_in, never = _counts(files)
    text += ["", f"Of {len(files)} files of install tasks {real} ran on something real, {stand_in} on stand-ins alone,"]
    text += [f"{never} never. A file counts where any task of it ran.", ""]
    text += _table("file", files, by, "")
    real, stand_in, _ = _counts(checks)
    text += [
        "",
        f"Of {len(checks)} checks {real} judged something real, {stand_in} stand-ins alone. A check counts where",
    ]
    text += ["it passed or failed; simulated nodes have a fault of each that it finds.", ""]
    text += _table("check", checks, by, "check ")
    return "\n".join(text) + "\n"


def _kind(rig: Rig) -> str:
    but = ", ".join(f"`{area}.*`" for area in rig.but)
    return (_REAL if rig.real else _STAND_IN) + (f", but for the checks {but}" if but else "")


def _table(what: str, states: Mapping[str, str], by: Mapping[str, frozenset[str]], prefix: str) -> list[str]:
    names = [rig.name for rig in RIGS]
    rows = [f"| {what} | {' | '.join(names)} | |", f"|---|{'---|' * len(names)}---|"]
    for name, state in states.items():
        marks = " | ".join("x" if f"{prefix}{name}" in by[rig] else "" for rig in names)
        rows.append(f"| `{name}` | {marks} | {state} |")
    return rows


def take(rig: str) -> Path:
    """Take over what a rig noted; what is no file or check any more is left out."""
    known = {*tasks(), *(f"check {name}" for name in CATALOG)}
    noted = set((ROOT / f".cache/rig-{rig}.txt").read_text().split("\n"))
    kept = _KEPT / f"{rig}.txt"
    kept.write_text("".join(f"{name}\n" for name in sorted(noted & known)))
    return kept


if __name__ == "__main__":
    for each in sys.argv[1:]:
        print(f"wrote {take(each).relative_to(ROOT)}; now ./run docs")
