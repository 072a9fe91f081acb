# SPDX-License-Identifier: GPL-3.0-or-later
"""A scratch root with real apt and dpkg, and small signed repositories for it to know."""

from __future__ import annotations

import atexit
import gzip
import hashlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import run
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.apt import Apt
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output

NEEDED = ("apt-get", "dpkg-deb", "gpg")
CAN_RUN = all(shutil.which(program) for program in NEEDED)


def sh(*argv: str | Path, env: Mapping[str, str] | None = None) -> str:
    done = subprocess.run([str(one) for one in argv], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Deb:
    name: str
    version: str
    fields: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    scripts: Mapping[str, str] = field(default_factory=dict)


class Signer:
    """A throw-away key."""

    def __init__(self, home: Path, name: str) -> None:
        self.home = home / f"gnupg-{name}"
        self.home.mkdir(mode=0o700)
        # gpg starts an agent for the key, which would outlive the tests.
        end = ["gpgconf", "--homedir", str(self.home), "--kill", "all"]
        atexit.register(subprocess.run, end, capture_output=True, check=False)
        words = ["--batch", "--passphrase", "", "--quick-gen-key", f"{name} <x@example.com>"]
        self.gpg(*words, "ed25519", "sign", "never")
        self.key = home / f"{name}.pub"
        self.key.write_text(self.gpg("--armor", "--export"))
        listed = self.gpg("--with-colons", "--list-keys")
        self.fingerprint = next(line.split(":")[9] for line in listed.splitlines() if line.startswith("fpr:"))

    def gpg(self, *words: str | Path) -> str:
        return sh("gpg", "--homedir", self.home, "--quiet", "--yes", *words)


class DebRepository:
    """A flat repository below a folder, signed with a key."""

    def __init__(self, home: Path, signer: Signer) -> None:
        self.home = home
        self._signer = signer
        self._work = home.parent / f"{home.name}-work"
        home.mkdir(parents=True)
        self._work.mkdir()

    def publish(self, debs: Sequence[Deb]) -> None:
        for path in self.home.iterdir():
            path.unlink()
        index = ""
        for deb in debs:
            path = self._build(deb)
            data = path.read_bytes()
            index += sh("dpkg-deb", "--field", path)
            index += f"Filename: ./{path.name}\nSize: {len(data)}\n"
            index += f"SHA256: {hashlib.sha256(data).hexdigest()}\n\n"
        (self.home / "Packages").write_text(index)
        (self.home / "Packages.gz").write_bytes(gzip.compress(index.encode(), mtime=0))
        self.sign()

    def sign(self) -> None:
        release = "Origin: test\nLabel: test\nSuite: test\nDate: Thu, 01 Jan 2026 00:00:00 UTC\n"
        release += "SHA256:\n"
        for name in ("Packages", "Packages.gz"):
            data = (self.home / name).read_bytes()
            release += f" {hashlib.sha256(data).hexdigest()} {len(data)} {name}\n"
        plain = self._work / "Release"
        plain.write_text(release)
        self._signer.gpg("--output", self.home / "InRelease", "--clearsign", plain)

    def _build(self, deb: Deb) -> Path:
        tree = self._work / f"{deb.name}_{deb.version.replace(':', '')}"
        shutil.rmtree(tree, ignore_errors=True)
        control = {"Package": deb.name, "Version": deb.version, "Architecture": "all"}
        control |= {"Maintainer": "test <x@example.com>", "Description": "test", **deb.fields}
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text("".join(f"{key}: {value}\n" for key, value in control.items()))
        for name, text in deb.scripts.items():
            (tree / "DEBIAN" / name).write_text(text)
            (tree / "DEBIAN" / name).chmod(0o755)
        for name, text in deb.files.items():
            path = tree / name.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        made = self.home / f"{tree.name}_all.deb"
        sh("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, made)
        return made

    def entry(self, name: str = "vendor", **more: Any) -> dict[str, Any]:
        """The repository as the plan names it."""
        return {
            "name": name,
            "kind": "apt",
            "url": f"file://{self.home}/",
            "suite": "./",
            "key": f"file://{self._signer.key}",
            "fingerprints": [self._signer.fingerprint],
            **more,
        }


class AptWorld:
    """A root without a single package, and apt for it."""

    def __init__(self, home: Path) -> None:
        self.root = home / "root"
        self.said: list[list[str]] = []
        for folder in (
            "etc/apt/sources.list.d",
            "etc/apt/preferences.d",
            "etc/apt/apt.conf.d",
            "etc/apt/trusted.gpg.d",
            "usr",
            "var/tmp",
            "var/lib/apt/lists/partial",
            "var/cache/apt/archives/partial",
            "var/log/apt",
            "var/lib/dpkg/info",
            "var/lib/dpkg/updates",
            "lib/modules",
        ):
            (self.root / folder).mkdir(parents=True)
        (self.root / "var/lib/dpkg/status").touch()
        self.options = [
            f"Dir={self.root}",
            f"Dir::State::status={self.root}/var/lib/dpkg/status",
            f"Dpkg::Options::=--root={self.root}",
            "Dpkg::Options::=--force-not-root",
            "Dpkg::Options::=--force-script-chrootless",
            "APT::Sandbox::User=root",
        ]

    def run(self, argv: Sequence[str]) -> Output:
        self.said.append(list(argv))
        return run.run(argv)

    def manager(self) -> Apt:
        return Apt(self.run, str(self.root), self.options)

    def packages(self) -> dict[str, str]:
        return {name: one.version for name, one in self.manager().installed().items()}

    def file(self, path: str) -> Path:
        return self.root / path.lstrip("/")
