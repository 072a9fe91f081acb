# SPDX-License-Identifier: GPL-3.0-or-later
"""The NCCL library as a file: where it lies, and which of its texts are variables. Data only.

Sources: glibc's loader and Debian's and Red Hat's builds of it (folders); the read-only data of the
x86_64 wheels 2.18.3 to 2.32.3, read byte by byte and held against the names that NCCL's source
reads in the tags of the same versions (texts). Confirmed, except where a line says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

SONAME = "libnccl.so.2"
CONF = "/etc/nccl.conf"


@dataclass(frozen=True)
class Machine:
    """``flag``: ldconfig's word; ``elf``: e_machine; ``folders``: the linker's own, in order."""

    flag: str
    elf: int
    folders: tuple[str, ...]


MACHINES: dict[str, Machine] = {
    "x86_64": Machine(
        "x86-64",
        62,
        (
            "/lib/x86_64-linux-gnu",
            "/usr/lib/x86_64-linux-gnu",
            "/lib64",
            "/usr/lib64",
            "/lib",
            "/usr/lib",
        ),
    ),
    "aarch64": Machine(
        "AArch64",
        183,
        (
            "/lib/aarch64-linux-gnu",
            "/usr/lib/aarch64-linux-gnu",
            "/lib64",
            "/usr/lib64",
            "/lib",
            "/usr/lib",
        ),
    ),
}
# The linker's own, of every machine: what lies in one came by a package, as a rule.
FOLDERS = tuple(dict.fromkeys(folder for kind in MACHINES.values() for folder in kind.folders))

# What else NCCL asks for, where the library holds the text. CUDA_VISIBLE_DEVICES and
# DOCA_SDK_LIB_PATH were only seen in 2.31 and 2.32, of which there is no source: probable.
OTHER_NAMES = (
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_VISIBLE_DEVICES",
    "DOCA_GPUNETIO_DISABLE_GDRCOPY",
    "DOCA_GPUNETIO_LOG",
    "DOCA_SDK_LIB_PATH",
)
# Texts that look like a variable and are none: they end a message ("not initialized via ...") or a
# condition that is printed. Those of 2.31 and 2.32 by the words before them: probable.
NOT_READ_ENDINGS = ("_INITIALIZER",)
NOT_READ = frozenset(
    (
        "NCCL_GIN_CONNECTION_FULL",
        "NCCL_GIN_CONNECTION_RAIL",
        "NCCL_IB_MAX_DEVS_PER_NIC",
        "NCCL_IB_RECV_WR_ID_DUMMY",
        "NCCL_IB_RESILIENCY_PORT_RECOVERY_ACK_MSG_ID",
    )
)

# ncclResult_t, source: nccl.h of every release; 6 and 7 came with 2.13 and 2.14.
RESULTS: dict[int, str] = {
    0: "success",
    1: "unhandled CUDA error",
    2: "unhandled system error",
    3: "internal error",
    4: "invalid argument",
    5: "invalid usage",
    6: "remote process error",
    7: "in progress",
}
