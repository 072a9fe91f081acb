# SPDX-License-Identifier: GPL-3.0-or-later
"""Error counters of InfiniBand ports, as ibqueryerrors names them (fabric_counters.yml)."""

from __future__ import annotations

from dataclasses import dataclass

from .._ground.table import load_by_key
from ._rows import fabric_counters as rows

SYMBOL_ERRORS = "fabric.link.symbol_errors"
DROPS = "fabric.link.drops"
RECEIVE_ERRORS = "fabric.link.receive_errors"
DISCARDS = "fabric.link.discards"


@dataclass(frozen=True)
class Counter:
    """``check``: the id that judges it, "" where a high number is no fault; ``bits``: its width."""

    check: str
    above: int
    bits: int
    means: str


COUNTERS: dict[str, Counter] = load_by_key(Counter, rows.COUNTERS)
# What damaged bits and packets are counted by: where both are full, new damage stays unseen.
DAMAGE = ("SymbolErrorCounter", "PortRcvErrors")
CHECKS = (SYMBOL_ERRORS, DROPS, RECEIVE_ERRORS, DISCARDS)

# ibping asks a management agent and has its answer within a fraction of a millisecond; what took
# longer than this was lost and asked for again. Runs of the field: below 1 ms, or about 900 ms
# (confirmed).
PING_RETRIED_ABOVE_MS = 100.0
