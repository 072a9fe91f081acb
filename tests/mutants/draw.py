# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw mutants of the product by a seed, and see which of them the tests nearest to them catch: README.md."""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.nearest import importers, nearest

ROOT = Path(__file__).resolve().parents[2]
SEED = 20261128
NEAREST = 8
# Of one run of tests; a change that makes them hang is caught.
SECONDS = 600
GAUNTLET = "tests/unit/gauntlet/test_gauntlet.py"
SUMMARY = re.compile(r"^(?:FAILED|ERROR) (\S+?\.py)(\S*)", re.MULTILINE)
# Only what stands in these is dropped: in a module or class it would be a definition.
BODIES = (ast.FunctionDef, ast.For, ast.While, ast.If, ast.With, ast.Try)
FLIPPED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}


@dataclass(frozen=True)
class Mutant:
    """One change of one file: bytes from ``at`` to ``end`` become ``new``."""

    path: str
    line: int
    at: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} `{self.old.strip()}` -> `{self.new.strip()}`"

    def applied(self, text: bytes) -> bytes:
        return text[: self.at] + self.new.encode() + text[self.end :]


class Sites(ast.NodeVisitor):
    """Every change that a file offers, in the order of its tree."""

    def __init__(self, path: str, text: bytes) -> None:
        self.path = path
        self.text = text
        self.found: list[Mutant] = []
        self._starts = [0]
        for line in text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.visit(ast.parse(text))

    def _begin(self, node: ast.expr | ast.stmt) -> int:
        return self._starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._starts[node.end_lineno - 1] + node.end_col_offset

    def _change(self, at: int, end: int, new: str) -> None:
        line = self.text.count(b"\n", 0, at) + 1
        self.found.append(Mutant(self.path, line, at, end, self.text[at:end].decode(), new))

    def _between(self, one: ast.expr, other: ast.expr, old: str, new: str) -> None:
        """Change the word between two expressions, beside which only blanks, brackets and comments stand."""
        at, end = self._end(one), self._begin(other)
        word = re.search(rf"(?<![\w<>=!]){re.escape(old)}(?![\w<>=!])".encode(), self.text[at:end])
        if word:
            self._change(at + word.start(), at + word.end(), new)

    def visit_Compare(self, node: ast.Compare) -> None:
        for one, sign, other in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self._between(one, other, *FLIPPED[type(sign)])
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        words = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for one, other in zip(node.values, node.values[1:], strict=False):
            self._between(one, other, *words)
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._change(self._begin(node), self._begin(node) + len("not "), "")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._change(self._begin(node), self._end(node), str(not node.value))
        elif isinstance(node.value, (int, float)):
            self._change(self._begin(node), self._end(node), str(node.value + 1))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Without its decorators: that a dataclass is frozen is for the reader."""
        for one in node.body:
            self.visit(one)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Positions within are not exact before Python 3.12."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def generic_visit(self, node: ast.AST) -> None:
        within = isinstance(node, BODIES)
        for _name, value in ast.iter_fields(node) if within else ():
            for one in value if isinstance(value, list) else ():
                self._dropped(one)
        super().generic_visit(node)

    def _dropped(self, node: object) -> None:
        said = isinstance(node, ast.Expr) and not isinstance(node.value, (ast.Constant, ast.Yield, ast.YieldFrom))
        kept = isinstance(node, ast.Assign) and not isinstance(node.targets[0], (ast.Name, ast.Tuple))
        if said or kept or isinstance(node, (ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)):
            assert isinstance(node, ast.stmt)
            self._change(self._begin(node), self._end(node), "pass")


def drawn(seed: int) -> Iterator[Mutant]:
    """Without an end in sight: files in a random order, of each one change."""
    dice = random.Random(seed)
    files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "plugins").rglob("*.py"))
    dice.shuffle(files)
    for path in files:
        sites = Sites(path, (ROOT / path).read_bytes()).found
        if sites:
            yield dice.choice(sites)


class Trial:
    """A clone of the last commit, in which one file after the other is changed."""

    def __init__(self, place: Path) -> None:
        self.place = place
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(place)], check=True)
        subprocess.run([sys.executable, "-m", "compileall", "-q", "plugins", "tests"], cwd=place, check=True)

    def write(self, path: str, text: bytes) -> None:
        (self.place / path).write_bytes(text)
        for cached in (self.place / path).parent.glob(f"__pycache__/{Path(path).stem}.*"):
            cached.unlink()

    def fails(self, *tests: str) -> str | None:
        """The first test that fails; empty where they came to no end, None where all passed."""
        shared = str(ROOT.parent / "shared/corpus")
        env = {"IBREADY_CORPUS": shared, **os.environ, "PYTHONDONTWRITEBYTECODE": "1", "IBREADY_CASES": ""}
        argv = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "--no-header", "--tb=no", *tests]
        try:
            done = subprocess.run(argv, cwd=self.place, env=env, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return ""
        if done.returncode in (0, 5):
            return None
        first = SUMMARY.search(done.stdout)
        return "".join(first.groups()) if first else done.stdout[-200:] + done.stderr[-200:]


def caught(trial: Trial, mutant: Mutant, tests: list[str], area: str) -> str | None:
    """What catches it, None where nothing does."""
    whole = (ROOT / mutant.path).read_bytes()
    runs = [tests, *([[GAUNTLET, "-k", f"{area}:"]] if area else [])]
    for run in runs if tests else runs[1:]:
        while len(run) and run[0] != "-k":
            trial.write(mutant.path, mutant.applied(whole))
            failed = trial.fails(*run)
            trial.write(mutant.path, whole)
            if failed is None:
                break
            alone = failed.partition("::")[0]
            if not failed or alone not in run or trial.fails(*(run if "-k" in run else [alone])) is None:
                return failed or "it comes to no end"
            # This file fails without the change as well.
            run = [one for one in run if one != alone]
    return None


def area_of(path: str) -> str:
    found = re.search(r"/_areas/(\w+)/", path)
    return found.group(1) if found else ""


def numbers(text: str) -> set[int]:
    return {int(one) for one in text.split(",") if one}


def chosen(seed: int, count: int, skip: set[int]) -> list[tuple[int, Mutant]]:
    """So many of the draw with their numbers, without those that are no change."""
    found: list[tuple[int, Mutant]] = []
    for number, mutant in enumerate(drawn(seed), 1):
        if len(found) == count:
            break
        if number not in skip:
            found.append((number, mutant))
    return found


def main(argv: Iterable[str]) -> int:
    read = argparse.ArgumentParser(prog="python -m tests.mutants.draw", description=__doc__)
    read.add_argument("--seed", type=int, default=SEED)
    read.add_argument("--count", type=int, default=30)
    read.add_argument("--skip", type=numbers, default=set(), help="numbers that are no change, for instance 3,12")
    read.add_argument("--only", type=numbers, default=set(), help="numbers to run")
    read.add_argument("--further", type=int, default=0, help="so many more test files for one that nobody saw")
    read.add_argument("--list", action="store_true")
    asked = read.parse_args(list(argv))
    mutants = [one for one in chosen(asked.seed, asked.count, asked.skip) if not asked.only or one[0] in asked.only]
    if asked.list:
        print("\n".join(f"{number} {mutant}" for number, mutant in mutants))
        return 0
    known = importers()
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder) / "ibready")
        for number, mutant in mutants:
            begun = time.monotonic()
            tests = nearest(mutant.path, known)
            by = caught(trial, mutant, tests[:NEAREST], area_of(mutant.path))
            if by is None and asked.further:
                by = caught(trial, mutant, tests[NEAREST : NEAREST + asked.further], "")
            if by is None:
                missed.append(number)
            told = f"caught by {by}" if by is not None else f"MISSED by {', '.join(tests[:NEAREST]) or 'no test file'}"
            print(f"{number} {mutant}: {told} ({time.monotonic() - begun:.0f} s)", flush=True)
    print(f"{len(mutants) - len(missed)} of {len(mutants)} caught; missed: {', '.join(map(str, missed)) or 'none'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
