# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of the container engines: where they read what, and since when they can what."""

from __future__ import annotations

from dataclasses import dataclass

DOCKER, CONTAINERD, PODMAN = "docker", "containerd", "podman"
# docker starts after containerd, which it runs its containers by.
ENGINES = (CONTAINERD, DOCKER, PODMAN)


@dataclass(frozen=True)
class Engine:
    """``program`` tells that it is on the host; ``unit``: its service, "" where there is none."""

    name: str
    program: str
    unit: str
    config: str
    version_argv: tuple[str, ...]


# Sources: dockerd(8), containerd-config.toml(5), containers.conf(5), `docker --version` and the
# like. Confidence: confirmed, on the releases of Debian 13 too.
TABLE = {
    DOCKER: Engine(DOCKER, "dockerd", "docker.service", "/etc/docker/daemon.json", ("dockerd", "--version")),
    CONTAINERD: Engine(
        CONTAINERD,
        "containerd",
        "containerd.service",
        "/etc/containerd/config.toml",
        ("containerd", "--version"),
    ),
    PODMAN: Engine(PODMAN, "podman", "", "/etc/containers/containers.conf.d/90-ibready.conf", ("podman", "--version")),
}

# `features.cdi` of daemon.json. Source: docker Engine 25.0 ("opt-in"), Engine 28.2 release notes
# (on by default); nvidia-container-toolkit 1.14.5 sets the same key. Confidence: confirmed.
DOCKER_CDI = "25.0"
# `dockerd --validate`. Source: moby 42393, Engine 23.0 release notes. Confidence: confirmed.
DOCKER_VALIDATE = "23.0"
# What dockerd takes up at a reload (SIGHUP); all else waits for a restart. Source: dockerd(8),
# "configuration reload behavior". Confidence: confirmed.
DOCKER_RELOADS = ("runtimes", "default-runtime", "live-restore", "labels", "debug")
# `enable_cdi` of the CRI plugin. Source: containerd 1.7.0 release notes, and 2.0's, which turned it
# on. Confidence: confirmed.
CONTAINERD_CDI = "1.7"
# The CRI plugin's table by the format of config.toml. Source: containerd, docs/cri/config.md.
# Confidence: confirmed.
CRI = {
    1: ("plugins", "cri"),
    2: ("plugins", "io.containerd.grpc.v1.cri"),
    3: ("plugins", "io.containerd.cri.v1.runtime"),
}
# The names by which `disabled_plugins` turns it off. Source: as above; Docker's own packages of
# containerd are delivered so. Confidence: confirmed.
CRI_NAMES = ("cri", "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime")
# Who reads CDI specifications, by program. Source: the CDI specification's README. Confidence:
# confirmed.
CDI_READERS = ("dockerd", "containerd", "podman", "crio")
# The runtime that NVIDIA's toolkit brings. Source: its installation guide. Confidence: confirmed.
NVIDIA_RUNTIME = "nvidia-container-runtime"
