# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies in a bundle, and the texts that say so; pure.

SHA256SUMS SHA256SUMS.asc   every file but these two, and the site's signature of that
ibready-bundle.asc          the site's public key
bundle.json                 the manifest
stack.lock.yml stack.sbom.cdx.json   what it was made from
CLASS/                      one repository a class: packages, index, signature of the index
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...module_utils._ground import strict

SCHEMA = "ibready/bundle/1"
SUMS = "SHA256SUMS"
SIGNATURE = "SHA256SUMS.asc"
KEY = "ibready-bundle.asc"
MANIFEST = "bundle.json"
FINGERPRINT = re.compile(r"[0-9A-F]{40}")
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
# Neither a folder above nor a hidden file.
_PATH = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_.+~=-]*/){0,2}[A-Za-z0-9][A-Za-z0-9_.+~=-]*")


class BundleError(ValueError):
    """The bundle cannot be made or used; the message names it, the cause and the next step."""


@dataclass(frozen=True)
class Class:
    """One class of the bundle: ``kind`` apt or dnf, ``digest`` of its stack, files and sums.

    ``made_on``: the host that was asked. ``packages``: file name to [name, version].
    """

    kind: str
    digest: str
    made_on: str
    kernels: tuple[str, ...]
    packages: Mapping[str, tuple[str, str]]

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "digest": self.digest,
            "made_on": self.made_on,
            "kernels": list(self.kernels),
            "packages": {name: list(self.packages[name]) for name in sorted(self.packages)},
        }


@dataclass(frozen=True)
class Manifest:
    """``simulated``: why the hosts that it was made on are none, "" for real ones."""

    created: str
    made_by: str
    simulated: str
    classes: Mapping[str, Class] = field(default_factory=dict)

    def text(self) -> str:
        raw = {
            "schema": SCHEMA,
            "created": self.created,
            "made_by": self.made_by,
            "simulated": self.simulated,
            "classes": {name: self.classes[name].to_dict() for name in sorted(self.classes)},
        }
        return json.dumps(raw, indent=1) + "\n"


def manifest(text: str) -> Manifest:
    """Read a manifest; raises BundleError."""
    try:
        raw = strict.loads(text)
        if raw["schema"] != SCHEMA:
            raise ValueError(f"schema is not {SCHEMA}")
        classes = {
            path(name): Class(
                str(kind["kind"]),
                str(kind["digest"]),
                str(kind["made_on"]),
                tuple(map(str, kind["kernels"])),
                {path(file): (str(two[0]), str(two[1])) for file, two in kind["packages"].items()},
            )
            for name, kind in raw["classes"].items()
        }
        return Manifest(str(raw["created"]), str(raw["made_by"]), str(raw["simulated"]), classes)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as exc:
        raise BundleError(
            f"{MANIFEST} is no manifest of this version: {exc!r}; next: make the bundle anew with playbooks/bundle.yml"
        ) from None


def path(text: str) -> str:
    """A path below the bundle's folder; raises BundleError for one that leads elsewhere."""
    if not _PATH.fullmatch(text):
        raise BundleError(f"{text!r} is no path of a bundle; next: see who made the bundle")
    return text


def sums_text(sums: Mapping[str, str]) -> str:
    """SHA256SUMS, as sha256sum writes and reads it."""
    return "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))


def sums(text: str) -> dict[str, str]:
    """Path to SHA256; raises BundleError for a line that is none."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise BundleError(
                f"line {number} of {SUMS} is none of sha256sum: {line[:80]!r}; next: copy the bundle again"
            )
        found[path(match.group(2))] = match.group(1)
    return found


def fingerprint(given: object) -> str:
    """The site's key as 40 upper-case hex digits; raises BundleError."""
    text = str(given or "").replace(" ", "").upper()
    if not FINGERPRINT.fullmatch(text):
        raise BundleError(
            f"stack_bundle_key is {given!r}, and has to be the fingerprint of the key that signs "
            "the bundle, 40 hex digits; next: read it with `gpg --list-secret-keys` where the "
            "bundle is made"
        )
    return text


def is_directory(bundle: str) -> bool:
    """Whether it is a folder of the controller (and not an address that the nodes read)."""
    return not bundle.startswith(("http://", "https://", "file://"))
