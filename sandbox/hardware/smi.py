# SPDX-License-Identifier: GPL-3.0-or-later
"""What nvidia-smi prints on a node: from the simulated hardware, the loaded module and the
installed library, in the real tool's words and exit statuses (nvidia-smi(1), "Return value")."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from sandbox.hardware import driver, smi_nvlink, smi_table
from sandbox.hardware.board import Function
from sandbox.hardware.kernel import Kernel
from sandbox.hardware.settings import node_kernel

# Exit statuses.
BAD_ARGUMENT, NO_DEVICE, NO_DRIVER, NO_LIBRARY, MISMATCH = 2, 6, 9, 12, 18
_NO_LIBRARY = (
    "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the "
    "NVIDIA Display Driver is properly installed and present in your system.\n"
    "Please also try adding directory that contains libnvidia-ml.so to your system PATH.\n"
)
_NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that "
    "the latest NVIDIA driver is installed and running.\n\n"
)
_MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: {}\n"
_NVLINK = {"status": "status", "s": "status", "errorcounters": "errors", "e": "errors"}
_NVLINK |= {"capabilities": "caps", "c": "caps"}


def main(version: str, args: Sequence[str], root: Path = Path("/")) -> int:
    """Print what nvidia-smi of this version prints for these arguments; its exit status."""
    kernel = node_kernel(root)
    kernel.read()
    text, status = answer(kernel, version, list(args))
    print(text, end="")
    return status


def answer(kernel: Kernel, version: str, args: list[str]) -> tuple[str, int]:
    """Text and exit status."""
    library, module = driver.library(kernel.root), driver.module(kernel)
    if not library:
        return _NO_LIBRARY, NO_LIBRARY
    if not module:
        return _NO_DRIVER, NO_DRIVER
    if library != module:
        # The library tells its branch and release, not the third number.
        return _MISMATCH.format(".".join(library.split(".")[:2])), MISMATCH
    gpus = driver.listed(kernel)
    if not gpus:
        return "No devices were found\n", NO_DEVICE
    spec, words = kernel.board.spec["gpu"], [arg.lstrip("-") for arg in args]
    if not args:
        return _summary(kernel, gpus, version), 0
    if words in (["L"], ["list-gpus"]):
        return "".join(line + "\n" for line in _heads(kernel, gpus)), 0
    if words in (["q"], ["query"]):
        return _query(kernel, gpus, module), 0
    if sorted(words) in (["q", "x"], ["query", "xml-format"]):
        return _xml(kernel, gpus, module), 0
    if len(words) == 2 and words[0] == "nvlink" and words[1] in _NVLINK:
        lines = smi_nvlink.links(_heads(kernel, gpus), spec, _NVLINK[words[1]])
        return "".join(line + "\n" for line in lines), 0
    if words == ["topo", "m"]:
        nics = [hca for hca in kernel.board.hcas if "mlx5_ib" in kernel.loaded]
        cpus = len(os.sched_getaffinity(0))
        return smi_nvlink.topology(gpus, nics, int(spec["nvlinks"]), cpus), 0
    if len(words) in (1, 2) and args[0].startswith("--query-gpu="):
        return _fields(kernel, gpus, module, args)
    said = f'Invalid combination of input arguments (the simulated nvidia-smi: "{" ".join(args)}").'
    return f"{said} Please run 'nvidia-smi -h' for help.\n", BAD_ARGUMENT


def _heads(kernel: Kernel, gpus: Sequence[Function]) -> list[str]:
    name, node = kernel.board.spec["gpu"]["name"], os.uname().nodename
    uuids = [smi_table.gpu_uuid(node, index) for index in range(len(gpus))]
    return [f"GPU {index}: {name} (UUID: {uuid})" for index, uuid in enumerate(uuids)]


def _tables(kernel: Kernel, gpus: Sequence[Function], version: str) -> list[tuple[Function, list[smi_table.Row]]]:
    return [
        (
            gpu,
            smi_table.rows(
                gpu,
                index,
                kernel.board.spec["gpu"],
                version,
                node=os.uname().nodename,
                persistence=driver.running(kernel.root, driver.PERSISTENCED),
                fabric=driver.running(kernel.root, driver.FABRICMANAGER),
            ),
        )
        for index, gpu in enumerate(gpus)
    ]


def _now() -> str:
    return time.strftime("%a %b %e %H:%M:%S %Y")


def _query(kernel: Kernel, gpus: Sequence[Function], version: str) -> str:
    top = (
        ("Timestamp", _now()),
        ("Driver Version", version),
        ("CUDA Version", driver.cuda(kernel, version)),
    )
    lines = ["", "==============NVSMI LOG==============", ""]
    lines += [f"{label:<54} : {value}" for label, value in top]
    lines += ["", f"{'Attached GPUs':<54} : {len(gpus)}"]
    for entry, table in _tables(kernel, gpus, version):
        lines += [f"GPU {smi_table.bus_id(entry)}", *smi_table.as_text(table), ""]
    return "\n".join(lines) + "\n"


def _xml(kernel: Kernel, gpus: Sequence[Function], version: str) -> str:
    lines = [
        '<?xml version="1.0" ?>',
        '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">',
        "<nvidia_smi_log>",
        f"\t<timestamp>{_now()}</timestamp>",
        f"\t<driver_version>{version}</driver_version>",
        f"\t<cuda_version>{driver.cuda(kernel, version)}</cuda_version>",
        f"\t<attached_gpus>{len(gpus)}</attached_gpus>",
    ]
    for entry, table in _tables(kernel, gpus, version):
        lines += [
            f'\t<gpu id="{smi_table.bus_id(entry)}">',
            *smi_table.as_xml(table),
            "\t</gpu>",
            "",
        ]
    return "\n".join([*lines, "</nvidia_smi_log>"]) + "\n"


def _summary(kernel: Kernel, gpus: Sequence[Function], version: str) -> str:
    """Plain nvidia-smi: the table, with the word SIMULATED where the real one has nothing."""
    spec = kernel.board.spec["gpu"]
    bar = "+" + "-" * 89 + "+"
    title = f"| NVIDIA-SMI {version:<22} Driver Version: {driver.module(kernel):<15}"
    lines = [_now(), bar, f"{title} CUDA Version: {driver.cuda(kernel, version):<8} |"]
    lines += [f"| {'SIMULATED: no GPU is in this machine':<87} |", bar]
    on = "On" if driver.running(kernel.root, driver.PERSISTENCED) else "Off"
    for index, gpu in enumerate(gpus):
        row = f"{index:>3}  {spec['name']:<26} {on:<4} {smi_table.bus_id(gpu)}"
        lines.append(f"| {row:<62} 0MiB / {spec['memory_mib']}MiB   |")
    return "\n".join([*lines, bar]) + "\n"


def _fields(kernel: Kernel, gpus: Sequence[Function], version: str, args: list[str]) -> tuple[str, int]:
    """``--query-gpu=NAME,... --format=csv[,noheader]`` for the names that scripts ask most."""
    asked = args[0].partition("=")[2].split(",")
    lines = [] if "noheader" in "".join(args[1:]) else [", ".join(asked)]
    for index, gpu in enumerate(gpus):
        known = {
            "index": str(index),
            "name": str(kernel.board.spec["gpu"]["name"]),
            "driver_version": version,
            "uuid": smi_table.gpu_uuid(os.uname().nodename, index),
            "pci.bus_id": smi_table.bus_id(gpu),
            "memory.total": f"{kernel.board.spec['gpu']['memory_mib']} MiB",
        }
        for name in asked:
            if name not in known:
                return f'Field "{name}" is not a valid field to query.\n', BAD_ARGUMENT
        lines.append(", ".join(known[name] for name in asked))
    return "\n".join(lines) + "\n", 0
