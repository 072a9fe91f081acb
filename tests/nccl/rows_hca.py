# SPDX-License-Identifier: GPL-3.0-or-later
"""Which devices the InfiniBand transport takes, by NCCL_IB_HCA and NCCL_IB_DISABLE.

Sources: NCCL's source, and what the real library did. The library is asked by test_hca.py, with a
simulated libibverbs that has these devices, all ports Active.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.nccl.rows import By

# As simulated_verbs.c reads it: one InfiniBand device has two ports, and one is RoCE.
DEVICES = "mlx5_0 mlx5_1 mlx5_10 mlx5_2:2 mlx5_bond_0 bnxt_re0:1:ethernet"
ALL = (
    *("mlx5_0:1", "mlx5_1:1", "mlx5_10:1", "mlx5_2:1", "mlx5_2:2", "mlx5_bond_0:1"),
    "bnxt_re0:1",
)


@dataclass(frozen=True)
class Hca:
    """``value``: of ``variable``, None where it is not set. ``takes``: NAME:PORT, in order."""

    value: str | None
    takes: By[tuple[str, ...]]
    variable: str = "NCCL_IB_HCA"

    @property
    def name(self) -> str:
        if self.value is None:
            return "nothing set"
        shown = self.value if len(self.value) < 40 else f"{self.value[:30]}... ({len(self.value)})"
        return f"{self.variable}={shown}"


def hca(value: str | None, *takes: str, **since: tuple[str, ...]) -> Hca:
    return Hca(value, By(takes, **since))


def without(*names: str) -> tuple[str, ...]:
    return tuple(one for one in ALL if one not in names)


def listed(count: int) -> str:
    """A list with mlx5_0 as the last of this many."""
    return ",".join([*(f"none{at}" for at in range(count - 1)), "mlx5_0"])


HCAS = (
    hca(None, *ALL),
    hca("", *ALL),
    # Prefixes and exact names.
    hca("mlx5_1", "mlx5_1:1", "mlx5_10:1"),
    hca("mlx5_1:1", "mlx5_1:1", "mlx5_10:1"),
    hca("mlx5", *without("bnxt_re0:1")),
    hca("=mlx5_1", "mlx5_1:1"),
    hca("=mlx5_1:1", "mlx5_1:1"),
    hca(
        "=mlx5",
    ),
    hca("=mlx5_2", "mlx5_2:1", "mlx5_2:2"),
    hca("=mlx5_2:2", "mlx5_2:2"),
    hca("mlx5_2:2", "mlx5_2:2"),
    hca("=mlx5_2:3"),
    hca("=mlx5_0,mlx5_1", "mlx5_0:1", "mlx5_1:1"),
    hca("=mlx5_1,mlx5_0", "mlx5_0:1", "mlx5_1:1"),
    hca("=bnxt_re0", "bnxt_re0:1"),
    # Exclusion.
    hca("^mlx5_1", *without("mlx5_1:1", "mlx5_10:1")),
    hca("^=mlx5_1", *without("mlx5_1:1")),
    hca("^=mlx5_1,mlx5_2", *without("mlx5_1:1", "mlx5_2:1", "mlx5_2:2")),
    hca("^=mlx5_2:1", *without("mlx5_2:1")),
    # The signs count once, at the very start.
    hca("=mlx5_0,=mlx5_1", "mlx5_0:1"),
    hca("^=mlx5_1,^=mlx5_2", *without("mlx5_1:1")),
    hca("^mlx5_1,^mlx5_2", *without("mlx5_1:1", "mlx5_10:1")),
    hca("=^mlx5_1"),
    # Nothing is left of the list: all is excluded, or all is taken.
    hca("^"),
    hca("=", *ALL),
    # What is no list of names.
    hca('"mlx5_0"'),
    hca("mlx5_0 mlx5_1"),
    hca("mlx5_0, mlx5_2", "mlx5_0:1"),
    hca(" mlx5_0"),
    hca("mlx5_0:0"),
    hca("mlx5_*"),
    hca("none"),
    hca("mlx5_0:", v2_30_7=("mlx5_0:1",)),
    hca("mlx5_0:x"),
    hca("=mlx5_2:-1", "mlx5_2:1", "mlx5_2:2"),
    hca("mlx5_0,", "mlx5_0:1"),
    hca(",mlx5_0", "mlx5_0:1"),
    # Rail and plane: ignored at first, then a name that the device has from then on.
    hca(
        "=mlx5_0:1:0:1,mlx5_1:1:2",
        *("mlx5_0:1", "mlx5_1:1"),
        v2_30_7=("mlx5_0:1:0:1", "mlx5_1:1:2"),
    ),
    # A list is cut.
    hca(listed(16), "mlx5_0:1"),
    hca(listed(17), v2_19=("mlx5_0:1",)),
    hca(listed(32), v2_19=("mlx5_0:1",)),
    hca(listed(33)),
)


def disable(value: str, *, off: bool) -> Hca:
    return Hca(value, By(() if off else ALL), "NCCL_IB_DISABLE")


# How a number is read: every integer variable goes through the same function.
NUMBERS = (
    disable("1", off=True),
    disable("0", off=False),
    disable("", off=False),
    disable('"1"', off=False),
    disable("'1'", off=False),
    disable("true", off=False),
    disable("yes", off=False),
    disable("1 # c", off=True),
    disable("1\r", off=True),
    disable(" 1", off=True),
    disable("1,0", off=True),
    disable("0,1", off=False),
    disable("0x1", off=True),
    disable("0x0", off=False),
    disable("-1", off=True),
    # Octal: not eight.
    disable("08", off=False),
    # Out of range is the default, which is 0.
    disable("99999999999999999999", off=False),
)
ROWS = (*HCAS, *NUMBERS)
