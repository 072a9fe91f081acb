# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands that several rows of the table share."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.plugin_utils._diagnose.row import Fix

SITE = "site.yml"
REBOOT = "ibready_reboot_ok=true"
_REBOOTS = "the host reboots: drain it first"


def site(*tags: str, note: str = "", reboot: bool = False, more: tuple[str, ...] = ()) -> Fix:
    """Converge the hosts; ``tags`` choose the part, ``more`` are variables (``name=value``)."""
    words = [SITE]
    if tags:
        words += ["--tags", ",".join(tags)]
    for variable in (*more, *((REBOOT,) if reboot else ())):
        words += ["-e", variable]
    told = "; ".join(one for one in (_REBOOTS if reboot else "", note) if one)
    return Fix(play=tuple(words), note=told)


def settings(note: str = "") -> Fix:
    """Write nccl.conf anew, and nothing else."""
    return Fix(play=("playbooks/converge.yml", "--tags", "nccl_conf"), note=note)


def run(*words: str, note: str = "", otherwise: tuple[str, ...] = ()) -> Fix:
    """A command on the hosts that mends it."""
    return Fix(words=words, note=note, otherwise=otherwise)


def look(*words: str, hands: str, otherwise: tuple[str, ...] = ()) -> Fix:
    """A command that shows more, where only ``hands`` can mend it."""
    return Fix(words=words, mends=False, note=hands, otherwise=otherwise)


def smi_reset(note: str = "") -> Fix:
    """Reset the GPU."""
    told = "stop its programs first (drain the host)"
    return run(
        *("nvidia-smi", "--gpu-reset", "-i", "{address}"),
        otherwise=("nvidia-smi", "-q", "-d", "PERFORMANCE"),
        note=f"{told}; {note}" if note else told,
    )


CABLE = look(
    *("mlxlink", "-d", "{device}", "-m", "-c"),
    otherwise=("ibstat",),
    hands="clean and reseat the cable at both ends, then swap cable, then transceiver",
)
