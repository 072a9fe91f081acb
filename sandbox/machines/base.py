# SPDX-License-Identifier: GPL-3.0-or-later
"""The base image: a freshly installed Debian server, built once and kept by a digest of its recipe.

The machines are Debian 13 wherever this runs: from the host's own Debian archive, else from
mmdebstrap's.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sandbox import apt, podman
from sandbox.errors import SandboxError
from sandbox.image import PACKAGES, carried_apt_options
from sandbox.machines import disk
from sandbox.machines.config import cache
from sandbox.steps import Say

# What the sandbox's nodes have, and what makes a machine of it; what servers have anyhow; what a
# site has put there that builds its own modules; and what podman, which is not there, depends on.
# An emulated processor would take minutes to install all that.
_PACKAGES = (
    *PACKAGES,
    "conmon",
    "containernetworking-plugins",
    "crun",
    "dkms",
    "golang-github-containers-common",
    "gnupg",
    "grub-pc-bin",
    "grub2-common",
    "initramfs-tools",
    "iptables",
    "kmod",
    "libgpgme11t64",
    "libsubid5",
    "linux-headers-amd64",
    "linux-image-amd64",
    "netavark",
    "netbase",
    "nftables",
    "openmpi-bin",
    "ucx-utils",
    "udev",
)
# Of the drivers, what RDMA, containers and qemu's own devices ask for. The others an emulated
# processor would read for every depmod, and no machine here has their hardware.
_DRIVERS = (
    *("block/*", "char/*", "infiniband/*", "md/*", "pps/*", "ptp/*", "virtio/*"),
    *("net/bonding/*", "net/ethernet/mellanox/*", "net/ipvlan/*", "net/vxlan/*"),
    *("net/dummy.*", "net/ifb.*", "net/macvlan.*", "net/net_failover.*", "net/tun.*", "net/veth.*"),
    *("net/virtio_net.*", "net/vrf.*", "scsi/libiscsi.*", "scsi/scsi_*"),
)
_MODULES = "/usr/lib/modules/*/kernel"
_HERE = Path(__file__).parent
_SETUP = _HERE / "setup.sh"
# What setup.sh puts in its place: a directory or a file each.
_PARTS = (_HERE / "compiled.py", _HERE / "dkms/ibready-vendor-stand-in-1.0")
_BUILD_SECONDS = 900


@dataclass(frozen=True)
class Recipe:
    """All that the base image depends on; `security`: the archive of newer kernels.

    Where `mirror` is "", mmdebstrap adds both by itself.
    """

    mirror: str
    suite: str
    security: str
    apt_options: tuple[str, ...]

    @property
    def home(self) -> Path:
        inputs = [repr(self), repr(argv(self, Path("ROOT"), Path("SETUP")))]
        inputs += [_SETUP.read_text(), Path(disk.__file__).read_text()]
        inputs += [path.read_text() for path in _files(_PARTS)]
        return cache() / hashlib.sha256("\0".join(inputs).encode()).hexdigest()[:16]

    @property
    def disk(self) -> Path:
        return self.home / "disk.raw"

    @property
    def kernel(self) -> Path:
        """The image's kernel, by which accelerators are tried."""
        return self.home / "vmlinuz"


def recipe() -> Recipe:
    source = apt.debian()
    return Recipe(source.mirror, source.suite, source.security, carried_apt_options())


def argv(what: Recipe, root: Path, setup: Path) -> list[str]:
    """Return the command that writes the machines' root directory; `setup`: setup.sh, its parts."""
    return [
        "mmdebstrap",
        "--quiet",
        "--format=directory",
        "--variant=minbase",
        f"--include={','.join(_PACKAGES)}",
        "--components=main",
        "--dpkgopt=path-exclude=/usr/share/man/*",
        "--dpkgopt=path-exclude=/usr/share/locale/*",
        f"--dpkgopt=path-exclude={_MODULES}/sound/*",
        f"--dpkgopt=path-exclude={_MODULES}/net/wireless/*",
        f"--dpkgopt=path-exclude={_MODULES}/drivers/*",
        *(f"--dpkgopt=path-include={_MODULES}/drivers/{kept}" for kept in _DRIVERS),
        '--aptopt=Acquire::Languages "none"',
        *(f"--aptopt={option}" for option in what.apt_options),
        # The lists stay, so that a machine has to fetch them only where they changed.
        "--skip=cleanup/apt/lists,cleanup/apt/cache",
        f"--customize-hook=copy-in {shlex.quote(str(setup))} /",
        f'--customize-hook=chroot "$1" sh /{setup.name}/{_SETUP.name} {shlex.quote(what.security)}',
        f'--customize-hook=rm -r "$1/{setup.name}"',
        what.suite,
        str(root),
        *filter(None, [what.mirror]),
    ]


def _files(parts: Iterable[Path]) -> list[Path]:
    """Return what lies below, in an order of its own."""
    found = [path for part in parts for path in (part, *part.rglob("*"))]
    return sorted(path for path in found if path.is_file())


def ensure(say: Say) -> Recipe:
    """Build the image if it is missing; return its recipe, which knows where it lies."""
    what = recipe()
    with _alone():
        if not what.disk.exists():
            say(f"building the machines' image from {what.suite} (once, about a minute)")
            _build(what)
    return what


def remove() -> bool:
    """Remove every base image; machines that run keep the file that they have open."""
    if not cache().exists():
        return False
    with _alone():
        shutil.rmtree(cache())
    return True


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Wait until no other checkout builds or removes images."""
    while True:
        cache().mkdir(parents=True, exist_ok=True)
        path = cache() / "lock"
        with path.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Whoever removed the images removed the file that we waited for.
            if path.exists() and os.path.samestat(os.fstat(lock.fileno()), path.stat()):
                yield
                return


def _build(what: Recipe) -> None:
    with tempfile.TemporaryDirectory(prefix="ibready-machines-") as scratch:
        # mmdebstrap gives up root's rights for fetching packages.
        os.chmod(scratch, 0o755)
        root, made = Path(scratch) / "root", Path(scratch) / "made"
        setup = Path(scratch) / "setup"
        for folder in (made, setup):
            folder.mkdir()
        for part in (_SETUP, *_PARTS):
            copy = shutil.copytree if part.is_dir() else shutil.copy
            copy(part, setup / part.name)
        try:
            _root([*argv(what, root, setup)], f"mmdebstrap failed on {what.suite} {what.mirror}")
            (newest,) = root.glob("boot/vmlinuz-*")
            shutil.copy(newest, made / "vmlinuz")
            disk.make(root, made / "disk.raw")
        finally:
            _root(["rm", "-rf", "--one-file-system", str(root)], "the scratch directory stays")
        shutil.rmtree(what.home, ignore_errors=True)
        # Sparse, and in place only when it is whole.
        fresh = what.home.with_suffix(".new")
        shutil.rmtree(fresh, ignore_errors=True)
        copied = subprocess.run(
            ["cp", "--archive", "--sparse=always", str(made), str(fresh)],
            capture_output=True,
            text=True,
        )
        if copied.returncode != 0:
            shutil.rmtree(fresh, ignore_errors=True)
            raise SandboxError(f"the image cannot be kept: {copied.stderr.strip()[-300:]}")
        fresh.rename(what.home)


def _root(command: list[str], failed: str) -> None:
    """Run a command as root, for a bounded time."""
    # timeout ends all that the command started, with root's rights.
    whole = [*podman.prefix(), "timeout", "--kill-after=10", str(_BUILD_SECONDS), *command]
    try:
        process = subprocess.Popen(
            whole,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise SandboxError(f"{whole[0]} is not installed: apt install {whole[0]}") from None
    try:
        _, reported = process.communicate()
    except BaseException:
        # A Ctrl-C: nothing may go on writing where the next step cleans up.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(15)
        if process.stderr is not None:
            process.stderr.close()
        raise
    if process.returncode in (124, 137):
        raise SandboxError(f"{failed}: it did not end within {_BUILD_SECONDS} s")
    if process.returncode == 127:
        raise SandboxError(f"{command[0]} is not installed: apt install {command[0]}")
    if process.returncode != 0:
        said = reported.decode(errors="replace")[-1500:].strip()
        raise SandboxError(f"{failed}:\n{said}\nCheck that `apt-get update` works on this host")
