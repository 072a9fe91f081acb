# SPDX-License-Identifier: GPL-3.0-or-later
"""The boot loaders whose command line can be kept: GRUB with drop-ins (Debian), grubby (EL)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..._ground.command import Unavailable, is_there, run_by_name
from ..._ground.state import below, read, write
from . import kernel_args as args
from .kernel_args import KernelArgsError

DEFAULTS = "/etc/default/grub"
DROPINS = "/etc/default/grub.d"
DROPIN = f"{DROPINS}/90-ibready.cfg"
GRUB_CFG = "/boot/grub/grub.cfg"
# update-grub asks every disk for other systems; grubby rewrites every entry.
_LIMIT_S = 300.0


class NoBootLoader(Exception):
    """There is nothing here whose command line could be set, for this reason."""


class Grub:
    """Debian's GRUB: a drop-in of our own, and update-grub."""

    name = "update-grub"

    def __init__(self, root: str = "/") -> None:
        self._root = root
        self.path = below(root, DROPIN)

    def operators(self, before: Sequence[str]) -> tuple[str, ...]:
        """What everybody else's files give; `before` is in our own file only."""
        folder = below(self._root, DROPINS)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        paths = [below(self._root, DEFAULTS)]
        paths += [os.path.join(folder, name) for name in names if name.endswith(".cfg")]
        return args.operators_of(read(path) for path in paths if path != self.path)

    def ours(self) -> tuple[str, ...]:
        """What our drop-in adds now."""
        return args.arguments_of(read(self.path))

    def entries(self) -> dict[str, tuple[str, ...]]:
        return args.grub_entries(read(below(self._root, GRUB_CFG)))

    def text(self) -> str:
        """The drop-in as it is."""
        return read(self.path)

    def apply(self, plan: args.Plan) -> None:
        write(self.path, args.render(plan.ours), 0o644)
        _run(["update-grub"])


class Grubby:
    """EL: one program that edits every boot entry, and what new kernels begin with."""

    name = "grubby"
    path = ""

    def operators(self, before: Sequence[str]) -> tuple[str, ...]:
        """What is in any entry, without what we added."""
        everything = [entry for line in self.entries().values() for entry in line]
        return tuple(dict.fromkeys(entry for entry in everything if entry not in before))

    def ours(self) -> tuple[str, ...]:
        """An entry does not tell who added what: the caller remembers."""
        return ()

    def entries(self) -> dict[str, tuple[str, ...]]:
        return args.grubby_entries(_run(["grubby", "--info=ALL"]))

    def text(self) -> str:
        return ""

    def apply(self, plan: args.Plan) -> None:
        argv = ["grubby", "--update-kernel=ALL"]
        if plan.dropped:
            argv.append(f"--remove-args={' '.join(plan.dropped)}")
        if plan.ours:
            argv.append(f"--args={' '.join(plan.ours)}")
        _run(argv)


def find(root: str, container: str) -> Grub | Grubby:
    """The boot loader of this host; NoBootLoader with the reason where there is none to set."""
    if container:
        raise NoBootLoader(
            f"inside a container ({container}): the kernel and its command line belong to the machine that runs it"
        )
    if os.path.exists(below(root, DEFAULTS)) and is_there("update-grub"):
        return Grub(root)
    if is_there("grubby"):
        return Grubby()
    raise NoBootLoader(f"no boot loader that is known here: neither update-grub with {DEFAULTS}, nor grubby")


def _run(argv: list[str]) -> str:
    try:
        done = run_by_name(argv, _LIMIT_S)
    except Unavailable as exc:
        raise KernelArgsError(f"{exc}. Next: run `{' '.join(argv)}` by hand") from exc
    if done.rc != 0:
        said = (done.stderr or done.stdout).strip().split("\n")[-1]
        raise KernelArgsError(
            f"`{' '.join(argv)}` ended with status {done.rc}: {said or 'no word'}. Next: fix that and run this again"
        )
    return done.stdout
