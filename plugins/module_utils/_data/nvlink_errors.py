# SPDX-License-Identifier: GPL-3.0-or-later
"""Error counters of ``nvidia-smi nvlink -e``: from which count on they mean what. Data only.

They count since the driver was loaded, so a few may be old. ``confidence`` as in gpus.py.
"""

from __future__ import annotations

from dataclasses import dataclass

# Counters of 8, 16 and 32 bits that stopped counting.
SATURATED = (255, 65535, 4294967295)


@dataclass(frozen=True)
class Threshold:
    """``warn`` and ``fail``: from this count on; ``fail`` None: never worse than a warning."""

    warn: int
    fail: int | None
    means: str
    source: str
    confidence: str = "medium"


_DCGM = "DCGM's health watch lets none pass; counts of sick links in public threads"
_NVLINK5 = "names that drivers from 570 on print for Blackwell; field health checks"
_RETRY = "packets were sent again"
_CRC = "data arrived damaged and was sent again"

THRESHOLDS: dict[str, Threshold] = {
    "Replay Errors": Threshold(1, 100, _RETRY, _DCGM),
    "Recovery Errors": Threshold(1, 10, "the link had to be trained again", _DCGM),
    "CRC Errors": Threshold(1, 100, _CRC, _DCGM),
    "CRC Flit Errors": Threshold(1, 100, _CRC, _DCGM),
    "CRC Data Errors": Threshold(1, 100, _CRC, _DCGM),
    "ECC Errors": Threshold(1, 100, "bits were corrected on a lane", _DCGM),
    "Data Tx Errors": Threshold(1, 100, "data could not be sent", _DCGM, "recalled"),
    "Data Rx Errors": Threshold(1, 100, "data could not be received", _DCGM, "recalled"),
    "Malformed packet Errors": Threshold(1, 100, "packets arrived that are none", _NVLINK5),
    "Buffer overrun Errors": Threshold(1, 100, "packets were lost at a full buffer", _NVLINK5),
    "Rx Errors": Threshold(1, 100, "packets arrived damaged", _NVLINK5),
    "Rx remote Errors": Threshold(1, 100, "packets arrived that were marked bad", _NVLINK5),
    "Rx General Errors": Threshold(1, 100, "packets arrived damaged", _NVLINK5),
    "Local link integrity Errors": Threshold(1, 100, "the link is unsteady", _NVLINK5),
    "Tx discards": Threshold(1, 100, "packets were thrown away instead of sent", _NVLINK5),
    "Link recovery successful events": Threshold(1, 100, "the link went down and came back", _NVLINK5),
    "Link recovery failed events": Threshold(1, 1, "the link went down and did not come back", _NVLINK5),
    "Effective Errors": Threshold(1, 100, "errors were left after correction", _NVLINK5),
    "Symbol Errors": Threshold(1, 100, "errors were left after correction", _NVLINK5),
}
# Any other counter of this ending: something is amiss, nobody knows how bad.
UNKNOWN_ENDING = "Errors"
UNKNOWN = Threshold(1, None, "a counter that is not in the table", "none", "recalled")
# Corrected code words: billions on a sound link.
NO_ERRORS = ("FEC Errors",)
