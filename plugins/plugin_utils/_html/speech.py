# SPDX-License-Identifier: GPL-3.0-or-later
"""The page's own words in two languages: English in the file, the other by the page's script."""

from __future__ import annotations

import re
from collections.abc import Mapping

from markupsafe import Markup, escape

from ansible_collections.ibready.cluster.plugins.plugin_utils._html.foreign import text
from ansible_collections.ibready.cluster.plugins.plugin_utils._html.words import (
    fabric,
    page,
    pictures,
    pings,
    sections,
)

# Key -> (English, Chinese). ``{n}`` stands for what is said with it; ``one|many`` goes by ``n``.
WORDS: Mapping[str, tuple[str, str]] = {
    **page.WORDS,
    **fabric.WORDS,
    **pings.WORDS,
    **pictures.WORDS,
    **sections.WORDS,
}

_PLACE = re.compile(r"{([a-z]+)}")


class Speech:
    """``t("key", n=3)``: an element that the script can say again in the other language."""

    def __call__(self, key: str, **values: object) -> Markup:
        said = Markup("<span {}>{}</span>")
        return said.format(self.on(key, **values), self.plain(key, **values))

    def on(self, key: str, **values: object) -> Markup:
        """Only the attributes of such an element."""
        return Markup(f'data-t="{key}"{_data(values)}')

    def plain(self, key: str, **values: object) -> str:
        """Only the English words, not escaped; KeyError for what is not there."""
        words, _bar, many = WORDS[key][0].partition("|")
        words = many if many and values.get("n") != 1 else words
        return _PLACE.sub(lambda match: shown(values[match.group(1)]), words)

    def attr(self, name: str, key: str, **values: object) -> Markup:
        """The same for an attribute: ``t.attr("aria-label", "key")``."""
        found = escape(self.plain(key, **values))
        return Markup(f'{name}="{found}" data-t-{name}="{key}"{_data(values)}')


def shown(value: object) -> str:
    """A number with its thousands, or a foreign text."""
    return f"{value:,}" if isinstance(value, int) else text(value)


def _data(values: Mapping[str, object]) -> str:
    return "".join(f' data-{name}="{escape(shown(one))}"' for name, one in values.items())
