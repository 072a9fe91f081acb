# SPDX-License-Identifier: GPL-3.0-or-later
"""Which exact versions a part means, of what is installed and what the repositories have."""

from __future__ import annotations

from typing import Callable, Collection, Iterable, Mapping, Sequence

from ..._parse.version_text import fits
from .model import Installed, PackageError, Part, Wanted, matches

# Names to versions, best first.
Versions = Callable[[Iterable[str]], Mapping[str, Sequence[str]]]
_SHOWN = 6


def is_as_wanted(wanted: Wanted, have: Installed | None) -> bool:
    return have is not None and have.whole and (not wanted.version or fits(have.version, wanted.version))


def strays(part: Part, installed: Mapping[str, Installed], others: Collection[str]) -> list[Wanted]:
    """Installed packages that the part owns, and that are not of the version it keeps to.

    ``others``: names that other parts brought.
    """
    named = {package.name for package in part.packages}
    found: dict[str, Wanted] = {}
    for pin in part.pins:
        for name, have in installed.items():
            if not pin.version or name in named or name in others or name in found:
                continue
            if matches(name, pin.names) and not fits(have.version, pin.version):
                # A name may stand in a pin of its own before a wider one.
                first = next(pin for pin in part.pins if matches(name, pin.names))
                if first.version and not fits(have.version, first.version):
                    found[name] = Wanted(name, first.version)
    return list(found.values())


def conflicting(part: Part, installed: Mapping[str, Installed], brought: Collection[str] = ()) -> list[str]:
    """Installed packages of another stack, that must go before the part can be there.

    ``brought``: what the part itself brought. Two stacks may share names.
    """
    mine = {*brought, *(package.name for package in part.packages)}
    return sorted(name for name in installed if name not in mine and matches(name, part.conflicts))


def pick(
    part: Part, installed: Mapping[str, Installed], others: Collection[str], versions: Versions
) -> tuple[list[Wanted], list[str]]:
    """Exact versions to install, and warnings; PackageError for what no repository has."""
    off = strays(part, installed, others)
    missing = [package for package in part.packages if not is_as_wanted(package, installed.get(package.name))]
    offered = versions([entry.name for entry in [*missing, *off]])
    found = []
    for package in part.packages:
        have = installed.get(package.name)
        if package in missing:
            found.append(_exact(part, package, offered.get(package.name, ())))
        elif have is not None:
            found.append(Wanted(package.name, have.version))
    warnings = []
    for item in off:
        fit = [text for text in offered.get(item.name, ()) if fits(text, item.version)]
        if fit:
            found.append(Wanted(item.name, fit[0]))
        else:
            warnings.append(f"{item.name} {installed[item.name].version} stays: no repository has it as {item.version}")
    return found, warnings


def elsewhere(
    part: Part,
    installed: Mapping[str, Installed],
    picked: Sequence[Wanted],
    brought: Sequence[str],
    offered: Versions,
) -> list[Wanted]:
    """What the part brought of another release than its repositories have now, as they have it.

    Names whose pins leave the version open belong to the release that a repository is.
    """
    named = {entry.name for entry in picked}
    pins = [pin for pin in part.pins if not pin.version]
    asked = [name for name in brought if name not in named and any(matches(name, pin.names) for pin in pins)]
    found = offered(asked)
    return [
        Wanted(name, found[name][0]) for name in asked if found.get(name) and installed[name].version not in found[name]
    ]


def _exact(part: Part, wanted: Wanted, offered: Sequence[str]) -> Wanted:
    if not offered:
        raise PackageError(
            "version",
            f"part {part.name}: no repository has a package {wanted.name}",
            "see that the repositories are those that the plan means, or plan anew",
        )
    if not wanted.version:
        return wanted
    fit = [text for text in offered if fits(text, wanted.version)]
    if not fit:
        shown = ", ".join(offered[:_SHOWN]) + (", ..." if len(offered) > _SHOWN else "")
        raise PackageError(
            "version",
            f"part {part.name}: no repository has {wanted.name} {wanted.version}; they have {shown}",
            "plan anew with a version that is there (-e stack_relock=true), or give a mirror that still has it",
        )
    return Wanted(wanted.name, fit[0])
