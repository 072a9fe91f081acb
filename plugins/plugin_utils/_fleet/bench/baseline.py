# SPDX-License-Identifier: GPL-3.0-or-later
"""The baseline: what was measured when all was well, on which stack, and when.

One file, in which perftest, nccl and mpi each have their own: they need not be of one run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ....module_utils._fleet.bench_baseline import Value
from ....module_utils._ground import strict
from ..._ground import files
from .reported import HCAS, Reported

SCHEMA = "ibready/bench-baseline/1"
NAME = "bench.baseline.json"


class BaselineError(ValueError):
    """The file cannot be used; the message names it and the next step."""


@dataclass(frozen=True)
class Baseline:
    """``values`` by name. ``stacks``: what a host ran, by its digest; ``hosts``: whose is whose."""

    created: str
    simulated: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)
    stacks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    hosts: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> str:
        return f"baseline of {self.created[:10]}"


def where(given: str, variables: Mapping[str, Any], reports: Path) -> Path:
    """Where the site says, else beside the inventory, else with the report."""
    if given:
        return Path(given).expanduser()
    return (files.home(variables) or reports) / NAME


def read(path: Path) -> dict[str, Baseline]:
    """By what it is of; {} where there is no file; raises BaselineError where it cannot be read."""
    try:
        raw = strict.loads(path.read_text())
        if raw["schema"] != SCHEMA:
            raise ValueError(f"schema {raw['schema']!r}")
        return {kind: _one(entry) for kind, entry in raw["of"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as exc:
        raise BaselineError(
            f"{path} is no baseline that can be read ({exc!r}); next: restore it, or take a new "
            "one (bench_rebase: true)"
        ) from exc


def _one(raw: Mapping[str, Any]) -> Baseline:
    return Baseline(
        created=str(raw["created"]),
        simulated=str(raw["simulated"]),
        values={name: _value(name, value) for name, value in raw["values"].items()},
        stacks={name: dict(stack) for name, stack in raw["stacks"].items()},
        hosts=dict(raw["hosts"]),
    )


def _value(name: str, raw: Mapping[str, Any]) -> Value:
    found = Value(name=name, **raw)
    if not (found.value > 0 and found.spread >= 0):
        raise ValueError(f"{name}: {found.value} with a spread of {found.spread}")
    return found


def make(values: Sequence[Value], hosts: Sequence[Reported], created: str, simulated: str) -> Baseline:
    """That of this run."""
    present = [host for host in hosts if not host.absent]
    return Baseline(
        created=created,
        simulated=simulated,
        values={value.name: value for value in values},
        stacks={host.digest: dict(host.stack) for host in present},
        hosts={host.name: host.digest for host in present},
    )


def write(path: Path, baselines: Mapping[str, Baseline], version: str) -> None:
    """Write them all; raises OSError."""
    text = {
        "schema": SCHEMA,
        "ibready": version,
        "of": {kind: _shown(baseline) for kind, baseline in sorted(baselines.items())},
    }
    files.write_whole(path, json.dumps(text, indent=1) + "\n")


def _shown(baseline: Baseline) -> dict[str, Any]:
    shown = asdict(baseline)
    for value in shown["values"].values():
        del value["name"]
    return shown


def changes(before: Baseline, hosts: Sequence[Reported]) -> dict[str, list[str]]:
    """What each host runs now and did not then, one sentence a difference."""
    found: dict[str, list[str]] = {}
    for host in hosts:
        then = before.stacks.get(before.hosts.get(host.name, ""))
        if host.absent or then is None:
            continue
        names = {*then, *host.stack}
        if not (HCAS in then and HCAS in host.stack):
            names.discard(HCAS)
        reported = [
            f"{name}: {then.get(name) or 'none'} before, {host.stack.get(name) or 'none'} now"
            for name in sorted(names)
            if str(then.get(name) or "") != str(host.stack.get(name) or "")
        ]
        if reported:
            found[host.name] = reported
    return found
