# SPDX-License-Identifier: GPL-3.0-or-later
"""Parsers that answer with a field of theirs bent, and what a node's areas asked of whom.

Parsers are put behind a switch before any area is imported, because some areas keep them in tables.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ansible_collections.ibready.cluster.plugins import module_utils

_ROOM = "ansible_collections.ibready.cluster.plugins.module_utils._parse"
# What a thing of the host is called: the interfaces of rails have other names on each board.
_THING = re.compile(r"(?<=/class/net/)[^/]+|(?<=/infiniband/)[^/]+|[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]|\d+")

Bend = Callable[[Any], Any]


class Switch:
    """What every parser goes through.

    ``area``: who asks. ``heard``: what was returned to which area, by parser, in the order of calls.
    """

    def __init__(self) -> None:
        self.area = ""
        self.heard: dict[str, list[tuple[str, Any]]] = {}
        self._bends: dict[str, Bend] = {}

    def install(self) -> None:
        """Put every parser of the project behind this switch."""
        for path in sorted((Path(module_utils.__path__[0]) / "_parse").glob("*.py")):
            module = importlib.import_module(f"{_ROOM}.{path.stem}")
            parse = getattr(module, "parse", None)
            if callable(parse) and parse.__module__ == module.__name__:
                vars(module)["parse"] = self._behind(path.stem, parse)

    def _behind(self, name: str, parse: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(parse)
        def asked(*args: Any, **kwargs: Any) -> Any:
            found = parse(*args, **kwargs)
            if name in self._bends:
                return self._bends[name](found)
            self.heard.setdefault(name, []).append((self.area, found))
            return found

        return asked

    @contextmanager
    def bending(self, parser: str, bend: Bend) -> Iterator[None]:
        """Meanwhile this parser's answers go through ``bend``."""
        self._bends = {parser: bend}
        try:
            yield
        finally:
            self._bends = {}


def kind_of_path(path: str) -> str:
    """The path as all things of its kind have it: ``/sys/class/infiniband/*/ports/*/rate``."""
    return _THING.sub("*", path)
