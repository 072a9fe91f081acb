# SPDX-License-Identifier: GPL-3.0-or-later
"""Read back, where the site says that it has Spectrum-X, what HCAs are set to; nothing is ever written to one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Collection, Mapping

from ..._data import spectrum_x
from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._expect.expectations import Expectations
from ..._parse import mstconfig, mstreg, spcx_cc, vpd
from ..._rails.hcas import hca_by_type
from ..._rails.roce import split
from ..._rails.roce_ports import RoceFacts, RocePort, SpectrumX
from ..machine.observe import PCI

REGISTER = "ROCE_ACCL"
# mstconfig reads from an HCA for seconds, in which a processor waits.
_AT_ONCE = 8


def observe(evidence: Evidence, facts: RoceFacts, expect: Expectations) -> RoceFacts:
    """The same facts with what Spectrum-X adds of rails; other HCAs are not asked, for that takes seconds each."""
    wanted = expect.get("spectrum_x")
    if wanted is None:
        return facts
    profile = spectrum_x.PROFILES[wanted.value]
    rails = [port for port in split(facts.ports.value or (), expect)[0] if _has_profile(port, profile)]
    told = _told(evidence, tuple(dict.fromkeys(port.address for port in rails)), profile)
    ports = facts.ports.map(
        lambda found: tuple(replace(port, spectrum_x=told[port.address]) if port in rails else port for port in found)
    )
    # Status 1: there is none of them, which the text tells as well.
    programs = ask.command(evidence, "spcx_cc", spcx_cc.parse, ok=(0, 1))
    return replace(facts, ports=ports, programs=programs)


def _has_profile(port: RocePort, profile: spectrum_x.Profile) -> bool:
    model = hca_by_type(port.model)
    return model is not None and model.pci_id in profile.hcas and bool(port.address)


def _told(evidence: Evidence, addresses: tuple[str, ...], profile: spectrum_x.Profile) -> dict[str, SpectrumX]:
    """What each HCA tells, by address; they are asked side by side."""
    from concurrent.futures import ThreadPoolExecutor

    # A BlueField-3 is configured like the others, and more.
    names = {name for planes in profile.config for name in profile.wanted(spectrum_x.BLUEFIELD_3, planes)}
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        return dict(zip(addresses, pool.map(lambda address: _hca(evidence, address, names), addresses)))


def _hca(evidence: Evidence, address: str, names: Collection[str]) -> SpectrumX:
    board = ask.data(evidence, f"{PCI}/{address}/vpd").map(vpd.product)
    config = ask.command(evidence, "mstconfig", mstconfig.parse, "-d", address, "-e", "query")
    register = ask.command(evidence, "mstreg", mstreg.parse, "-d", address, "--reg_name", REGISTER, "--get")
    return SpectrumX(
        board,
        config.map(lambda read: _only(read.parameters, names)),
        register.map(lambda read: _only(read.fields, spectrum_x.REGISTER)),
    )


def _only(told: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name in names}
