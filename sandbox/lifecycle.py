# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring a sandbox up, take it down, tell how it is."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import tempfile
import time
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sandbox import fabric_client, image, keys, parcel, podman, purpose, record
from sandbox.config import NODES, REPOSITORY, Sandbox, sandbox
from sandbox.errors import SandboxError
from sandbox.steps import Say, locked, step
from sandbox.vendor import sandboxed as vendor

# What systemd, sshd, sudo and apt need. Not --privileged: the host's devices stay out of reach,
# /sys stays read-only, and no module can be loaded.
_CAPABILITIES = (
    "AUDIT_WRITE,DAC_READ_SEARCH,IPC_LOCK,IPC_OWNER,LEASE,LINUX_IMMUTABLE,MKNOD,NET_ADMIN,"
    "NET_BROADCAST,NET_RAW,SYS_ADMIN,SYS_BOOT,SYS_NICE,SYS_PTRACE"
)
# boot.py puts its folders where the engines store images and containers.
ENGINES = "/srv/engines"
# How much of this computer a container with systemd sees.
ISOLATION = (
    "--systemd=always",
    # A container engine inside the node makes its groups below the node's own, and gives its
    # containers /dev/console.
    "--cgroupns=private",
    "--device-cgroup-rule=c 5:1 rwm",
    # A reboot ends the container.
    "--restart=always",
    f"--cap-add={_CAPABILITIES}",
    "--security-opt=seccomp=unconfined",
    "--security-opt=apparmor=unconfined",
    # boot.py puts private copies over what is not the container's own.
    "--security-opt=unmask=ALL",
    # As a host has it; engines give containers 64 MiB unless told otherwise.
    "--shm-size=2g",
    *podman.ULIMITS,
)


def up(box: Sandbox, say: Say, *, keep: bool, prepared: Mapping[str, str] | None = None) -> None:
    """Make the sandbox, from nothing unless `keep` and the running one is healthy.

    `prepared`: by node, a shell script that its image has run already (`image.prepared`).
    """
    begun = time.monotonic()
    # Refused before anything is removed.
    purpose.asked()
    with locked(box):
        if keep and _plays(box) and _is_for(box) and _healthy(box):
            say(f"{box.name} is up and healthy: kept")
            return
        with step(say, "images"):
            recipe = image.ensure(say, box.system)
            base = recipe.node_of(box.system)
            tags = {node: image.prepared(base, script, say) for node, script in (prepared or {}).items()}
        try:
            _make(box, recipe, dict.fromkeys(NODES, base) | tags, say)
            # What dpkg does after it has installed tools: an image had none of our programs yet.
            for node in tags:
                podman.run(["exec", box.container(node), parcel.LINK_TOOLS])
        except BaseException:
            # An operator's Ctrl-C as well: half a sandbox is of no use to anybody.
            with contextlib.suppress(SandboxError):
                _discard(box)
            raise
    say(f"{box.name} is up: {', '.join(f'{n} {box.address(n)}' for n in NODES)}")
    say(f"{'total':<46} {time.monotonic() - begun:5.1f} s")


def _make(box: Sandbox, recipe: image.Recipe, tags: Mapping[str, str], say: Say) -> None:
    with step(say, "remove what was left"):
        _discard(box)
    with step(say, "network, keys, vendor repositories"), ThreadPoolExecutor() as pool:
        box.state.mkdir(parents=True, exist_ok=True)
        operator, hosts = keys.prepare(box)
        repositories = pool.submit(vendor.prepare, box, recipe.node, say)
        # Before anything is made, so that even a killed `up` is found by `clean`.
        _write_settings(box, recipe)
        make_network(box)
        archive_key = repositories.result()
    parcels = {node: parcel.for_node(box, node, operator, hosts[node], uuid.uuid4().hex, archive_key) for node in NODES}
    run_nodes(box, recipe.fabric, tags, parcels, say)


def run_nodes(box: Sandbox, fabric: str, tags: Mapping[str, str], parcels: Mapping[str, bytes], say: Say) -> None:
    """Start the fabric and the nodes of their images (`tags`), with the files that they are given; wait for them."""
    with step(say, "start four containers"), ThreadPoolExecutor() as pool:
        for volume in box.volumes:
            podman.run(["volume", "create", "--label", box.label, volume])
        jobs = [pool.submit(start, box.fabric, fabric_argv(box, fabric), parcel.for_fabric(box), box.state)]
        jobs += [
            pool.submit(start, box.container(node), node_argv(box, node, tags[node]), parcels[node], box.state)
            for node in NODES
        ]
        for job in jobs:
            job.result()
    with step(say, "nodes run, ssh answers"), ThreadPoolExecutor() as pool:
        list(pool.map(lambda node: wait_for_node(box, node), NODES))
    with step(say, "all ports Active, the SM is master"):
        fabric_client.wait_healthy(box)


def _write_settings(box: Sandbox, recipe: image.Recipe) -> None:
    settings = {
        "name": box.name,
        "subnet": box.subnet,
        "nodes": {node: box.address(node) for node in NODES},
        "system": box.system,
        "images": [recipe.node_of(box.system), recipe.fabric],
    }
    (box.state / "sandbox.json").write_text(json.dumps(settings, indent=2) + "\n")


def make_network(box: Sandbox) -> None:
    subnet = f"{box.subnet}.0/24"
    try:
        podman.run(["network", "create", "--label", box.label, "--subnet", subnet, box.network])
    except SandboxError as exc:
        raise SandboxError(f"{exc}: choose another network with --subnet") from None


def labels(box: Sandbox) -> list[str]:
    return [f"--label={box.label}", f"--label={purpose.LABEL}={purpose.asked()}"]


def node_argv(box: Sandbox, node: str, tag: str) -> list[str]:
    """Return the arguments of ``podman create`` for a node."""
    neighbours = [f"--add-host={other}:{box.address(other)}" for other in NODES if other != node]
    return [
        *labels(box),
        f"--name={box.container(node)}",
        f"--hostname={node}",
        f"--network={box.network}",
        f"--ip={box.address(node)}",
        *neighbours,
        *ISOLATION,
        f"--volume={box.volume(node)}:/srv/simulated-sysfs:ro",
        f"--volume={box.engines(node)}:{ENGINES}",
        tag,
        "/usr/local/lib/ibready-sandbox/boot",
    ]


def fabric_argv(box: Sandbox, tag: str) -> list[str]:
    """Return the arguments of ``podman create`` for the fabric."""
    volumes = [f"--volume={box.volume(node)}:/srv/nodes/{node}" for node in NODES]
    return [
        *labels(box),
        f"--name={box.fabric}",
        "--hostname=fabric",
        f"--network={box.network}",
        f"--ip={box.fabric_address}",
        *podman.ULIMITS,
        f"--env=PYTHONPATH={fabric_client.PYTHONPATH}",
        *volumes,
        f"--volume={box.vendor}:/srv/vendor:ro",
        tag,
        *fabric_client.AGENT,
        "run",
    ]


def start(name: str, arguments: list[str], files: bytes, home: Path) -> None:
    podman.run(["create", *arguments])
    # podman 4.3 leaves what it was given to copy in its temporary directory: host keys as well.
    with tempfile.TemporaryDirectory(dir=home) as tmpdir:
        podman.run(["cp", "-", f"{name}:/"], stdin=files, tmpdir=tmpdir)
    podman.run(["start", name])


def wait_for_node(box: Sandbox, node: str, seconds: float = 40) -> None:
    deadline = time.monotonic() + seconds
    state = ""
    while state != "running":
        if time.monotonic() > deadline:
            logs = podman.run(["logs", "--tail", "5", box.container(node)], check=False)
            raise SandboxError(
                f"{node} is {state or 'not answering'!r} after {seconds:.0f} s; its last words: "
                f"{(logs.stdout + logs.stderr).decode(errors='replace').strip() or 'none'}"
            )
        done = podman.run(
            ["exec", box.container(node), "systemctl", "is-system-running", "--wait"],
            timeout=seconds,
            check=False,
        )
        state = done.stdout.decode(errors="replace").strip()
        if state in ("degraded", "maintenance"):
            failed = podman.text(
                [
                    "exec",
                    box.container(node),
                    "systemctl",
                    "list-units",
                    "--failed",
                    "--plain",
                    "--no-legend",
                ]
            )
            raise SandboxError(f"{node} came up {state}: {failed}")
        if state != "running":
            time.sleep(0.1)
    _wait_for_ssh(box.address(node), deadline)


def wait_ssh(box: Sandbox, seconds: float = 15) -> None:
    """Return when sshd answers on every node."""
    deadline = time.monotonic() + seconds
    for node in NODES:
        _wait_for_ssh(box.address(node), deadline)


def _wait_for_ssh(address: str, deadline: float) -> None:
    while not _answers_ssh(address):
        if time.monotonic() > deadline:
            raise SandboxError(f"sshd at {address} does not answer")
        time.sleep(0.1)


def _answers_ssh(address: str) -> bool:
    try:
        with socket.create_connection((address, 22), timeout=2) as line:
            return line.recv(4) == b"SSH-"
    except OSError:
        return False


def _plays(box: Sandbox) -> bool:
    """Whether the nodes that are there play what is asked for."""
    return sandbox(box.name, box.subnet, str(box.state)).system == box.system


def _is_for(box: Sandbox) -> bool:
    """Whether the nodes that are there were made for whom this is: another may end before."""
    return podman.made_for(box) <= {purpose.asked()}


def _healthy(box: Sandbox) -> bool:
    if len(podman.present(box, "container")) != len(box.containers) or record.active(box):
        return False
    if not all(_answers_ssh(box.address(node)) for node in NODES):
        return False
    try:
        return not fabric_client.wrong(fabric_client.order(box, {"do": "status", "ask_sm": True}))
    except SandboxError:
        return False


def down(box: Sandbox, say: Say) -> None:
    """Remove the sandbox; the images stay."""
    with locked(box), step(say, f"{box.name} is down"):
        removed = _discard(box)
    if not removed:
        say("there was nothing to remove")


def made_here() -> list[Sandbox]:
    """Return the sandboxes whose state lies in this checkout."""
    found = []
    for file in sorted((REPOSITORY / ".sandbox").glob("*/sandbox.json")):
        settings = json.loads(file.read_text())
        found.append(sandbox(settings["name"], settings["subnet"]))
    return found


def _discard(box: Sandbox) -> list[str]:
    removed = podman.remove(box)
    podman.forget(box.saved_images)
    _clear_state(box)
    return removed


def _clear_state(box: Sandbox) -> None:
    """Empty the state directory, if it is one of ours."""
    if not box.state.exists():
        return
    ours = box.private_key.exists() or not any(box.state.iterdir())
    if not ours:
        raise SandboxError(f"{box.state} is not a sandbox's state directory: choose another --state")
    shutil.rmtree(box.state)


def status(box: Sandbox) -> dict[str, Any]:
    """Return containers, ports and what is wrong with them."""
    present = podman.present(box, "container")
    faults = record.active(box)
    report: dict[str, Any] = {
        "name": box.name,
        "simulated": True,
        "containers": present,
        "faults": [asdict(fault) for fault in faults],
    }
    if box.fabric not in present:
        return report | {"healthy": False, "wrong": ["the sandbox is down"]}
    fabric = fabric_client.order(box, {"do": "status", "ask_sm": True})
    trouble = fabric_client.wrong(fabric)
    trouble += [f"fault in force: {fault}" for fault in faults]
    trouble += [f"{n}: sshd does not answer" for n in NODES if not _answers_ssh(box.address(n))]
    return report | {"healthy": not trouble, "wrong": trouble, **fabric}


def execute(box: Sandbox, where: str, command: list[str]) -> None:
    """Become a command, run as root in a node or in the fabric. Does not return."""
    container = box.fabric if where == "fabric" else box.container(where)
    if container not in podman.present(box, "container"):
        raise SandboxError(f"{container} is not there: `python -m sandbox up` first")
    terminal = ["--tty"] if os.isatty(0) and os.isatty(1) else []
    argv = podman.argv("exec", "--interactive", *terminal, container, *command)
    os.execvp(argv[0], argv)
