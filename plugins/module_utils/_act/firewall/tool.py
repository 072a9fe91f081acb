# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tools of firewalls; what fails says which command and why."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Sequence

from ..._ground.command import Output, Unavailable, run_by_name

_TIMEOUT = 120.0


class FirewallError(ValueError):
    """Why the firewall is not as it should be, with the next step."""


@dataclass(frozen=True)
class Change:
    """What a firewall holds of ours, and what it is to hold, one line each.

    ``files``: by path, what is to be there for the next boot or reload, "" for no file.
    ``script``: what the tool is to do, in its own words.
    """

    before: tuple[str, ...]
    after: tuple[str, ...]
    script: tuple[str, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def needed(self) -> bool:
        return self.before != self.after or bool(self.script)


def ask(*argv: str) -> Output:
    """What a command prints, whatever it says by its status; FirewallError where it cannot run."""
    try:
        return run_by_name(argv, _TIMEOUT)
    except Unavailable as exc:
        raise FirewallError(f"{exc}. Next: run `{' '.join(argv[:6])}` on the host") from exc


def do(*argv: str) -> str:
    """What a command prints that has to end well."""
    output = ask(*argv)
    if output.rc != 0:
        said = output.stderr.strip() or output.stdout.strip() or "without a word"
        raise FirewallError(
            f"`{' '.join(argv[:12])}` ended with status {output.rc}: {said[:600]}. Next: run it on the host by hand"
        )
    return output.stdout


def do_script(argv: Sequence[str], lines: Sequence[str]) -> str:
    """The same with a file of these lines as the last argument."""
    fd, path = tempfile.mkstemp(prefix="ibready-")
    try:
        with open(fd, "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
        return do(*argv, path)
    finally:
        os.unlink(path)
