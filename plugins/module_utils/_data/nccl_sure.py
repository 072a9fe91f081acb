# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of NCCL that are nobody else's, and are read where its prefix was cut off. Data only.

Sources: NCCL's and RCCL's release tags, aws-ofi-nccl's and NVIDIA's plugins; lines that people posted. Confirmed.
"""

from __future__ import annotations

# How a message of a failure begins. A program that reports it, or who posts it, leaves out all that came before.
SURE: tuple[str, ...] = (
    # Functions of NCCL: `ncclOsSocketTryAccept: Accept failed: Too many open files`.
    r"nccl[A-Z]\w{2,40}: ",
    r"(?:socket|bootstrap)[A-Z]\w{2,40}: ",
    r"Bootstrap(?: Root)? ?: ",
    r"NET/(?:IB|OFI|Socket|Plugin)\w{0,10}(?: ?: | )",
    r"Call to ibv_\w{3,40} failed",
    r"(?:Proxy Call to rank|No transport found for rank) \d",
    r"UDS: (?:Sending|Binding|Receiving|Socket creation)",
    r"MNNVL \(cliqueSize ",
    r"P2P is disabled between ",
    r"Failed to bind NVLink SHARP",
    # `failed : `, with the blank, is NCCL's way to write.
    r"(?:cuda|hip)Ipc(?:Get|Open)MemHandle failed : ",
    r"(?:rank \d{1,9} )?failed to (?:get CUDA IPC handle to device|peer with device) \d",
    r"failed to open CUDA IPC handle : \d",
    # How NCCL makes out the machine.
    r"Failed to find reverse path from remNode ",
    r"Attribute \w{1,40} of node \w{1,40} not found",
    r"KV Convert to int : ",
    r"XML Parse error ?: ",
    r"Could not find a path for pattern \d",
    # The plugin for SHARP.
    r"SHARP (?:coll init error|group create)",
    r"Cannot initialize CollNet",
)

# How a line of NCCL_DEBUG=INFO begins that tells what NCCL uses: a text with such a line, and nowhere with NCCL's
# prefix, is a log of NCCL whose prefixes somebody cut off.
SURE_FACTS: tuple[str, ...] = (
    r"NET/IB ?: Using \[0\]\S{1,80}:\d{1,4}/",
    r"NET/IB\w{0,20} ?: GPU Direct RDMA (?:\([^)\n]{0,40}\) )?(?:[Ee]nabled|Disabled) for HCA \d",
    r"NET/IB\w{0,20} ?: No device found",
    r"NET/Socket ?: Using \[0\]\S{1,80}:",
    r"NET/OFI Selected [Pp]rovider is \w",
    r"(?:Channel \d{1,3}(?:/\d{1,3})? : )?\d{1,7}\[\w{1,16}\] -> \d{1,7}\[\w{1,16}\] (?:\[(?:send|receive)\] )?via ",
    r"Channel \d{1,3}(?:/\d{1,3})? : \d{1,7}\[\w{1,16}\] -> \d{1,7}\[",
    r"ncclCommInitRank\w{0,20} comm 0x[0-9a-f]{1,20} rank \d",
)
