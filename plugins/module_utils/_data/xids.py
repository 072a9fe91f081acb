# SPDX-License-Identifier: GPL-3.0-or-later
"""Xids, the error numbers of the GPU driver: what they mean and what to do about them. Data only.

source of every entry, unless it says otherwise: NVIDIA's Xid catalog for Ampere and newer (the
resolution buckets of its A100 to GB200 columns), read in a public copy of 2026; confidence:
confirmed. Entries marked RECALLED are general knowledge of drivers before that catalog.
"""

from __future__ import annotations

from dataclasses import dataclass

FATAL = "fatal"  # the GPU is of no use until it was reset, rebooted or replaced
EARLY = "early"  # it still works, and this is how worse things begin
APPLICATION = "application"  # a program's own fault: it dies, the GPU does not
BY_TEXT = "by text"  # the message says itself how bad it is

SOURCE = "NVIDIA Xid catalog (deploy/xid-errors)"
CONFIRMED = "confirmed"
RECALLED = "recalled"

RESTART = "restart the program; run it under compute-sanitizer if it comes again"
RESET = "stop its programs and reset the GPU (`nvidia-smi --gpu-reset -i BUS-ID`), or reboot"
REBOOT = (
    "power the node off and on; if it comes again reseat the GPU, then replace it; "
    "keep the output of `nvidia-bug-report.sh`"
)
SUPPORT = "reset the GPU, then run `dcgmi diag -r 3`; if it comes again ask for a replacement"
MEMORY = "reset the GPU so that the row is remapped, then read `nvidia-smi -q -d ROW_REMAPPER`"
LINK = "reset the GPUs of this board, then read `nvidia-smi nvlink -e`"
WATCH = "watch whether it comes again; reset the GPU at the next service"


@dataclass(frozen=True)
class Meaning:
    """What one number stands for."""

    kind: str
    means: str
    remedy: str
    confidence: str = CONFIRMED


_COPY = Meaning(APPLICATION, "a copy engine reported an exception", RESTART)
_VIDEO = Meaning(APPLICATION, "a video or image engine reported an exception", RESTART)
_NVLINK5 = Meaning(BY_TEXT, "an NVLink of this GPU reported an error", LINK)
_FLASH = Meaning(EARLY, "the GPU's flash or infoROM could not be reached", WATCH, RECALLED)

XIDS: dict[int, Meaning] = {
    8: Meaning(APPLICATION, "a program's work took too long", RESTART),
    13: Meaning(APPLICATION, "a program made the compute engine fault", RESTART),
    25: Meaning(APPLICATION, "a program sent illegal commands", RESTART),
    31: Meaning(APPLICATION, "a program touched memory that is not its own", RESTART),
    32: Meaning(EARLY, "commands to the GPU arrived damaged: often the PCIe link", WATCH),
    37: Meaning(APPLICATION, "the GPU's firmware refused a method", RESTART),
    38: Meaning(EARLY, "the GPU's firmware answered too late", WATCH),
    **dict.fromkeys((39, 40, 41, 70, 71, 72, 75, 76, 77, 85), _COPY),
    43: Meaning(APPLICATION, "a program's channel was stopped; the GPU is healthy", RESTART),
    44: Meaning(APPLICATION, "the compute engine faulted between two programs", RESTART),
    45: Meaning(APPLICATION, "a program was cleared away, killed or after another error", RESTART),
    46: Meaning(FATAL, "the GPU stopped processing", RESET),
    48: Meaning(FATAL, "memory error that ECC could not correct (double bit)", RESET),
    54: Meaning(FATAL, "no auxiliary power at the GPU board", "check the GPU's power cables"),
    60: _VIDEO,
    61: Meaning(FATAL, "the GPU's power controller hit a breakpoint", SUPPORT, RECALLED),
    62: Meaning(FATAL, "the GPU's internal controller halted", RESET),
    63: Meaning(EARLY, "a memory row or page was marked to be replaced at the next reset", MEMORY),
    64: Meaning(FATAL, "a bad memory row or page could not be replaced", SUPPORT),
    66: Meaning(APPLICATION, "the driver made an illegal access", RESTART),
    67: Meaning(APPLICATION, "the driver made an illegal access", RESTART),
    68: _VIDEO,
    69: Meaning(APPLICATION, "a program used the compute engine wrongly", RESTART),
    74: Meaning(FATAL, "an NVLink of this GPU failed, or the device at its other end", LINK),
    78: Meaning(EARLY, "a virtual GPU could not start", "match guest driver and host driver"),
    79: Meaning(FATAL, "the GPU has fallen off the bus", REBOOT),
    80: Meaning(APPLICATION, "data sent to the GPU arrived damaged", RESTART),
    **dict.fromkeys((82, 83, 84, 86, 88, 89, *range(96, 106), 139, 142), _VIDEO),
    92: Meaning(EARLY, "very many memory errors that ECC corrected", SUPPORT),
    93: Meaning(EARLY, "the infoROM may not be written any more", WATCH),
    94: Meaning(EARLY, "an uncorrectable memory error, contained to one program", MEMORY),
    95: Meaning(FATAL, "an uncorrectable memory error that reached several programs", RESET),
    106: Meaning(APPLICATION, "a test message", "nothing to do"),
    107: Meaning(APPLICATION, "a test message", "nothing to do"),
    108: Meaning(APPLICATION, "an NVLink peer's address could not be translated", RESTART),
    109: Meaning(FATAL, "the GPU did not change over to another program in time", RESET),
    110: Meaning(FATAL, "the GPU's security engine reported a fault", REBOOT),
    119: Meaning(FATAL, "the GPU's system processor (GSP) does not answer the driver", RESET),
    120: Meaning(FATAL, "the GPU's system processor (GSP) reported an error", RESET),
    121: Meaning(EARLY, "errors on the link to the processor (C2C), all corrected", WATCH),
    **dict.fromkeys((122, 123, 124, 125), _FLASH),
    **dict.fromkeys(range(126, 136), _COPY),
    136: Meaning(FATAL, "an NVLink could not be trained", LINK),
    137: Meaning(APPLICATION, "a program reached over NVLink for memory it may not", RESTART),
    140: Meaning(FATAL, "an uncorrectable memory error that the driver could not handle", RESET),
    141: Meaning(APPLICATION, "a fault in CUDA's fast path", RESTART),
    143: Meaning(FATAL, "the GPU could not be initialised", RESET),
    **dict.fromkeys(range(144, 151), _NVLINK5),
    151: Meaning(FATAL, "keys of confidential computing could not be changed", "restart the VM"),
    154: Meaning(BY_TEXT, "the driver names what the GPU needs to recover", RESET),
    155: Meaning(FATAL, "the driver took an NVLink down", LINK),
    156: Meaning(FATAL, "a failed part of the GPU is taken out of use at the next reset", RESET),
    157: Meaning(EARLY, "a failed part of the GPU could not be replaced", SUPPORT),
    158: Meaning(FATAL, "the GPU does not answer any more", RESET),
    159: Meaning(EARLY, "an error on the link to the processor (C2C)", WATCH),
    160: Meaning(EARLY, "a memory channel was taken out of use", WATCH),
    161: Meaning(EARLY, "a memory channel could not be taken out of use", SUPPORT),
    162: Meaning(APPLICATION, "power smoothing is on again", "nothing to do"),
    163: Meaning(EARLY, "power smoothing was switched off", WATCH),
    164: Meaning(EARLY, "the circuit for power smoothing is nearly worn out", WATCH),
    165: Meaning(EARLY, "the circuit for power smoothing is worn out", SUPPORT),
    167: Meaning(FATAL, "the GPU's PCIe link timed out", REBOOT),
    168: Meaning(EARLY, "less memory than the GPU has; seen with ECC off", "switch ECC on"),
    169: Meaning(FATAL, "the GPU's security processor halted", RESET),
    171: Meaning(FATAL, "an uncorrectable error in the GPU's DRAM", RESET),
    172: Meaning(FATAL, "an uncorrectable error in the GPU's SRAM", RESET),
}
RECOVERY = 154  # its text ends in what the GPU needs now, in brackets
# What stands there (and in `nvidia-smi -q`, GPU Recovery Action), in lower case.
NEEDS_NOTHING = ("none",)
NEEDS_RESET = ("reset", "gpu reset required", "gpu reset")
NEEDS_REBOOT = ("reboot", "node reboot required", "os reboot")
NEEDS_DRAIN = ("drain p2p", "drain and reset")
# What mends it then. The words of a drain leave it to the first Xid.
ACTIONS = {
    **dict.fromkeys(
        NEEDS_RESET, "drain the host, then reset the GPU (`nvidia-smi --gpu-reset -i BUS-ID`), as the driver asks"
    ),
    **dict.fromkeys(NEEDS_REBOOT, "drain the host and reboot it, as the driver asks: a reset of the GPU is not enough"),
}
# What the messages of 144 to 150 say of themselves, in lower case.
SAYS_HARMLESS = ("nonfatal", "non-fatal", "non fatal")
SAYS_FATAL = ("fatal",)
