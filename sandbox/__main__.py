# SPDX-License-Identifier: GPL-3.0-or-later
"""``python -m sandbox``: the command line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from sandbox import config, faults, image, lifecycle, saved
from sandbox.command import program, say, which, words
from sandbox.errors import SandboxError


def parser() -> argparse.ArgumentParser:
    common = which(config.DEFAULT_NAME, config.DEFAULT_SUBNET, "the nodes' network")

    top = argparse.ArgumentParser(prog="sandbox", description=sys.modules["sandbox"].__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", parents=[common], help="make the sandbox from nothing")
    up.add_argument("--keep", action="store_true", help="leave a healthy one as it is")
    up.add_argument(
        "--os",
        dest="system",
        choices=config.SYSTEMS,
        default=config.SYSTEMS[0],
        help="what the nodes play: Ubuntu 24.04, or EL 9 (Rocky 9.4); default: %(default)s",
    )
    commands.add_parser("down", parents=[common], help="remove it, keep the images")
    commands.add_parser("save", parents=[common], help="keep the nodes as they are now")
    commands.add_parser("restore", parents=[common], help="make the nodes anew as they were saved, in seconds")
    commands.add_parser("clean", parents=[common], help="remove it and every image of ours")
    state = commands.add_parser("status", parents=[common], help="tell how it is")
    state.add_argument("--json", action="store_true")
    broken = commands.add_parser("break", parents=[common], help="make one fault")
    broken.add_argument("fault", nargs="?", help="which; without one they are listed")
    broken.add_argument("node", nargs="?", help="where; default: the fault's own")
    healed = commands.add_parser("heal", parents=[common], help="undo the faults")
    healed.add_argument("fault", nargs="?", help="only this one")
    healed.add_argument("node", nargs="?", help="only on this node")
    run = commands.add_parser("exec", parents=[common], help="run a command as root")
    run.add_argument("where", choices=[*config.NODES, "fabric"])
    run.add_argument("argv", nargs=argparse.REMAINDER, metavar="COMMAND")
    return top


def main(argv: Sequence[str]) -> int:
    given = parser().parse_args(argv)
    system = given.system if given.command == "up" else None
    box = config.sandbox(given.name, given.subnet, given.state, system)
    if given.command == "up":
        lifecycle.up(box, say, keep=given.keep)
    elif given.command == "down":
        lifecycle.down(box, say)
    elif given.command == "save":
        saved.save(box, say)
    elif given.command == "restore":
        saved.restore(box, say)
    elif given.command == "clean":
        _clean(box)
    elif given.command == "break":
        if given.fault is None:
            for fault in faults.known().values():
                where = f"  (default: {fault.default_node})" if fault.needs_node else ""
                say(f"{fault.name:<18}{fault.title}{where}")
        else:
            faults.strike(box, given.fault, given.node, say)
    elif given.command == "heal":
        faults.heal(box, given.fault, given.node, say)
    elif given.command == "status":
        return _status(lifecycle.status(box), as_json=given.json)
    elif given.command == "exec":
        command = words(given.argv)
        if not command:
            raise SandboxError("exec needs a command: python -m sandbox exec node1 -- ibstat")
        lifecycle.execute(box, given.where, command)
    return 0


def _clean(box: config.Sandbox) -> None:
    """Remove this sandbox, every other one that this checkout has made, and the images."""
    lifecycle.down(box, say)
    for other in lifecycle.made_here():
        lifecycle.down(other, say)
    for name in image.remove(image.tags(), say):
        say(f"removed {name}")


def _status(report: dict[str, object], *, as_json: bool) -> int:
    if as_json:
        say(json.dumps(report, indent=2))
    else:
        ports = report.get("ports")
        for name, port in ports.items() if isinstance(ports, dict) else ():
            say(f"{name:<14} {port['state']:<7} {port['gbps']:4.0f} Gb/s  lid {port['lid']}")
        wrong = report["wrong"]
        say("healthy" if not isinstance(wrong, list) or not wrong else "; ".join(wrong))
    return 0 if report["healthy"] else 1


if __name__ == "__main__":
    program(main, "sandbox")
