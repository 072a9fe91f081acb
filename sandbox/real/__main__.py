# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m sandbox.real``: the command line."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence

from sandbox import podman
from sandbox.config import REPOSITORY
from sandbox.errors import SandboxError
from sandbox.real import host, lifecycle
from sandbox.signals import interrupted


def say(line: str) -> None:
    print(line, flush=True)


def parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--name", default=host.DEFAULT_NAME, help="default: %(default)s")
    common.add_argument("--subnet", default=host.DEFAULT_SUBNET, help="first three octets; default: %(default)s")
    common.add_argument("--state", help="default: .sandbox/NAME in the checkout")
    top = argparse.ArgumentParser(prog="sandbox.real", description=sys.modules["sandbox.real"].__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("up", parents=[common], help="make the hosts from nothing")
    commands.add_parser("down", parents=[common], help="remove them, keep the images")
    commands.add_parser("clean", parents=[common], help="remove all that this checkout has made")
    run = commands.add_parser("exec", parents=[common], help="run a command as root")
    run.add_argument("node", choices=list(host.HOSTS))
    run.add_argument("argv", nargs=argparse.REMAINDER, metavar="COMMAND")
    return top


def main(argv: Sequence[str]) -> int:
    given = parser().parse_args(argv)
    box = host.hosts(given.name, given.subnet, given.state)
    if given.command == "up":
        lifecycle.up(box, say)
    elif given.command == "down":
        lifecycle.down(box, say)
    elif given.command == "clean":
        for file in sorted((REPOSITORY / ".sandbox").glob(f"*/{box.settings.name}")):
            made = json.loads(file.read_text())
            lifecycle.down(host.hosts(made["name"], made["subnet"], str(file.parent)), say)
    elif given.command == "exec":
        command = given.argv[1:] if given.argv[:1] == ["--"] else given.argv
        whole = podman.argv("exec", "--interactive", box.container(given.node), *command)
        os.execvp(whole[0], whole)
    return 0


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, interrupted)
    try:
        sys.exit(main(sys.argv[1:]))
    except SandboxError as exc:
        print(f"sandbox.real: {exc}", file=sys.stderr)
        sys.exit(1)
