# SPDX-License-Identifier: GPL-3.0-or-later
"""dnf module streams: which rpms can be seen once a stream is enabled."""

from __future__ import annotations

import yaml

from sandbox.vendor.catalog import Package, Repository, rpm_version

FILE = "modules.yaml"
NAME = "nvidia-driver"
_CONTEXT = "00000000"


def document(repository: Repository) -> str:
    """Return modulemd documents of a repository's streams, "" where it has none."""
    streams = sorted({stream for package in repository.packages for stream in package.streams})
    parts = [
        _stream(stream, [package for package in repository.packages if stream in package.streams]) for stream in streams
    ]
    return "".join(yaml.safe_dump(part, explicit_start=True, sort_keys=False) for part in parts)


def _stream(stream: str, packages: list[Package]) -> dict[str, object]:
    top = "nvidia-open" if stream.endswith("-open") else "cuda-drivers"
    return {
        "document": "modulemd",
        "version": 2,
        "data": {
            "name": NAME,
            "stream": stream,
            "version": 1,
            "context": _CONTEXT,
            "arch": "x86_64",
            "summary": f"SIMULATED NVIDIA driver {stream}",
            "description": "SIMULATED by ibready's sandbox",
            "license": {"module": ["none"]},
            "profiles": {
                "default": {"rpms": [top]},
                "fm": {"rpms": [top, "libnvidia-nscq", "nvidia-fabricmanager"]},
            },
            "artifacts": {"rpms": sorted(map(_artifact, packages))},
        },
    }


def _artifact(package: Package) -> str:
    epoch, number, release = rpm_version(package.version)
    return f"{package.name}-{epoch or 0}:{number}-{release}.x86_64"
