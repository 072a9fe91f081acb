# SPDX-License-Identifier: GPL-3.0-or-later
"""What the engine lends is what Python has: held against every dataclass of ours, and by what each promises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[5]
# Makes each dataclass of ours twice, by Python and by the engine, and tells where they are not alike.
HELD = r"""
import dataclasses, importlib, inspect, json, sys
from pathlib import Path
root = Path(sys.argv[1])
sys.path.insert(0, str(root / "collections"))
base = "ansible_collections.ibready.cluster.plugins.module_utils"
late = importlib.import_module(base + "._engine.late")
whole, pairs, others = dataclasses.dataclass, [], []

def both(cls=None, **options):
    if cls is None:
        return lambda made: both(made, **options)
    if not cls.__module__.startswith(late.OURS):
        return whole(cls, **options)
    if late._plain(cls, options) is None:
        others.append(cls.__qualname__)
        return whole(cls, **options)
    body = {k: v for k, v in vars(cls).items() if k not in ("__dict__", "__weakref__")}
    twin = type(cls)(cls.__name__, cls.__bases__, body)
    twin.__qualname__ = cls.__qualname__
    made = whole(cls, **options)
    pairs.append((made, late.dataclass(twin, **options)))
    return made

dataclasses.dataclass = both
shelf = root / "plugins/module_utils"
for path in sorted(shelf.rglob("*.py")):
    parts = path.relative_to(shelf).with_suffix("").parts
    if parts[-1] != "__init__" and not path.name == "fetching.py":
        importlib.import_module(".".join((base, *parts)))

def tried(act):
    try:
        return "is", act()
    except Exception as exc:
        return "raises", type(exc).__name__, str(exc)

wrong, built = [], 0
def held(what, mine, theirs):
    if mine != theirs:
        wrong.append(f"{theirs_class.__module__}.{theirs_class.__qualname__} {what}: {mine!r} for {theirs!r}")

for theirs_class, mine_class in pairs:
    fields = dataclasses.fields(theirs_class)
    names = [f.name for f in fields]
    needed = {f.name: f"<{f.name}>" for f in fields
              if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING}
    held("needs", tried(lambda: mine_class()), tried(lambda: theirs_class())) if needed else None
    more = {**needed, "strange_": 1}
    held("strange", tried(lambda: mine_class(**more))[:2], tried(lambda: theirs_class(**more))[:2])
    mine, theirs = tried(lambda: mine_class(**needed)), tried(lambda: theirs_class(**needed))
    if theirs[0] == "raises":
        held("refuses", mine, theirs)
        continue
    built += 1
    mine, theirs = mine[1], theirs[1]
    held("repr", repr(mine), repr(theirs))
    held("values", [getattr(mine, n) for n in names], [getattr(theirs, n) for n in names])
    placed = needed.values()
    held("positions", repr(tried(lambda: mine_class(*placed))), repr(tried(lambda: theirs_class(*placed))))
    held("equal", mine == mine_class(**needed), theirs == theirs_class(**needed))
    held("equal to another", mine == theirs, False)
    held("hash", tried(lambda: hash(mine)), tried(lambda: hash(theirs)))
    if fields:
        other = {**needed, names[-1]: "another"}
        held("differs", tried(lambda: mine == mine_class(**other)), tried(lambda: theirs == theirs_class(**other)))
        for act, *words in ((setattr, names[0], "set"), (delattr, names[0]), (setattr, "new_", 1)):
            held("set", tried(lambda: act(mine, *words)), tried(lambda: act(theirs, *words)))
    mine, theirs = mine_class(**needed), theirs_class(**needed)
    held("asdict", repr(tried(lambda: dataclasses.asdict(mine))), repr(tried(lambda: dataclasses.asdict(theirs))))
    held("replace", repr(tried(lambda: dataclasses.replace(mine))), repr(tried(lambda: dataclasses.replace(theirs))))
    def told(cls):
        words = ("name", "type", "default", "default_factory", "init", "compare", "repr", "hash")
        return [[getattr(f, word) for word in words] for f in dataclasses.fields(cls)]
    held("fields", told(mine_class), told(theirs_class))
    held("frozen", mine_class.__dataclass_params__.frozen, theirs_class.__dataclass_params__.frozen)
    held("match", getattr(mine_class, "__match_args__", ()), tuple(names))
    for n in names:
        held("left on the class", n in vars(mine_class), n in vars(theirs_class))
print(json.dumps({"wrong": wrong, "pairs": len(pairs), "built": built, "others": others}))
"""


def test_every_dataclass_of_ours_is_what_python_makes_of_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", HELD, str(ROOT)], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    reported = json.loads(done.stdout)
    assert reported["wrong"] == []
    # What is left to Python costs as ever: few may be.
    assert len(reported["others"]) < 10 < 300 < reported["pairs"]
    assert reported["built"] > 0.9 * reported["pairs"]


# Makes each expression of ours by Python, and twice by the engine: first to be kept, then of what was kept.
KEPT = r"""
import importlib, json, re, sys
from pathlib import Path
root = Path(sys.argv[1])
sys.path.insert(0, str(root / "collections"))
base = "ansible_collections.ibready.cluster.plugins.module_utils"
late = importlib.import_module(base + "._engine.late")
whole, kept, said = re.compile, {}, {}
late.lend(kept, lambda: True)

def noted(pattern, flags=0):
    made = late.expression(pattern, flags)
    if sys._getframe(1).f_globals.get("__name__", "").startswith(late.OURS):
        said[pattern, int(flags)] = None
        return late.Expression(pattern, flags)
    return made

re.compile = noted
shelf = root / "plugins/module_utils"
for path in sorted(shelf.rglob("*.py")):
    parts = path.relative_to(shelf).with_suffix("").parts
    if parts[-1] != "__init__" and not path.name == "fetching.py":
        importlib.import_module(".".join((base, *parts)))
wrong = []
for pattern, flags in said:
    re.purge()
    theirs = whole(pattern, flags)
    re.purge()
    first, before = late._compiled(pattern, flags), len(kept)
    second = late._compiled(pattern, flags)
    # Patterns are equal where their compiled forms are.
    if not first == second == theirs or second.groupindex != theirs.groupindex or len(kept) != before:
        wrong.append(pattern)
print(json.dumps({"said": len(said), "kept": len(kept), "wrong": wrong}))
"""


def test_every_expression_of_ours_comes_back_as_it_was_kept() -> None:
    argv = [sys.executable, "-c", KEPT, str(ROOT)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    reported = json.loads(done.stdout)
    assert reported["wrong"] == []
    assert reported["kept"] >= reported["said"] > 500


LENT = """
import sys
sys.path.insert(0, sys.argv[1])
import dataclasses, re, types
from ansible_collections.ibready.cluster.plugins.module_utils._engine import late
kept, importing = {}, True
late.lend(kept, lambda: importing)
room = types.ModuleType("ansible_collections.ibready.tried")
sys.modules[room.__name__] = room
exec(compile(sys.argv[2], "tried", "exec"), room.__dict__)
"""


@pytest.mark.parametrize(
    "said",
    [
        # Only who inherits from us is ours to finish; Python does that, on what is finished by then.
        """
from dataclasses import dataclass, field, fields
@dataclass(frozen=True)
class Base:
    a: int
    b: list = field(default_factory=list)
@dataclass(frozen=True)
class More(Base):
    c: int = 3
assert [f.name for f in fields(More)] == ["a", "b", "c"]
assert More(1) == More(1, [], 3) != More(2)
class Plain(Base):
    pass
assert Plain(1).b == [] and type(Plain(1)) is Plain
""",
        """
from dataclasses import dataclass
@dataclass
class Begun:
    a: int
    def __post_init__(self):
        self.a += 1
assert Begun(1).a == 2
assert Begun.__hash__ is None
""",
        """
from dataclasses import dataclass
from typing import Generic, TypeVar
T = TypeVar("T")
@dataclass(frozen=True)
class Answer(Generic[T]):
    value: T
assert Answer[int](1) == Answer(1)
""",
        """
import re
seen = re.compile(r"(?P<a>x+)", re.IGNORECASE)
assert type(seen).__name__ == "Expression"
assert seen.match("XX")["a"] == "XX" and seen.match("y") is None
assert seen.sub("-", "axb") == "a-b" and seen.findall("x x") == ["x", "x"] and seen.split("axb") == ["a", "x", "b"]
assert [found.start() for found in seen.finditer("axax")] == [1, 3]
assert seen.pattern == "(?P<a>x+)" and seen.groups == 1 and bool(seen.flags & re.IGNORECASE)
assert seen.fullmatch("xx") and not seen.fullmatch("xxa") and seen.search("ax", 1)
""",
        # What a host tells is another thing at each visit, and would fill its disk.
        """
import re, sys
main = sys.modules["__main__"]
own = re.compile("own [0-9]+")
main.importing = False
for told in range(3):
    assert re.compile(f"told {told}").match(f"told {told}") and own.match("own 1")
assert len(main.kept) == 1 and "own" in next(iter(main.kept))
""",
    ],
)
def test_what_is_lent_does_what_python_s_does(said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LENT, str(ROOT / "collections"), "from __future__ import annotations\n" + said],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_bad_expression_is_told_when_it_is_used_and_others_than_ours_at_once() -> None:
    said = """
import re
seen = re.compile("(")
try:
    seen.match("")
except re.error:
    pass
else:
    raise SystemExit(1)
"""
    args = [sys.executable, "-c", LENT, str(ROOT / "collections"), said]
    assert subprocess.run(args, check=False, timeout=60).returncode == 0
    other = LENT.replace('"ansible_collections.ibready.tried"', '"theirs"')
    args = [sys.executable, "-c", other, str(ROOT / "collections"), "import re; re.compile('(')"]
    assert b"missing )" in subprocess.run(args, check=False, timeout=60, capture_output=True).stderr
