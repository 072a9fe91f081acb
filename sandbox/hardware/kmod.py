# SPDX-License-Identifier: GPL-3.0-or-later
"""modprobe, rmmod, insmod, modinfo and depmod of a node's simulated kernel (lsmod, dmesg: node/kernel_says.sh).

Each is a link of its name to the program simulated-kmod. Called by that name itself, the program
takes ``plant`` (write the distribution's modules), ``autoload`` (what udev and systemd do at boot)
or ``hold MODULE PID`` (a daemon opens the module's devices).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from sandbox.hardware import modfile, shown
from sandbox.hardware.kernel import HOLDERS, Kernel, ModuleError
from sandbox.hardware.modfile import underscored
from sandbox.hardware.settings import node_kernel
from sandbox.hardware.tree import below

NAME = "simulated-kmod"
TOOLS = ("modprobe", "rmmod", "insmod", "modinfo", "depmod")
_MAGIC = "{} SMP preempt mod_unload modversions"


def main(name: str, args: Sequence[str], root: Path = Path("/")) -> int:
    """Do what the tool of this name does; its exit status."""
    kernel = node_kernel(root)
    try:
        if name == "modinfo":
            return _modinfo(kernel, args)
        if name == "depmod":
            return _depmod(kernel, args)
        with kernel.held():
            try:
                return _change(kernel, name, args)
            finally:
                shown.show(kernel)
    except ModuleError as exc:
        print(f"{name}: {exc}", file=sys.stderr)
        return 1


def _change(kernel: Kernel, name: str, args: Sequence[str]) -> int:
    if name == "modprobe":
        return _modprobe(kernel, args)
    if name == "rmmod":
        for word in _words(args):
            kernel.unload(word)
        return 0
    if name == "insmod":
        path = Path(_words(args)[0])
        file = modfile.read(path, str(path))
        if file.name in kernel.loaded:
            raise ModuleError(f"ERROR: could not insert module {path}: File exists")
        kernel.insert(file)
        return 0
    if args and args[0] == "plant":
        plant(kernel)
        return 0
    if args and args[0] == "autoload":
        for said in kernel.autoload():
            print(f"{NAME}: {said}", file=sys.stderr)
        return 0
    if len(args) == 3 and args[0] == "hold":
        home = below(kernel.root, f"{HOLDERS}/{underscored(args[1])}")
        home.mkdir(parents=True, exist_ok=True)
        (home / str(int(args[2]))).write_text("")
        return 0
    print(f"{NAME}: plant, autoload or hold MODULE PID", file=sys.stderr)
    return 64


def _words(args: Sequence[str]) -> list[str]:
    return [arg for arg in args if not arg.startswith("-")]


def _modprobe(kernel: Kernel, args: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="modprobe", add_help=False)
    parser.add_argument("-r", "--remove", action="store_true")
    parser.add_argument("-n", "--dry-run", "--show", action="store_true")
    parser.add_argument("-q", "--quiet", action="store_true")
    parser.add_argument("-a", "--all", action="store_true")
    parser.add_argument("-b", "--use-blacklist", action="store_true")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("-S", "--set-version", default=kernel.release)
    parser.add_argument("words", nargs="*")
    given = parser.parse_args(list(args))
    # Without -a what follows the first name are parameters.
    names = given.words if given.all or given.remove else given.words[:1]
    try:
        for name in names:
            if given.dry_run:
                found = kernel.files().get(underscored(name))
                if found is None and underscored(name) not in kernel.loaded:
                    where = f"/lib/modules/{kernel.release}"
                    raise ModuleError(f"FATAL: Module {name} not found in directory {where}")
                for path in kernel.waiting(name) if given.verbose else ():
                    print(f"insmod {path}")
            elif given.remove:
                kernel.unload(name, also_needed=True)
            else:
                kernel.load(name)
    except ModuleError as exc:
        if not given.quiet or "not found" not in str(exc):
            print(f"modprobe: {exc}", file=sys.stderr)
        return 1
    return 0


def _modinfo(kernel: Kernel, args: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="modinfo", add_help=False)
    parser.add_argument("-F", "--field", default="")
    parser.add_argument("-n", "--filename", action="store_true")
    parser.add_argument("-k", "--set-version", default=kernel.release)
    parser.add_argument("-b", "--basedir", default="")
    parser.add_argument("modules", nargs="+")
    given = parser.parse_args(list(args))
    files = modfile.scan(kernel.root, given.set_version)
    status = 0
    for asked in given.modules:
        found = files.get(underscored(asked))
        if "/" in asked:
            found = modfile.read(below(kernel.root, asked), asked)
        if found is None:
            print(f"modinfo: ERROR: Module {asked} not found.", file=sys.stderr)
            status = 1
            continue
        reported = {"filename": found.path, **found.fields}
        wanted = "filename" if given.filename else given.field
        if wanted:
            if reported.get(wanted):
                print(reported[wanted])
            continue
        for key, value in reported.items():
            print(f"{key + ':':<16}{value}")
    return status


def _depmod(kernel: Kernel, args: Sequence[str]) -> int:
    words = _words(args)
    kernels = [word for word in words if below(kernel.root, f"/lib/modules/{word}").is_dir()]
    modfile.depmod(kernel.root, kernels[0] if kernels else kernel.release)
    return 0


def plant(kernel: Kernel) -> None:
    """Write the distribution's modules for the running kernel, once; and the kernel's first words.

    A module that somebody removed or replaced stays as it is.
    """
    base = below(kernel.root, f"/lib/modules/{kernel.release}")
    kernel.log.append(f"Linux version {kernel.release} (simulated kernel of an ibready sandbox)")
    if (base / "kernel").is_dir():
        return
    for name, module in kernel.settings["modules"].items():
        place = base / "kernel" / module["path"] / f"{name}.ko"
        place.parent.mkdir(parents=True, exist_ok=True)
        fields = {
            "license": module["license"],
            "depends": ",".join(module.get("depends", [])),
            "name": name,
            "vermagic": _MAGIC.format(kernel.release),
        }
        place.write_text(modfile.text(fields))
    (base / "modules.builtin").write_text("")
    modfile.depmod(kernel.root, kernel.release)
