# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse a PCI function's vital product data (its ``vpd`` file in sysfs)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator

from .._ground.text import ParseError

# Large resource tags of the PCI Local Bus specification, appendix I: two bytes of length follow.
_NAME = 0x82
_READ_ONLY = 0x90
_WRITABLE = 0x91
# The mark of the HCA functions on HGX B200 and B300 boards that lead to the NVLink switches.
_SWITCH_MANAGER = "SW_MNG"


@dataclass(frozen=True)
class Vpd:
    """``name``: the product's; ``fields``: the rest by its two-letter keyword."""

    name: str = ""
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def is_switch_manager(self) -> bool:
        """Whether this HCA function is there to manage NVLink switches and is no HCA to use."""
        return any(_SWITCH_MANAGER in text for text in (self.name, *self.fields.values()))


def parse(data: bytes) -> Vpd:
    """Read the resources up to the end tag, or to where the data is cut."""
    name = ""
    fields: dict[str, str] = {}
    for tag, body, _whole in _resources(data):
        if tag == _NAME:
            name = _text(body)
        else:
            fields.update(_keywords(body))
    if not name and not fields:
        raise ParseError("vpd", 0, "", "no product data in it")
    return Vpd(name, fields)


def product(data: bytes) -> str:
    """The product's whole name; ParseError where there is none, or its beginning alone."""
    for tag, body, whole in _resources(data):
        if tag == _NAME and not whole:
            raise ParseError("vpd", 0, "", "the product's name is cut")
        if tag == _NAME and _text(body):
            return _text(body)
    raise ParseError("vpd", 0, "", "no name of a product in it")


def _resources(data: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """Tag and content of each, and whether all of it is there."""
    at = 0
    while at < len(data) and data[at] in (_NAME, _READ_ONLY, _WRITABLE):
        end = at + 3 + int.from_bytes(data[at + 1 : at + 3], "little")
        yield data[at], data[at + 3 : end], len(data) >= max(at + 3, end)
        at = end


def _keywords(body: bytes) -> dict[str, str]:
    found = {}
    at = 0
    while at + 3 <= len(body):
        size = body[at + 2]
        found[_text(body[at : at + 2])] = _text(body[at + 3 : at + 3 + size])
        at += 3 + size
    return found


def _text(raw: bytes) -> str:
    return "".join(entry for entry in raw.decode("ascii", "replace") if entry.isprintable()).strip()
