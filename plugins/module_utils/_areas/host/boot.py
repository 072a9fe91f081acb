# SPDX-License-Identifier: GPL-3.0-or-later
"""Which kernel the next boot starts: as grubby says; else the newest, unless one was chosen."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field

from ..._evidence import ask
from ..._evidence.sources import Evidence
from ..._ground.reading import Reading
from . import reboot

BOOT = "/boot"
MODULES = "/lib/modules"
GRUB = "/etc/default/grub"
# Read after it, in the order of their names (Debian family).
DROPINS = "/etc/default/grub.d"
GRUBENV = ("/boot/grub/grubenv", "/boot/grub2/grubenv")
_IMAGE = "vmlinuz-"
# What GRUB takes for no kernel (grub_file_is_not_garbage), and copies that somebody put aside.
_ASIDE = re.compile(r".*(?:~|\.dpkg-[a-z]+|\.rpm(?:save|new)|\.sig|\.signed|\.old|\.bak)")
_DEFAULT = re.compile(r"^[ \t]*(?:export[ \t]+)?GRUB_DEFAULT=(.*)$", re.MULTILINE)
# As grub-mkconfig names its entries: the title, or the id.
_TITLE = re.compile(r".*[Ww]ith Linux (\S{1,120})(?: \([^()]{1,40}\))?")
_ID = re.compile(r"(?:.*>)?gnulinux-(\S{1,120}?)-(?:advanced|recovery|init-[a-z]+)-[0-9A-Za-z-]+")


@dataclass(frozen=True)
class Next:
    """``kernels``: any of these may be next. ``because``: who chose, where it is not the newest."""

    kernels: Reading[tuple[str, ...]] = field(default_factory=Reading)
    because: str = ""


def images(evidence: Evidence) -> Reading[tuple[str, ...]]:
    """The kernels that have an image in /boot."""
    found = ask.names(evidence, BOOT)
    if found.value is None:
        return Reading(None, found.why)
    names = [item for item in found.value if item.startswith(_IMAGE) and not _ASIDE.fullmatch(item)]
    return Reading(tuple(name[len(_IMAGE) :] for name in names))


def installed(evidence: Evidence) -> Reading[tuple[str, ...]]:
    """The kernels that have an image in /boot and a tree of modules."""
    releases = images(evidence)
    if releases.value is None:
        return releases
    trees = ask.names(evidence, MODULES)
    if trees.value is None:
        return Reading(None, trees.why)
    known = tuple(release for release in releases.value if release in trees.value)
    return Reading(known) if known else Reading(None, f"{BOOT}: no kernel with modules in it")


def choice(evidence: Evidence) -> Reading[tuple[str, str]]:
    """What GRUB_DEFAULT says where it is not the first entry, which is the newest kernel's, and the
    file that says so last; ("", "") where none does."""
    names = ask.names(evidence, DROPINS)
    if names.value is None and not names.missing:
        return Reading(None, names.why)
    paths = [GRUB, *(f"{DROPINS}/{name}" for name in names.value or () if name.endswith(".cfg"))]
    chosen, by = "0", ""
    for path in paths:
        text = ask.text(evidence, path)
        if text.value is None and not text.missing:
            return Reading(None, text.why)
        for said in _DEFAULT.findall(text.value or ""):
            chosen, by = said.strip().strip("\"'"), path
    return Reading(("", "") if chosen in ("", "0") else (chosen, by))


def newest(evidence: Evidence) -> Reading[str]:
    """Missing (and so no reason to boot) where the operator chooses, for that is theirs to say."""
    once = _remembered(evidence, "next_entry")
    if once:
        return Reading(None, f"grub-reboot chose {once}", missing=True)
    chosen = choice(evidence)
    if chosen.value is None:
        return Reading(None, chosen.why)
    if chosen.value[0]:
        return Reading(None, f"{chosen.value[1]} chooses {chosen.value[0]}", missing=True)
    return installed(evidence).map(lambda found: reboot.newest(list(found)))


def candidates(evidence: Evidence) -> Next:
    """What the next boot may start; every kernel where somebody chose one and nobody can tell."""
    once = _remembered(evidence, "next_entry")
    if once:
        return _chosen(once, installed(evidence), f"grub-reboot chose {once}")
    reported = ask.command(evidence, "grubby_kernel", default_kernel)
    if reported.value is not None:
        return Next(Reading((reported.value,)))
    if not reported.missing and "not in the bundle" not in reported.why and "not installed" not in reported.why:
        return Next(Reading(None, reported.why))
    kernels, chosen = installed(evidence), choice(evidence)
    if chosen.value is None:
        return Next(Reading(None, chosen.why))
    entry, by = chosen.value
    if kernels.value is None:
        return Next(Reading(None, kernels.why))
    if not entry:
        # GRUB asks for no modules: one without any is started all the same.
        return Next(images(evidence).map(lambda found: (reboot.newest(list(found)),)))
    because = f"{by} says GRUB_DEFAULT={entry}"
    if entry == "saved":
        entry = _remembered(evidence, "saved_entry")
        because += f" ({entry})"
    return _chosen(entry, kernels, because)


def _chosen(entry: str, kernels: Reading[tuple[str, ...]], because: str) -> Next:
    release = named(entry)
    return Next(Reading((release,)) if release in (kernels.value or ()) else kernels, because)


def _remembered(evidence: Evidence, name: str) -> str:
    """The entry that GRUB remembers by this name; "" where it remembers none."""
    text = "\n".join(ask.text(evidence, path).value or "" for path in GRUBENV)
    reported = [line.partition("=")[2] for line in text.split("\n") if line.startswith(f"{name}=")]
    return reported[-1].strip() if reported else ""


def named(chosen: str) -> str:
    """The kernel that an entry of GRUB is for, by its title or its id; "" where it does not say."""
    match = _TITLE.fullmatch(chosen) or _ID.fullmatch(chosen)
    return match.group(1) if match else ""


def default_kernel(text: str) -> str:
    """The release in what ``grubby --default-kernel`` prints; ValueError where there is none."""
    image = posixpath.basename(text.strip())
    if not image.startswith(_IMAGE) or "\n" in text.strip():
        raise ValueError(f"grubby --default-kernel said {text.strip()[:80]!r}")
    return image[len(_IMAGE) :]
