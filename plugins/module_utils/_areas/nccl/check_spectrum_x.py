# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether jobs of this host send as adaptive routing needs it, where the site has Spectrum-X."""

from __future__ import annotations

from typing import Iterator

from ..._data import spectrum_x
from ..._data.nccl_reading import SYSTEM_FILE
from ..._expect.expectations import Expectations, Expected
from ..._ground.check import Check, skipped, unknown
from . import check_switch
from .facts import HostFacts

ROUTING = "nccl.spectrum.routing"
_NAME = "NCCL_IB_ADAPTIVE_ROUTING"
_SET = f"nccl_conf_variables: {{{_NAME}: '1'}}; playbooks/converge.yml --tags nccl_conf writes it"
# NCCL's own choice, -2, is on with InfiniBand and off with RoCE (NCCL's user guide; confirmed).
_SWITCH = check_switch.Switch(ROUTING, _NAME, _SET, usual=-2)


def judge(here: HostFacts, expect: Expectations) -> Iterator[Check]:
    """nccl.spectrum.routing; skipped where nobody says that the site has Spectrum-X."""
    release = expect.get("spectrum_x")
    if release is None:
        why = "the inventory does not say that the site has Spectrum-X (expect.spectrum_x)"
        yield skipped(ROUTING, SYSTEM_FILE, why)
        return
    copies = [item for place in (here.copies.settings, here.copies.units) for item in place.value or ()]
    values = {**(here.settings.value or {}), **{item.name: item.value for item in copies}}
    if _NAME not in values and spectrum_x.PLUGIN in values.get("NCCL_NET_PLUGIN", ""):
        why = f"{_NAME} is not set, and nobody tells what NVIDIA's plugin ({spectrum_x.PLUGIN}) does without it"
        yield unknown(ROUTING, SYSTEM_FILE, why, remedy=_SET)
        return
    yield from check_switch.judge(_SWITCH, Expected(True, release.source), here)
