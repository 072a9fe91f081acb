# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge whether jobs of this host ask for SHARP as the site wants it."""

from __future__ import annotations

from typing import Iterator

from ..._data.nccl_reading import SYSTEM_FILE
from ..._expect.expectations import Expectations
from ..._ground.check import Check, skipped
from ..._nccl.problem import short
from . import check_switch
from .check_log_collnet import ENABLE
from .facts import HostFacts

ENABLED = "nccl.sharp.enabled"
_SWITCH = check_switch.Switch(
    ENABLED,
    ENABLE,
    "nccl_conf_variables: {NCCL_COLLNET_ENABLE: '1'}; playbooks/converge.yml --tags nccl_conf writes it",
    "jobs try CollNet on a fabric on which the site has no SHARP",
)


def judge(here: HostFacts, expect: Expectations) -> Iterator[Check]:
    """nccl.sharp.enabled; skipped where nobody says whether jobs use SHARP."""
    wanted, settings = expect.get("sharp"), here.settings.value
    if wanted is None:
        seen = f": {ENABLE}={short(settings[ENABLE])}" if settings and ENABLE in settings else ""
        yield skipped(ENABLED, SYSTEM_FILE, f"the inventory does not say whether jobs use SHARP (expect.sharp){seen}")
        return
    yield from check_switch.judge(_SWITCH, wanted, here)
