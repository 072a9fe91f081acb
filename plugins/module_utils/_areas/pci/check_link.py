# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the PCIe links of GPUs and HCAs against what both of their ends can do: no I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Iterator

from ..._data.gpus import SXM
from ..._data.pcie import GENERATIONS, IDLE_GENERATION
from ..._expect import profiles
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, failed
from ..._ground.reading import Reading
from ..._ground.tally import Tally
from ..machine.facts import PciFunction
from . import gpu_links
from .check_scope import CANNOT_TELL_VM, IN_VM, NEITHER, Scope
from .facts import End, links

_NO_PATH = "the evidence does not tell which ports lie above it"
_NO_PORT = "the port above it cannot be seen"
_IDLE = "an idle GPU lowers its link's speed"
_NUMBERS = {generation.speed: generation.number for generation in GENERATIONS}


@dataclass(frozen=True)
class _Link:
    """``upper``: the port above, "" where it cannot be seen. ``devices``: what lies below."""

    upper: str
    lower: str
    devices: tuple[PciFunction, ...]

    @property
    def gpu(self) -> PciFunction | None:
        """The GPU at its lower end, if one is there."""
        return next((device for device in self.devices if device.is_gpu and device.address == self.lower), None)


@dataclass(frozen=True)
class _Measure:
    """``now`` and ``most``: readings of an end of a link. ``show``: a number of them in words."""

    now: Callable[[End], Reading[float]]
    most: Callable[[End], Reading[float]]
    show: Callable[[float], str]


_WIDTH = _Measure(lambda end: end.width.map(float), lambda end: end.max_width.map(float), lambda now: f"x{now:g}")
_SPEED = _Measure(lambda end: end.speed, lambda end: end.max_speed, lambda now: f"{now:g} GT/s")


def judge_links(scope: Scope) -> Iterator[Check]:
    # An NVSwitch's link is for its manager only: its speed does not matter, lost lanes tell of it.
    yield from _judge("pci.link.width", scope, _WIDTH, (*scope.devices, *scope.switches))
    yield from _judge("pci.link.speed", scope, _SPEED, scope.devices)


def _judge(check_id: str, scope: Scope, measure: _Measure, devices: tuple[PciFunction, ...]) -> list[Check]:
    tally = Tally(check_id, "links")
    for device in devices:
        if not device.path and scope.machine.virtual.value is not True:
            tally.unsure(scope.name(device.address), _NO_PATH)
    for link in _links(scope, devices):
        _one(tally, link, scope, measure)
    if measure is _SPEED:
        gpu_links.judge(tally, scope, "generation", lambda pcie: pcie.gen, gpu_links.can_in_this_state)
    else:
        gpu_links.judge(tally, scope, "lanes", lambda pcie: pcie.width, gpu_links.can)
    return tally.checks("what both ends can", CAPABILITY, nothing=NEITHER)


def _links(scope: Scope, devices: tuple[PciFunction, ...]) -> tuple[_Link, ...]:
    """Each link once, with all the devices that share it."""
    below: dict[tuple[str, str], list[PciFunction]] = {}
    for device in devices:
        # In a virtual machine the ports above are not the ones that the card is in.
        seen = () if scope.machine.virtual.value else links(device.path)
        alone = scope.machine.virtual.value or len(device.path) == 1
        for pair in (("", device.address),) if alone else seen:
            below.setdefault(pair, []).append(device)
    return tuple(_Link(upper, lower, tuple(found)) for (upper, lower), found in below.items())


def _one(tally: Tally, link: _Link, scope: Scope, measure: _Measure) -> None:
    ends = [scope.facts.ends.get(entry, End()) for entry in (link.lower, link.upper) if entry]
    now = measure.now(ends[0])
    most = [measure.most(end) for end in ends]
    virtual = scope.machine.virtual.value
    lost = next((entry for entry in (now, *most) if entry.value is None), None)
    if lost is not None or now.value is None:
        why = (lost.why if lost else "") or "nobody looked"
        tally.left_out(link.lower, IN_VM) if virtual else tally.unsure(link.lower, why)
        return
    can = min(entry.value for entry in most if entry.value is not None)
    if now.value >= can:
        tally.good(link.lower)
    elif virtual:
        tally.left_out(link.lower, IN_VM)
    elif virtual is None:
        tally.unsure(link.lower, CANNOT_TELL_VM)
    elif not link.upper:
        tally.unsure(link.lower, _NO_PORT)
    elif measure is _SPEED and link.gpu:
        _slow_gpu(tally, link, scope, now.value, can)
    else:
        tally.bad(_fault(tally.id, link, scope, measure, now.value, can))


def _fault(check_id: str, link: _Link, scope: Scope, measure: _Measure, now: float, can: float) -> Check:
    what = ", ".join(scope.name(device.address) for device in link.devices)
    cause = f"the link between {link.upper} and {link.lower} trained at {measure.show(now)}"
    if link.lower != link.devices[0].address:
        cause += f"; it carries {what}"
    elif what != link.lower:
        cause += f" ({what})"
    return failed(check_id, link.lower, measure.show(now), measure.show(can), CAPABILITY, cause=cause)


def _slow_gpu(tally: Tally, link: _Link, scope: Scope, now: float, can: float) -> None:
    """A GPU's slow link is a fault only where it cannot be an idle GPU saving power."""
    smi = scope.facts.smi_anyhow
    reported = [gpu for gpu in smi.value.gpus if gpu.address == link.lower] if smi.value else []
    if not reported:
        why = smi.why or "nvidia-smi does not list it"
        tally.unsure(link.lower, f"it may be idle, which lowers the speed: {why}")
        return
    events = reported[0].clocks_events or {}
    # nvidia-smi wakes the GPU: its link may be up to speed by then.
    generation = max(_NUMBERS[now], reported[0].pcie.gen or 0)
    if generation >= _NUMBERS[can]:
        tally.good(link.lower)
    elif events.get("gpu_idle") == "Not Active" or _never_saves(link, generation):
        tally.bad(_fault(tally.id, link, scope, _SPEED, now, can))
    elif "gpu_idle" in events:
        tally.left_out(link.lower, _IDLE)
    else:
        tally.unsure(link.lower, "nvidia-smi does not tell whether it is idle")


def _never_saves(link: _Link, generation: int) -> bool:
    """SXM modules stay at their speed, or go all the way down."""
    model = profiles.gpu_by_id(link.gpu.device) if link.gpu else None
    return model is not None and model.form == SXM and generation > IDLE_GENERATION
