# SPDX-License-Identifier: GPL-3.0-or-later
"""Dataclasses and regular expressions that are finished when they are first used.

Python writes and compiles five methods for each dataclass, and compiles each expression, whenever a
process imports them: of a visit to a node that is more than half, and a visit uses a third of them.
Modules of ours say `dataclass` and `re.compile` as ever; in a process of the engine those are the
ones below. They behave as Python's do (a test holds every dataclass and every expression of ours
against those), and what is not plain is left to Python's.
"""

from __future__ import annotations

import dataclasses
import marshal
import re
import sys
from typing import Any, Callable

OURS = "ansible_collections.ibready."
_whole: Any = dataclasses.dataclass
_compile: Any = re.compile
_MISSING: Any = dataclasses.MISSING
# What Python's expressions are made by, of their compiled form.
_sre: Any = sys.modules["_sre"]
_kept: dict[str, bytes] = {}


def _importing() -> bool:
    return False


_OWN = frozenset(("__init__", "__eq__", "__hash__", "__repr__", "__setattr__", "__delattr__", "__slots__"))


def lend(kept: dict[str, bytes], importing: Callable[[], bool]) -> None:
    """Have modules of ours that are imported from now on find these.

    ``kept``: what is kept of compiled expressions, and those that it lacks from now on. What is made while nothing
    is ``importing`` is made of what a host tells: it is another one at each visit, and is not kept.
    """
    global _kept, _importing
    _kept, _importing = kept, importing
    dataclasses.dataclass = dataclass
    re.compile = expression


class _Late:
    """An attribute of a class that is made when somebody asks for it."""

    def __init__(self, name: str, cls: Any, make: Callable[[], Any]) -> None:
        self._name, self._cls, self._make = name, cls, make

    def __get__(self, instance: Any, owner: Any) -> Any:
        made = getattr(self._make(), self._name)
        setattr(self._cls, self._name, made)
        return made


def dataclass(cls: Any = None, **options: Any) -> Any:
    """What `dataclasses.dataclass` does, later."""
    if cls is None:
        return lambda made: dataclass(made, **options)
    wanted = _plain(cls, options)
    if wanted is None:
        return _whole(cls, **options)
    _finish(cls, wanted, bool(options.get("frozen")))
    return cls


def _plain(cls: Any, options: dict[str, Any]) -> dict[str, Any] | None:
    """The fields and what stands behind them; None for a class of another kind than ours mostly are."""
    own = cls.__dict__
    if not cls.__module__.startswith(OURS) or not options.keys() <= {"frozen"} or own.keys() & _OWN - {"__hash__"}:
        return None
    if own.get("__hash__") is not None or any("__dataclass_fields__" in base.__dict__ for base in cls.__mro__[1:]):
        return None
    types = own.get("__annotations__")
    if not types or any(not isinstance(kind, str) or "Var[" in kind for kind in types.values()):
        return None
    said = {name: own.get(name, _MISSING) for name in types}
    fields = [value for value in said.values() if isinstance(value, dataclasses.Field)]
    return said if all(field.init and field.hash is None and field.repr for field in fields) else None


def _finish(cls: Any, said: dict[str, Any], frozen: bool) -> None:
    factories, defaults, compared = {}, {}, []
    for name, value in said.items():
        field = value if isinstance(value, dataclasses.Field) else None
        if field is None or field.compare:
            compared.append(name)
        if field is not None and field.default_factory is not _MISSING:
            factories[name] = field.default_factory
            delattr(cls, name)
        elif field is not None and field.default is _MISSING:
            delattr(cls, name)
        elif value is not _MISSING:
            defaults[name] = value if field is None else field.default
            setattr(cls, name, defaults[name])

    def twin(**more: Any) -> Any:
        """A class of the same fields, made by Python."""
        body = {name: value for name, value in said.items() if value is not _MISSING}
        # Python would write a text about a class that has none.
        own = {"__annotations__": cls.__annotations__, "__module__": cls.__module__, "__doc__": cls.__doc__ or "-"}
        like = type(cls.__name__, (), {**body, **own})
        return _whole(like, repr=False, eq=False, init=False, **more)

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        cls.__init__ = _init(cls, said, defaults, factories, frozen)
        cls.__init__(self, *given, **named)

    def values(self: Any) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in compared])

    def __eq__(self: Any, other: Any) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    def __repr__(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in said)})"

    def __setattr__(self: Any, name: str, value: Any) -> None:
        if self.__class__ is cls or name in said:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:
        if self.__class__ is cls or name in said:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__dataclass_fields__ = _Late("__dataclass_fields__", cls, twin)
    cls.__dataclass_params__ = _Late("__dataclass_params__", cls, lambda: twin(frozen=frozen))
    cls.__match_args__ = tuple(said)  # type: ignore[misc]
    cls.__init__, cls.__eq__, cls.__repr__ = __init__, __eq__, __repr__
    cls.__hash__ = __hash__ if frozen else None
    if frozen:
        cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__


def _init(cls: Any, said: Any, defaults: dict[str, Any], factories: dict[str, Any], frozen: bool) -> Any:
    """The method that takes the fields' values, compiled now."""
    room: dict[str, Any] = {"_": _MISSING, "_set": object.__setattr__}
    words, lines = ["self"], []
    for number, name in enumerate(said):
        value = name
        if name in factories:
            room[f"_{number}"] = factories[name]
            words.append(f"{name}=_")
            value = f"_{number}() if {name} is _ else {name}"
        elif name in defaults:
            room[f"_{number}"] = defaults[name]
            words.append(f"{name}=_{number}")
        else:
            words.append(name)
        lines.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    exec(f"def __init__({', '.join(words)}):\n" + "\n".join(lines), room)
    made = room["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


class Expression:
    """A regular expression that is compiled when something is looked for."""

    def __init__(self, pattern: Any, flags: Any) -> None:
        self._said = pattern, flags
        self._make = _compiled if _importing() else _compile

    def __getattr__(self, name: str) -> Any:
        made = self._make(*self._said)
        # The next time they are found before anybody asks here.
        self.__dict__.update(
            {word: getattr(made, word) for word in ("match", "fullmatch", "search", "findall", "finditer", "sub")}
        )
        return getattr(made, name)


def _compiled(pattern: Any, flags: Any) -> Any:
    """The expression, from what is kept of it where that is of this Python."""
    name = f"expression {_sre.MAGIC} {int(flags)} {pattern!r}"
    if name in _kept:
        return _sre.compile(*marshal.loads(_kept[name]))
    whole, seen = _sre.compile, []

    def noted(said: Any, own: Any, code: Any, *groups: Any) -> Any:
        # Its numbers have names, which are not kept.
        seen.append((said, int(own), [int(number) for number in code], *groups))
        return whole(said, own, code, *groups)

    _sre.compile = noted
    try:
        made = _compile(pattern, flags)
    finally:
        _sre.compile = whole
    if seen:  # Python itself remembers some.
        _kept[name] = marshal.dumps(seen[-1])
    return made


def expression(pattern: Any, flags: Any = 0) -> Any:
    """What `re.compile` does, later; for modules of ours alone."""
    if sys._getframe(1).f_globals.get("__name__", "").startswith(OURS):
        return Expression(pattern, flags)
    return _compile(pattern, flags)
