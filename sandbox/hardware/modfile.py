# SPDX-License-Identifier: GPL-3.0-or-later
"""Module files of the simulated kernel, text with modinfo's fields, and depmod's lists.

A module file begins with the line SIMULATED and holds one ``field: value`` a line, in modinfo's
fields (version, license, vermagic, depends, alias ...). Two more fields stand for symbols:
``exports`` (what others may link to) and ``needs`` (what it was built against; loading fails
without it).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SIMULATED = "SIMULATED kernel module of an ibready sandbox: text, no code in it"
_FIELD = re.compile(r"([a-z_]{1,20}) ?[:=] ?(.*)")
# Directories of /lib/modules/KERNEL, the first that has a module wins; as depmod.d has it.
_SEARCH = ("updates", "extra", "weak-updates", "kernel", "")


@dataclass(frozen=True)
class ModuleFile:
    """``path``: absolute; ``fields``: by modinfo's names, the last line of a field wins."""

    name: str
    path: str
    fields: Mapping[str, str] = field(default_factory=dict)

    def listed(self, name: str) -> tuple[str, ...]:
        """A field with several names between commas or blanks."""
        return tuple(word for word in re.split(r"[, ]+", self.fields.get(name, "")) if word)

    @property
    def depends(self) -> tuple[str, ...]:
        return tuple(underscored(entry) for entry in self.listed("depends"))

    @property
    def version(self) -> str:
        return self.fields.get("version", "")


def underscored(name: str) -> str:
    """The name by which the kernel knows a module: nvidia-uvm is nvidia_uvm."""
    return name.replace("-", "_")


def parse(text: str) -> dict[str, str]:
    matches = (_FIELD.fullmatch(line.strip()) for line in text.splitlines())
    return {match.group(1): match.group(2).strip() for match in matches if match}


def read(path: Path, shown: str) -> ModuleFile:
    """The module file at `path`, which a node sees as `shown`; a broken one has no fields."""
    name = underscored(path.name.partition(".ko")[0])
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError):
        text = ""
    return ModuleFile(name, shown, parse(text))


def text(fields: Mapping[str, str]) -> str:
    """The content of a module file."""
    return "\n".join([SIMULATED, *(f"{name}: {value}" for name, value in fields.items())]) + "\n"


def scan(root: Path, kernel: str) -> dict[str, ModuleFile]:
    """Every module of this kernel by name; of several with one name the one that depmod takes."""
    base = root / "lib/modules" / kernel
    found: dict[str, tuple[int, ModuleFile]] = {}
    for path in sorted(base.rglob("*.ko*")) if base.is_dir() else ():
        below = path.relative_to(base)
        if below.parts[0] in ("build", "source") or ".ko" not in path.name:
            continue
        top = below.parts[0] if below.parts[0] in _SEARCH else ""
        rank = _SEARCH.index(top)
        entry = read(path, f"/lib/modules/{kernel}/{below}")
        if entry.name not in found or rank < found[entry.name][0]:
            found[entry.name] = (rank, entry)
    return {name: item for name, (_rank, item) in found.items()}


def depmod(root: Path, kernel: str) -> None:
    """Write modules.dep and modules.alias as depmod does."""
    base = root / "lib/modules" / kernel
    modules = scan(root, kernel)
    start = f"/lib/modules/{kernel}/"
    lines = []
    aliases = ["# Aliases extracted from modules themselves (simulated)."]
    for module in modules.values():
        needed = [modules[dep].path.removeprefix(start) for dep in closure(module.depends, modules)]
        lines.append(" ".join([module.path.removeprefix(start) + ":", *needed]))
        aliases += [f"alias {alias} {module.name}" for alias in module.listed("alias")]
    base.mkdir(parents=True, exist_ok=True)
    (base / "modules.dep").write_text("\n".join(lines) + "\n")
    (base / "modules.alias").write_text("\n".join(aliases) + "\n")


def closure(depends: Iterable[str], modules: Mapping[str, ModuleFile]) -> list[str]:
    """What must be loaded before, the nearest first; what has no file is left out."""
    found: list[str] = []
    for name in depends:
        if name in modules and name not in found:
            found.append(name)
            found += [entry for entry in closure(modules[name].depends, modules) if entry not in found]
    return found
