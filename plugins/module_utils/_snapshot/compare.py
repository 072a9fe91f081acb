# SPDX-License-Identifier: GPL-3.0-or-later
"""What packages have to do to be those of a snapshot, and what speaks against it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Callable, Mapping, Sequence

from ansible_collections.ibready.cluster.plugins.module_utils._packages.model import (
    Change,
    PackageError,
    matches,
)
from ansible_collections.ibready.cluster.plugins.module_utils._snapshot.model import (
    Package,
    Packages,
)

# The name of a package without its architecture.
Plain = Callable[[Package], str]
_SHOWN = 8
_EPOCH = re.compile(r"^[0-9]+:")


@dataclass(frozen=True)
class Way:
    """The way back. ``come``: to be there in just this version; ``go``: to be purged."""

    come: tuple[Package, ...] = ()
    go: tuple[Package, ...] = ()
    automatic: tuple[str, ...] = ()
    manual: tuple[str, ...] = ()
    hold: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    residue: tuple[str, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether there is anything for a transaction to do."""
        return bool(self.come or self.go)


def way(now: Packages, then: Packages, keep: Sequence[str], plain: Plain) -> Way:
    """``keep``: names (globs) that stay as they are, whatever the snapshot says."""
    if now.manager != then.manager:
        raise PackageError(
            "input",
            f"the snapshot is of a host with {then.manager}, and this one has {now.manager}",
            "converge the host with the lock that is wanted instead",
        )

    def free(package: Package) -> bool:
        return not matches(plain(package), keep)

    come = sorted(one for one in then.installed - now.installed if free(one))
    coming = {one.name for one in come}
    gone = sorted(one for one in now.installed - then.installed if free(one))
    there = {one.name for one in then.installed}
    # What only changes its version comes; several versions beside each other (kernels) go by name.
    go = [one for one in gone if one.name not in coming or _several(one, now)]
    stays = {one.name for one in now.installed & then.installed} | coming
    stays |= {one.name for one in now.installed if one.name in there and not free(one)}
    return Way(
        tuple(come),
        tuple(go),
        tuple(sorted((then.automatic - now.automatic) & stays)),
        tuple(sorted((now.automatic - then.automatic) & stays)),
        tuple(sorted((then.held - now.held) & stays)),
        tuple(sorted((now.held - then.held) & stays)),
        tuple(sorted(now.residue - then.residue)),
    )


def _several(one: Package, now: Packages) -> bool:
    return sum(other.name == one.name for other in now.installed) > 1


def see_offered(
    wanted: Sequence[Package],
    offered: Mapping[str, Sequence[str]],
    plain: Plain,
    said: Sequence[str],
) -> None:
    """Refuse where a version of the snapshot is no longer to be had."""
    lost = [one for one in wanted if one.version not in offered.get(plain(one), ())]
    if not lost:
        return
    named = ", ".join(f"{one.name} {one.version}" for one in lost[:_SHOWN])
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    raise PackageError(
        "version",
        f"no repository has {named}{more} any more, which the snapshot holds",
        "give a repository that still has it, or let such packages stay as they are with"
        " stack_rollback_keep (names or globs)",
        " ".join(said),
    )


def see_only(changes: Sequence[Change], asked: Way, plain: Plain) -> None:
    """Refuse a transaction that would do more, or less, than was asked for."""
    named = {plain(one) for one in (*asked.come, *asked.go)}
    more = sorted({one.name for one in changes} - named)
    if more:
        raise PackageError(
            "conflict",
            f"to go back, the package manager would also change {', '.join(more[:_SHOWN])}",
            "see why with the package manager on the host; packages that stack_rollback_keep names"
            " may be what holds them",
        )


def see_kernel(go: Sequence[Package], plain: Plain, running: str) -> None:
    """Refuse to take the running kernel away."""
    for one in go:
        name = plain(one)
        image = name.startswith(("linux-image", "linux-modules")) and running in name
        version = _EPOCH.sub("", one.version)
        if image or (name.startswith("kernel") and running.startswith(version)):
            raise PackageError(
                "conflict",
                f"{one.name} {one.version} was not there at the time of the snapshot, and its"
                f" kernel {running} runs",
                "boot the kernel of before first, or let kernels stay as they are:"
                ' -e \'{"stack_rollback_keep": ["linux-*", "kernel*"]}\'',
            )


def see_it_holds(now: Packages, then: Packages, keep: Sequence[str], plain: Plain) -> None:
    """Refuse to call it done where a package is not what it was."""
    left = way(now, then, keep, plain)
    off = [f"{one.name} is not {one.version}" for one in left.come]
    off += [f"{one.name} {one.version} is still there" for one in left.go]
    if off:
        raise PackageError(
            "mixture",
            f"the package manager ended well, yet {'; '.join(off[:_SHOWN])}",
            "see its log (/var/log/apt/term.log, /var/log/dnf.log), then run this again",
            changed=True,
        )
