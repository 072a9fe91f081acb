# SPDX-License-Identifier: GPL-3.0-or-later
"""What the site wants of the stack: the variables ``stack_*``, each ``auto`` unless said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from ..matrix.packaged import NVIDIA

AUTO = "auto"
NONE = "none"
NEWEST = "newest"
# What is there stays as it is.
FOUND = "found"
# In place of packages of NVIDIA's repository, those of the distribution's own archive.
DISTRIBUTION = "distribution"


class PolicyError(ValueError):
    """A wish that cannot be meant; the message names the variable."""


@dataclass(frozen=True)
class Policy:
    """One wish per part: auto, none (do not install it), or a version or its beginning.

    ``driver`` also takes a branch (580); ``driver_flavour``: nvidia or distribution, whose packages
    it comes in. ``dcgm``, ``gdrcopy`` and ``gds`` come only where asked for: newest, or a version.
    ``peer_memory``: dmabuf, peermem or none. ``default``: found, and what says nothing itself stays as it is, too.
    ``accept``: the rules whose stop the site overrides.
    """

    rdma_flavour: str = AUTO
    rdma_version: str = AUTO
    driver: str = AUTO
    driver_flavour: str = AUTO
    driver_modules: str = AUTO
    fabric_manager: str = AUTO
    nscq: str = AUTO
    imex: str = AUTO
    nvlsm: str = AUTO
    cuda: str = AUTO
    nccl: str = AUTO
    container_toolkit: str = AUTO
    dcgm: str = AUTO
    gdrcopy: str = AUTO
    gds: str = AUTO
    peer_memory: str = AUTO
    default: str = AUTO
    accept: str = ""

    def pins(self) -> Iterator[tuple[str, str]]:
        """The wishes that are not auto."""
        for field in fields(self):
            value = getattr(self, field.name)
            if value != AUTO and field.name != ACCEPT:
                yield field.name, value

    def without(self, *names: str) -> Policy:
        """The same with these wishes given up."""
        return replace(self, **dict.fromkeys(names, AUTO))

    def and_also(self, **wishes: str) -> Policy:
        """The same with wishes for what was auto; PolicyError where one contradicts a pin."""
        for name, value in wishes.items():
            mine = getattr(self, name)
            if mine not in (AUTO, value) and not _narrower(value, mine):
                raise PolicyError(f"stack_{name} is {mine}, not {value}")
        return replace(self, **wishes)


PREFIX = "stack_"
DEFAULT = "default"
ACCEPT = "accept"
# What a package manager can be asked for, or a beginning of it.
_VERSION = re.compile(r"[0-9][A-Za-z0-9_.+:~^-]{0,99}")
_CHOICES = {
    "rdma_flavour": (AUTO, NONE, FOUND, "inbox", "mlnx_ofed", "doca"),
    "driver_flavour": (AUTO, NVIDIA, DISTRIBUTION),
    "driver_modules": (AUTO, "open", "proprietary"),
    "peer_memory": (AUTO, NONE, "dmabuf", "peermem"),
    DEFAULT: (AUTO, FOUND),
}
# Other parts that may stay as they are, besides the RDMA stack.
_MAY_STAY = ("driver", "nccl", "container_toolkit", "dcgm", "gdrcopy", "gds")


def _narrower(value: str, mine: str) -> bool:
    """Whether a wish only says more exactly what the other one says: 580.173.02 and 580."""
    return value.startswith(mine) and not value[len(mine) : len(mine) + 1].isalnum()


def _rules(value: Any) -> str:
    """The rules that a site overrides: a list, or one name."""
    named = [value] if isinstance(value, str) and value else value or []
    if not isinstance(named, list) or not all(isinstance(rule, str) and rule.isupper() for rule in named):
        raise PolicyError(f"{PREFIX}{ACCEPT} must be a list of rules such as [DRIVER_KERNEL], not {value!r}")
    return " ".join(sorted(set(named)))


def from_variables(variables: Mapping[str, Any]) -> Policy:
    """The policy in a host's variables; raises PolicyError."""
    given: dict[str, str] = {}
    for field in fields(Policy):
        value = variables.get(PREFIX + field.name, field.default)
        if field.name == ACCEPT:
            given[ACCEPT] = _rules(value)
            continue
        if value is None or isinstance(value, (bool, list, dict, float)):
            raise PolicyError(f"{PREFIX}{field.name} must be text in quotes, such as {AUTO!r} or '13.0', not {value!r}")
        text = str(value).strip()
        choices = _CHOICES.get(field.name)
        words = choices or (AUTO, NONE, NEWEST, *((FOUND,) if field.name in _MAY_STAY else ()))
        if text not in words and (choices or not _VERSION.fullmatch(text)):
            others = f"auto, none or {FOUND}" if FOUND in words else "auto or none"
            shown = f"one of {', '.join(choices)}" if choices else f"a version, {others}"
            raise PolicyError(f"{PREFIX}{field.name} must be {shown}, not {text!r}")
        given[field.name] = text
    return Policy(**given)
