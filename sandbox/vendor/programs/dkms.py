#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""SIMULATED dkms: keeps dkms' own tree and puts files where dkms puts modules, compiles nothing.

A module package's source (/usr/src/NAME-VERSION) has a dkms.conf as ever, and for each module that
it names a file MODULE.fields in BUILT_MODULE_LOCATION: one ``field: value`` a line, in modinfo's
fields. The "built" module is a text of these and the kernel's vermagic. A line may begin with
``if-exported SYMBOL`` or ``unless-exported SYMBOL``: it counts only if a module that DKMS installed
for the same kernel exports that symbol (or none does), as Module.symvers would tell a compiler.

A build fails without the kernel's headers, and for the module packages that
/etc/ibready-sandbox/fail-dkms names.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from typing import Iterator, NamedTuple, NoReturn

ROOT = os.environ.get("IBREADY_SIMULATED_ROOT", "/")
SIMULATED = "SIMULATED kernel module of an ibready sandbox: text, no code in it"
MAGIC = "{} SMP preempt mod_unload modversions"
FAIL = "etc/ibready-sandbox/fail-dkms"
_SETTING = re.compile(r"""^\s*([A-Z_]+)(?:\[(\d+)\])?=(?:"([^"]*)"|'([^']*)'|(\S*))""")
_CONDITION = re.compile(r"(if|unless)-exported (\S+) (.*)")


class Failure(Exception):
    """What dkms says before it ends, and its exit status."""

    def __init__(self, status: int, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.status = status


class Module(NamedTuple):
    """A module package: nvidia/580.173.02."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name}/{self.version}"


def at(*parts: str) -> str:
    return os.path.join(ROOT, *(part.lstrip("/") for part in parts))


def tree(module: Module, *parts: str) -> str:
    return at("var/lib/dkms", module.name, module.version, *parts)


def source(module: Module) -> str:
    return at("usr/src", f"{module.name}-{module.version}")


def machine() -> str:
    return os.uname().machine


def settings(module: Module) -> dict[str, dict[int, str]]:
    """Return dkms.conf: every variable's values by index."""
    path = os.path.join(source(module), "dkms.conf")
    if not os.path.exists(path):
        raise Failure(2, "Error! Could not find module source directory.", f"Missing {path}.")
    found: dict[str, dict[int, str]] = {}
    with open(path) as file:
        for line in file:
            match = _SETTING.match(line)
            if match:
                value = match[3] or match[4] or match[5] or ""
                for name, text in (("name", module.name), ("version", module.version)):
                    value = value.replace(f"$PACKAGE_{name.upper()}", text)
                    value = value.replace(f"${{PACKAGE_{name.upper()}}}", text)
                found.setdefault(match[1], {})[int(match[2] or 0)] = value
    return found


def built_modules(module: Module) -> Iterator[tuple[str, str, str]]:
    """Return name, folder in the source, and name when installed, of each module of a package."""
    known = settings(module)
    for index, name in sorted(known.get("BUILT_MODULE_NAME", {0: module.name}).items()):
        yield (
            name,
            known.get("BUILT_MODULE_LOCATION", {}).get(index, ""),
            known.get("DEST_MODULE_NAME", {}).get(index) or name,
        )


def exported(kernel: str, symbol: str) -> bool:
    """Whether some module that DKMS installed for a kernel exports a symbol."""
    for folder, _, names in os.walk(at("lib/modules", kernel, "updates")):
        for name in names:
            with open(os.path.join(folder, name)) as file:
                for line in file:
                    if line.startswith("exports:") and symbol in line.split():
                        return True
    return False


def fields(text: str, kernel: str) -> list[str]:
    """Return the lines of a module's fields that count for a kernel."""
    found = []
    for line in text.splitlines():
        match = _CONDITION.fullmatch(line.strip())
        if match is None:
            found.append(line)
        elif exported(kernel, match[2]) == (match[1] == "if"):
            found.append(match[3])
    return [line for line in found if line.strip()]


def add(module: Module) -> None:
    if os.path.isdir(tree(module)):
        raise Failure(
            3,
            f"Error! DKMS tree already contains: {module}",
            "You cannot add the same module/version combo more than once.",
        )
    settings(module)
    os.makedirs(tree(module, "build"))
    os.symlink(f"/usr/src/{module.name}-{module.version}", tree(module, "source"))
    print(f"Creating symlink /var/lib/dkms/{module}/source -> /usr/src/"
          f"{module.name}-{module.version}")  # fmt: skip


def build(module: Module, kernel: str) -> None:
    if not os.path.isdir(tree(module)):
        add(module)
    target = tree(module, kernel, machine())
    if os.path.isdir(os.path.join(target, "module")):
        print(f"Module {module} already built for kernel {kernel} ({machine()}), skip.")
        return
    if not os.path.isdir(at("lib/modules", kernel, "build/")):
        raise Failure(
            21,
            f"Error! Your kernel headers for kernel {kernel} cannot be found at "
            f"/lib/modules/{kernel}/build or /lib/modules/{kernel}/source.",
            f"Please install the linux-headers-{kernel} package or use the --kernelsourcedir "
            "option to tell DKMS where it's located.",
        )
    log = tree(module, "build", "make.log")
    os.makedirs(os.path.dirname(log), exist_ok=True)
    fails = module.name in words(at(FAIL))
    with open(log, "w") as file:
        file.write(f"DKMS make.log for {module} for kernel {kernel} ({machine()})\nSIMULATED\n")
        if fails:
            file.write(f"{module.name}.c:1:1: error: /{FAIL} asks for this failure\n")
    print(f"Building module(s)... (SIMULATED) {'failed' if fails else 'done'}.")
    if fails:
        raise Failure(
            10,
            f"Error! Bad return status for module build on kernel: {kernel} ({machine()})",
            f"Consult /var/lib/dkms/{module}/build/make.log for more information.",
        )
    made = {}
    for name, folder, installed in built_modules(module):
        path = os.path.join(source(module), folder, f"{name}.fields")
        with open(path) as file:
            lines = fields(file.read(), kernel)
        magic = f"vermagic: {MAGIC.format(kernel)}"
        made[installed] = "\n".join([SIMULATED, *lines, f"name: {name}", magic, ""])
    os.makedirs(os.path.join(target, "module"))
    os.makedirs(os.path.join(target, "log"), exist_ok=True)
    shutil.copy(log, os.path.join(target, "log"))
    for name, text in made.items():
        write(os.path.join(target, "module", f"{name}.ko"), text)


def install(module: Module, kernel: str) -> None:
    build(module, kernel)
    folder = tree(module, kernel, machine(), "module")
    target = at("lib/modules", kernel, "updates/dkms")
    os.makedirs(target, exist_ok=True)
    for name in sorted(os.listdir(folder)):
        shutil.copy(os.path.join(folder, name), os.path.join(target, name))
        print(f"Installing /lib/modules/{kernel}/updates/dkms/{name}")
    link = at("var/lib/dkms", module.name, f"kernel-{kernel}-{machine()}")
    if os.path.islink(link):
        os.unlink(link)
    os.symlink(f"{module.version}/{kernel}/{machine()}", link)
    depmod(kernel)


def uninstall(module: Module, kernel: str) -> None:
    """Take a module out of a kernel, if it is this version that is in it."""
    link = at("var/lib/dkms", module.name, f"kernel-{kernel}-{machine()}")
    if not os.path.islink(link) or os.readlink(link).split("/")[0] != module.version:
        return
    for name in os.listdir(tree(module, kernel, machine(), "module")):
        path = at("lib/modules", kernel, "updates/dkms", name)
        if os.path.exists(path):
            os.unlink(path)
    os.unlink(link)
    depmod(kernel)


def remove(module: Module, kernels: list[str]) -> None:
    if not os.path.isdir(tree(module)):
        raise Failure(
            3,
            f"Error! The module/version combo: {module} is not located in the DKMS tree.",
        )
    for kernel in kernels:
        uninstall(module, kernel)
        shutil.rmtree(tree(module, kernel), ignore_errors=True)
    if not kernels_of(module):
        print(f"Deleting module {module} completely from the DKMS tree.")
        shutil.rmtree(tree(module))
        home = at("var/lib/dkms", module.name)
        if not os.listdir(home):
            os.rmdir(home)


def kernels_of(module: Module) -> list[str]:
    """Return the kernels that a module package was built for."""
    names = os.listdir(tree(module)) if os.path.isdir(tree(module)) else []
    return sorted(name for name in names if name not in ("source", "build"))


def every() -> list[Module]:
    """Return all module packages of the tree."""
    home = at("var/lib/dkms")
    return [
        Module(name, version)
        for name in (sorted(os.listdir(home)) if os.path.isdir(home) else [])
        if os.path.isdir(os.path.join(home, name))
        for version in sorted(os.listdir(os.path.join(home, name)))
        if not version.startswith("kernel-")
    ]


def status(chosen: list[Module]) -> None:
    for module in chosen:
        kernels = kernels_of(module)
        if not kernels:
            print(f"{module}: added")
        for kernel in kernels:
            link = at("var/lib/dkms", module.name, f"kernel-{kernel}-{machine()}")
            here = os.path.islink(link) and os.readlink(link).startswith(module.version + "/")
            print(f"{module}, {kernel}, {machine()}: {'installed' if here else 'built'}")


def depmod(kernel: str) -> None:
    path = "/usr/local/sbin:" + os.environ.get("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
    tool = shutil.which("depmod", path=path)
    if tool and ROOT == "/":
        subprocess.run([tool, kernel], check=False)


def words(path: str) -> list[str]:
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return file.read().split()


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dkms", description="SIMULATED dkms")
    parser.add_argument("action")
    parser.add_argument("module", nargs="?", default="", help="NAME/VERSION")
    parser.add_argument("-m", dest="name", default="")
    parser.add_argument("-v", dest="version", default="")
    parser.add_argument("-k", dest="kernel", action="append", default=[])
    parser.add_argument("-a", "--arch", default="")
    for flag in ("--all", "--force", "--rpm_safe_upgrade", "-q", "--quiet"):
        parser.add_argument(flag, action="store_true")
    given = parser.parse_args(argv)
    name, _, version = (given.module or given.name).partition("/")
    given.chosen = Module(name, version or given.version)
    given.kernels = [entry.partition("/")[0] for entry in given.kernel] or [os.uname().release]
    return given


def autoinstall(kernel: str) -> None:
    """Build and install every module package for a kernel, OFED's first: others build upon it."""
    failed = []
    for module in sorted(every(), key=lambda entry: (not entry.name.startswith("mlnx"), entry)):
        try:
            install(module, kernel)
        except Failure as failure:
            print(failure, file=sys.stderr)
            failed.append(str(module))
    if failed:
        raise Failure(11, f"Error! One or more modules failed to install: {', '.join(failed)}.")


def main(argv: list[str]) -> None:
    given = parse(argv)
    module = given.chosen
    if given.action == "status":
        status([entry for entry in every() if module.name in ("", entry.name)])
        return
    if given.action == "autoinstall":
        for kernel in given.kernels:
            autoinstall(kernel)
        return
    if not module.name or not module.version:
        raise Failure(1, f"Error! dkms {given.action} needs -m MODULE and -v VERSION.")
    if given.action == "add":
        add(module)
    elif given.action == "remove":
        remove(module, kernels_of(module) if given.all else given.kernels)
    elif given.action in ("build", "install", "uninstall"):
        act = {"build": build, "install": install, "uninstall": uninstall}[given.action]
        for kernel in given.kernels:
            if given.force and given.action != "uninstall":
                shutil.rmtree(tree(module, kernel), ignore_errors=True)
            act(module, kernel)
    else:
        raise Failure(1, f"Error! Unknown action {given.action} (SIMULATED dkms).")


def run() -> NoReturn:
    try:
        main(sys.argv[1:])
    except Failure as failure:
        print(failure, file=sys.stderr)
        sys.exit(failure.status)
    sys.exit(0)


if __name__ == "__main__":
    run()
