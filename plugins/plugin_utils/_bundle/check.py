# SPDX-License-Identifier: GPL-3.0-or-later
"""See that a bundle on the controller is whole and the site's own, before a host is touched."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import gpg, layout, sums
from .layout import BundleError, Manifest

_FETCH = "next: copy the bundle again from where it was made, or make it anew"


def signed_sums(home: Path, key: str) -> dict[str, str]:
    """Path to SHA256 as the site's key signed them; raises BundleError naming the bundle."""
    paths = {name: home / name for name in (layout.SUMS, layout.SIGNATURE, layout.KEY)}
    missing = [name for name, path in paths.items() if not path.is_file()]
    if missing:
        raise BundleError(
            f"{home} is no bundle: it has no {missing[0]}; next: make it with playbooks/bundle.yml "
            "where there is network, and copy the whole folder"
        )
    why = gpg.why_not(paths[layout.KEY].read_bytes(), key, paths[layout.SIGNATURE], paths[layout.SUMS])
    if why:
        raise BundleError(f"bundle {home} is not to be trusted: {why}; {_FETCH}")
    return layout.sums(paths[layout.SUMS].read_text(encoding="utf-8", errors="replace"))


def check(home: Path, key: str, wanted: Mapping[str, str]) -> Manifest:
    """The manifest of a bundle that is whole for some classes; raises BundleError.

    ``wanted``: class to the digest of its stack. Files of other classes are not read.
    """
    promised = signed_sums(home, key)
    used = {name: digest for name, digest in promised.items() if _is_used(name, wanted)}
    gone = [name for name in used if not (home / name).is_file()]
    if gone:
        raise BundleError(f"bundle {home} lacks {gone[0]}; {_FETCH}")
    damaged = [name for name, digest in sums.of(home, used).items() if digest != used[name]]
    if damaged:
        raise BundleError(
            f"bundle {home} is damaged: {', '.join(damaged[:3])} is not what {layout.SUMS} says; {_FETCH}"
        )
    if layout.MANIFEST not in used:
        raise BundleError(f"bundle {home} has no {layout.MANIFEST}; {_FETCH}")
    manifest = layout.manifest((home / layout.MANIFEST).read_text(encoding="utf-8"))
    for name, digest in wanted.items():
        if name not in manifest.classes:
            raise BundleError(
                f"bundle {home} has nothing for {name}; it has "
                f"{', '.join(manifest.classes) or 'no class'}; next: make it on an inventory that "
                "has such a host"
            )
        if manifest.classes[name].digest != digest:
            raise BundleError(
                f"bundle {home} was made for another stack of {name} than the lock says; next: put "
                f"{home}/stack.lock.yml where this inventory has its lock, or make the bundle anew"
            )
    return manifest


def _is_used(name: str, wanted: Mapping[str, str]) -> bool:
    folder, slash, _rest = name.partition("/")
    return not slash or folder in wanted
