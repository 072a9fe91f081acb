# SPDX-License-Identifier: GPL-3.0-or-later
"""Which GPUs the gpu.* checks are about, and how one property of all of them is judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from ..._data import drivers, gpus
from ..._expect import profiles
from ..._expect.expectations import CAPABILITY, Expectations
from ..._ground.check import Check, failed
from ..._ground.tally import Tally
from ..._parse._nvsmi import LOST, NEEDS_RESET, Gpu, Nvsmi, address, no_answer, number
from ..machine.facts import Machine, PciFunction
from .facts import GpuFacts

UNIT = "GPUs"
ON_OR_OFF = ("Enabled", "Disabled")
# Why nothing is said of a field of a GPU that did not answer for it, or for another one.
SICK = "the GPU does not answer for all that nvidia-smi asks: see gpu.device.answers"
ALL_LOST = "the driver reaches no GPU"
# Bound to this driver, a GPU belongs to a virtual machine on this host.
PASSED_ON = "vfio-pci"


class Unsure(Exception):
    """Why a property cannot be judged, though nvidia-smi showed it."""


class LeftOut(Exception):
    """Why a property is not asked of a GPU, though nvidia-smi showed it."""


@dataclass(frozen=True)
class Scope:
    """``smi``: what nvidia-smi told. ``listed``: its GPUs that the inventory does not leave out.

    ``gpus``: those of them that the driver reaches; ``lost``: why not, by address, for the others.
    """

    facts: GpuFacts
    machine: Machine
    expect: Expectations
    smi: Nvsmi
    listed: tuple[Gpu, ...]
    gpus: tuple[Gpu, ...]
    lost: dict[str, str]

    @property
    def on_bus(self) -> tuple[PciFunction, ...]:
        return on_bus(self.machine, self.expect)


def scope(facts: GpuFacts, machine: Machine, expect: Expectations) -> Scope:
    """Sort the GPUs; without facts of nvidia-smi there are none."""
    smi = facts.smi.value or Nvsmi()
    listed = tuple(gpu for gpu in smi.gpus if not expect.ignores(gpu.address, gpu.bus_id, gpu.uuid or "-"))
    words = {address(bus_id): said for bus_id, said in smi.unreachable}
    if facts.error is not None:
        words.update({address(bus_id): said for bus_id, said in facts.error.unreachable})
    for item in listed:
        if any(sign in item.trouble.lower() for sign in LOST):
            words[item.address] = item.trouble
    return Scope(
        facts,
        machine,
        expect,
        smi,
        listed,
        tuple(entry for entry in listed if entry.address not in words),
        {word: said for word, said in words.items() if not expect.ignores(word)},
    )


def on_bus(machine: Machine, expect: Expectations) -> tuple[PciFunction, ...]:
    """The GPUs on the bus that this host's own driver is to run."""
    return tuple(card for card in machine.cards if card.driver != PASSED_ON and not expect.ignores(card.address))


def subject(gpu: Gpu) -> str:
    return gpu.address or "GPU"


def model(gpu: Gpu) -> gpus.Gpu | None:
    """The model by PCI id, else by name; None where the table has none."""
    return profiles.gpu_by_id(gpu.pci_device_id) or profiles.gpu_by_name(gpu.name)


def equal(gpu: Gpu, other: Gpu) -> bool:
    """Whether the driver must show the same properties of both."""
    return (gpu.name, gpu.mig, gpu.virtualization) == (other.name, other.mig, other.virtualization)


def shown_by_equals(seen: Scope, gpu: Gpu, text_of: Callable[[Gpu], str]) -> bool:
    """Whether a GPU that is equal shows a value, which this one therefore has, too."""
    texts = (text_of(entry).lower() for entry in seen.gpus if gpu.name and equal(gpu, entry))
    odd = (*drivers.NONE_SUCH, "")
    return any(
        text not in odd and not no_answer(text) and not any(sign in text for sign in NEEDS_RESET) for text in texts
    )


def each(
    seen: Scope,
    check_id: str,
    what: str,
    text_of: Callable[[Gpu], str],
    judge: Callable[[Gpu, str], Check | None],
    expected: object = "",
    *,
    source: str = CAPABILITY,
    newer: bool = False,
    history: Callable[[Gpu], str] = lambda gpu: "",
) -> list[Check]:
    """Judge one property of every GPU; ``judge`` gives the failure, or None where all is well.

    ``newer``: only newer drivers show it, so its absence says nothing. ``history``: what was once,
    and degrades nothing; shown in a pass.
    """
    tally = Tally(check_id, UNIT)
    for gpu in seen.gpus:
        name, text = subject(gpu), text_of(gpu)
        if not text:
            if newer and gpu.whole:
                tally.left_out(name, f"this driver does not show {what}")
            else:
                open_(tally, gpu, f"nvidia-smi showed no {what}")
        elif text.lower() in drivers.NONE_SUCH:
            if shown_by_equals(seen, gpu, text_of):
                open_(tally, gpu, f"N/A for {what}, which nvidia-smi shows of equal GPUs")
            else:
                tally.left_out(name, f"nvidia-smi shows N/A for {what}")
        elif any(sign in text.lower() for sign in NEEDS_RESET):
            tally.left_out(name, "the GPU must be reset first")
        else:
            try:
                check = judge(gpu, text)
            except LeftOut as exc:
                tally.left_out(name, str(exc))
                continue
            except Unsure as exc:
                open_(tally, gpu, str(exc))
                continue
            except ValueError:
                open_(tally, gpu, f"nvidia-smi showed {text[:40]!r} for {what}")
                continue
            if check is None:
                tally.good(name)
                if past := history(gpu):
                    tally.tell(name, past)
            else:
                tally.bad(check)
    return tally.checks(expected, source, nothing=ALL_LOST)


def open_(tally: Tally, gpu: Gpu, why: str) -> None:
    """A property that could not be judged; of a GPU that is sick that is told once for all."""
    if gpu.sick:
        tally.left_out(subject(gpu), SICK)
    else:
        tally.unsure(subject(gpu), why)


def none_of(check_id: str, cause: str, most: int = 0) -> Callable[[Gpu, str], Check | None]:
    """A judge of counts: more than ``most`` fails, by ``cause`` with the count in it."""

    def judge(gpu: Gpu, text: str) -> Check | None:
        found = number(text)
        if found is None:
            raise ValueError(text)
        if found <= most:
            return None
        wanted = f"at most {most}" if most else "0"
        return failed(check_id, subject(gpu), found, wanted, CAPABILITY, cause=cause.format(found))

    return judge


def must_be_no(check_id: str, cause: str = "") -> Callable[[Gpu, str], Check | None]:
    """A judge of "Yes" and "No"."""

    def judge(gpu: Gpu, text: str) -> Check | None:
        if text.lower() not in ("yes", "no"):
            raise ValueError(text)
        if text.lower() == "no":
            return None
        return failed(check_id, subject(gpu), text, "No", CAPABILITY, cause=cause)

    return judge
