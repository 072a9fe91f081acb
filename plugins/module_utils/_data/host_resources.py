# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of memory, CPUs and disks a host must have left, and what its memory may forget (host_resources.yml)."""

from __future__ import annotations

from ._rows import host_resources as rows

# MemAvailable below this share of MemTotal: a job that starts now is killed before it has pinned its
# buffers. source: inferred; the kernel's own estimate of what can be had without swapping (proc(5)).
MEMORY_GONE = 0.02
HOLDERS: dict[str, tuple[str, str]] = rows.HOLDERS
# Below this share swap in use, or tasks that wait for memory, show that the host lives on it.
MEMORY_SHORT = 0.10
# Share of swap in use that counts as heavy.
SWAP_HEAVY = 0.5
# Per cent of the last five minutes in which tasks waited for memory (PSI, some). source: inferred
# from Documentation/accounting/psi.rst; systemd-oomd acts at 60.
WAITING_MEMORY = 10.0
# Load average per CPU over one and over five minutes. A training node has some ranks and data
# loaders a GPU, far fewer than CPUs; from two on every thread waits as long as it runs. source: inferred.
LOAD_PER_CPU = 2.0
# Per cent of five minutes in which tasks waited for a CPU (PSI, some): below it they wait for a disk
# or a file server instead.
WAITING_CPU = 20.0

# A NUMA node with CPUs that has so much less memory than its largest equal, as a share: a DIMM of
# eight is 0.125, of sixteen 0.0625; what kernel and firmware keep for themselves is below 0.03.
NODE_LACKS = 0.05
# The same of CPUs: nodes of one socket may differ by a core (three nodes of 128 cores).
NODE_LACKS_CPUS = 0.25
# The same between equal hosts: one DIMM of 32 is 0.031.
HOST_LACKS = 0.015

# Corrected errors of one DIMM in 24 hours that ask for its replacement. source: mcelog.conf
# (`[dimm] ce-error-threshold = 10 / 24h`); confidence: confirmed.
CORRECTED_A_DAY = 10

# A file system without so many bytes left (or, if it is small, this share) takes no more files.
FULL_BYTES = 64 * 1024 * 1024
FULL_SHARE = 0.02
# It should have this share of bytes and of inodes left, or so many bytes: a disk of 100 TB with 4 TB
# left is not full. source: what ext4 keeps for root (mke2fs -m); a few images of containers (inferred).
SPACE_SHARE = 0.05
SPACE_BYTES = 50 * 1024 * 1024 * 1024
# NCCL and data loaders share memory through /dev/shm; by default it has half of RAM. source: NCCL's
# user guide, troubleshooting (shared memory); the least is inferred.
SHM_BYTES = 1024 * 1024 * 1024

WRITTEN: tuple[str, ...] = rows.WRITTEN
ON_DISK: tuple[str, ...] = rows.ON_DISK
NVME_STATES: tuple[str, ...] = rows.NVME_STATES

SETTINGS: tuple[str, ...] = rows.SETTINGS
