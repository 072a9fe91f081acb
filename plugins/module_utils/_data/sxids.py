# SPDX-License-Identifier: GPL-3.0-or-later
"""SXids, the error numbers of NVSwitches: what they mean and how bad they are. Data only.

source of every entry, unless it says otherwise: the tables of non-fatal, fatal, always fatal and
notable errors in NVIDIA's fabric manager user guide (DU-09883, 2023), by way of gpud's transcript.
The kernel's message says itself whether an error was fatal; this table is for the meaning, and for
what is fatal whatever the message says. confidence: medium.
"""

from __future__ import annotations

from dataclasses import dataclass

HARMLESS = "harmless"  # nothing to do about it
NOTABLE = "notable"  # worth a warning
FATAL = "fatal"  # the link, and the GPU at its end, is lost
ALWAYS_FATAL = "always fatal"  # the whole fabric is lost until everything was reset

SOURCE = "NVIDIA fabric manager user guide, tables of SXid errors"
CONFIDENCE = "medium"


@dataclass(frozen=True)
class Sxid:
    """One error number."""

    kind: str
    means: str


_CORRECTED = Sxid(NOTABLE, "a bit flipped in the switch's memory and was corrected")
_MEMORY = Sxid(FATAL, "two bits flipped in the switch's memory")
_PROTOCOL = Sxid(FATAL, "the port got a packet that the NVLink protocol does not allow")
_BUFFER = Sxid(ALWAYS_FATAL, "a buffer of the crossbar ran over or empty")
_CROSSBAR = Sxid(ALWAYS_FATAL, "a packet was damaged inside the crossbar")

SXIDS: dict[int, Sxid] = {
    10001: Sxid(NOTABLE, "the host's access to the switch's registers failed"),
    10002: Sxid(NOTABLE, "the host's access to the switch's registers took too long"),
    10003: Sxid(ALWAYS_FATAL, "an interrupt that nobody handles"),
    10004: Sxid(NOTABLE, "the switch is too hot and may slow its links down"),
    10005: Sxid(HARMLESS, "the switch has cooled down again"),
    11001: _PROTOCOL,
    11004: Sxid(NOTABLE, "a GPU reached for memory outside of its partition"),
    11009: _PROTOCOL,
    11012: _CORRECTED,
    11013: _MEMORY,
    11018: _MEMORY,
    11019: _MEMORY,
    11020: _MEMORY,
    11021: _CORRECTED,
    11022: _CORRECTED,
    11023: _CORRECTED,
    12001: Sxid(FATAL, "a buffer at the way out ran over"),
    12002: Sxid(FATAL, "a packet had no valid route"),
    12020: Sxid(ALWAYS_FATAL, "packets left out of order"),
    12021: _CORRECTED,
    12022: _MEMORY,
    12023: _CORRECTED,
    12024: _MEMORY,
    12025: Sxid(FATAL, "credits at the way out ran over"),
    12026: _PROTOCOL,
    12027: _PROTOCOL,
    12028: Sxid(NOTABLE, "a GPU at this port reached for what is not there: its job was aborted"),
    12030: _MEMORY,
    12031: _MEMORY,
    12032: _PROTOCOL,
    14017: Sxid(FATAL, "an answer did not come in time"),
    15001: Sxid(FATAL, "a routing buffer ran over or empty"),
    15006: Sxid(FATAL, "a routing buffer ran over or empty"),
    15008: _CORRECTED,
    15009: _MEMORY,
    15010: _MEMORY,
    15011: _CORRECTED,
    15012: _MEMORY,
    15013: _MEMORY,
    19047: _MEMORY,
    19048: _MEMORY,
    19049: _CORRECTED,
    19054: _MEMORY,
    19055: _CORRECTED,
    19056: _MEMORY,
    19057: _CORRECTED,
    19058: _MEMORY,
    19059: _CORRECTED,
    19060: _MEMORY,
    19061: _MEMORY,
    19062: _CORRECTED,
    19063: _MEMORY,
    19064: _MEMORY,
    19065: _CORRECTED,
    19066: _MEMORY,
    19067: _MEMORY,
    19068: _CORRECTED,
    19069: _MEMORY,
    19070: _MEMORY,
    19071: _CORRECTED,
    19084: Sxid(NOTABLE, "the other end of the link stopped answering"),
    20001: Sxid(NOTABLE, "packets had to be sent again: the link is unsteady"),
    20009: Sxid(NOTABLE, "the link receives too many damaged packets"),
    20012: Sxid(NOTABLE, "the link's connection is bad, or its GPU was reset"),
    20034: Sxid(FATAL, "the link went down"),
    22003: Sxid(ALWAYS_FATAL, "the switch's link controller halted"),
    22011: Sxid(ALWAYS_FATAL, "the switch's link controller failed"),
    22012: Sxid(FATAL, "the link's connection is bad, or its GPU was reset"),
    22013: Sxid(HARMLESS, "a request of the link controller"),
    23001: _BUFFER,
    23002: _BUFFER,
    23003: _BUFFER,
    23004: _BUFFER,
    23005: _CROSSBAR,
    23006: _CROSSBAR,
    23007: _CROSSBAR,
    23008: _CROSSBAR,
    23009: _CROSSBAR,
    23010: _BUFFER,
    23011: _BUFFER,
    23012: _BUFFER,
    23013: _BUFFER,
    23014: _CROSSBAR,
    23015: _CROSSBAR,
    23016: _CROSSBAR,
    23017: _CROSSBAR,
    24001: _CORRECTED,
    24004: _MEMORY,
    24005: _MEMORY,
    24006: _MEMORY,
    24007: Sxid(FATAL, "an answer did not come in time"),
    28006: Sxid(NOTABLE, "a multicast answer did not come in time"),
}
