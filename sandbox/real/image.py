# SPDX-License-Identifier: GPL-3.0-or-later
"""The host's image: Debian 13 with a kernel, its headers and DKMS, from Debian's own archive."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox import apt, image, podman

_HERE = Path(__file__).parent
_NODE_SETUP = _HERE.parent / "node/setup.sh"
_PARTS = (_HERE / "setup.sh", _HERE / "kernel_name.c")
_PACKAGES = (
    *image.PACKAGES,
    *("dkms", "gcc", "libc6-dev", "linux-headers-amd64", "linux-image-amd64", "initramfs-tools"),
    *("gpg", "kmod", "pciutils"),
)


@dataclass(frozen=True)
class Recipe:
    """All that the image depends on; ``mirror`` "": mmdebstrap knows where Debian is had."""

    source: apt.Debian
    apt_options: tuple[str, ...]

    @property
    def tag(self) -> str:
        inputs = [repr(self), repr(argv(self, Path("PARTS")))]
        inputs += [path.read_text() for path in (_NODE_SETUP, *_PARTS)]
        return f"{image.REAL}:{hashlib.sha256(chr(0).join(inputs).encode()).hexdigest()[:16]}"


def argv(what: Recipe, parts: Path) -> list[str]:
    """Return the command that writes the host's file system as a tar to standard output."""
    node, setup = shlex.quote(str(parts / _NODE_SETUP.name)), shlex.quote(str(parts / "real"))
    return [
        "mmdebstrap",
        "--quiet",
        "--variant=minbase",
        f"--include={','.join(_PACKAGES)}",
        "--components=main",
        "--dpkgopt=force-unsafe-io",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        '--aptopt=Acquire::Languages "none"',
        *(f"--aptopt={option}" for option in what.apt_options),
        "--skip=cleanup/apt/lists",
        f"--customize-hook=upload {node} /node-setup.sh",
        '--customize-hook=chroot "$1" sh /node-setup.sh',
        f"--customize-hook=copy-in {setup} /",
        f'--customize-hook=chroot "$1" sh /real/setup.sh {shlex.quote(what.source.security)}',
        '--customize-hook=rm -r "$1/real" "$1/node-setup.sh"',
        what.source.suite,
        "-",
        *filter(None, [what.source.mirror]),
    ]


def recipe() -> Recipe:
    return Recipe(apt.debian(), image.carried_apt_options())


def ensure(say: Callable[[str], None]) -> Recipe:
    """Build the image if it is missing, and take older ones away; return its recipe."""
    what = recipe()
    with image.alone():
        have = [name for name in image.tags() if name.startswith(f"{image.REAL}:")]
        if what.tag not in have:
            say(f"building the image from {what.source.suite} (once, about two minutes)")
            with image.scratch() as parts:
                # mmdebstrap gives up root's rights for fetching packages.
                parts.chmod(0o755)
                shutil.copy(_NODE_SETUP, parts)
                (parts / "real").mkdir()
                for part in _PARTS:
                    shutil.copy(part, parts / "real")
                image.build(argv(what, parts), what.tag, parts, f"{what.source.mirror} {what.source.suite}")
            image.remove([name for name in have if name != what.tag], say)
    return what


def kernel(container: str) -> str:
    """Return the name of the kernel that the host is for."""
    return podman.text(["exec", container, "uname", "-r"])
