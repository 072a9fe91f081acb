# SPDX-License-Identifier: GPL-3.0-or-later
"""Error counters of ``nvidia-smi nvlink -e``: from which rate or count on they mean what. Data only.

They count since the driver was loaded, so what stands still is history. ``confidence`` as in gpus.py.
"""

from __future__ import annotations

from dataclasses import dataclass

# Counters of 8, 16 and 32 bits that stopped counting.
SATURATED = (255, 65535, 4294967295)


@dataclass(frozen=True)
class Threshold:
    """``warn`` and ``fail``: from this count on, where nobody looked twice; ``fail`` None: never
    worse than a warning.

    ``rate``: so many more in a second slow jobs now; fewer are a warning, and 0 means that any rise
    does. ``lasts``: what it counts is not over until the GPU is reset, whether it rises or not.
    """

    warn: int
    fail: int | None
    means: str
    source: str
    confidence: str = "medium"
    rate: float | None = None
    lasts: bool = False


# dcgm_health_watch: what came between two samples counts. Replays and recoveries fail the GPU from
# the first on, CRC errors from 100 in a second (DCGM_LIMIT_MAX_NVLINK_CRC_ERROR) and warn before.
_DCGM = "DCGM's health watch goes by what came since; counts of sick links in public threads"
_ANY, _MANY = 0.0, 100.0
_NVLINK5 = "names that drivers from 570 on print for Blackwell; field health checks"
_RETRY = "packets were sent again"
_CRC = "data arrived damaged and was sent again"

THRESHOLDS: dict[str, Threshold] = {
    "Replay Errors": Threshold(1, 100, _RETRY, _DCGM, rate=_ANY),
    "Recovery Errors": Threshold(1, 10, "the link had to be trained again", _DCGM, rate=_ANY),
    "CRC Errors": Threshold(1, 100, _CRC, _DCGM, rate=_MANY),
    "CRC Flit Errors": Threshold(1, 100, _CRC, _DCGM, rate=_MANY),
    "CRC Data Errors": Threshold(1, 100, _CRC, _DCGM, rate=_MANY),
    "ECC Errors": Threshold(1, 100, "bits were corrected on a lane", _DCGM, rate=_MANY),
    "Data Tx Errors": Threshold(1, 100, "data could not be sent", _DCGM, "recalled", rate=_MANY),
    "Data Rx Errors": Threshold(1, 100, "data could not be received", _DCGM, "recalled", rate=_MANY),
    "Malformed packet Errors": Threshold(1, 100, "packets arrived that are none", _NVLINK5, rate=_MANY),
    "Buffer overrun Errors": Threshold(1, 100, "packets were lost at a full buffer", _NVLINK5, rate=_MANY),
    "Rx Errors": Threshold(1, 100, "packets arrived damaged", _NVLINK5, rate=_MANY),
    "Rx remote Errors": Threshold(1, 100, "packets arrived that were marked bad", _NVLINK5, rate=_MANY),
    "Rx General Errors": Threshold(1, 100, "packets arrived damaged", _NVLINK5, rate=_MANY),
    "Local link integrity Errors": Threshold(1, 100, "the link is unsteady", _NVLINK5, rate=_MANY),
    "Tx discards": Threshold(1, 100, "packets were thrown away instead of sent", _NVLINK5, rate=_MANY),
    "Link recovery successful events": Threshold(1, 100, "the link went down and came back", _NVLINK5, rate=_ANY),
    "Link recovery failed events": Threshold(
        1, 1, "the link went down and did not come back", _NVLINK5, rate=_ANY, lasts=True
    ),
    # More than a stray one a second goes on under load. source: inferred.
    "Effective Errors": Threshold(1, 100, "errors were left after correction", _NVLINK5, rate=1.0),
    "Symbol Errors": Threshold(1, 100, "errors were left after correction", _NVLINK5, rate=_MANY),
}
# Any other counter of this ending: something is amiss, nobody knows how bad.
UNKNOWN_ENDING = "Errors"
UNKNOWN = Threshold(1, None, "a counter that is not in the table", "none", "recalled")
# Corrected code words: billions on a sound link.
NO_ERRORS = ("FEC Errors",)


def threshold(counter: str) -> Threshold | None:
    """What is known of the counter; None where it does not count errors."""
    if counter.startswith(NO_ERRORS):
        return None
    known = THRESHOLDS.get(counter)
    return UNKNOWN if known is None and counter.endswith(UNKNOWN_ENDING) else known
