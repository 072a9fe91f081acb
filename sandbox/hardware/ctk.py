# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-ctk of a node: CDI specifications of the simulated GPUs, for real container engines.

What a container gets: the files of the simulated GPUs, the driver's stand-in libraries, and an
nvidia-smi that needs nothing but a shell and lists the GPUs.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandbox.hardware import driver, smi, smi_table
from sandbox.hardware.kernel import Kernel
from sandbox.hardware.settings import node_kernel
from sandbox.hardware.tree import below

OUTPUT_VARIABLE = "NVIDIA_CTK_CDI_OUTPUT_FILE_PATH"
SPEC_FOLDERS = ("/etc/cdi", "/var/run/cdi")
KIND = "nvidia.com/gpu"
# nvidia-smi as a container sees it; written anew with every specification.
LISTING = "/usr/local/lib/ibready-sandbox/container-nvidia-smi"
_CDI_VERSION = "0.5.0"
_LIBRARIES = ("libcuda.so", "libnvidia-ml.so")
_OPTIONS = ["ro", "nosuid", "nodev", "rbind", "rprivate"]
_NO_DRIVER = "failed to initialize NVML: Driver Not Loaded"
_MISMATCH = "failed to initialize NVML: Driver/library version mismatch"


class ToolkitError(Exception):
    """What nvidia-ctk prints before it ends with status 1."""


def main(version: str, args: Sequence[str], root: Path = Path("/")) -> int:
    """Do what nvidia-ctk of this version does with these arguments; its exit status."""
    if list(args) in (["--version"], ["-v"]):
        print(f"NVIDIA Container Toolkit CLI version {version}\ncommit: simulated")
        return 0
    parser = argparse.ArgumentParser(prog="nvidia-ctk (simulated)")
    subject = parser.add_subparsers(dest="subject", required=True)
    cdi = subject.add_parser("cdi").add_subparsers(dest="act", required=True)
    generate = cdi.add_parser("generate")
    generate.add_argument("--output", default=os.environ.get(OUTPUT_VARIABLE, ""))
    cdi.add_parser("list")
    given = parser.parse_args(list(args))
    kernel = node_kernel(root)
    kernel.read()
    try:
        if given.act == "list":
            return _list(root)
        return _generate(kernel, given.output)
    except ToolkitError as exc:
        print(f'time="now" level=error msg="{exc}"', file=sys.stderr)
        return 1


def specification(kernel: Kernel) -> dict[str, Any]:
    """The specification of the GPUs that the driver has; ToolkitError where it has none."""
    library, module = driver.library(kernel.root), driver.module(kernel)
    prefix = "failed to generate CDI spec: failed to create device CDI specs: "
    if not library or not module:
        raise ToolkitError(prefix + _NO_DRIVER)
    if library != module:
        raise ToolkitError(prefix + _MISMATCH)
    gpus = [{"path": f"/dev/nvidia{index}"} for index in range(len(driver.listed(kernel)))]
    names = [[str(at), smi_table.gpu_uuid(os.uname().nodename, at)] for at in range(len(gpus))]
    devices = [
        {"name": name, "containerEdits": {"deviceNodes": [gpu]}}
        for gpu, both in zip(gpus, names, strict=True)
        for name in both
    ]
    devices.append({"name": "all", "containerEdits": {"deviceNodes": gpus}})
    control = ("/dev/nvidiactl", "/dev/nvidia-modeset")
    return {
        "cdiVersion": _CDI_VERSION,
        "kind": KIND,
        "devices": devices,
        "containerEdits": {
            "env": ["NVIDIA_VISIBLE_DEVICES=void"],
            "deviceNodes": [{"path": path} for path in control if below(kernel.root, path).exists()],
            "mounts": _mounts(kernel, library),
        },
    }


def _mounts(kernel: Kernel, version: str) -> list[dict[str, Any]]:
    pairs = [(LISTING, "/usr/bin/nvidia-smi")]
    for folder in driver.LIBRARIES:
        names = [f"{folder}/{name}.{version}" for name in _LIBRARIES]
        pairs += [(name, name) for name in names if below(kernel.root, name).is_file()]
    return [{"hostPath": host, "containerPath": inside, "options": _OPTIONS} for host, inside in pairs]


def _generate(kernel: Kernel, output: str) -> int:
    # JSON is YAML as well.
    text = json.dumps(specification(kernel), indent=2) + "\n"
    listing = below(kernel.root, LISTING)
    listing.parent.mkdir(parents=True, exist_ok=True)
    listing.write_text(_listing(kernel))
    listing.chmod(0o755)
    if not output:
        print(text, end="")
        return 0
    place = below(kernel.root, output)
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = place.with_name(place.name + ".new")
    fresh.write_text(text)
    fresh.replace(place)
    print(f'time="now" level=info msg="Generated CDI spec with version {_CDI_VERSION}"')
    return 0


def _listing(kernel: Kernel) -> str:
    """A shell script that answers ``nvidia-smi -L`` inside a container."""
    text, status = smi.answer(kernel, driver.library(kernel.root), ["-L"])
    lines = "\n".join(
        f"  [ ! -e /dev/nvidia{at} ] || echo {shlex.quote(line)}" for at, line in enumerate(text.splitlines())
    )
    return (
        "#!/bin/sh\n# SIMULATED: lists the simulated GPUs that this container was given.\n"
        'if [ "$1" = -L ]; then\n'
        f"{lines}\n  exit {status}\nfi\n"
        'echo "nvidia-smi in a container of the sandbox (simulated) knows -L alone" >&2\nexit 2\n'
    )


def _list(root: Path) -> int:
    found = []
    for folder in SPEC_FOLDERS:
        place = below(root, folder)
        for path in sorted(place.glob("nvidia*.yaml")) if place.is_dir() else ():
            spec = json.loads(path.read_text())
            found += [f"{spec['kind']}={device['name']}" for device in spec["devices"]]
    print(f'time="now" level=info msg="Found {len(found)} CDI devices"', file=sys.stderr)
    print("\n".join(found))
    return 0
