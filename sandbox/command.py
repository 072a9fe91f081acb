# SPDX-License-Identifier: GPL-3.0-or-later
"""What the command lines here have in common."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from sandbox.errors import SandboxError
from sandbox.signals import interrupted


def say(line: str) -> None:
    print(line, flush=True)


def which(name: str, subnet: str, of: str) -> argparse.ArgumentParser:
    """Return the options that name a sandbox; ``of``: whose network the subnet is."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--name", default=name, help="default: %(default)s")
    options.add_argument("--subnet", default=subnet, help=f"first three octets of {of}; default: %(default)s")
    options.add_argument("--state", help="default: .sandbox/NAME in the checkout")
    return options


def words(given: Sequence[str]) -> list[str]:
    """Return a command that may stand behind ``--``."""
    return list(given[1:] if given[:1] == ["--"] else given)


def program(main: Callable[[Sequence[str]], int], name: str) -> NoReturn:
    """End with what a command line says; a Ctrl-C cleans up first."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, interrupted)
    try:
        sys.exit(main(sys.argv[1:]))
    except SandboxError as exc:
        print(f"{name}: {exc}", file=sys.stderr)
        sys.exit(1)
