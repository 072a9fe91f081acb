# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m sandbox.machines``: the command line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from sandbox.command import program, say, which, words
from sandbox.errors import SandboxError
from sandbox.machines import base, config, lifecycle, qemu


def parser() -> argparse.ArgumentParser:
    common = which(config.DEFAULT_NAME, config.DEFAULT_SUBNET, "the machines' data network")
    entry = argparse.ArgumentParser(add_help=False, parents=[common])
    entry.add_argument("machine", choices=config.MACHINES)

    top = argparse.ArgumentParser(prog="sandbox.machines", description=sys.modules["sandbox.machines"].__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", parents=[common], help="make two bare machines")
    up.add_argument("--keep", action="store_true", help="leave a running pair as it is")
    up.add_argument(
        "--minutes",
        type=float,
        default=lifecycle.MINUTES,
        help="the watchdog ends the machines then; default: %(default)s",
    )
    commands.add_parser("down", parents=[common], help="remove them, keep the base image")
    commands.add_parser("clean", parents=[common], help="remove this checkout's and every base image")
    state = commands.add_parser("status", parents=[common], help="tell how they are")
    state.add_argument("--json", action="store_true")
    commands.add_parser("kill", parents=[entry], help="cut the power")
    start = commands.add_parser("start", parents=[entry], help="turn on again, and wait")
    start.add_argument("--no-wait", action="store_true", help="do not wait until it has booted")
    commands.add_parser("reset", parents=[entry], help="cut the power, and start with a bare disk")
    link = commands.add_parser("link", parents=[entry], help="pull a cable, or plug it in")
    link.add_argument("want", choices=["on", "off"])
    link.add_argument("card", nargs="?", choices=config.CARDS, default="data")
    run = commands.add_parser("exec", parents=[entry], help="run a command, or a shell, by ssh")
    run.add_argument("argv", nargs=argparse.REMAINDER, metavar="COMMAND")
    return top


def main(argv: Sequence[str]) -> int:
    given = parser().parse_args(argv)
    box = config.pair(given.name, given.subnet, given.state)
    if given.command == "up":
        lifecycle.up(box, say, keep=given.keep, minutes=given.minutes)
    elif given.command in ("down", "clean"):
        lifecycle.down(box, say)
        if given.command == "clean":
            _clean()
    elif given.command == "status":
        return _status(lifecycle.status(box), as_json=given.json)
    elif given.command == "kill":
        if not qemu.cut(box, given.machine):
            raise SandboxError(f"{given.machine} is off")
    elif given.command in ("start", "reset"):
        lifecycle.start(box, given.machine, bare=given.command == "reset")
        if given.command == "reset" or not given.no_wait:
            lifecycle.wait(box, [given.machine])
    elif given.command == "link":
        qemu.link(box, given.machine, given.card, up=given.want == "on")
    elif given.command == "exec":
        command = words(given.argv)
        lifecycle.execute(box, given.machine, command)
    return 0


def _clean() -> None:
    """Remove every other pair that this checkout has made, and the base images."""
    for other in lifecycle.made_here():
        lifecycle.down(other, say)
    if base.remove():
        say(f"removed {config.cache()}")


def _status(report: dict[str, object], *, as_json: bool) -> int:
    if as_json:
        say(json.dumps(report, indent=2))
    else:
        wrong = report["wrong"]
        say("healthy" if not isinstance(wrong, list) or not wrong else "; ".join(wrong))
    return 0 if report["healthy"] else 1


if __name__ == "__main__":
    program(main, "sandbox.machines")
