# SPDX-License-Identifier: GPL-3.0-or-later
"""The hosts' images: Debian 13 and Ubuntu 24.04 with a kernel, from their own archives.

Debian's has the kernel's headers and DKMS, as its driver is built on the host; Ubuntu's modules come built.
"""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sandbox import apt, image, podman
from sandbox.config import REPOSITORY

_HERE = Path(__file__).parent
_NODE_SETUP = _HERE.parent / "node/setup.sh"
_PARTS = (_HERE / "setup.sh", _HERE / "kernel_name.c")
_PACKAGES = (*image.PACKAGES, "gcc", "gpg", "initramfs-tools", "kmod", "libc6-dev")
# What Secure Boot starts a machine by (disk.py).
_BOOT = ("grub-efi-amd64-signed", "mokutil", "netbase", "pciutils", "shim-signed", "udev")
_DEBIAN = (*_PACKAGES, *_BOOT, "dkms", "linux-headers-amd64", "linux-image-amd64", "ubuntu-archive-keyring")
# Its kernel is chosen by setup.sh.
_UBUNTU = (*_PACKAGES, "apt", "ubuntu-keyring")
_UBUNTU_SUITE = "noble"
# Ubuntu's keys: the computer's own, or those of Debian's package, out of the image of the Debian host.
_UBUNTU_KEYRING = Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")


@dataclass(frozen=True)
class Recipe:
    """All that an image depends on.

    ``mirror`` "": mmdebstrap knows where Debian and Ubuntu are had.
    ``security``: the archive of Debian's newer kernels, where the sources lack it.
    """

    suite: str
    packages: tuple[str, ...]
    components: str
    mirror: str
    security: str
    keyring: str
    apt_options: tuple[str, ...]

    @property
    def tag(self) -> str:
        inputs = [repr(self), repr(argv(self, Path("PARTS")))]
        inputs += [path.read_text() for path in (_NODE_SETUP, *_PARTS)]
        return f"{image.REAL}:{hashlib.sha256(chr(0).join(inputs).encode()).hexdigest()[:16]}"


def argv(what: Recipe, parts: Path) -> list[str]:
    """Return the command that writes a host's file system as a tar to standard output."""
    node, setup = shlex.quote(str(parts / _NODE_SETUP.name)), shlex.quote(str(parts / "real"))
    return [
        "mmdebstrap",
        "--quiet",
        "--variant=minbase",
        f"--include={','.join(what.packages)}",
        f"--components={what.components}",
        *([f"--keyring={what.keyring}"] if what.keyring else []),
        "--dpkgopt=force-unsafe-io",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        '--aptopt=Acquire::Languages "none"',
        *(f"--aptopt={option}" for option in what.apt_options),
        "--skip=cleanup/apt/lists",
        f"--customize-hook=upload {node} /node-setup.sh",
        '--customize-hook=chroot "$1" sh /node-setup.sh',
        f"--customize-hook=copy-in {setup} /",
        f'--customize-hook=chroot "$1" sh /real/setup.sh {shlex.quote(what.security)}',
        '--customize-hook=rm -r "$1/real" "$1/node-setup.sh"',
        what.suite,
        "-",
        *filter(None, [what.mirror]),
    ]


def recipe(system: str) -> Recipe:
    """The recipe of debian or ubuntu."""
    options = image.carried_apt_options()
    if system == "debian":
        source = apt.debian()
        return Recipe(source.suite, _DEBIAN, "main", source.mirror, source.security, "", options)
    keyring = str(REPOSITORY / ".cache" / _UBUNTU_KEYRING.name)
    return Recipe(_UBUNTU_SUITE, _UBUNTU, "main,restricted,universe,multiverse", "", "", keyring, options)


def _have_keyring(place: Path, debian: str) -> None:
    """Put Ubuntu's keys there."""
    place.parent.mkdir(exist_ok=True)
    if _UBUNTU_KEYRING.exists():
        shutil.copy(_UBUNTU_KEYRING, place)
    else:
        words = ["run", "--rm", "--network=none", *podman.ULIMITS, debian, "cat", str(_UBUNTU_KEYRING)]
        place.write_bytes(podman.run(words).stdout)


def ensure(systems: tuple[str, ...], say: Callable[[str], None]) -> dict[str, Recipe]:
    """Build what is missing, and take older images away; return the recipes by system."""
    recipes = {system: recipe(system) for system in systems}
    with image.alone():
        have = [name for name in image.tags() if name.startswith(f"{image.REAL}:")]
        for system, what in recipes.items():
            if what.tag not in have:
                say(f"building the image of {system} (once, about a minute)")
                if what.keyring:
                    _have_keyring(Path(what.keyring), recipes["debian"].tag)
                _build(what)
        image.remove(set(have) - {what.tag for what in recipes.values()}, say)
    return recipes


def _build(what: Recipe) -> None:
    with image.scratch() as parts:
        # mmdebstrap gives up root's rights for fetching packages.
        parts.chmod(0o755)
        shutil.copy(_NODE_SETUP, parts)
        (parts / "real").mkdir()
        for part in _PARTS:
            shutil.copy(part, parts / "real")
        image.build(argv(what, parts), what.tag, parts, f"{what.suite} {what.mirror}")


def kernel(container: str) -> str:
    """Return the name of the kernel that a host is for."""
    return podman.text(["exec", container, "uname", "-r"])
