# SPDX-License-Identifier: GPL-3.0-or-later
"""What mends a link that the firmware of its HCA says something against (mlxlink, Recommendation). Data only.

Source: the status opcodes of NVIDIA's Adapters Programmer's Reference Manual, register PDDR, page of troubleshooting,
as the words of mstflint's mlxlink; confidence medium (no host of each at hand). What no row fits is told all the same.
"""

from __future__ import annotations

# What is no finding, in small letters: nothing was found, or not yet.
SAYS_NOTHING = (r"no issue was observed", r"in process", r"not available", r"\An/a\Z")

_PART = (
    "put in a cable or transceiver that is made for this HCA and for the port's protocol and speed; `mlxlink -d DEVICE "
    "-m` names the one that is in, and a rail that is Active shows what fits"
)
_FEED = (
    "leave the cable's ends as they are; look at air flow and at the power class of the transceiver (`mlxlink -d "
    "DEVICE -m`), and put in one that the cage can feed and cool"
)
_ORDERED = "leave the cable; drain the host and switch the port on with `mlxlink -d DEVICE --port_state UP`"
_ALIKE = "set speed, FEC and auto-negotiation alike at both ends (`mlxlink -d DEVICE -e`)"
_BOTH_ENDS = f"leave the cable; {_ALIKE}"
_FORCED = f"see first that the other end is plugged in and on; then {_ALIKE}"
_CLEAN = "clean and reseat both ends; look again with `mlxlink -d DEVICE -c -m`; swap cable, then transceiver"
_PLUG = "see that both ends are plugged in and the other end is on; reseat the cable, then swap cable and transceiver"

# By words, in small letters; the first that fits.
ROWS = (
    (r"power budget|temperature|overheat|power class|low power", _FEED),
    (r"logical mismatch|fec mismatch", _BOTH_ENDS),
    (r"mismatch|complian|stamp|unsupported|not supported|eeprom|part number|long range|protocol enabled", _PART),
    (r"command|forced the port|portinfo|ekey|is disabled|verification", _ORDERED),
    (r"partner.{0,30}force mode", _FORCED),
    (r"force mode|negotiation failed|next page|speed.{0,20}enabled|ack not received", _BOTH_ENDS),
    (r"integrity|ber\b|physical errors|lock|tuning|calibration|shorted|bad cable|bus stuck", _CLEAN),
    (r"partner|remote fault|plugged", _PLUG),
)
