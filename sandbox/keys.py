# SPDX-License-Identifier: GPL-3.0-or-later
"""ssh keys: one for the operator, one for each node, made here so that every host key is known."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from sandbox.config import NODES, Sandbox
from sandbox.errors import SandboxError


@dataclass(frozen=True)
class KeyPair:
    private: str
    public: str


def make(path: Path, comment: str) -> KeyPair:
    """Make a key pair at `path`, replacing an older one."""
    for old in (path, path.with_name(path.name + ".pub")):
        old.unlink(missing_ok=True)
    try:
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(path)],
            check=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
    except FileNotFoundError:
        raise SandboxError("ssh-keygen is not installed (apt install openssh-client)") from None
    except subprocess.CalledProcessError as exc:
        raise SandboxError(f"ssh-keygen: {exc.stderr.decode(errors='replace').strip()}") from None
    return KeyPair(path.read_text(), path.with_name(path.name + ".pub").read_text())


def prepare(box: Sandbox) -> tuple[str, dict[str, KeyPair]]:
    """Fill the state directory; return the operator's public key and the nodes' host keys."""
    operator = for_operator(box)
    hosts = {}
    for node in NODES:
        path = box.state / f"host-{node}"
        hosts[node] = make(path, f"root@{node}")
        for file in (path, path.with_name(path.name + ".pub")):
            file.unlink()
    box.known_hosts.write_text(
        "".join(f"{box.address(node)} {' '.join(key.public.split()[:2])}\n" for node, key in hosts.items())
    )
    return operator, hosts


def for_operator(box: Sandbox) -> str:
    """Make the operator's key; return its public half.

    Nodes that are made anew get a new one: by it ssh tells an open connection to them from one to those before.
    """
    return make(box.private_key, f"ops@{box.name}").public
