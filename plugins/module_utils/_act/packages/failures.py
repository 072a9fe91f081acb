# SPDX-License-Identifier: GPL-3.0-or-later
"""What package managers say when they fail, and what it means. The first that fits is told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Sequence

from .model import PackageError


@dataclass(frozen=True)
class Failure:
    kind: str
    cause: str
    patterns: tuple[str, ...]
    following: str


# In the words of apt 2 and 3, dpkg, dnf 4 and rpm; confirmed by making each of them fail where it
# could be done, the rest recalled. A full disk makes an index fail to load, too, so it goes first.
FAILURES = (
    Failure(
        "disk",
        "a disk is full",
        (
            "No space left on device",
            "have enough free space in",
            r"At least \d+[KMG]?i?B more space needed",
            r"needs \d+[KMG]?i?B (more space )?on the",
        ),
        "free some space (apt-get clean or dnf clean all, old logs, old kernels) and run this again",
    ),
    Failure(
        "lock",
        "another process holds the package manager's lock",
        (
            "Could not get lock",
            "Unable to (acquire|lock)",
            "Failed to lock",
            "lockfile is held by",
            "is running at the moment",
            "already locked by",
            "[Ff]ailed to obtain .*lock",
            "can't create transaction lock",
        ),
        "wait until it is done (automatic upgrades after a boot take minutes), or raise the role's lock_timeout",
    ),
    Failure(
        "sources",
        "apt cannot read the host's list of package sources, so that nothing is known of any repository",
        ("Conflicting values set for option", "list of sources could not be read", "Malformed (entry|line|stanza)"),
        "mend the entry of /etc/apt/sources.list.d that it names (two entries of one repository have to name the same "
        "key in signed-by), see that `apt-get update` reads all, then run this again",
    ),
    Failure(
        "key",
        "the repository or a package is signed by another key than the pinned one, or not at all",
        (
            "NO_PUBKEY",
            "is not signed",
            "couldn't be verified because the public key is not available",
            "signatures were invalid",
            "BADSIG",
            "EXPKEYSIG",
            "Missing key 0x",
            "Bad OpenPGP signature",
            "bad PGP signature",
            "repomd.xml GPG signature verification error",
            "(GPG|PGP) check FAILED",
            "Public key for .* is not (installed|trusted)",
            "GPG signature verification error",
            "sqv returned an error",
            "Failed to download gpg key",
            "Import of key\\(s\\) didn't help",
            "not correct for this package",
        ),
        "see who signed it; if the vendor has a new key, check its fingerprint with the vendor and pin that",
    ),
    Failure(
        "checksum",
        "what the repository sent is not what its index promises",
        (
            "Hash Sum mismatch",
            "Hashes of expected file",
            "File has unexpected size",
            "[Cc]hecksum (doesn't|does not) match",
            "No more mirrors to try - All mirrors were already tried without success",
            "checksum mismatch",
            "incorrect checksum",
            "Payload SHA256 digest: BAD",
        ),
        "let the mirror be synchronised again (it may be in the middle of it), then run this again",
    ),
    Failure(
        "unreachable",
        "a package repository cannot be reached, or lacks a file of its index",
        (
            "Could not resolve",
            "Could(n't| not) connect",
            "[Cc]onnection (refused|timed out|failed|reset)",
            "Unable to connect",
            "does not have a Release file",
            "no longer has a Release file",
            "Failed to (fetch|download)",
            r"Cannot (download|prepare)",
            r"40[0-9]  ?Not Found",
            "Status code: [45][0-9][0-9]",
            "Unable to fetch",
            "Failed to update apt cache",
        ),
        "check its address (stack_repositories), the name server and the proxy",
    ),
    Failure(
        "version",
        "a package that is asked for is in none of the repositories",
        (
            "Unable to locate package",
            "No package .*available",
            "No package matching",
            "No match for argument",
            "has no installation candidate",
            "Version '.*' for '.*' was not found",
            "Unable to find a match",
        ),
        "see that the repository is the one that the plan means, or plan anew",
    ),
    # dkms 3: Debian's postinst builds for every kernel with headers, and ends with the build's status.
    Failure(
        "dkms",
        "DKMS could not build a kernel module for a kernel whose headers are installed, so its package stays half done",
        (r"Bad return status for module build on kernel",),
        "read why in /var/lib/dkms/*/*/build/make.log on the host; install a release of the module that knows that"
        " kernel, or, where nobody boots it, remove its headers (apt purge linux-headers-RELEASE), then run this again",
    ),
    # Only apt: what dpkg has still to configure is another matter, and `dpkg --configure -a` brings no package.
    Failure(
        "unmet",
        "packages on the host lack others that they depend on",
        ("Unmet dependencies. Try", "Unable to correct dependencies"),
        "run `apt-mark unhold {held}`, `apt-get --fix-broken install` (it tells first what it would do) and, of "
        "those that were held before, `apt-mark hold {held}` on the host, then run this again",
    ),
    Failure(
        "conflict",
        "the packages cannot be installed beside what is there",
        (
            "unmet dependencies",
            "held broken packages",
            "(conflicts with|obsoletes) .* provided by",
            "problem with installed package",
            "[Pp]roblem: ",
            "conflicting requests",
            "Unsatisfied dependencies",
            "remove is disabled",
            "nothing provides",
        ),
        "see which packages are named, and remove or replace them",
    ),
    Failure(
        "broken",
        "the package database was left in the middle of something",
        ("dpkg was interrupted", "rpmdb.*corrupt"),
        "run `dpkg --configure -a` (or `rpm --rebuilddb`) on the host and see what it says",
    ),
)


# A package whose dependencies are not met, as apt lists it.
_LACKS = re.compile(r"^ *([a-z0-9][a-z0-9+.:-]*) : (?:Pre)?Depends:", re.MULTILINE)


def following(failure: Failure, *texts: str) -> str:
    """What to do next; those that lack something, which mostly we hold, by their names."""
    named = [name for text in texts for name in _LACKS.findall(text)]
    return failure.following.replace("{held}", " ".join(dict.fromkeys(named)) or "NAMES")


def said(*texts: str) -> str:
    """The lines that tell something, in one line of at most a thousand characters."""
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    telling = [
        line
        for above, line in zip(["", *lines], lines)
        if line.startswith(("E: ", "W: ", "Err:", "Error", "dpkg: error", "error:", "Problem"))
        # dpkg names the package, and says in the next line why.
        or (above.startswith("dpkg: error") and above.endswith(":"))
    ]
    # The package manager repeats itself.
    chosen = list(dict.fromkeys(telling or lines[-8:]))
    return " ".join(chosen)[:1000]


def beside(error: PackageError, unread: Sequence[str]) -> PackageError:
    """The error, and the host's other repositories that could not be read: mostly its cause."""
    if not unread:
        return error
    return PackageError(
        error.kind,
        f"{error.cause}; and a repository of the host's own cannot be read: {unread[0]}",
        f"fix that repository first, or take it away; then, if it still fails, {error.following}",
        error.said,
        changed=error.changed,
    )


def first(words: str) -> Failure | None:
    """The first failure that these words tell of."""
    return next((entry for entry in FAILURES if re.search("|".join(entry.patterns), words)), None)


def of_build(*texts: str) -> bool:
    """Whether a kernel module that DKMS could not build is what failed."""
    failure = first("\n".join(texts))
    return failure is not None and failure.kind == "dkms"


def unreadable(*texts: str) -> bool:
    """Whether the package manager cannot even read where its repositories are."""
    failure = first("\n".join(texts))
    return failure is not None and failure.kind == "sources"


def explain(*texts: str, doing: str, changed: bool = False) -> PackageError:
    """The error for output of a package manager that failed at ``doing`` something."""
    failure = first("\n".join(texts))
    if failure:
        return PackageError(
            failure.kind, f"{doing} failed: {failure.cause}", following(failure, *texts), said(*texts), changed=changed
        )
    return PackageError(
        "failed",
        f"{doing} failed",
        "read what it said, and run the same by hand on the host to see more",
        said(*texts) or "nothing",
        changed=changed,
    )
