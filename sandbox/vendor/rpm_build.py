# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the rpms of one repository with rpmbuild, and its index with createrepo_c."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from sandbox.errors import SandboxError
from sandbox.vendor import catalog, repack, rpm_modules
from sandbox.vendor.catalog import Package, Relation, Repository
from sandbox.vendor.payload import File, description, files, pack, scripts
from sandbox.vendor.repack import Real

# Nothing is looked at, stripped, compressed again or refused: a payload is taken as it is.
_HEAD = """\
%global debug_package %{nil}
%global __os_install_post %{nil}
%global _build_id_links none
%global _binary_payload w1.gzdio
%define _unpackaged_files_terminate_build 0
AutoReqProv: no
Name: ibready-sandbox-build
Version: 1
Release: 1
Summary: SIMULATED
License: none
BuildArch: x86_64
%description
SIMULATED
"""
# dpkg's script, the section of an rpm for it, and the arguments that it then expects.
_SCRIPTS = {
    "preinst": ("pre", '[ "$1" = 1 ] && set -- install || set -- upgrade'),
    "postinst": ("post", '[ "$1" = 1 ] && set -- configure || set -- configure 0'),
    "prerm": ("preun", '[ "$1" = 0 ] && set -- remove || set -- upgrade'),
    "postrm": ("postun", '[ "$1" = 0 ] && set -- remove || set -- upgrade'),
}
# A node's tools go through its launcher; dpkg calls this after each run, rpm has to be told.
_LINKS = "links=/usr/local/lib/ibready-sandbox/link-tools; [ ! -x $links ] || $links"


def _relation(relation: Relation) -> str:
    if not relation.operator:
        return relation.name
    epoch, number, release = catalog.rpm_version(relation.version)
    return f"{relation.name} {relation.operator} {epoch + ':' if epoch else ''}{number}-{release}"


def spec(package: Package, content: Iterable[File]) -> str:
    """Return a package's spec file; rpmbuild gets its files as the buildroot."""
    epoch, number, release = catalog.rpm_version(package.version)
    lines = _HEAD.replace("ibready-sandbox-build", package.name).splitlines()
    lines[lines.index("Version: 1")] = f"Version: {number}"
    lines[lines.index("Release: 1")] = f"Release: {release}"
    tags = [f"Summary: SIMULATED {package.summary}"]
    tags += [f"Epoch: {epoch}"] if epoch else []
    tags += [f"Requires: {_relation(depend)}" for depend in package.depends]
    tags += [f"Recommends: {_relation(recommend)}" for recommend in package.recommends]
    tags += [f"Conflicts: {conflict}" for conflict in package.conflicts]
    tags += [f"Provides: {provide}" for provide in package.provides]
    lines[lines.index("Summary: SIMULATED") : lines.index("Summary: SIMULATED") + 1] = tags
    lines.append(description(package))
    for name, text in scripts(package).items():
        section, arguments = _SCRIPTS[name]
        lines += [f"%{section}", arguments, text.replace("%", "%%")]
    if package.repack:
        lines += ["%posttrans", _LINKS, "%postun", _LINKS]
    return "\n".join([*lines, "%files", *_files(content), ""])


def _files(content: Iterable[File]) -> Iterator[str]:
    for file in content:
        kind = "%config(noreplace) " if file.path.startswith("etc/") else ""
        yield f'{kind}"/{file.path}"'


def _content(package: Package, reals: dict[str, Real]) -> list[File]:
    """Return what a package brings: its own tree, or the files of what it repacks."""
    found = {file.path: file for file in files(package)}
    for real in repack.source(package, reals):
        with tarfile.open(fileobj=io.BytesIO(real.data_tar)) as tar:
            for member in tar.getmembers():
                path = member.name.removeprefix("./")
                if member.isfile():
                    handle = tar.extractfile(member)
                    data = handle.read() if handle is not None else b""
                    found[path] = File(path, data, member.mode)
                elif member.issym():
                    found[path] = File(path, link=member.linkname)
    return list(found.values())


def build(repository: Repository, target: Path, reals: dict[str, Real]) -> None:
    """Write a repository's rpms, and its index without signatures."""
    for package in repository.packages:
        _one(package, target, _content(package, reals))
    document = rpm_modules.document(repository)
    if document:
        (target / rpm_modules.FILE).write_text(document)


def _one(package: Package, target: Path, content: list[File]) -> None:
    with tempfile.TemporaryDirectory(prefix="ibready-rpm-") as name:
        top = Path(name)
        root = top / "root"
        with tarfile.open(fileobj=io.BytesIO(pack(content))) as tar:
            # Our own files, as they are. As an argument Python knows a filter since 3.11.4 only.
            tar.extraction_filter = lambda member, _path: member
            tar.extractall(root)
        (top / "package.spec").write_text(spec(package, content))
        run(
            "rpmbuild",
            "-bb",
            "--quiet",
            "--noprep",
            "--nodeps",
            f"--buildroot={root}",
            f"--define=_topdir {top}",
            f"--define=_rpmdir {target}",
            "--define=_rpmfilename %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm",
            "--define=_buildhost sandbox.invalid",
            "--target=x86_64",
            str(top / "package.spec"),
        )


def run(*argv: str) -> str:
    """Run a tool of rpm's; its complaint becomes the error."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise SandboxError(f"{argv[0]} is not installed: apt install rpm createrepo-c") from None
    if done.returncode != 0:
        raise SandboxError(f"{argv[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout
