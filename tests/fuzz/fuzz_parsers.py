# SPDX-License-Identifier: GPL-3.0-or-later
"""Fuzz every parser: ``python -m tests.fuzz.fuzz_parsers``. See README.md."""

from __future__ import annotations

import argparse
import contextlib
import io
import shutil
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FINDINGS = REPOSITORY / ".cache" / "fuzz-findings"
WORK = REPOSITORY / ".cache" / "fuzz-work"
# A text this long holds several of what any tool prints once.
LONGEST = 8192
# No text of that size may take a parser longer, in seconds.
SLOWEST = 5

sys.path[:0] = [str(REPOSITORY), str(REPOSITORY / "collections")]

import atheris

# It names every module that it instruments.
with (
    contextlib.redirect_stderr(io.StringIO()),
    atheris.instrument_imports(include=["ansible_collections.ibready.cluster.plugins"]),
):
    from tests.unit import parsers

TARGETS = [*parsers.PARSERS, *parsers.OTHERS]


def one_input(data: bytes) -> None:
    """The first byte chooses the parser, the rest is what it reads."""
    if not data:
        return
    target = TARGETS[data[0] % len(TARGETS)]
    parsers.facts_or_parse_error(target, data[1:] if target.binary else data[1:].decode("utf-8", errors="replace"))


def seeds(folder: Path) -> None:
    """The parsers' samples, whole and line by line, each behind its parser's byte."""
    for at, target in enumerate(TARGETS):
        if not target.path.exists():
            continue
        sample = bytes.fromhex(target.sample) if target.binary else target.sample.encode()
        (folder / target.name).write_bytes(bytes([at]) + sample)
        for number, line in enumerate(sample.splitlines(keepends=True)):
            (folder / f"{target.name}.{number}").write_bytes(bytes([at]) + line)


def dictionary(path: Path) -> None:
    """Every word of the samples: what parsers look for."""
    words = {
        word
        for target in TARGETS
        if target.path.exists() and not target.binary
        for word in target.sample.replace(":", ": ").split()
        if word.isascii() and word.isprintable() and len(word) < 60
    }
    quoted = (word.replace("\\", "\\\\").replace('"', '\\"') for word in sorted(words))
    path.write_text("".join(f'"{word}"\n' for word in quoted))


def replay(path: Path) -> int:
    data = path.read_bytes()
    print(f"{TARGETS[data[0] % len(TARGETS)].name}: {data[1:]!r}", flush=True)
    one_input(data)
    print("facts or ParseError: nothing is wrong with it")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz_parsers", description=__doc__)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="0: another every time")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="with the same PARSERs")
    parser.add_argument("names", nargs="*", metavar="PARSER")
    given = parser.parse_args()
    unknown = set(given.names) - {target.name for target in TARGETS}
    if unknown:
        parser.error(f"no such parser: {', '.join(sorted(unknown))}")
    return given


def main() -> int:
    given = arguments()
    if given.names:
        TARGETS[:] = [target for target in TARGETS if target.name in given.names]
    if given.replay is not None:
        return replay(given.replay)
    FINDINGS.mkdir(parents=True, exist_ok=True)
    # Removed before and not after: libFuzzer ends the process itself.
    shutil.rmtree(WORK, ignore_errors=True)
    corpus = WORK / "corpus"
    corpus.mkdir(parents=True)
    seeds(corpus)
    dictionary(WORK / "words")
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={given.seconds}",
            f"-max_len={LONGEST}",
            f"-timeout={SLOWEST}",
            f"-seed={given.seed}",
            f"-dict={WORK / 'words'}",
            f"-artifact_prefix={FINDINGS}/",
            "-verbosity=0",
            "-print_final_stats=1",
            str(corpus),
        ],
        one_input,
    )
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
