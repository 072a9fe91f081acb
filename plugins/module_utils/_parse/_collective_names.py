# SPDX-License-Identifier: GPL-3.0-or-later
"""One name for each kind of collective operation, whoever tells of it. No I/O."""

from __future__ import annotations

import re

from .._ground.text import printable

# In this order: the first that is part of a name decides.
_KINDS = (
    ("allreduce", "all_reduce"),
    ("reducescatter", "reduce_scatter"),
    ("allgather", "all_gather"),
    ("alltoall", "all_to_all"),
    ("broadcast", "broadcast"),
    ("barrier", "barrier"),
    ("sendrecv", "send_recv"),
    ("send", "send"),
    ("recv", "recv"),
    ("scatter", "scatter"),
    ("gather", "gather"),
    ("reduce", "reduce"),
)
_LETTERS = re.compile(r"[^a-z]")
# Bytes of one element, by the names that PyTorch has for its types.
BYTES = {
    **dict.fromkeys(("byte", "char", "bool", "uint8", "int8"), 1),
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"), 1),
    **dict.fromkeys(("half", "bfloat16", "float16", "short", "int16"), 2),
    **dict.fromkeys(("float", "float32", "int", "int32"), 4),
    **dict.fromkeys(("double", "float64", "long", "int64", "complexfloat"), 8),
}


def plain(name: str) -> str:
    """``all_reduce`` for AllReduce, nccl:all_reduce and allreduce alike; another name as it is, made printable."""
    letters = _LETTERS.sub("", name[:200].lower())
    return next((kind for part, kind in _KINDS if part in letters), printable(name))
