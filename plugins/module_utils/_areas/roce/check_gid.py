# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the GID table of one RoCE rail: facts in, checks out, no I/O."""

from __future__ import annotations

from typing import Iterator

from ..._expect.expectations import CAPABILITY, Expectations, Expected
from ..._ground.check import Cause, Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._parse.gid import LINK_LOCAL
from ..._rails.roce import ACTIVE
from ..._rails.roce_ports import ROCE_V2, GidEntry, RocePort
from .check_port import NOT_ACTIVE, STATE_FIRST
from .siblings import usual

_ADDRESS = "roce.gid.address"
_INDEX = "roce.gid.index"
_EXPECTED = f"a {ROCE_V2} address that other hosts can reach"

_SPEAK_V2 = (
    f"an address mends nothing: bring firmware and driver of the HCA to releases that speak {ROCE_V2}, and look at "
    "`show_gids` (or `rdma link`) again"
)


def judge(port: RocePort, rails: list[RocePort], expect: Expectations) -> Iterator[Check]:
    """roce.gid.*; ``rails``: all of the host's, this one among them."""
    wanted = expect.get("roce_gid_index") or usual(rails, lambda rail: rail.gid_index)
    down = bool(port.state) and port.state != ACTIVE
    if down and port.gid_index is None:
        # The kernel takes the addresses of an interface that is down out of the table.
        why = NOT_ACTIVE.format(state=port.state)
        yield unknown(_ADDRESS, port.name, why, remedy=STATE_FIRST)
        if wanted is not None:
            yield unknown(_INDEX, port.name, why, remedy=STATE_FIRST)
    else:
        yield look(_ADDRESS, port.name, port.gids, lambda found: _address(port, rails, found))
        if wanted is not None:
            index = wanted
            yield look(_INDEX, port.name, port.gids, lambda found: _index(port, found, index))
    if wanted is None and port.gids.value is None and not down:
        yield unknown(_INDEX, port.name, port.gids.why or "nobody looked")
    elif wanted is None:
        why = "nobody expects an index (roce_gid_index), and no three rails have one alike: NCCL picks one by itself"
        yield skipped(_INDEX, port.name, why)


def _address(port: RocePort, rails: list[RocePort], found: tuple[GidEntry, ...]) -> Check:
    best = next((gid for gid in found if gid.usable), None)
    for gid in found:
        others = [other.name for other in rails if _has_too(other, port, gid)]
        if others:
            both = ", ".join([port.name, *others])
            cause = Cause(
                f"{both} have one address on several interfaces",
                f"give each of {both} an address of its own (`ip -br addr`), in the host's network configuration too",
            )
            observed = f"index {gid.index}: {gid}"
            return failed(_ADDRESS, port.name, observed, _EXPECTED, CAPABILITY, cause=cause)
    if best is not None:
        return passed(_ADDRESS, port.name, f"index {best.index}: {best}", _EXPECTED, CAPABILITY)
    observed = ", ".join(f"{gid.index}: {gid}" for gid in found[:4]) or "an empty table"
    interface = port.netdev.value or "the interface"
    says, mends = f"{interface} has no IP address", ""
    if found and not any(gid.type == ROCE_V2 for gid in found):
        says, mends = f"the port speaks {found[0].type} only", _SPEAK_V2
    elif any(gid.kind != LINK_LOCAL for gid in found):
        says, mends = f"{interface}'s address is in the table for {found[0].type} only", _SPEAK_V2
    return failed(_ADDRESS, port.name, observed, _EXPECTED, CAPABILITY, cause=Cause(says, mends))


def _has_too(other: RocePort, port: RocePort, mine: GidEntry) -> bool:
    """Whether another rail has this address; ports of one bond, or of one interface, share it."""
    if other.name == port.name or not mine.usable:
        return False
    own = mine.netdev or port.netdev.value
    return any(
        gid.usable and gid.address == mine.address and (own is None or own != (gid.netdev or other.netdev.value))
        for gid in other.gids.value or ()
    )


def _index(port: RocePort, found: tuple[GidEntry, ...], wanted: Expected) -> Check:
    index = int(wanted.value)
    there = next((gid for gid in found if gid.index == index), None)
    expected = f"index {index}: {_EXPECTED}"
    if there is not None and there.usable:
        return passed(_INDEX, port.name, f"index {index}: {there}", expected, wanted.source)
    if there is None and index >= port.gids_read > 0 and port.gid_index is not None:
        # Beyond a long row of empty entries, or beyond the table.
        observed = f"nothing up to index {port.gids_read - 1}"
    else:
        observed = str(there) if there is not None else "an empty entry"
    first = port.gid_index
    cause = "" if first is None else f"the first {ROCE_V2} address is at index {first}"
    return failed(_INDEX, port.name, observed, expected, wanted.source, cause=cause)
