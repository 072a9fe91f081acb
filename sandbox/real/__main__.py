# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m sandbox.real``: the command line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from sandbox import podman
from sandbox.command import program, say, which, words
from sandbox.config import REPOSITORY
from sandbox.real import host, lifecycle


def parser() -> argparse.ArgumentParser:
    common = which(host.DEFAULT_NAME, host.DEFAULT_SUBNET, "the hosts' network")
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
        command = words(given.argv)
        whole = podman.argv("exec", "--interactive", box.container(given.node), *command)
        os.execvp(whole[0], whole)
    return 0


if __name__ == "__main__":
    program(main, "sandbox.real")
