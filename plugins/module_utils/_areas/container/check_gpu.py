# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the GPUs that a container gets."""

from __future__ import annotations

import re
from typing import Iterator

from ..._expect.expectations import CAPABILITY
from ..._ground.check import Cause, Check, failed, passed, skipped, unknown
from ..._parse._container_facts import Inside
from ..host import check_scope
from .check_view import CONTAINER, View

_VISIBLE, _COUNT = "container.gpu.visible", "container.gpu.count"
_GPU = re.compile(r"GPU [0-9]{1,3}: .*")


def judge(view: View) -> Iterator[Check]:
    """container.gpu.*"""
    scope = view.real.then(check_scope.with_gpu(view.machine))
    yield from view.each(_VISIBLE, scope, _visible)
    yield from view.scoped(_COUNT, scope, lambda inside: _count(view, inside))


def _visible(subject: str, inside: Inside) -> Check:
    expected = "nvidia-smi lists GPUs"
    if inside.smi is not None and not inside.smi_rc and _seen(inside):
        return passed(_VISIBLE, subject, f"{_seen(inside)} GPUs", expected, CAPABILITY)
    if inside.smi is None:
        cause: str = "neither the GPUs nor nvidia-smi were put into the container"
        if inside.gpus:
            cause = "the device files are there, the driver's programs and libraries are not"
        return failed(_VISIBLE, subject, "no nvidia-smi", expected, CAPABILITY, cause=cause)
    said = next((entry for entry in reversed(inside.smi) if entry), "without a word")
    observed = f"nvidia-smi: {said} (status {inside.smi_rc})"
    cause = "the driver's libraries in the container cannot reach the driver"
    if "mismatch" in said.lower():
        cause = "the driver was upgraded, and the CDI file still names the old one's libraries"
    elif "permission" in said.lower():
        cause = Cause(
            "the permissions of the GPUs' device files keep this user out",
            "see `ls -l /dev/nvidia*` on the host and let users in (NVreg_DeviceFileMode=0666), or start the job as a "
            "user who may",
        )
    elif not inside.gpus:
        cause = "nvidia-smi is there, and no device file of a GPU"
    return failed(_VISIBLE, subject, observed, expected, CAPABILITY, cause=cause)


def _seen(inside: Inside) -> int:
    return sum(_GPU.fullmatch(entry) is not None for entry in inside.smi or ())


def _count(view: View, inside: Inside) -> Check:
    if inside.smi is None or inside.smi_rc or not _seen(inside):
        return skipped(_COUNT, CONTAINER, "no GPU to count: see container.gpu.visible")
    models = view.machine.gpus.value
    if models is None:
        return unknown(_COUNT, CONTAINER, view.machine.gpus.why or "nobody counted the host's")
    wanted, source = len(models), CAPABILITY
    expected = f"the host's {wanted} GPUs"
    observed = f"{_seen(inside)} GPUs"
    if _seen(inside) == wanted:
        return passed(_COUNT, CONTAINER, observed, expected, source)
    cause: str = "the container was given only some of the host's GPUs"
    if _seen(inside) > wanted:
        cause = Cause(
            "the container sees more than the host has on its bus: slices of GPUs (MIG)",
            "switch MIG off where jobs take whole GPUs (gpu.mig.mode), or name the slices that the job is to get",
        )
    return failed(_COUNT, CONTAINER, observed, expected, source, cause=cause)
