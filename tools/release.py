# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything of a release in dist/: the collection's archive, the node program, its packages, and their sums.

    python -m tools.release [--rehearse]

What is no release is refused: changes outside a commit, a version without its section of the changelog, an address
of an example, a status that README.md and the changelog tell differently.
With --rehearse it is said and built all the same, with its sums in another file.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import re
import sys
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tools import build as program, packages

ROOT = packages.ROOT
SUMS, REHEARSED = "SHA256SUMS", "SHA256SUMS.rehearsal"
GALAXY = Path(sys.executable).with_name("ansible-galaxy")
_MOST_NAMED = 5
_NOBODY_S = (".example.com", ".example.org", ".example.net", ".example", ".invalid")  # RFC 2606
_STATUS = re.compile(r"\*\*Status: (.+?)\*\*")


def refusals(root: Path, version: str) -> Iterator[str]:
    """Why this is no release of that version, each with what to do."""
    changed = packages.run("git", "-C", str(root), "status", "--porcelain").splitlines()
    if changed:
        yield f"{_some([line[3:] for line in changed])} differ from the commit; next: commit or remove them"
    kept = root / "changelogs/changelog.yaml"
    releases = (yaml.safe_load(kept.read_text()) or {}).get("releases") or {} if kept.exists() else {}
    fragments = sorted(path.name for path in (root / "changelogs/fragments").glob("*.y*ml"))
    if version not in releases:
        yield (
            f"CHANGELOG.md has no section for {version}, the version in galaxy.yml; next: "
            "`antsibull-changelog release`, and commit what it writes"
        )
    elif fragments:
        yield (
            f"{_some(fragments)} in changelogs/fragments came after {version}; next: raise the version in galaxy.yml "
            "and plugins/module_utils/_ground/version.py, then `antsibull-changelog release`"
        )

    galaxy = yaml.safe_load((root / "galaxy.yml").read_text())
    for key in ("repository", "documentation", "homepage", "issues"):
        if f".{urlsplit(galaxy.get(key, '')).hostname}".endswith(_NOBODY_S):
            yield f"{key} in galaxy.yml is {galaxy[key]}, which is nobody's; next: the address that you publish at"
    status = _STATUS.search((root / "README.md").read_text())
    summary = releases.get(version, {}).get("changes", {}).get("release_summary", "")
    if status and version in releases and status[1] not in " ".join(summary.split()):
        yield f"README.md has the status {status[1]!r}, the changelog's summary has not; next: the same in both"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def timeless(archive: bytes, epoch: int) -> bytes:
    """The same tar.gz without the time at which it was written."""
    stream = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as old,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in old:
            member.mtime = epoch
            member.pax_headers = {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(stream.getvalue(), mtime=epoch)


def collection(root: Path, made: packages.Release, dist: Path) -> Path:
    """Write dist/ibready-cluster-VERSION.tar.gz, and remove those of other versions."""
    for path in dist.glob("ibready-cluster-*.tar.gz"):
        path.unlink()
    packages.run(str(GALAXY), "collection", "build", "--output-path", str(dist), str(root))
    path = dist / f"ibready-cluster-{made.version}.tar.gz"
    path.write_bytes(timeless(path.read_bytes(), made.epoch))
    return path


def build(root: Path, dist: Path, sums: str = SUMS) -> Path:
    """Write all of it; returns the file of ``sums``, as sha256sum reads it."""
    made = packages.release(root)
    for name in (SUMS, REHEARSED):
        (dist / name).unlink(missing_ok=True)
    program.build(root, dist / "ibready.pyz")
    written = [collection(root, made, dist), dist / "ibready.pyz", *packages.build(root, dist)]
    lines = sorted(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in written)
    (dist / sums).write_text("".join(lines))
    return dist / sums


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./run release", description="Make dist/ for a release.")
    parser.add_argument("--rehearse", action="store_true", help="build what is here, though it is no release")
    rehearse = parser.parse_args(argv).rehearse
    try:
        against = list(refusals(ROOT, packages.release().version))
        for reason in against:
            print(f"release: {reason}", file=sys.stderr)
        if against and not rehearse:
            return 1
        sums = build(ROOT, ROOT / "dist", REHEARSED if against else SUMS)
        print(sums.read_text(), end="")
    except packages.PackagingError as exc:
        print(f"release: {exc}", file=sys.stderr)
        return 1
    if against:
        print(f"a rehearsal, no release: see above; the sums are in dist/{sums.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
