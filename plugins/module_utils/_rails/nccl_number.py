# SPDX-License-Identifier: GPL-3.0-or-later
"""A number that /etc/nccl.conf sets, for areas that judge how NCCL would use a port."""

from __future__ import annotations

from .._data.nccl_reading import SYSTEM_FILE
from .._evidence import ask
from .._evidence.sources import Evidence
from .._ground.reading import Reading
from .._parse.strtoll import number


def read(evidence: Evidence, name: str, otherwise: int) -> Reading[int]:
    """The number by which NCCL goes, ``otherwise`` where the file sets none or is not there.

    What _nccl/conf.py reads of one name; a test holds them to each other.
    """
    data = ask.data(evidence, SYSTEM_FILE)
    if data.value is None:
        return Reading(otherwise) if data.missing else Reading(None, data.why)
    # The first line counts, and a blank beside the = is part of the name or of the value.
    lines = (line.split(b"\0")[0].rstrip(b"\r").partition(b"=") for line in data.value.split(b"\n"))
    value = next((value for key, _equals, value in lines if key == name.encode() and _equals), None)
    if value is None:
        return Reading(otherwise)
    found = number(value.decode("latin-1")).value
    return Reading(found, "" if found is not None else f"{SYSTEM_FILE}: {name} is out of range")
