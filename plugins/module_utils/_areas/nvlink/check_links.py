# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the NVLinks of every GPU: whether they are up and how fast, their errors and abilities."""

from __future__ import annotations

from dataclasses import replace
from typing import Iterator

from ..._data import nvlink as data
from ..._data.gpus import Gpu
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Cause, Check, failed
from ..._ground.equals import most_have
from ..._ground.tally import Tally
from ..._parse.nvlink_status import GpuLinks, Link
from .check_scope import (
    BRIDGED,
    DIRECT,
    MIG,
    MIG_SAID,
    NO_BRIDGE,
    NO_LINKS,
    NONE,
    PART_OF_A_BOARD,
    SWITCHED,
    Scope,
    cannot_tell,
)

STATE, COUNT, SPEED = "nvlink.link.state", "nvlink.link.count", "nvlink.link.speed"
_JOIN_FIRST = "fix nvlink.fabric.state or nvlink.fabric_manager.active first"
_JUDGED_BY_STATE = "behind NVSwitches every link counts: nvlink.link.state judges that"


def in_mig(messages: tuple[str, ...]) -> bool:
    """Whether nvidia-smi refuses because of MIG."""
    return any("MIG" in message for message in messages)


def none_active(messages: tuple[str, ...]) -> bool:
    """Whether nvidia-smi refuses because no link is up."""
    return any("inactive" in message.lower() for message in messages)


def without_nvlink(messages: tuple[str, ...]) -> bool:
    """Whether nvidia-smi says that the GPU has no NVLink."""
    return any("not have" in message.lower() or "not support" in message.lower() for message in messages)


def judge_links(scope: Scope) -> Iterator[Check]:
    reported = scope.facts.status
    if reported.value is None:
        yield from cannot_tell((STATE, COUNT, SPEED), reported.why or "nobody looked")
        return
    judge = _Links(scope, reported.value.gpus)
    for at, gpu in enumerate(reported.value.gpus):
        judge.take(gpu, last=at == len(reported.value.gpus) - 1)
    for gpu in reported.value.headless:
        judge.take(replace(gpu, cut=True), last=True)
    if reported.value.cut:
        judge.all_unsure(reported.value.cut)
    if reported.value.error_lines:
        judge.all_unsure(f"nvidia-smi stopped with: {reported.value.error_lines[-1]}")
    on_bus = scope.missing_from
    if on_bus is not None and on_bus > len(reported.value.gpus):
        judge.all_unsure(f"nvidia-smi lists {len(reported.value.gpus)} of {on_bus} GPUs")
    yield from judge.checks()


class _Links:
    """Sorts the GPUs of one listing; ``listed``: all that are in it."""

    def __init__(self, scope: Scope, listed: tuple[GpuLinks, ...]) -> None:
        self._scope = scope
        self._listed = listed
        self._state = Tally(STATE, "GPUs joined by NVLink")
        self._count = Tally(COUNT, "GPUs with every link up")
        self._speed = Tally(SPEED, "GPUs")
        self._tallies = (self._state, self._count, self._speed)

    def checks(self) -> Iterator[Check]:
        for tally in self._tallies:
            yield from tally.checks("what the GPU model has", CAPABILITY, nothing=NO_LINKS)

    def all_unsure(self, why: str, subject: str = "host") -> None:
        for tally in self._tallies:
            tally.unsure(subject, why)

    def _leave_out(self, subject: str, why: str) -> None:
        for tally in self._tallies:
            tally.left_out(subject, why)

    def take(self, gpu: GpuLinks, *, last: bool) -> None:
        subject = gpu.gpu.label
        model = self._scope.model(gpu.gpu)
        if in_mig(gpu.messages) and self._scope.mig(gpu.gpu.index):
            self._leave_out(subject, MIG)
        elif in_mig(gpu.messages):
            self.all_unsure(MIG_SAID, subject)
        elif without_nvlink(gpu.messages):
            self._without(subject, model)
        elif model is None:
            self._of_no_model(gpu, last)
        elif self._scope.kind(model) == NONE:
            self._leave_out(subject, f"{model.model} has no NVLink")
        elif not gpu.links and not none_active(gpu.messages):
            self.all_unsure("nvidia-smi says nothing of its links", subject)
        elif not gpu.active and not gpu.cut:
            self._all_down(subject, self._scope.kind(model), _links(max(model.links)))
        else:
            self._some_up(gpu, model, last)

    def _without(self, subject: str, model: Gpu | None) -> None:
        if 0 in model.links if model else not self._scope.switches_seen:
            self._leave_out(subject, "the driver says that it has no NVLink")
            return
        self._state.fail(
            subject,
            "no NVLink, says the driver",
            _links(max(model.links)) if model else "links to the NVSwitches of this host",
            CAPABILITY,
            cause="the driver was loaded with NVLink switched off, or the GPU lost it",
            remedy="look for NVreg_NvLinkDisable in /etc/modprobe.d and dmesg; reset the GPU",
        )
        self._count.left_out(subject, _JUDGED_BY_STATE)
        self._speed.left_out(subject, "no link is up")

    def _of_no_model(self, gpu: GpuLinks, last: bool) -> None:
        """A GPU that is not in the table is held against its equals: most of them, or the best of a few."""
        subject, up = gpu.gpu.label, len(gpu.active)
        equals = [len(entry.active) for entry in self._listed if entry.gpu.name == gpu.gpu.name]
        most = most_have(equals)
        due, source = (most[0], f"equals {most[1]}/{len(equals)}") if most else (max(equals, default=0), CAPABILITY)
        if gpu.cut or not (gpu.links or none_active(gpu.messages)) or (up < due and not self._whole(gpu, last)):
            name = gpu.gpu.name or "a GPU without a name"
            self.all_unsure(f"{name} is not in the table of GPU models, and the listing is not whole", subject)
        elif not up and not (due and (most or len(equals) == 2)):
            # Neither most of its equals nor its only one: cards without a bridge, unless something tells of switches.
            if self._scope.switches_seen or self._scope.fabric_shown:
                self._all_down(subject, SWITCHED, "links to NVSwitches")
            elif self._scope.switches_seen == 0 and self._scope.no_fabric_shown:
                self._all_down(subject, BRIDGED, "")
            else:
                self.all_unsure("no link is up, and nothing tells whether it is joined to anything", subject)
        else:
            if not self._rate(gpu, max(link.gbps or 0.0 for entry in self._listed for link in entry.active)):
                self._speed.good(subject)
            self._count.left_out(subject, f"no table has its model: {STATE} holds it against its equals")
            if up >= due:
                self._state.good(subject)
                if gpu.down:
                    self._state.tell(subject, f"{up} of {_links(len(gpu.links))} up")
            else:
                observed, cause = f"{_links(up)} up", "its equals have more: links of this GPU or a bridge are down"
                self._state.fail(subject, observed, f"{_links(due)} up", source, cause=cause)

    def _all_down(self, subject: str, kind: str, wanted: str) -> None:
        if kind == BRIDGED:
            self._leave_out(subject, NO_BRIDGE)
            return
        if kind == DIRECT and self._scope.part_of_a_board:
            self._leave_out(subject, PART_OF_A_BOARD)
            return
        cause = (
            Cause("the GPU has not joined the fabric: fabric manager, NVSwitch or baseboard", _JOIN_FIRST)
            if kind == SWITCHED
            else "the GPU's links did not train: baseboard, or the GPUs at their other ends"
        )
        self._state.fail(subject, "no link up", wanted, CAPABILITY, cause=cause)
        self._count.left_out(subject, _JUDGED_BY_STATE)
        self._speed.left_out(subject, "no link is up")

    def _some_up(self, gpu: GpuLinks, model: Gpu, last: bool) -> None:
        subject = gpu.gpu.label
        kind = self._scope.kind(model)
        if not gpu.active and (kind != SWITCHED or not gpu.down):
            self.all_unsure("the listing is cut before its links", subject)
            return
        tally = self._state if kind == SWITCHED else self._count
        enough = len(gpu.active) in model.links or len(gpu.active) > max(model.links)
        if not enough and not gpu.down and not self._whole(gpu, last):
            if not self._rate(gpu, model.link_gbps):
                self._speed.unsure(subject, _short_listing(gpu))
            self._state.unsure(subject, _short_listing(gpu))
            self._count.unsure(subject, _short_listing(gpu))
            return
        if not self._rate(gpu, model.link_gbps):
            self._speed.good(subject)
        if enough:
            tally.good(subject)
        elif kind == DIRECT and self._scope.part_of_a_board:
            tally.left_out(subject, PART_OF_A_BOARD)
        else:
            tally.bad(_fewer(tally.id, gpu, model, kind))
        if kind == SWITCHED:
            self._count.left_out(subject, _JUDGED_BY_STATE)
        else:
            self._state.good(subject)

    def _whole(self, gpu: GpuLinks, last: bool) -> bool:
        """Whether the listing of this GPU was not cut: another GPU or nothing more follows it."""
        if gpu.cut or not last:
            return not gpu.cut
        # nvidia-smi lists links that are down, too: as many of one GPU as of another.
        most = max(len(entry.links) for entry in self._listed)
        return len(gpu.links) == most and len(self._listed) == self._scope.missing_from

    def _rate(self, gpu: GpuLinks, due: float) -> bool:
        """Whether a link was found that is slow."""
        floor = data.RATE_FLOOR * due
        slow = [link for link in gpu.active if link.gbps is not None and link.gbps < floor]
        if not slow:
            return False
        rates = ", ".join(sorted({f"{link.gbps:g}" for link in slow}))
        self._speed.fail(gpu.gpu.label, f"{rates} GB/s on {_named(slow)}", f"{due:g} GB/s", CAPABILITY)
        return True


def _short_listing(gpu: GpuLinks) -> str:
    shown = _links(len(gpu.links))
    if gpu.elided:
        return f"somebody shortened the text after {shown}: the rest is not in the bundle"
    return f"the listing ends after {shown}"


def _fewer(check_id: str, gpu: GpuLinks, model: Gpu, kind: str) -> Check:
    observed = f"{_links(len(gpu.active))} up"
    if gpu.down:
        observed += f"; {_named(gpu.down)} {gpu.down[0].state or 'down'}"
    cause = {
        SWITCHED: "a link between the GPU and its NVSwitch is down: baseboard or GPU",
        BRIDGED: "an NVLink bridge is missing or badly seated",
        DIRECT: "a link to another GPU of the board is down: baseboard or GPU",
    }[kind]
    remedy = "shut the host down, reseat the NVLink bridges of this card and look again" if kind == BRIDGED else ""
    wanted = " or ".join(str(link) for link in model.links if link)
    return failed(check_id, gpu.gpu.label, observed, f"{wanted} links up", CAPABILITY, cause=cause, remedy=remedy)


def _links(count: int) -> str:
    return f"{count} link{'' if count == 1 else 's'}"


def _named(links: list[Link] | tuple[Link, ...]) -> str:
    numbers = ", ".join(str(link.id) for link in links)
    return f"link{'' if len(links) == 1 else 's'} {numbers}"
