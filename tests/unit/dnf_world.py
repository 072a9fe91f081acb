# SPDX-License-Identifier: GPL-3.0-or-later
"""A scratch root with real dnf and rpm, and small signed repositories for it to know."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins.module_utils._act.packages import run
from ansible_collections.ibready.cluster.plugins.module_utils._act.packages.dnf import Dnf
from ansible_collections.ibready.cluster.plugins.module_utils._ground.command import Output
from tests.unit.apt_world import Signer, sh

NEEDED = ("dnf", "rpm", "rpmbuild", "rpmsign", "createrepo_c", "gpg")
CAN_RUN = all(shutil.which(program) for program in NEEDED)


@dataclass(frozen=True)
class Rpm:
    """``head``: more lines of the spec's head; ``version`` is [epoch:]version-release."""

    name: str
    version: str
    head: str = ""


class RpmRepository:
    """A repository below a folder; packages and index signed with a key."""

    def __init__(self, home: Path, signer: Signer) -> None:
        self.home = home
        self._signer = signer
        self._work = home.parent / f"{home.name}-work"
        home.mkdir(parents=True)
        self._work.mkdir()

    def publish(self, rpms: Sequence[Rpm]) -> None:
        shutil.rmtree(self.home)
        self.home.mkdir()
        for rpm in rpms:
            self._build(rpm)
        made = sorted(self.home.glob("*.rpm"))
        home = f"_gpg_path {self._signer.home}"
        # Debian's rpm looks for gpg2, which none of its packages has.
        program = f"__gpg {shutil.which('gpg')}"
        sign = ["--define", home, "--define", f"_gpg_name {self._signer.fingerprint}", "--define", program]
        sh("rpmsign", *sign, "--addsign", *made)
        sh("createrepo_c", "--quiet", "--general-compress-type=gz", self.home)
        self.sign()

    def sign(self) -> None:
        index = self.home / "repodata/repomd.xml"
        self._signer.gpg("--armor", "--detach-sign", "--output", f"{index}.asc", index)

    def _build(self, rpm: Rpm) -> None:
        epoch, _colon, rest = rpm.version.rpartition(":")
        version, _dash, release = rest.partition("-")
        spec = self._work / f"{rpm.name}.spec"
        spec.write_text(
            f"Name: {rpm.name}\nVersion: {version}\nRelease: {release}\n"
            + (f"Epoch: {epoch}\n" if epoch else "")
            + f"Summary: test\nLicense: test\nBuildArch: noarch\n{rpm.head}\n"
            + "%description\ntest\n%files\n"
        )
        defines = ["--define", f"_topdir {self._work}/top", "--define", f"_rpmdir {self.home}"]
        defines += ["--define", "_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm"]
        sh("rpmbuild", "-bb", "--quiet", *defines, spec)

    def entry(self, name: str = "vendor", **more: Any) -> dict[str, Any]:
        """The repository as the plan names it."""
        return {
            "name": name,
            "kind": "dnf",
            "url": f"file://{self.home}/",
            "key": f"file://{self._signer.key}",
            "fingerprints": [self._signer.fingerprint],
            **more,
        }


class DnfWorld:
    """A root without a single package, and dnf for it."""

    def __init__(self, home: Path) -> None:
        self.root = home / "root"
        self.said: list[list[str]] = []
        for folder in ("etc/yum.repos.d", "etc/dnf", "usr", "var/tmp", "lib/modules"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "etc/dnf/dnf.conf").write_text("[main]\ngpgcheck=1\n")

    def run(self, argv: Sequence[str]) -> Output:
        self.said.append(list(argv))
        return run.run(argv)

    def manager(self) -> Dnf:
        return Dnf(self.run, str(self.root), ["--releasever=9"])

    def packages(self) -> dict[str, str]:
        return {name: one.version for name, one in self.manager().installed().items()}

    def file(self, path: str) -> Path:
        return self.root / path.lstrip("/")
