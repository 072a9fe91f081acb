# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults as data: read them, break with them, heal them."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sandbox import fabric_client, image, lifecycle, podman, record
from sandbox.config import NODES, RAILS, Sandbox, node_guid, sim_host
from sandbox.cutoff import cut_rules
from sandbox.errors import SandboxError
from sandbox.fabric.sysfs import guid
from sandbox.netfile import leaf_of, leaf_port
from sandbox.parcel import FIRST_RAIL_GROUP
from sandbox.steps import locked
from sandbox.vendor import sandboxed, spoil

FILE = Path(__file__).parent / "faults.yml"
# What breaks in a vendor's repository: no verdict finds it, a role has to refuse.
VENDOR_FILE = Path(__file__).parent / "vendor/faults.yml"
STEPS = ("console", "sweep", "sm", "width", "hca", "node", "drop", "tcp", "cut", "web", "vendor")
_TABLE = "inet ibready_sandbox"

Step = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """One entry of faults.yml."""

    name: str
    title: str
    needs_node: bool
    default_node: str | None
    actions: tuple[Step, ...]
    heal: tuple[Step, ...]
    expect: dict[str, Any]


def load(file: Path = FILE) -> dict[str, Fault]:
    """Read the faults; raise SandboxError naming the entry that is not one."""
    faults = {}
    for entry in yaml.safe_load(file.read_text())["faults"]:
        name = entry.get("name", "an entry without name")
        try:
            fault = Fault(
                name=name,
                title=entry["title"],
                needs_node=entry["needs_node"],
                default_node=entry.get("default_node"),
                actions=tuple(entry["actions"]),
                heal=tuple(entry["heal"]),
                expect=entry["expect"],
            )
        except (KeyError, TypeError) as exc:
            raise SandboxError(f"{file.name}: {name}: {exc!r}") from None
        for step in (*fault.actions, *fault.heal):
            if len(step) != 1 or next(iter(step)) not in STEPS:
                raise SandboxError(f"{file.name}: {name}: {step} is not one of {', '.join(STEPS)}")
        faults[name] = fault
    return faults


def known() -> dict[str, Fault]:
    """Return every fault that can be made: the fabric's and nodes', and the repositories'."""
    return {**load(), **load(VENDOR_FILE)}


def suggest(word: str, known: Iterable[str]) -> str:
    """Return a sentence with the nearest known word, or with all of them."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(names)}"


def choose(faults: dict[str, Fault], name: str, node: str | None) -> tuple[Fault, str | None]:
    """Return the fault and the node it strikes, or refuse before anything is done."""
    if name not in faults:
        raise SandboxError(f"there is no fault {name!r}: {suggest(name, faults)}")
    fault = faults[name]
    if not fault.needs_node:
        if node is not None:
            raise SandboxError(f"{name} strikes the whole fabric: name no node")
        return fault, None
    node = node or fault.default_node
    if node not in NODES:
        raise SandboxError(f"there is no node {node!r}: {suggest(str(node), NODES)}")
    return fault, node


def fill(value: Any, node: str | None) -> Any:
    """Replace {node} and {other_guid} in every string of a step."""
    if isinstance(value, str):
        if node is None:
            return value
        other = NODES[(NODES.index(node) + 1) % len(NODES)]
        other_guid = guid(node_guid(other, 0))
        return value.replace("{node}", node).replace("{other_guid}", other_guid)
    if isinstance(value, list):
        return [fill(item, node) for item in value]
    if isinstance(value, dict):
        return {key: fill(item, node) for key, item in value.items()}
    return value


def drop_rules(rail: int, percent: int) -> str:
    """Return nftables input that loses a share of one rail's packets.

    ibsim's data ports only: a lost packet to its control port would hang a tool for ever.
    """
    # Declared and deleted first, so that it does not matter whether the table is there.
    rules = f"table {_TABLE}\ndelete table {_TABLE}\n"
    if percent == 0:
        return rules
    return rules + (
        f"table {_TABLE} {{\n"
        "  chain output {\n"
        "    type filter hook output priority 0;\n"
        f"    meta skgid {FIRST_RAIL_GROUP + rail} udp dport 7071-7080"
        f" numgen random mod 100 < {percent} drop\n"
        "  }\n}\n"
    )


def tcp_rules(ports: str, new: str) -> str:
    """Return nftables input for a firewall of the node itself, which lets open connections be.

    ``ports``: ``29500`` or ``32768-60999``; ``new``: drop, reject or accept.
    """
    table = f"inet ibready_tcp_{ports.replace('-', '_')}"
    rules = f"table {table}\ndelete table {table}\n"
    if new == "accept":
        return rules
    verdict = {"drop": "drop", "reject": "reject with tcp reset"}[new]
    return rules + (
        f"table {table} {{\n"
        "  chain input {\n"
        "    type filter hook input priority 0;\n"
        f"    tcp flags & (syn | ack) == syn tcp dport {ports} {verdict}\n"
        "  }\n}\n"
    )


def perform(box: Sandbox, step: Step, node: str | None) -> None:
    """Carry out one step."""
    kind, value = next(iter(fill(step, node).items()))
    if kind == "console":
        said = fabric_client.order(box, {"do": "console", "line": value})["output"]
        if "not found" in said or "unknown" in said:
            raise SandboxError(f"ibsim refuses {value!r}: {said.strip()}")
    elif kind == "sweep":
        fabric_client.order(box, {"do": "sweep"})
    elif kind == "sm":
        fabric_client.order(box, {"do": "sm", "run": value == "run"})
    elif kind == "web":
        fabric_client.order(box, {"do": "web", "run": value == "run"})
    elif kind == "vendor" and value["act"] == "restore":
        sandboxed.refresh(box, image.recipe().node, print)
    elif kind == "vendor":
        spoil.perform(box, **value)
    elif node is None:
        raise SandboxError(f"the step {kind} needs a node")
    elif kind == "width":
        order = {"do": "width", "switch": leaf_of(value["rail"]), "port": leaf_port(node)}
        fabric_client.order(box, {**order, "lanes": value["lanes"]})
    elif kind == "hca":
        for hca, files in value.items():
            host = sim_host(node, RAILS.index(hca))
            fabric_client.order(box, {"do": "hca", "host": host, "files": files})
    elif kind == "node":
        podman.run(["exec", box.container(node), *value], timeout=30)
    elif kind == "drop":
        _netfilter(box, node, drop_rules(value["rail"], value["percent"]))
    elif kind == "tcp":
        _netfilter(box, node, tcp_rules(value["ports"], value["new"]))
    elif kind == "cut":
        _netfilter(box, node, cut_rules(box.fabric_address, cut=value))


def _netfilter(box: Sandbox, node: str, rules: str) -> None:
    """Load rules into a node's network, with a nft that the node itself does not have."""
    tag = podman.inspect(box.fabric, ".Config.Image")
    podman.run(
        [
            "run",
            "--rm",
            "--interactive",
            f"--label={box.label}",
            f"--network=container:{box.container(node)}",
            "--cap-add=NET_ADMIN",
            *podman.ULIMITS,
            tag,
            "nft",
            "--file",
            "-",
        ],
        stdin=rules.encode(),
        timeout=30,
    )


def strike(box: Sandbox, name: str, node: str | None, say: Callable[[str], None]) -> None:
    """Break something, and record it so that it can be healed."""
    fault, node = choose(known(), name, node)
    with locked(box):
        _must_be_up(box)
        mine = record.Active(fault.name, node)
        broken = record.active(box)
        if mine in broken:
            say(f"already in force: {mine}")
            return
        # Recorded first: a fault that was half made must be healed as well.
        record.write(box, [*broken, mine])
        for step in fault.actions:
            perform(box, step, node)
        _settle(box)
    say(f"broken: {fault.title.replace('NODE', node or '')}")


def heal(box: Sandbox, name: str | None, node: str | None, say: Callable[[str], None]) -> None:
    """Undo the recorded faults, or those of one name and node, and wait for a healthy fabric."""
    faults = known()
    if name is not None:
        choose(faults, name, node)
    elif node is not None and node not in NODES:
        raise SandboxError(f"there is no node {node!r}: {suggest(node, NODES)}")
    with locked(box):
        _must_be_up(box)
        broken = record.active(box)
        chosen = [
            fault for fault in broken if (name is None or fault.fault == name) and (node is None or fault.node == node)
        ]
        for mine in reversed(chosen):
            for step in faults[mine.fault].heal:
                perform(box, step, mine.node)
            broken = [fault for fault in broken if fault != mine]
            record.write(box, broken)
            say(f"healed: {mine}")
        if not chosen:
            say("nothing was broken")
        if not broken:
            fabric_client.wait_healthy(box)
            lifecycle.wait_ssh(box)


def _must_be_up(box: Sandbox) -> None:
    missing = set(box.containers) - set(podman.present(box, "container"))
    if missing:
        raise SandboxError(f"{', '.join(sorted(missing))} is not there: `python -m sandbox up` first")


def _settle(box: Sandbox, seconds: float = 5) -> None:
    """Wait until no port is between two states any more."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ports = fabric_client.order(box, {"do": "status"})["ports"]
        if all(port["state"] in ("Active", "Down") for port in ports.values()):
            return
        time.sleep(0.1)
