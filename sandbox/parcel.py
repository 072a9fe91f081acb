# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that make a container out of an image: our programs and this sandbox's settings."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from sandbox import apt
from sandbox.config import NODES, RAILS, SM_HOST, Sandbox, sim_host
from sandbox.hardware.board import build
from sandbox.keys import KeyPair
from sandbox.netfile import netfile
from sandbox.vendor import publish

_HERE = Path(__file__).parent
_PROGRAMS = "usr/local/lib/ibready-sandbox"
# The group of each rail's packets; ids that no distribution hands out.
FIRST_RAIL_GROUP = 60000
# Puts our programs before tools of packages that would ask hardware.
LINK_TOOLS = f"/{_PROGRAMS}/link-tools"
UMAD2SIM = "/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so"

OPENSM_CONF = """\
# A trap-driven or timed sweep would ask every port that claims to be an SM for its SMInfo, and
# the library that simulates umad dies of that question. The agent asks for sweeps.
sweep_on_trap FALSE
sweep_interval 0
log_file /run/ibready-fabric/opensm.log
log_max_size 4
"""

_LOGIN = "home/ops/.ssh/authorized_keys"
_BOOT_UNIT = "ibready-simulated-boot.service"
_BOOT = f"""\
[Unit]
Description=Load the modules that modules-load.d and the hardware ask for (simulated kernel)
Documentation=file:///etc/ibready-sandbox.json
DefaultDependencies=no
After=local-fs.target
Before=sysinit.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/{_PROGRAMS}/simulated-kmod autoload
"""
# podman looks for runtimes at paths of its own, not on PATH; crun refuses hybrid control groups.
_PODMAN = """\
[engine]
runtime = "runc"

[engine.runtimes]
runc = ["/usr/local/sbin/runc"]
"""

# The health agent's service may do what it needs on a real host; our launcher joins a rail's group.
_HEALTH_UNIT = "etc/systemd/system/ibready-health.service.d/simulated.conf"
_HEALTH = """\
[Service]
ReadWritePaths=/run/ibready-sandbox
CapabilityBoundingSet=CAP_SETGID
"""


def pack(files: dict[str, tuple[str | bytes, int]]) -> bytes:
    """Return a tar of path -> (content, mode), owned by root."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for path, (content, mode) in files.items():
            data = content.encode() if isinstance(content, str) else content
            entry = tarfile.TarInfo(path)
            entry.size = len(data)
            entry.mode = mode
            tar.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def userland(system: str, host: Mapping[str, str]) -> str:
    """Return ", WHICH userland" where nodes are not what they play; `host`: our os-release."""
    if system == "el":
        return ", EL 9 userland"
    if (host.get("ID"), host.get("VERSION_ID")) == ("ubuntu", "24.04"):
        return ""
    return ", Ubuntu 24.04 userland"


def node_settings(box: Sandbox, node: str) -> dict[str, object]:
    """Return what a node knows of its simulation, as /etc/ibready-sandbox.json holds it."""
    return {
        "simulated": True,
        "hardware": True,
        "what": hardware_data()["board"]["what"] + userland(box.system, apt.os_release()),
        "sandbox": box.name,
        "node": node,
        "server": box.fabric_address,
        "hcas": [
            {"name": hca, "host": sim_host(node, rail), "gid": FIRST_RAIL_GROUP + rail}
            for rail, hca in enumerate(RAILS)
        ],
    }


def archive_files(box: Sandbox, key: str) -> dict[str, tuple[str | bytes, int]]:
    """Return how a node's package manager knows the simulated archive of its distribution."""
    url = publish.base(box.fabric_address)
    if box.system == "el":
        repository = (
            "[baseos]\nname=SIMULATED Rocky Linux 9 - BaseOS\n"
            f"baseurl={url}os/el9/\nenabled=1\ngpgcheck=1\n"
            "gpgkey=file:///etc/pki/rpm-gpg/RPM-GPG-KEY-sandbox\n"
        )
        return {
            "etc/yum.repos.d/baseos.repo": (repository, 0o644),
            "etc/pki/rpm-gpg/RPM-GPG-KEY-sandbox": (key, 0o644),
        }
    source = f"Types: deb\nURIs: {url}os/ubuntu24.04/\nSuites: ./\nSigned-By: /usr/share/keyrings/ibready-sandbox.asc\n"
    return {
        "etc/apt/sources.list.d/ibready-sandbox.sources": (source, 0o644),
        "usr/share/keyrings/ibready-sandbox.asc": (key, 0o644),
    }


def for_node(
    box: Sandbox,
    node: str,
    operator_key: str,
    host_key: KeyPair,
    machine: str,
    archive_key: str,
) -> bytes:
    """Return a node's files; `machine` is its machine id, `archive_key` signs its archive."""
    programs = {
        "boot": "boot.py",
        "simulated-umad": "simulated_umad.py",
        "link-tools": "link_tools.py",
        "simulated-runc": "simulated_runc.py",
        "simulated-kmod": "kmod_tools.py",
        "simulated-kernel-says": "kernel_says.sh",
        "simulated-nvidia-smi": "nvidia_smi.py",
        "simulated-nvidia-ctk": "nvidia_ctk.py",
        "simulated-nvidia-daemon": "nvidia_daemon.py",
    }
    files: dict[str, tuple[str | bytes, int]] = {
        f"{_PROGRAMS}/{name}": ((_HERE / "node" / file).read_bytes(), 0o755) for name, file in programs.items()
    }
    files |= package("hardware")
    files |= {
        f"{_PROGRAMS}/hardware.json": (json.dumps(hardware_data(), indent=1) + "\n", 0o644),
        f"etc/systemd/system/{_BOOT_UNIT}": (_BOOT, 0o644),
        "etc/systemd/system/sysinit.target.d/ibready-sandbox.conf": (
            f"[Unit]\nWants={_BOOT_UNIT}\n",
            0o644,
        ),
        "etc/ibready-sandbox.json": (json.dumps(node_settings(box, node), indent=2) + "\n", 0o644),
        "etc/containers/containers.conf.d/00-ibready-sandbox.conf": (_PODMAN, 0o644),
        _HEALTH_UNIT: (_HEALTH, 0o644),
        "etc/dpkg/dpkg.cfg.d/ibready-sandbox": (f"post-invoke={LINK_TOOLS}\n", 0o644),
        "etc/ssh/ssh_host_ed25519_key": (host_key.private, 0o600),
        "etc/ssh/ssh_host_ed25519_key.pub": (host_key.public, 0o644),
        _LOGIN: (operator_key, 0o644),
        "etc/machine-id": (machine + "\n", 0o444),
        **archive_files(box, archive_key),
    }
    return pack(files)


def for_saved_node(operator_key: str) -> bytes:
    """Return what a node is given that has all else from its image: who may log in."""
    return pack({_LOGIN: (operator_key, 0o644)})


def hardware_data() -> dict[str, Any]:
    """The nodes' hardware and kernel modules, as the data files have them."""
    return {name: yaml.safe_load((_HERE / f"hardware/{name}.yml").read_text()) for name in ("board", "kernel")}


def package(name: str) -> dict[str, tuple[str | bytes, int]]:
    """The Python files of one of our packages, where our programs find them."""
    home = f"{_PROGRAMS}/sandbox"
    files: dict[str, tuple[str | bytes, int]] = {
        f"{home}/{name}/{file.name}": (file.read_bytes(), 0o644) for file in sorted((_HERE / name).glob("*.py"))
    }
    return {f"{home}/__init__.py": ("", 0o644), **files}


def fabric_settings(box: Sandbox) -> dict[str, object]:
    """Return what the agent in the fabric container works from."""
    places = {hca.name: hca.place for hca in build(hardware_data()["board"], RAILS).hcas}
    return {
        "server": box.fabric_address,
        "sm_host": SM_HOST,
        "umad2sim": UMAD2SIM,
        "web_port": publish.PORT,
        "hardware": yaml.safe_load((_HERE / "hardware/hca.yml").read_text()),
        "hosts": {
            sim_host(node, rail): {"node": node, "hca": hca, "device": places[hca]}
            for node in NODES
            for rail, hca in enumerate(RAILS)
        },
    }


def for_fabric(box: Sandbox) -> bytes:
    files = package("fabric")
    files |= {
        "etc/ibready-fabric.json": (json.dumps(fabric_settings(box)), 0o644),
        "etc/ibready-fabric.net": (netfile(), 0o644),
        "etc/ibready-opensm.conf": (OPENSM_CONF, 0o644),
    }
    return pack(files)
