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
from sandbox.machines import lifecycle as machines, qemu
from sandbox.real import host, lifecycle, machine
from sandbox.steps import locked


def parser() -> argparse.ArgumentParser:
    common = which(host.DEFAULT_NAME, host.DEFAULT_SUBNET, "the hosts' network")
    top = argparse.ArgumentParser(prog="sandbox.real", description=sys.modules["sandbox.real"].__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("up", parents=[common], help="make the hosts from nothing")
    commands.add_parser("down", parents=[common], help="remove them, keep the images")
    commands.add_parser("clean", parents=[common], help="remove all that this checkout has made")
    entry = argparse.ArgumentParser(add_help=False, parents=[common])
    entry.add_argument("node", choices=list(host.HOSTS))
    power = argparse.ArgumentParser(add_help=False, parents=[entry])
    power.add_argument("--without-gpu", action="store_true", help="nothing on the PCI bus")
    power.add_argument("--minutes", type=float, default=machine.MINUTES, help="ended then; default: %(default)s")
    commands.add_parser("boot", parents=[power], help="make a machine of a host as it is now, and start it")
    commands.add_parser("start", parents=[power], help="start the machine again as it was left")
    commands.add_parser("kill", parents=[entry], help="cut the machine's power")
    enrol = commands.add_parser("enrol", parents=[entry], help="answer MokManager after `mokutil --import`, a reboot")
    enrol.add_argument("password", help="that was given to mokutil")
    shell = commands.add_parser("ssh", parents=[entry], help="run a command, or a shell, in the machine")
    shell.add_argument("argv", nargs=argparse.REMAINDER, metavar="COMMAND")
    run = commands.add_parser("exec", parents=[entry], help="run a command as root in the container")
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
    elif given.command in ("boot", "start"):
        turn_on = machine.boot if given.command == "boot" else machine.start
        with locked(box):
            turn_on(box, given.node, say, with_gpu=not given.without_gpu, minutes=given.minutes)
    elif given.command == "kill":
        qemu.cut(box, given.node)
    elif given.command == "enrol":
        machine.enrol(box, given.node, given.password)
    elif given.command == "ssh":
        machines.execute(box, given.node, words(given.argv))
    elif given.command == "exec":
        command = words(given.argv)
        whole = podman.argv("exec", "--interactive", box.container(given.node), *command)
        os.execvp(whole[0], whole)
    return 0


if __name__ == "__main__":
    program(main, "sandbox.real")
