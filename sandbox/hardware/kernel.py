# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated kernel of a node: which modules are loaded, and which functions they drive.

It ends with the container: its state is in /run. What is loaded is what was read from the module's
file at that moment; a file that is replaced later changes nothing, as in a real kernel.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sandbox.hardware import modfile, modprobe_conf
from sandbox.hardware.board import GPU, Board
from sandbox.hardware.modfile import ModuleFile, underscored
from sandbox.hardware.tree import below

RUN = "/run/ibready-sandbox/kernel"
# Daemons that hold a module's devices open: one file a process, named after its id.
HOLDERS = f"{RUN}/holders"
PEER_SYMBOL = "ib_register_peer_memory_client"
PEERMEM = "nvidia_peermem"


class ModuleError(Exception):
    """Why a module is not loaded or not removed, in kmod's words."""


@dataclass(frozen=True)
class Loaded:
    """A loaded module: what its file said when it was read."""

    name: str
    path: str
    fields: dict[str, str] = field(default_factory=dict)
    depends: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        return self.fields.get("version", "")

    @property
    def exports_peer_memory(self) -> bool:
        """Only a vendor's ib_core, which is never below kernel/."""
        reported = PEER_SYMBOL in self.fields.get("exports", "").split()
        return reported or (self.name == "ib_core" and "/kernel/" not in self.path)


class Kernel:
    """The kernel of the node below `root`; ``release`` as uname -r says it."""

    def __init__(self, root: Path, board: Board, settings: Mapping[str, Any], release: str) -> None:
        self.root = root
        self.board = board
        self.settings = settings
        self.release = release
        self.loaded: dict[str, Loaded] = {}
        # Address of a function -> the module whose driver has it.
        self.bound: dict[str, str] = {}
        self.log: list[str] = []

    # -- state

    @contextmanager
    def held(self) -> Iterator[Kernel]:
        """Hold the kernel against a second process, with its state read; write it at the end."""
        home = below(self.root, RUN)
        home.mkdir(parents=True, exist_ok=True)
        with (home / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.read()
            try:
                yield self
            finally:
                self._write(home)

    def read(self) -> None:
        state = below(self.root, f"{RUN}/state.json")
        if not state.is_file():
            return
        reported = json.loads(state.read_text())
        self.loaded = {
            entry["name"]: Loaded(entry["name"], entry["path"], entry["fields"], tuple(entry["depends"]))
            for entry in reported["loaded"]
        }
        self.bound = reported["bound"]

    def _write(self, home: Path) -> None:
        reported = {"loaded": [asdict(entry) for entry in self.loaded.values()], "bound": self.bound}
        fresh = home / "state.new"
        fresh.write_text(json.dumps(reported, indent=1))
        fresh.replace(home / "state.json")
        if self.log:
            with (home / "log").open("a+") as file:
                file.seek(0)
                before = len(file.readlines())
                file.writelines(f"[{0.25 * number:12.6f}] {line}\n" for number, line in enumerate(self.log, before))
            self.log = []

    # -- questions

    def files(self) -> dict[str, ModuleFile]:
        return modfile.scan(self.root, self.release)

    def users(self, name: str) -> list[str]:
        """The loaded modules that need this one."""
        return [entry.name for entry in self.loaded.values() if name in entry.depends]

    def holders(self, name: str) -> list[int]:
        """The living processes that hold this module's devices open."""
        home = below(self.root, f"{HOLDERS}/{name}")
        names = sorted(os.listdir(home)) if home.is_dir() else []
        return [int(name) for name in names if name.isdecimal() and os.path.exists(f"/proc/{name}")]

    def waiting(self, asked: str) -> list[str]:
        """The paths of this module and what it needs, as far as they are not loaded, in the order of loading."""
        files = self.files()
        found: list[str] = []

        def walk(name: str) -> None:
            if name in files and name not in self.loaded and files[name].path not in found:
                for other in files[name].depends:
                    walk(other)
                found.append(files[name].path)

        walk(underscored(asked))
        return found

    # -- loading

    def load(self, asked: str) -> None:
        """Load a module and what it needs, as modprobe does; ModuleError in modprobe's words."""
        files, config = self.files(), modprobe_conf.load(self.root)
        self._load(underscored(asked), asked, files, config)

    def _load(
        self,
        name: str,
        asked: str,
        files: Mapping[str, ModuleFile],
        config: modprobe_conf.Config,
    ) -> None:
        if name in self.loaded:
            return
        if name in config.blocked:
            raise ModuleError(f"ERROR: could not insert '{name}': blocked by modprobe.d")
        if name not in files:
            where = f"/lib/modules/{self.release}"
            raise ModuleError(f"FATAL: Module {asked} not found in directory {where}")
        for other in config.before.get(name, ()):
            if other in files and other not in config.blocked:
                self._load(other, other, files, config)
        for other in files[name].depends:
            self._load(other, other, files, config)
        self.insert(files[name])
        for other in config.after.get(name, ()):
            if other in files and other not in config.blocked:
                self._load(other, other, files, config)

    def insert(self, file: ModuleFile) -> None:
        """Give one module to the kernel, without what it needs; ModuleError in insmod's words."""
        refusal = self._refusal(file)
        if refusal:
            self.log.append(f"{file.name}: {refusal}")
            raise ModuleError(f"ERROR: could not insert '{file.name}': {refusal}")
        self.loaded[file.name] = Loaded(file.name, file.path, dict(file.fields), file.depends)
        self.log += _words(self.loaded[file.name])
        for function in self.board.functions:
            if function.kind in self._drives(file.name) and function.address not in self.bound:
                self.bound[function.address] = file.name

    def _refusal(self, file: ModuleFile) -> str:
        """What the kernel answers instead of taking the module, "" if it takes it."""
        magic = file.fields.get("vermagic", "").split(" ")[0]
        if magic != self.release:
            return "Exec format error"
        if file.fields.get("init"):
            return file.fields["init"]
        peers = any(entry.exports_peer_memory for entry in self.loaded.values())
        if PEER_SYMBOL in file.listed("needs") and not peers:
            return "Unknown symbol in module, or unknown parameter (see dmesg)"
        if file.name == PEERMEM and not peers:
            return "Invalid argument"
        taken = [self.bound.get(gpu.address) for gpu in self.board.gpus]
        if GPU in self._drives(file.name) and taken and all(taken):
            return "No such device"  # another driver holds every GPU
        return ""

    def _drives(self, name: str) -> Mapping[str, str]:
        found: Mapping[str, str] = self.settings["drivers"].get(name, {})
        return found

    # -- removing

    def unload(self, asked: str, *, also_needed: bool = False) -> None:
        """Remove a module as rmmod does; ``also_needed``: and what is idle then, as modprobe -r."""
        name = underscored(asked)
        if name not in self.loaded:
            if also_needed:
                return
            raise ModuleError(f"ERROR: Module {asked} is not currently loaded")
        users = self.users(name)
        if users:
            raise ModuleError(f"ERROR: Module {name} is in use by: {' '.join(users)}")
        if self.holders(name):
            raise ModuleError(f"ERROR: Module {name} is in use")
        gone = self.loaded.pop(name)
        self.bound = {address: who for address, who in self.bound.items() if who != name}
        if also_needed:
            for depend in gone.depends:
                if depend in self.loaded and not self.users(depend) and not self.holders(depend):
                    self.unload(depend, also_needed=True)

    # -- what comes by itself

    def autoload(self) -> list[str]:
        """What udev and systemd-modules-load do at boot; returns what could not be loaded."""
        config, files = modprobe_conf.load(self.root), self.files()
        wanted = modprobe_conf.wanted_at_boot(self.root)
        for kind, names in self.settings["autoload"].items():
            if not self.board.of(kind):
                continue
            fit = [name for name in names if name in files and name not in config.blacklist]
            wanted += fit[:1]
        failures = []
        seen: set[str] = set()
        while wanted:
            name = wanted.pop(0)
            if name in seen:
                continue
            seen.add(name)
            try:
                self._load(name, name, files, config)
            except ModuleError as exc:
                failures.append(str(exc))
                continue
            follows = self.settings["follows"].get(name, [])
            wanted += [follow for follow in follows if follow in files and follow not in config.blacklist]
        return failures


def _words(module: Loaded) -> list[str]:
    """What the kernel's log holds of a module that was loaded."""
    said = []
    if "/kernel/" not in module.path:
        said.append(f"{module.name}: loading out-of-tree module taints kernel.")
    if module.name == "nvidia":
        said.append(f"NVRM: loading NVIDIA UNIX Kernel Module for x86_64  {module.version}")
    return said
