# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether all GPUs are there, of the right kind and within reach: no I/O."""

from __future__ import annotations

from collections import Counter
from typing import Iterator

from ..._data import drivers
from ..._data.gpus import Gpu as Model
from ..._expect import profiles
from ..._expect.expectations import CAPABILITY, Expectations, Expected
from ..._ground.check import Cause, Check, failed, outcome, passed, skipped, unknown
from ..._ground.tally import Tally
from ..._ground.text import few
from ..._parse import nvsmi_error
from ..._parse._nvsmi import Gpu, address
from ..machine.facts import Machine
from .check_scope import ALL_LOST, PASSED_ON, UNIT, Scope, equal, model, open_, subject
from .facts import is_for_group

_COUNT = "gpu.device.count"
_MODEL = "gpu.device.model"
_UNIFORM = "gpu.device.uniform"
_LOST = "gpu.device.lost"
_INFOROM = "gpu.device.inforom"
_ANSWERS = "gpu.device.answers"
_FILES = "gpu.device.files"

_OFF_BUS = "a GPU is not even on the PCI bus: it fell off, or has no power"
_LEFT_OUT = "a GPU is on the PCI bus, and nvidia-smi leaves it out: its start failed, see dmesg"
# Of a GPU that nvidia-smi does not find; source: NVIDIA/open-gpu-kernel-modules issue 259.
_NOT_FOUND = Cause(
    "the driver does not find the GPU: it fell off the bus, or this driver does not take the model, as the open kernel "
    "modules take none before Turing",
    "`dmesg | grep NVRM` tells which; power-cycle the node, or install the driver that the model needs",
)
_FIELDS_SHOWN = 3
_MODE_SET = "`grep -rn -e DeviceFile -e nvidia /etc/modprobe.d /etc/udev/rules.d` shows who set it: take that out"
_GONE = (nvsmi_error.LOST, nvsmi_error.HANDLE)


def none_there(expect: Expectations) -> Check | None:
    """The count of a host without any GPU, where somebody expects some."""
    wanted = expect.get("gpus")
    if wanted is None:
        return None
    return failed(_COUNT, "host", 0, wanted.value, wanted.source, cause=_OFF_BUS)


def judge(seen: Scope) -> Iterator[Check]:
    """gpu.device.count, answers, model, uniform, lost, inforom and files."""
    error = seen.facts.error
    if error is None or error.error == nvsmi_error.NO_DEVICE:
        yield _count(seen)
    yield from _lost(seen)
    if seen.listed:
        yield from _answers(seen)
        yield from _model(seen)
        yield _uniform(seen)
        yield from _inforom(seen)
        yield from _files(seen)


def _files(seen: Scope) -> list[Check]:
    """Those that are not for everybody are for a group: which, and who meant it."""
    tally, setting, groups = Tally(_FILES, "device files"), seen.facts.group, seen.facts.groups.value or {}
    for path, mode in seen.facts.files.items():
        number, name = groups.get(path, (None, ""))
        if mode.value is None:
            if mode.missing:
                tally.left_out(path, "the driver makes it at the first use")
            else:
                tally.unsure(path, mode.why)
        elif mode.value & drivers.ALL_MAY == drivers.ALL_MAY or (
            is_for_group(mode) and number and number == setting.value
        ):
            tally.good(path)
        elif not is_for_group(mode) or number == 0:
            observed = f"{path} has mode {mode.value & 0o777:04o}{'' if number is None else ' and the group root'}"
            tally.fail(
                path, observed, "0666", CAPABILITY, remedy=f"{_MODE_SET}; until the next boot `chmod 0666 {path}`"
            )
        elif number is None and setting.value:
            tally.left_out(path, f"the site gave it to a group of its own (DeviceFileGID {setting.value})")
        elif number is not None and len({groups.get(one) for one, its in seen.facts.files.items() if its.known}) == 1:
            # Not by the driver's parameter, but all alike: a rule of udev's, and no accident.
            tally.left_out(path, f"the site gave it to the group {name}")
        else:
            # A rule of udev's may have given it to another group than the driver does.
            known = f"DeviceFileGID {setting.value}" if setting.known else setting.why
            which = f"and others have another than its {name}" if name else f"and nothing tells which that is ({known})"
            tally.unsure(path, f"its group may use it, {which}: see `ls -l {path}`")
    return tally.checks("open to jobs", CAPABILITY, nothing="the driver made no device file yet")


def _count(seen: Scope) -> Check:
    bus = len(seen.on_bus) if seen.machine.pci.known else None
    wanted = seen.expect.get("gpus")
    if wanted is not None and bus is not None and bus < wanted.value:
        reported = f"{bus} on the PCI bus"
        cause = _handed_over(seen.machine, seen.expect) or _OFF_BUS
        return failed(_COUNT, "host", reported, wanted.value, wanted.source, cause=cause)
    if wanted is None:
        wanted = Expected(max(bus or 0, 1), CAPABILITY)
    if seen.facts.error is not None:
        return failed(_COUNT, "host", 0, wanted.value, wanted.source, cause=seen.facts.error.line)
    if not seen.facts.smi.known:
        return unknown(_COUNT, "host", seen.facts.smi.why)
    attached, described = seen.smi.attached_gpus, len(seen.smi.gpus)
    if attached != described:
        counted = "no number of" if attached is None else attached
        why = f"nvidia-smi tells of {counted} GPUs and describes {described}: it is not whole"
        return unknown(_COUNT, "host", why, observed=described)
    return _compare(seen, len(seen.listed), wanted, bus)


def _handed_over(machine: Machine, expect: Expectations) -> str:
    mine = [card.address for card in machine.cards if card.driver == PASSED_ON and not expect.ignores(card.address)]
    if not mine:
        return ""
    names = ", ".join(mine)
    says = f"bound to {PASSED_ON}, so handed over to virtual machines: {names}"
    return Cause(says, f"fix pci.gpu.driver first, or name {names} in ibready_expect.ignore where it is meant")


def _compare(seen: Scope, found: int, wanted: Expected, bus: int | None) -> Check:
    more_is_fine = not wanted.is_said
    if found == wanted.value or (found > wanted.value and more_is_fine):
        return passed(_COUNT, "host", found, wanted.value, wanted.source)
    cause: str = ""
    if found > wanted.value:
        cause = Cause(
            "the inventory expects fewer than are there; correct ibready_expect.gpus",
            "correct ibready_expect.gpus in the inventory; the GPUs are well",
        )
    elif bus is not None:
        cause = Cause(_LEFT_OUT + _which(seen), "fix pci.gpu.listed or pci.gpu.driver first")
    return failed(_COUNT, "host", found, wanted.value, wanted.source, cause=cause)


def _which(seen: Scope) -> str:
    listed = {gpu.address for gpu in seen.listed}
    missing = [function.address for function in seen.on_bus if function.address not in listed]
    return f" ({', '.join(missing)})" if missing else ""


def _answers(seen: Scope) -> Iterator[Check]:
    """What no GPU of several answers for is the driver's or the virtual machine's, not a GPU's."""
    tally = Tally(_ANSWERS, UNIT)
    for gpu in seen.gpus:
        equals = [entry for entry in seen.gpus if equal(gpu, entry)]
        names = {name for name, _unused in gpu.sick}
        if not names:
            tally.good(subject(gpu))
            continue
        told = few([f"{name} {text}" for name, text in gpu.sick], _FIELDS_SHOWN)
        if len(equals) > 1 and all(names <= {name for name, _unused in entry.sick} for entry in equals):
            tally.unsure(subject(gpu), f"nvidia-smi shows {told}, of all {len(equals)} equal GPUs alike")
        else:
            cause = f"it does not answer for all that nvidia-smi asks: {told}"
            tally.fail(subject(gpu), told, "a value for each", CAPABILITY, cause=cause)
    yield from tally.checks("a value for each", CAPABILITY, nothing=ALL_LOST)


def _model(seen: Scope) -> Iterator[Check]:
    wanted = seen.expect.get("gpu_model")
    if wanted is None:
        yield skipped(_MODEL, "host", "nobody expects a GPU model")
        return
    tally = Tally(_MODEL, f"{UNIT}: {', '.join(sorted({gpu.name for gpu in seen.gpus}))}")
    for gpu in seen.gpus:
        if not gpu.name and model(gpu) is None:
            open_(tally, gpu, "nvidia-smi showed no product name")
        elif _is(gpu, str(wanted.value)):
            tally.good(subject(gpu))
        else:
            reported = gpu.name or f"PCI device {gpu.pci_device_id}"
            tally.fail(subject(gpu), reported, wanted.value, wanted.source)
    yield from tally.checks(wanted.value, wanted.source, nothing=ALL_LOST)


def _is(gpu: Gpu, wanted: str) -> bool:
    """By the table's model where it knows the name; else every word of it is in nvidia-smi's."""
    known = _known(wanted)
    if known is not None:
        return model(gpu) == known
    return set(wanted.lower().split()) <= set(gpu.name.lower().split())


def _known(name: str) -> Model | None:
    try:
        return profiles.gpu_model(name)
    except KeyError:
        return profiles.gpu_by_name(name)


def _uniform(seen: Scope) -> Check:
    wanted = seen.expect.get("gpu_model")
    odd = _twins(seen) or _unlike(seen)
    if odd:
        observed, expected, cause = odd
        return failed(_UNIFORM, "host", observed, expected, CAPABILITY, cause=cause)
    if wanted is not None and wanted.is_said:
        return skipped(_UNIFORM, "host", "the inventory names the model; see gpu.device.model")
    names = Counter(gpu.name for gpu in seen.gpus if gpu.name)
    if not names:
        return unknown(_UNIFORM, "host", "nvidia-smi showed no product name")
    reported = ", ".join(f"{count}x {name}" for name, count in names.most_common())
    return outcome(len(names) == 1, _UNIFORM, "host", reported, "one model", CAPABILITY)


def _twins(seen: Scope) -> tuple[str, str, str] | None:
    """GPUs of one UUID, which no two have."""
    known = (gpu.uuid for gpu in seen.gpus if gpu.uuid.lower() not in ("", *drivers.NONE_SUCH))
    for uuid, count in Counter(known).items():
        if count > 1:
            where = ", ".join(subject(gpu) for gpu in seen.gpus if gpu.uuid == uuid)
            cause = "nvidia-smi shows one GPU twice, or the text was put together by hand"
            return f"{uuid} at {where}", "a UUID of its own for each GPU", cause
    return None


def _unlike(seen: Scope) -> tuple[str, str, str] | None:
    """A GPU with less memory than an equal one."""
    for gpu in seen.gpus:
        equals = [entry for entry in seen.gpus if equal(gpu, entry) and entry.ecc == gpu.ecc]
        most = max(equal.memory_total_mib or 0 for equal in equals)
        mine = gpu.memory_total_mib
        if mine is not None and mine < most * drivers.MEMORY_ALIKE:
            reported = f"{mine} MiB of memory at {subject(gpu)}"
            cause = "a part of its memory is gone, or it is another model than its name says"
            return reported, f"{most} MiB, as equal GPUs have", cause
    return None


def _lost(seen: Scope) -> Iterator[Check]:
    tally = Tally(_LOST, UNIT)
    for where, said in seen.lost.items():
        cause = _NOT_FOUND if "not found" in said.lower() else ""
        tally.fail(where or "host", said, "a GPU that answers", CAPABILITY, cause=cause)
    error = seen.facts.error
    gone = error is not None and error.error in _GONE
    if not seen.lost and (gone or seen.facts.status == drivers.FALLEN_OFF):
        said = error.line if error else "nvidia-smi ended with status 15"
        tally.fail("host", said, "GPUs that answer", CAPABILITY)
    for gpu in seen.gpus:
        tally.good(subject(gpu))
    if seen.listed or seen.lost or gone:
        yield from tally.checks("GPUs that answer", CAPABILITY, nothing=ALL_LOST)


def _inforom(seen: Scope) -> Iterator[Check]:
    tally = Tally(_INFOROM, UNIT)
    bad = {address(entry) for entry in seen.smi.inforom}
    if not bad and seen.facts.status == drivers.INFOROM_CORRUPTED:
        bad = {""}
    for where in sorted(bad):
        if not seen.expect.ignores(where):
            tally.fail(where or "host", "nvidia-smi calls its infoROM corrupted", "sound", CAPABILITY)
    for gpu in seen.gpus:
        tally.good(subject(gpu))
    yield from tally.checks("sound", CAPABILITY, nothing=ALL_LOST)
