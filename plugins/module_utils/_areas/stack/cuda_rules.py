# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a CUDA release runs on a driver, and on which hosts a newer libcuda may stand before an older driver."""

from __future__ import annotations

from typing import Sequence, Tuple

from ..._data.cuda import BRANDS, BROUGHT, DATA_CENTER, FORWARD, LEAST, NEVER_FORWARD, SELECT_FORWARD
from ..._parse.version_text import numbers

# (major, minor), or (major,) where the minor is not told.
Release = Tuple[int, ...]
_ANY_MINOR = 99
# It runs because the driver brings it, or by minor version compatibility; it does not; nobody can tell.
OWN, MINOR, NO, UNSURE = "own", "minor", "no", "unsure"


def branch(driver: str) -> int:
    """The first number of a driver's release."""
    return next(iter(numbers(driver)), 0)


def brings(driver: str) -> Release | None:
    """The newest CUDA of a driver; at least so much of a branch that is not known; None of a very old one."""
    known = [number for number in BROUGHT if number <= branch(driver)]
    return BROUGHT[max(known)] if known else None


def how(release: Release, driver: str) -> str:
    """OWN, MINOR, NO or UNSURE."""
    own, least = brings(driver), LEAST.get(release[0])
    # Where its minor is not told it may be any.
    if own is not None and (*release, _ANY_MINOR)[:2] <= own:
        return OWN
    if least is None:
        return UNSURE
    return MINOR if numbers(driver) >= numbers(least) else NO


def runs(release: Release, driver: str) -> bool:
    """Whether it surely runs."""
    return how(release, driver) in (OWN, MINOR)


def newest(driver: str) -> str:
    """Which CUDA a driver runs, for people."""
    own = brings(driver)
    if own is None:
        return "CUDA older than 11"
    minor = f", and any {own[0]}.x by minor version compatibility" if how(own[:1], driver) == MINOR else ""
    # A branch that is newer than the table brings no less.
    most = "up to" if branch(driver) in BROUGHT else "at least"
    return f"CUDA {most} {text(own)}{minor}"


def text(release: Release) -> str:
    """13.0, or 13 where the minor is not told."""
    return ".".join(map(str, release))


def brand(gpu: str) -> str:
    """The brand of a GPU that nvidia-smi names; "" where nobody knows it."""
    return next((word for name, word in BRANDS if gpu.startswith(name)), "")


def forward(driver: str, library: str, gpus: Sequence[str], vouched: Sequence[str]) -> tuple[bool | None, str]:
    """Whether forward compatibility holds between a driver and the newer libcuda of a compatibility
    package, and why not; None where nobody can tell. ``gpus``: as nvidia-smi names them; ``vouched``:
    releases of CUDA whose package the image itself says to hold here, where the table says nothing."""
    names = {gpu: gpu[len("NVIDIA ") :] if gpu.startswith("NVIDIA ") else gpu for gpu in gpus}
    never = next((name for name in names.values() if name.startswith(NEVER_FORWARD)), "")
    if never:
        return False, f"forward compatibility is for GPUs of data centers, and {never.strip()} is none (CUDA error 804)"
    if not names:
        return None, "nobody can tell which GPUs they are: see container.gpu.visible"
    odd = next((gpu for gpu in names if brand(gpu) not in DATA_CENTER), "")
    if odd and names[odd].startswith(SELECT_FORWARD):
        return None, f"of {names[odd]}, NVIDIA supports forward compatibility on selected servers only"
    if odd:
        return None, f"forward compatibility is for GPUs of data centers, and nobody knows whether {odd} is one"
    package = BROUGHT.get(branch(library))
    if package is None or (package not in FORWARD.get(branch(driver), ()) and text(package) not in vouched):
        which = f"cuda-compat-{package[0]}-{package[1]}" if package else f"the libraries of driver {library}"
        return None, f"NVIDIA's table of forward compatibility does not have {which} on driver {branch(driver)}"
    return True, ""
