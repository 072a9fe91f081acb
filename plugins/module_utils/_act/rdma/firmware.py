# SPDX-License-Identifier: GPL-3.0-or-later
"""The firmware of NVIDIA's cards: what mstflint says of a card or an image, and which card is to have which image.

The words of ``query`` are those of mstflint 4.x (github.com/Mellanox/mstflint, flint/subcommands.cpp): the line of the
running version is there only where the flash holds another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, Mapping, Sequence

_FIELD = re.compile(r"(FW Version|FW Version\(Running\)|PSID):\s+(\S+)\s*")
_VERSION = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,5}){2}")
_PSID = re.compile(r"[A-Za-z0-9_]{3,16}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_KEYS = ("image", "psid", "sha256", "version")


class FirmwareError(ValueError):
    """What mstflint said is not understood, or what was asked for cannot be meant."""


@dataclass(frozen=True)
class Image:
    """A file of firmware for the cards of one PSID (board id). ``path``: where it lies on the controller."""

    psid: str
    version: str
    path: str
    sha256: str


@dataclass(frozen=True)
class Card:
    """``device``: PCI address. ``flash``: what the next boot starts. ``wanted``: "" where no image is for this card."""

    device: str
    psid: str
    flash: str
    running: str
    wanted: str = ""

    @property
    def behind(self) -> str:
        """In words: that the flash does not hold what is wanted."""
        if self.wanted in ("", self.flash):
            return ""
        return f"{self.device} ({self.psid}) has {self.flash} instead of {self.wanted}"

    @property
    def pending(self) -> str:
        """In words: that what the flash holds waits for a boot."""
        if self.flash == self.running:
            return ""
        return f"{self.device} ({self.psid}) runs {self.running}, {self.flash} is on its flash"


def images(given: Sequence[Any]) -> tuple[Image, ...]:
    """The images that a site names; FirmwareError where they cannot be meant."""
    found: dict[str, Image] = {}
    for number, entry in enumerate(given, 1):
        what = f"rdma_firmware, entry {number}"
        if not isinstance(entry, Mapping) or sorted(map(str, entry)) != list(_KEYS):
            raise FirmwareError(f"{what}: {entry!r}. Next: say psid, version, image and sha256")
        psid, version, path, digest = (str(entry[key]) for key in ("psid", "version", "image", "sha256"))
        for value, form, kind, like in (
            (psid, _PSID, "PSID", "MT_0000000838"),
            (version, _VERSION, "version", "28.43.2026"),
            (digest, _SHA256, "sha256", "the 64 digits that sha256sum prints"),
        ):
            if not form.fullmatch(value):
                raise FirmwareError(f"{what}: {value!r} is no {kind}. Next: say {like}")
        if not path:
            raise FirmwareError(f"{what}: no file is named. Next: say where the image lies on the controller")
        if psid in found:
            raise FirmwareError(f"{what}: {psid} is named twice. Next: keep a single image for it")
        found[psid] = Image(psid, version, path, digest)
    return tuple(found.values())


def parse(device: str, text: str) -> Card:
    """What ``mstflint -d DEVICE query`` says; of an image running is flash. FirmwareError without PSID or version."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _FIELD.fullmatch(line)
        if match is not None and match.group(1) not in found:
            found[match.group(1)] = match.group(2)
    flash, psid = found.get("FW Version", ""), found.get("PSID", "")
    running = found.get("FW Version(Running)", flash)
    if not (_VERSION.fullmatch(flash) and _VERSION.fullmatch(running) and _PSID.fullmatch(psid)):
        raise FirmwareError(f"{device}: mstflint tells no firmware version and PSID: {text.strip()[-200:]!r}")
    return Card(device, psid, flash, running)


def with_wanted(cards: Sequence[Card], asked: Sequence[Image]) -> list[Card]:
    """The cards, each with the version of the image that is for its PSID."""
    versions = {image.psid: image.version for image in asked}
    return [replace(card, wanted=versions.get(card.psid, "")) for card in cards]
