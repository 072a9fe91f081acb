# SPDX-License-Identifier: GPL-3.0-or-later
"""Which GPUs the nvlink.* checks are about, and what NVLink each of them must have: no I/O."""

from __future__ import annotations

from dataclasses import dataclass

from ..._data import nvlink as data
from ..._data.boards import BOARDS, Board
from ..._data.gpus import Gpu
from ..._expect import profiles
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Check, unknown
from ..._parse._nvlink import Header
from ..._parse._nvsmi import Gpu as SmiGpu
from ..machine.facts import NO_GPU, Machine
from .facts import NvlinkFacts

# What a sandbox mark that cannot be read becomes; see _areas/machine/observe.
_UNREADABLE = "unreadable"
NO_LINKS = "no GPU of this host has NVLink"
MIG = "in MIG mode, in which GPU instances use no NVLink"
MIG_SAID = "nvidia-smi tells nothing of NVLinks in MIG mode"
NO_BRIDGE = "no NVLink bridge is fitted"
PART_OF_A_BOARD = "a virtual machine with a part of a board: its host decides what joins its GPUs"

# How the GPUs of a model are joined.
NONE = "none"
BRIDGED = "bridged"  # cards; bridges are sold apart
DIRECT = "direct"  # cabled to each other on the board
SWITCHED = "switched"  # every link leads to an NVSwitch

_WITH_SWITCHES = {board.gpu for board in BOARDS if board.fabric}
_IN_RACKS = {board.gpu for board in BOARDS if board.imex}


@dataclass(frozen=True)
class Scope:
    """The facts, and what they mean for this host."""

    facts: NvlinkFacts
    machine: Machine

    @property
    def board(self) -> Board | None:
        return self.machine.board

    @property
    def source(self) -> str:
        """Who promises what this host's board must have."""
        return f"profile {self.board.name}" if self.board else CAPABILITY

    @property
    def models(self) -> tuple[Gpu | None, ...]:
        """The model of each GPU by index: from the bus, else by the names that a tool gives."""
        named = self._named()
        if self.machine.gpus.value is None:
            return named
        return tuple(
            model or (named[at] if at < len(named) else None) for at, model in enumerate(self.machine.gpus.value)
        )

    @property
    def _seen(self) -> tuple[SmiGpu, ...]:
        """The GPUs as nvidia-smi -q tells them, () where it does not."""
        return self.facts.smi.value.gpus if self.facts.smi.value else ()

    def _named(self) -> tuple[Gpu | None, ...]:
        facts = self.facts
        for names in (
            [gpu.name for gpu in facts.smi.value.gpus] if facts.smi.value else [],
            [gpu.gpu.name for gpu in facts.status.value.gpus] if facts.status.value else [],
            [gpu.gpu.name for gpu in facts.errors.value.gpus] if facts.errors.value else [],
        ):
            if any(names):
                return tuple(profiles.gpu_by_name(name or "") for name in names)
        return ()

    def model(self, gpu: Header) -> Gpu | None:
        """The model of a GPU that a tool lists: by its name, else from the bus, else as all are."""
        named = profiles.gpu_by_name(gpu.name) if gpu.name else None
        if named is not None:
            return named
        on_bus = self.machine.gpus.value or ()
        if gpu.index is not None and gpu.index < len(on_bus):
            return on_bus[gpu.index]
        others = set(self.models)
        return others.pop() if not gpu.name and len(others) == 1 else None

    def kind(self, model: Gpu) -> str:
        """How the GPUs of this model are joined on this host."""
        if model.links == (0,):
            return NONE
        if 0 in model.links:
            return BRIDGED
        if self.board is not None:
            return SWITCHED if self.board.fabric else DIRECT
        return SWITCHED if model.model in _WITH_SWITCHES else DIRECT

    def may_register(self, model: Gpu) -> bool:
        """Whether GPUs of this model register with a fabric wherever they are behind NVSwitches."""
        return model.architecture in data.FABRIC_ARCHITECTURES and self.kind(model) == SWITCHED

    def registers(self, model: Gpu | None) -> bool:
        """Whether GPUs of this model register with a fabric on this very board."""
        return model is not None and self.board is not None and self.may_register(model)

    def in_rack(self, model: Gpu | None) -> bool:
        """Whether the GPU's NVLinks lead out of the host, to a rack's switches."""
        if self.board is not None:
            return self.board.imex
        if model is not None or None not in self.models:
            return model is not None and model.model in _IN_RACKS
        # Of models that no table has, the fabric tells: on a board of its own no cluster has a name.
        clusters = {(gpu.fabric or {}).get("clusterUuid", "").strip("0-").lower() for gpu in self._seen}
        return bool(clusters - {"", "n/a"})

    def links_untold(self, gpu: Header, told: set[int]) -> str:
        """What a listing that tells of these links leaves out: a link that is up, or a last one
        that is down where others that are down are told of; "" for none.

        Where no status can be read nvlink.link.state says so, and nothing is held against others.
        """
        status = self.facts.status.value
        for entry in status.gpus if status else ():
            down = {link.id for link in entry.down}
            wanted = {link.id for link in entry.active} | (down if down & told else set())
            missing = sorted(wanted - told)
            if entry.gpu.index == gpu.index and missing:
                state = "down" if missing[0] in down else "up"
                return f"link {missing[0]} is {state}, and the listing leaves it out: it is not whole"
        return ""

    def mig(self, index: int | None) -> bool:
        """Whether nvidia-smi -q says that this GPU (None: every one) is in MIG mode."""
        gpus = self._seen
        if index is None:
            return bool(gpus) and all(gpu.mig.lower() == "enabled" for gpu in gpus)
        return index < len(gpus) and gpus[index].mig.lower() == "enabled"

    @property
    def linkless(self) -> bool:
        """Whether every GPU is of a model that is known to have no NVLink."""
        return bool(self.models) and all(model is not None and model.links == (0,) for model in self.models)

    @property
    def missing_from(self) -> int | None:
        """How many GPUs the bus shows; None where it cannot be read."""
        return None if self.machine.gpus.value is None else len(self.machine.gpus.value)

    @property
    def part_of_a_board(self) -> bool:
        return self.machine.virtual.value is True and self.board is None

    @property
    def switches_seen(self) -> int | None:
        """NVSwitches on the PCI bus; None where it cannot be read."""
        if not self.machine.pci.known:
            return None
        return sum(function.is_nvswitch for function in self.machine.functions)

    @property
    def without_switches(self) -> bool:
        """A virtual machine whose NVSwitches stay with its host."""
        if self.machine.virtual.value is not True or self.board is None:
            return False
        if self.board.nvlsm:
            return self.machine.switch_managers.value == ()
        return self.switches_seen == 0

    def manager_needed(self) -> tuple[bool | None, str]:
        """Whether this host must run a fabric manager, and why not or why nobody can tell."""
        board = self.board
        if board is not None and board.fabric_manager:
            if self.without_switches:
                return False, "a virtual machine without NVSwitches: its host runs the manager"
            if self.switches_seen == 0 and board.nvswitches and not self.machine.virtual.known:
                why = self.machine.virtual.why or "nobody looked"
                return None, f"cannot tell whether this is a virtual machine: {why}"
            return True, ""
        if self.switches_seen:
            return True, ""
        if board is not None:
            return False, f"{board.title} needs no fabric manager"
        if self.linkless:
            return False, NO_LINKS
        if self.machine.gpus.value is None and not self.models:
            return None, self.machine.gpus.why or "nobody looked for GPUs"
        if self.in_rack(None):
            return False, "its GPUs joined a rack's fabric: that is managed where the rack's switches are"
        unfit = [model for model in self.models if model is None or self.kind(model) == SWITCHED]
        if not unfit or self.no_fabric_shown:
            return False, "GPUs without NVSwitches need no fabric manager"
        if self.machine.virtual.value is True and self.switches_seen == 0:
            return False, PART_OF_A_BOARD
        return None, "the board that these GPUs make up is not known"

    @property
    def fabric_shown(self) -> bool:
        """Whether the driver tells of a fabric that a GPU is to register with."""
        return any((gpu.fabric or {}).get("state", "").lower() not in data.NO_FABRIC for gpu in self._seen)

    @property
    def no_fabric_shown(self) -> bool:
        """Whether the driver says of every GPU that it has no fabric to register with."""
        states = [(gpu.fabric or {}).get("state", "missing").lower() for gpu in self._seen]
        return bool(states) and all(state in data.NO_FABRIC for state in states)


def unsure_of_all(scope: Scope) -> str:
    """Why nobody can tell whether this host is real, "" where it is plain."""
    return scope.machine.simulated if scope.machine.simulated.startswith(_UNREADABLE) else ""


def nothing_to_judge(scope: Scope) -> str:
    """Why there is no NVLink to look at on this host, "" where there may be."""
    machine = scope.machine
    if machine.without_hardware:
        return f"simulated node: {machine.without_hardware}"
    if machine.has_gpus is False:
        return NO_GPU
    return NO_LINKS if scope.linkless else ""


def cannot_tell(ids: tuple[str, ...], why: str) -> list[Check]:
    """Unknowns for all of these."""
    return [unknown(entry, "host", why) for entry in ids]
