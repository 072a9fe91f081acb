# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's own words in two languages: English in the file, the other by the page's script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from markupsafe import Markup, escape

from ..._ground import yaml as _yaml
from .chinese import chinese

FOLDER = Path(__file__).parents[1] / "words"
FILES = ("page", "fabric", "pings", "pictures", "sections")
_PLACE = re.compile(r"{([a-z]+)(?::([^/}]*)/([^}]*))?}")
_CODE = re.compile("`([^`\n]+)`")
# Controls but tab and line feed; marks without width; what turns text or separates lines; halves of
# characters, which UTF-8 cannot hold; what is no character.
_STRAY = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]"
)


@cache
def words() -> dict[str, list[str]]:
    """Key -> English, Chinese. ``{n}`` stands for what is said with it, ``{n:host/hosts}`` for a number of these;
    ``one|many`` goes by ``n``."""
    found: dict[str, list[str]] = {}
    for name in FILES:
        found.update(_yaml.load((FOLDER / f"{name}.yml").read_text(encoding="utf-8")))
    return found


class Speech:
    """``t("key", n=3)``: an element that the script can say again in the other language."""

    def __call__(self, key: str, **values: object) -> Markup:
        said = Markup("<span {}>{}</span>")
        return said.format(self.on(key, **values), self.plain(key, **values))

    def of(self, said: str, *, copies: bool = False) -> Markup:
        """A text that is not the page's own, with its Chinese where it has one. ``copies``: as of `marked`."""
        other = chinese(said)
        if not other:
            return self.marked(said, copies=copies)
        own = Markup(' data-en="{}"').format(text(said)) if "`" in said else ""
        own += Markup(" data-copies") if copies else ""
        return Markup('<span data-zh="{}"{}>{}</span>').format(text(other), own, self.marked(said, copies=copies))

    def marked(self, said: str, *, copies: bool = False) -> Markup:
        """A text in which what stands between backticks is code. ``copies``: a command in it can be copied, which is
        for the controller's words alone: a host's may hold any."""
        parts = _CODE.split(text(said))
        return Markup("").join(self._code(part, copies) if at % 2 else part for at, part in enumerate(parts))

    def _code(self, said: str, copies: bool) -> Markup:
        code = Markup("<code>{}</code>").format(said)
        return code + Markup(" ") + self.copy(said) if copies and " " in said else code

    def copy(self, said: str) -> Markup:
        """A button that copies it, for the script."""
        button = Markup('<button type="button" class="link copy" hidden data-copy="{}">{}</button>')
        return button.format(text(said), self("copy"))

    def on(self, key: str, **values: object) -> Markup:
        """Only the attributes of such an element."""
        return Markup(f'data-t="{key}"{_data(values)}')

    def plain(self, key: str, **values: object) -> str:
        """Only the English words, not escaped; KeyError for what is not there."""
        one, _bar, many = words()[key][0].partition("|")
        said = many if many and values.get("n") != 1 else one
        return _PLACE.sub(lambda match: _counted(match, shown(values[match[1]])), said)

    def attr(self, name: str, key: str, **values: object) -> Markup:
        """The same for an attribute: ``t.attr("aria-label", "key")``."""
        found = escape(self.plain(key, **values))
        return Markup(f'{name}="{found}" data-t-{name}="{key}"{_data(values)}')


def _counted(place: re.Match[str], said: str) -> str:
    return said if place[2] is None else f"{said} {place[2] if said == '1' else place[3]}"


def shown(value: object) -> str:
    """A number with its thousands, or a foreign text."""
    return f"{value:,}" if isinstance(value, int) else text(value)


def _data(values: Mapping[str, object]) -> str:
    return "".join(f' data-{name}="{escape(shown(value))}"' for name, value in values.items())


def text(value: object) -> str:
    """The text with ``\\u202e`` and the like in place of what a page would not show as it is."""
    return _STRAY.sub(_visible, str(value).replace("\r\n", "\n"))


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
