# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of the kernel command line: which are wanted, which are the operator's, which are ours.

Nothing here touches the host: texts of files and commands come in, plans and texts go out.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..._areas.machine.facts import Machine
from ..._data.gpus import SUPERCHIP
from ..._data.kernel_args import KERNEL_ARGS, REPEATABLE, SAFE, WORDS

HEADER = "# Written by ibready.cluster.kernel_args. The next run undoes changes made by hand."
_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?(GRUB_CMDLINE_LINUX(?:_DEFAULT)?)=(.*)")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")
# What boots Linux in grub.cfg; memtest and other systems are started by the same command.
_LINUX = re.compile(r"^\s*linux(?:16|efi)?\s+(\S*vmlinu[xz]\S*)(.*)$", re.MULTILINE)
_GRUBBY = re.compile(r'^(kernel|args|index)="?(.*?)"?$', re.MULTILINE)


class KernelArgsError(ValueError):
    """An argument that cannot be set, or a boot loader that does not take it."""


@dataclass(frozen=True)
class Plan:
    """What becomes of the command line.

    ``ours``: what this tool has on it in the end, in order. ``there``: wanted, and there already by
    the operator's own hand. ``kept``: wanted argument to the operator's own of the same name with
    another value, which stays. ``dropped``: what we had put there and nobody wants any more.
    """

    ours: tuple[str, ...] = ()
    there: tuple[str, ...] = ()
    kept: dict[str, str] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()


def name_of(argument: str) -> str:
    """The name as the kernel compares it: ``-`` and ``_`` are the same."""
    return argument.partition("=")[0].replace("-", "_")


def chosen(words: Iterable[str], machine: Machine, cpu: str) -> tuple[str, ...]:
    """Put the arguments for this host in the place of words like ``auto``, in order, each once.

    ``cpu`` is the processor's vendor_id. Raises KernelArgsError for what is no argument.
    """
    found: list[str] = []
    for word in words:
        if word not in WORDS and not SAFE.fullmatch(word):
            raise KernelArgsError(
                f"{word!r} is no kernel argument: letters, digits and _.,:=/@+%- only, without "
                f"blanks (one list entry each), or one of {', '.join(sorted(WORDS))}"
            )
        found += _standing_for(word, machine, cpu) if word in WORDS else [word]
    result = tuple(dict.fromkeys(found))
    seen: dict[str, str] = {}
    for entry in result:
        name = name_of(entry)
        if name in seen and name not in REPEATABLE:
            raise KernelArgsError(f"{seen[name]!r} and {entry!r} are both wanted: the kernel has one")
        seen[name] = entry
    return result


def _standing_for(word: str, machine: Machine, cpu: str) -> list[str]:
    """Virtual machines want none of these: their hypervisor has the IOMMU."""
    if machine.virtual.value or not (machine.has_gpus or machine.hcas):
        return []
    superchip = any(gpu and gpu.form == SUPERCHIP for gpu in machine.gpus.value or ())
    return [
        kernel_arg.text
        for kernel_arg in KERNEL_ARGS
        if kernel_arg.word == word
        and kernel_arg.arch == machine.arch
        and kernel_arg.cpu in ("", cpu)
        and (superchip or not kernel_arg.superchip)
    ]


def plan(wanted: Sequence[str], operators: Sequence[str], before: Sequence[str]) -> Plan:
    """Compare what is wanted with the operator's own arguments and with what we added before."""
    own = {name_of(operator): operator for operator in operators}
    ours: list[str] = []
    there: list[str] = []
    kept: dict[str, str] = {}
    for item in wanted:
        name = name_of(item)
        if item in operators:
            there.append(item)
        elif name in own and name not in REPEATABLE:
            kept[item] = own[name]
        else:
            ours.append(item)
    dropped = [entry for entry in before if entry not in ours and entry not in operators]
    return Plan(tuple(ours), tuple(there), kept, tuple(dropped))


def render(ours: Sequence[str]) -> str:
    """The drop-in for /etc/default/grub.d, "" where there is nothing for it to say."""
    if not ours:
        return ""
    return (
        f"{HEADER}\n"
        "# Added to what /etc/default/grub and earlier files say; used from the next boot.\n"
        f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {" ".join(ours)}"\n'
    )


def arguments_of(text: str) -> tuple[str, ...]:
    """What a drop-in by `render` adds."""
    found = re.search(r'^GRUB_CMDLINE_LINUX="\$GRUB_CMDLINE_LINUX (.*)"$', text, re.MULTILINE)
    return tuple(found.group(1).split()) if found else ()


def operators_of(files: Iterable[str]) -> tuple[str, ...]:
    """The arguments that files like /etc/default/grub give, read in this order.

    Only plain assignments are understood, as these files have them; what a command substitution
    would give is not told.
    """
    values: dict[str, str] = {}
    for text in files:
        for line in text.replace("\\\n", "").split("\n"):
            match = _ASSIGNMENT.fullmatch(line)
            if match:
                values[match.group(1)] = _unquoted(match.group(2), values)
    words = " ".join(values.values())
    return tuple(dict.fromkeys(words.split()))


def _unquoted(value: str, values: Mapping[str, str]) -> str:
    try:
        plain = " ".join(shlex.split(value, comments=True))
    except ValueError:
        plain = value.strip("\"'")
    return _VARIABLE.sub(lambda found: values.get(found.group(1) or found.group(2), ""), plain)


def grub_entries(grub_cfg: str) -> dict[str, tuple[str, ...]]:
    """The command line of each kernel in grub.cfg, ``vmlinuz-6.8.0 #2`` to its arguments."""
    found: dict[str, tuple[str, ...]] = {}
    for number, match in enumerate(_LINUX.finditer(grub_cfg), 1):
        found[f"{match.group(1)} #{number}"] = tuple(match.group(2).split())
    return found


def grubby_entries(info: str) -> dict[str, tuple[str, ...]]:
    """The command line of each boot entry, from ``grubby --info=ALL``."""
    found: dict[str, tuple[str, ...]] = {}
    entry = ""
    for match in _GRUBBY.finditer(info):
        key, value = match.groups()
        if key == "index":
            entry = value
        elif key == "kernel":
            entry = f"{value} #{entry or len(found)}"
            found[entry] = ()
        elif entry in found:
            found[entry] = tuple(value.split())
    return found


def lacking(entries: Mapping[str, Sequence[str]], ours: Sequence[str]) -> dict[str, list[str]]:
    """Which boot entry lacks what."""
    gaps = {entry: [entry for entry in ours if entry not in line] for entry, line in entries.items()}
    return {entry: gap for entry, gap in gaps.items() if gap}


def pending(cmdline: str, ours: Sequence[str], dropped: Sequence[str], operators: Sequence[str] = ()) -> list[str]:
    """What the running kernel's command line is still without (``+x``) or still has (``-x``)."""
    running = cmdline.split()
    late = [f"+{entry}" for entry in ours if entry not in running]
    late += [f"-{entry}" for entry in dropped if entry in running and entry not in operators]
    return late
