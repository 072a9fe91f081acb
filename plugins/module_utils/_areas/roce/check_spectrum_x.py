# SPDX-License-Identifier: GPL-3.0-or-later
"""Hold the rails of a site that has Spectrum-X against the profile of its release: facts in, checks out, no I/O."""

from __future__ import annotations

import re
from typing import Callable, Iterator, Mapping, TypeVar

from ..._data import spectrum_x
from ..._data.hcas import Hca
from ..._expect.expectations import Expectations, Expected
from ..._ground.check import FAIL, Check, failed, outcome, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._ground.text import few, plain
from ..._parse.mstconfig import Value
from ..._parse.spcx_cc import Programs
from ..._rails.hcas import hca_by_id, hca_by_type
from ..._rails.roce import asked_soft
from ..._rails.roce_ports import RocePort

HCA, CONGESTION = "roce.spectrum.hca", "roce.spectrum.congestion"
_OF_HCA = FIRMWARE, ROUTING = "roce.spectrum.firmware", "roce.spectrum.routing"
_IDS = (HCA, *_OF_HCA, CONGESTION)
NOT_SAID = "the inventory does not say that the site has Spectrum-X (expect.spectrum_x)"
_TOOLS = "install mstflint (or NVIDIA's MFT), and look as root on the host that has the HCA"
_BOARD = "look as root on the host that has the HCA: its product data (vpd) names the board"
_WORD = re.compile(r"[A-Z0-9]+")
_SHOWN = 3

T = TypeVar("T")


def judge(
    rails: list[RocePort], programs: Reading[Programs], expect: Expectations, container: str = ""
) -> Iterator[Check]:
    """roce.spectrum.*; skipped where nobody says that the site has it. ``container``: what kind we look from."""
    release = expect.get("spectrum_x")
    if release is None:
        yield from (skipped(check_id, "host", NOT_SAID) for check_id in _IDS)
        return
    profile = spectrum_x.PROFILES[release.value]
    planes = expect.get("spectrum_x_planes")
    served: list[RocePort] = []
    for port in rails:
        model = hca_by_type(port.model)
        if asked_soft(port, expect) is not None:
            yield from (skipped(check_id, port.name, "soft RoCE: there is no HCA") for check_id in (HCA, *_OF_HCA))
            continue
        if port.virtual or model is None:
            what = "a virtual function shows no HCA" if port.virtual else f"nobody knows an HCA of type {port.model}"
            yield from (unknown(check_id, port.name, what, remedy=_TOOLS) for check_id in (HCA, *_OF_HCA))
            continue
        check = _hca(port, model, profile, release)
        yield check
        if check.result == FAIL:
            yield from (skipped(check_id, port.name, f"see {HCA}") for check_id in _OF_HCA)
            continue
        wanted = profile.wanted(model.pci_id, planes.value if planes is not None else spectrum_x.NONE)
        yield _firmware(port, wanted, release)
        yield _routing(port, release)
        served.append(port)
    yield _congestion(served, programs, release, container)


def _hca(port: RocePort, model: Hca, profile: spectrum_x.Profile, release: Expected) -> Check:
    known = [hca for hca in map(hca_by_id, profile.hcas) if hca is not None]
    names = [f"{hca.name}{' SuperNIC' if hca.pci_id == spectrum_x.BLUEFIELD_3 else ''}" for hca in known]
    expected = f"{' or '.join(names)} ({release.value})"
    if model not in known:
        cause = f"the profile of {release.value} has no {model.name}"
        return failed(HCA, port.name, model.name, expected, release.source, cause=cause)
    if model.pci_id != spectrum_x.BLUEFIELD_3:
        return passed(HCA, port.name, model.name, expected, release.source)

    def by_board(name: str) -> Check:
        """NVIDIA's operator goes by the PCI device alone; a DPU says so itself, and is no SuperNIC."""
        observed = plain(name.replace(";", ",").partition(",")[0], 80) or model.name
        words = set(_WORD.findall(name.upper()))
        if spectrum_x.DPU not in words or words & spectrum_x.SUPERNIC:
            return passed(HCA, port.name, observed, expected, release.source)
        cause = "a DPU is made for storage and management; Spectrum-X's rails are SuperNICs"
        return failed(HCA, port.name, observed, expected, release.source, cause=cause)

    return _look(HCA, port, port.spectrum_x.board, by_board, _BOARD)


def _firmware(port: RocePort, wanted: Mapping[str, int], release: Expected) -> Check:
    def compare(config: Mapping[str, Value]) -> Check:
        nothing = Value()
        found = {name: config.get(name, nothing) for name in wanted}
        untold = [name for name, value in found.items() if value.now is None or value.next is None]
        now = [name for name, value in found.items() if value.now not in (None, wanted[name])]
        later = [name for name, value in found.items() if value.next not in (None, wanted[name])]
        wrong = [name for name in wanted if name in now or name in later]
        if not wrong and untold:
            why = f"the firmware does not show {few(untold, _SHOWN)}: the output was cut, or the firmware is too old"
            return unknown(FIRMWARE, port.name, why)
        if not wrong:
            return passed(FIRMWARE, port.name, _all(wanted), _all(wanted), release.source)
        observed = few([f"{name}={found[name].word if name in now else found[name].next}" for name in wrong], _SHOWN)
        cause = ""
        if not later:
            cause = "it is set, and counts from the next reset of the firmware on"
        elif not now:
            cause = "it holds now, and is gone after the next reset of the firmware"
        expected = f"{', '.join(f'{name}={wanted[name]}' for name in wrong[:_SHOWN])} ({release.value})"
        return failed(FIRMWARE, port.name, observed, expected, release.source, cause=cause)

    return _look(FIRMWARE, port, port.spectrum_x.config, compare)


def _routing(port: RocePort, release: Expected) -> Check:
    def compare(fields: Mapping[str, int]) -> Check:
        wanted = spectrum_x.REGISTER
        untold = [name for name in wanted if name not in fields]
        wrong = [name for name in wanted if name in fields and fields[name] != wanted[name]]
        if untold and not wrong:
            return unknown(ROUTING, port.name, f"the register ROCE_ACCL of this firmware has no {few(untold, _SHOWN)}")
        shown = wrong or list(wanted)
        observed = ", ".join(f"{name}={fields[name]}" for name in shown)
        expected = f"{', '.join(f'{name}={wanted[name]}' for name in shown)} ({release.value})"
        return outcome(not wrong, ROUTING, port.name, observed, expected, release.source)

    return _look(ROUTING, port, port.spectrum_x.register, compare)


def _congestion(served: list[RocePort], programs: Reading[Programs], release: Expected, container: str) -> Check:
    """One of all rails: the list of processes has no end that tells."""
    if not served:
        return skipped(CONGESTION, "host", f"no rail that is an HCA of {release.value}: see {HCA}")
    expected = f"one {spectrum_x.CONGESTION} for each RDMA device of a rail"

    def count(told: Programs) -> Check:
        # A container may have a systemd of its own for its first.
        if container or not told.first:
            why = "the first process of the host is not shown, so that others may be hidden (hidepid, a container)"
            return unknown(CONGESTION, "host", why, remedy="look as root on the host itself")
        number = {port.device: sum(name in (port.device, port.address) for name in told.devices) for port in served}
        none = [device for device, many in number.items() if not many]
        twice = [f"{device} ({many})" for device, many in number.items() if many > 1]
        if not none and not twice:
            return passed(CONGESTION, "host", ", ".join(number), expected, release.source)
        observed = [f"none for {', '.join(none)}"] if none else []
        observed += [f"more than one for {', '.join(twice)}"] if twice else []
        cause = "two of them undo each other's work" if twice and not none else "it was not started, or has ended"
        return failed(CONGESTION, "host", "; ".join(observed), expected, release.source, cause=cause)

    return look(CONGESTION, "host", programs, count)


def _look(
    check_id: str, port: RocePort, reading: Reading[T], compare: Callable[[T], Check], remedy: str = _TOOLS
) -> Check:
    if reading.value is None:
        return unknown(check_id, port.name, reading.why or "nobody asked it", remedy=remedy)
    return compare(reading.value)


def _all(wanted: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in wanted.items())
