# SPDX-License-Identifier: GPL-3.0-or-later
"""apt as `wanted_files` needs it: the host with fewer packages than it has."""

from __future__ import annotations

import os
import re
from typing import Collection, Sequence

from ..._ground import whole
from . import apt_text, failures
from .apt import Apt, named
from .apt_host import YES
from .model import Installed, PackageError, Part, Repository, Request, Transaction
from .run import Runner
from .wanted_files import PackageFile

_STATUS = "var/lib/dpkg/status"
_HELPER = "/usr/lib/apt/apt-helper"
_URI = re.compile(r"'([^']+)' (\S+) ([0-9]+) SHA256:([0-9a-f]{64})")


class AptFiles(Apt):
    """``without``: installed packages that do not count as there."""

    def __init__(self, run: Runner, without: Collection[str], root: str = "/", more: Sequence[str] = ()) -> None:
        # What the signed index says of a file is asked for as SHA256, whatever else it says.
        super().__init__(run, root, [*more, "Acquire::ForceHash=SHA256"])
        self._without = frozenset(without)

    def installed(self) -> dict[str, Installed]:
        return {name: entry for name, entry in super().installed().items() if name not in self._without}

    def look(self, repositories: Sequence[Repository], keys: dict[str, bytes], parts: Sequence[Part]) -> list[str]:
        warnings = super().look(repositories, keys, parts)
        if self._view is None:
            raise AssertionError("a look comes first")
        home = self._view.home
        with open(os.path.join(self.root, _STATUS), encoding="utf-8", errors="replace") as stream:
            text = reduced(stream.read(), self._without)
        with open(os.path.join(home, "status"), "w", encoding="utf-8") as stream:
            stream.write(text)
        whole.make_folder(os.path.join(home, "archives/partial"))
        # An archive folder of its own: what lies in the host's would not be listed.
        self._more += [f"Dir::State::status={home}/status", f"Dir::Cache::archives={home}/archives"]
        return warnings

    def simulate(self, request: Request) -> Transaction:
        planned = self._apt("apt-get", ["--simulate", *YES, "install", *named(request)])
        return Transaction(self._changes(planned, "choosing the packages"))

    def listed(self, request: Request) -> list[PackageFile]:
        done = self._apt("apt-get", ["--print-uris", *YES, "install", *named(request)])
        if done.rc != 0:
            raise failures.explain(done.stdout, done.stderr, doing="listing the package files")
        uris = addresses(done.stdout)
        if not uris:
            return []
        chosen = [change for change in self.simulate(request).changes if change.after]
        shown = self._apt("apt-cache", ["show", *(f"{entry.name}={entry.after}" for entry in chosen)])
        try:
            paragraphs = by_sum(shown.stdout)
            return [_file(*entry, paragraphs) for entry in uris]
        except apt_text.TextError as exc:
            raise PackageError("failed", str(exc), "tell us apt's version and this line") from exc

    def bring(self, wanted: Sequence[PackageFile], folder: str) -> None:
        argv = [_HELPER]
        for option in self._more:
            argv += ["-o", option]
        argv.append("download-file")
        for file in wanted:
            argv += [file.address, os.path.join(folder, file.file), f"SHA256:{file.sha256}"]
        done = self._run(argv)
        if done.rc != 0:
            raise failures.explain(done.stdout, done.stderr, doing="downloading the packages")

    def end(self) -> None:
        """Remove all that was made."""
        self.close()


def reduced(status: str, without: Collection[str]) -> str:
    """dpkg's status file without the paragraphs of some packages."""
    kept = []
    for paragraph in re.split(r"\n{2,}", status.strip("\n")):
        match = re.match(r"Package: (\S+)$", paragraph, re.MULTILINE)
        if match is None or match.group(1) not in without:
            kept.append(paragraph)
    return "\n\n".join(kept) + "\n" if any(kept) else ""


def addresses(text: str) -> list[tuple[str, str, int, str]]:
    """Address, file name, bytes and SHA256 of the files of ``apt-get --print-uris``.

    TextError for a file without a SHA256.
    """
    found = []
    for line in text.splitlines():
        if not line.startswith("'"):
            continue
        match = _URI.fullmatch(line.strip())
        if match is None:
            raise apt_text.TextError(f"apt-get knows no SHA256 for a file: {line[:200]!r}")
        address, name, size, digest = match.groups()
        found.append((address, name, int(size), digest))
    return found


def by_sum(text: str) -> dict[str, str]:
    """The paragraphs of ``apt-cache show`` by their SHA256."""
    found = {}
    for paragraph in re.split(r"\n{2,}", text.strip("\n")):
        match = re.search(r"^SHA256: ([0-9a-f]{64})$", paragraph, re.MULTILINE)
        if match:
            found[match.group(1)] = paragraph
    return found


def _file(address: str, name: str, size: int, digest: str, paragraphs: dict[str, str]) -> PackageFile:
    paragraph = paragraphs.get(digest)
    if paragraph is None:
        raise apt_text.TextError(f"apt-cache says nothing of {address}")
    # A name on the disk as apt gives it; in an address its % would be read.
    file = name.replace("%3a", "_").replace("%", "_")
    fields = dict(re.findall(r"^(Package|Version): (\S+)$", paragraph, re.MULTILINE))
    lines = re.split(r"\n(?![ \t])", paragraph)
    kept = [line for line in lines if not line.startswith(("Filename:", "Status:"))]
    index = "\n".join([*kept, f"Filename: ./{file}"])
    return PackageFile(fields["Package"], fields["Version"], file, address, size, digest, index)
