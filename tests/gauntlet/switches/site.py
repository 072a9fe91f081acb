# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated site: a node with eight RoCE rails, each on a leaf of its own, the leaves' texts, and the plan of cables.

One site for each system that switches run, healthy, and the faults of faults.yml. Texts are made up, in the systems'
published formats; no real switch printed them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._expect.expectations import from_inventory
from ansible_collections.ibready.cluster.plugins.module_utils._ground.check import Check
from ansible_collections.ibready.cluster.plugins.module_utils._verify import verify as _verify
from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import hosts as _hosts
from ansible_collections.ibready.cluster.plugins.plugin_utils._switch import judge as _judge, texts as _texts
from tests.gauntlet import fault
from tests.unit import fleets, switch_texts

HERE = Path(__file__).parent
AREA = "roce_switch"
BOARD = "hgx-h200-8-roce"
HOST = "node1"
LEAVES = tuple(f"leaf{at}" for at in range(8))
_CABLES = "cables.csv"


@dataclass(frozen=True)
class System:
    """``port``: that every rail hangs on. ``texts``: of a switch of this name, by file. ``silent``: what its texts
    never tell of."""

    port: str
    texts: Callable[[str], dict[str, str]]
    silent: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fault(fault.Fault):
    """``runs``: a key of SYSTEMS; ``texts``: changes of what is handed in; the rest as on a node."""

    runs: str = ""
    texts: tuple[dict[str, Any], ...] = ()


def _sonic(name: str) -> dict[str, str]:
    return {"config_db.json": json.dumps(switch_texts.sonic(name), indent=4) + "\n"}


SYSTEMS: dict[str, System] = {
    "sonic": System("Ethernet0", _sonic),
    "nvue": System("swp1", lambda _name: switch_texts.cumulus(), ("roce.switch.watchdog",)),
}


@cache
def load() -> list[Fault]:
    """Every fault, by order; raises TypeError or KeyError on one that is not well told."""
    found = []
    for raw in yaml.safe_load((HERE / "faults.yml").read_text()):
        lists = {key: tuple(raw[key]) for key in ("node", "evidence", "also", "texts") if key in raw}
        found.append(Fault(**{"area": AREA, "board": BOARD, **raw, **lists}))
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        raise KeyError("names of faults must be unique")
    return found


def healthy(runs: str) -> Fault:
    """Nothing wrong on a site of this system."""
    return Fault(f"switches run {runs}", BOARD, "", "", AREA, runs=runs)


@cache
def _node(port: str) -> tuple[_hosts.Host, tuple[Check, ...]]:
    return _judged(replace(healthy(""), node=({"more": {"roce_heard": port}},)))


def node(one: Fault) -> tuple[_hosts.Host, tuple[Check, ...]]:
    """The host as the controller knows it, and its own checks."""
    port = SYSTEMS[one.runs].port
    if not (one.node or one.evidence or one.expect):
        return _node(port)
    return _judged(replace(one, node=({"more": {"roce_heard": port}}, *one.node)))


def _judged(one: fault.Fault) -> tuple[_hosts.Host, tuple[Check, ...]]:
    described, tree = fault.broken(one)
    own = _verify.verify(tree, from_inventory(described.expect)).checks
    return fleets.host(HOST, described, tree), tuple(own)


def handed(one: Fault) -> _texts.Switches:
    """What the site hands in, read from files as a site's are."""
    system = SYSTEMS[one.runs]
    files = {f"{name}/{file}": text for name in LEAVES for file, text in system.texts(name).items()}
    rows = "".join(f"{HOST},eth{at},{name},{system.port}\n" for at, name in enumerate(LEAVES))
    files[_CABLES] = f"from,from_port,to,to_port\n{rows}"
    for change in one.texts:
        _change(files, change)
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, *(() if name == _CABLES else ("switches",)), name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        site = {_texts.TEXTS: f"{folder}/switches", _texts.CABLING: f"{folder}/{_CABLES}"}
        told = _texts.asked(site)
    assert told is not None
    return told


def _change(files: dict[str, str], change: Mapping[str, Any]) -> None:
    """``{switch: NAME or all, file: NAME, replace: [OLD, NEW]}``, with ``keep``: a part of the lines from the head."""
    for name in LEAVES if change["switch"] == "all" else (change["switch"],):
        path = f"{name}/{change['file']}"
        text = files[path]
        if "keep" in change:
            lines = text.splitlines(keepends=True)
            text = "".join(lines[: int(len(lines) * change["keep"])])
        if "replace" in change:
            old, new = change["replace"]
            if old not in text:
                raise KeyError(f"{path} does not hold {old!r}")
            text = text.replace(old, new, change.get("times", -1))
        files[path] = text


def judge(one: Fault) -> list[Check]:
    """All checks of the node: its own, and those that hold its rails against their switch ports."""
    host, own = node(one)
    return [*own, *_judge.judge([host], handed(one))[HOST]]
