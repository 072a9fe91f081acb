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


def observe(evidence: Evidence, facts: RoceFacts, expect: Expectations) -> RoceFacts:
    """The same facts with what Spectrum-X adds of rails; other HCAs are not asked, for that takes seconds each."""
    wanted = expect.get("spectrum_x")
    if wanted is None:
        return facts
    profile = spectrum_x.PROFILES[wanted.value]
    rails = split(facts.ports.value or (), expect)[0]
    ports = facts.ports.map(
        lambda found: tuple(_port(evidence, port, profile) if port in rails else port for port in found)
    )
    # Status 1: there is none of them, which the text tells as well.
    programs = ask.command(evidence, "spcx_cc", spcx_cc.parse, ok=(0, 1))
    return replace(facts, ports=ports, programs=programs)


def _port(evidence: Evidence, port: RocePort, profile: spectrum_x.Profile) -> RocePort:
    model = hca_by_type(port.model)
    if model is None or model.pci_id not in profile.hcas or not port.address:
        return port
    names = {name for planes in profile.config for name in profile.wanted(model.pci_id, planes)}
    board = ask.data(evidence, f"{PCI}/{port.address}/vpd").map(vpd.product)
    config = ask.command(evidence, "mstconfig", mstconfig.parse, "-d", port.address, "-e", "query")
    register = ask.command(evidence, "mstreg", mstreg.parse, "-d", port.address, "--reg_name", REGISTER, "--get")
    told = SpectrumX(
        board,
        config.map(lambda read: _only(read.parameters, names)),
        register.map(lambda read: _only(read.fields, spectrum_x.REGISTER)),
    )
    return replace(port, spectrum_x=told)


def _only(told: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if name in names}
