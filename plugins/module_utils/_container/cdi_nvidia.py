# SPDX-License-Identifier: GPL-3.0-or-later
"""The CDI specification of GPUs, which NVIDIA's toolkit writes: is it there, and of this driver?

Since 1.18 the toolkit's own units (nvidia-cdi-refresh) write it below /run at boot and after a
driver's installation; before that somebody has to ask nvidia-ctk. Source: NVIDIA Container Toolkit,
"Support for Container Device Interface". Confidence: confirmed.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ansible_collections.ibready.cluster.plugins.module_utils import _state
from ansible_collections.ibready.cluster.plugins.module_utils._observe.stack import (
    NVIDIA,
    driver_version,
)
from ansible_collections.ibready.cluster.plugins.module_utils._probe import devices

TOOL = "nvidia-ctk"
WRITTEN = "/etc/cdi/nvidia.yaml"
REFRESHED = "/var/run/cdi/nvidia.yaml"
UNITS = ("nvidia-cdi-refresh.path", "nvidia-cdi-refresh.service")
_UNIT_FOLDERS = ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
# Libraries carry the driver's version, whatever else the toolkit's releases write.
_LIBRARY = re.compile(r"\.so\.([0-9]{3,4}\.[0-9]{1,3}(?:\.[0-9]{1,3})?)\b")


@dataclass(frozen=True)
class Gpus:
    """``driver``: the loaded one's version, "" where none is, or none can be told (``unread``).
    ``described``: the versions in the specification at ``path``, None where there is no file."""

    driver: str
    unread: str
    units: bool
    path: str
    described: tuple[str, ...] | None

    @property
    def stale(self) -> bool:
        """Whether the specification has to be written: it is missing, or of another driver."""
        return bool(self.driver) and self.driver not in (self.described or ())


def look(root: str = "/") -> Gpus:
    """The host as it is."""
    units = any(
        os.path.exists(_state.below(root, f"{folder}/{UNITS[0]}")) for folder in _UNIT_FOLDERS
    )
    path = REFRESHED if units else WRITTEN
    place = _state.below(root, path)
    text = _state.read(place) if os.path.exists(place) else None
    return Gpus(*_driver(root), units, path, None if text is None else versions(text))


def files(root: str = "/") -> dict[str, tuple[str, ...]]:
    """All that describe GPUs, whoever wrote them, with the driver versions that each names."""
    return {
        path: versions(text)
        for path, text in devices.files(root).items()
        if devices.GPU in devices.kinds_in(text)
    }


def versions(spec: str) -> tuple[str, ...]:
    """The driver versions that a specification names, each once."""
    return tuple(dict.fromkeys(_LIBRARY.findall(spec)))


def _driver(root: str) -> tuple[str, str]:
    try:
        text = _state.read(_state.below(root, NVIDIA))
        return (driver_version(text).version if text else ""), ""
    except (OSError, ValueError) as exc:
        return "", f"{NVIDIA} tells no version: {exc}"
