# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the page for the docs. Each PNG holds what it shows, by which a test knows whether
the page of today still shows it.

Pixels differ from one Chromium, or font, to the next; the words of the first screen and the style
do not.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/pictures"
# A checkout is fetched by everybody.
MOST_BYTES = 250_000
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEYWORD = b"ibready"


@dataclass(frozen=True)
class Picture:
    """``run``: one of conftest.RUNS. ``wishes``: of the browser's window. ``at``: ``#host=n1``."""

    run: str
    wishes: Mapping[str, Any]
    at: str = ""


SIZE = {"width": 1280, "height": 960}
_LIGHT = {"viewport": SIZE, "color_scheme": "light"}
PICTURES = {
    "healthy": Picture("healthy", _LIGHT),
    "three-faults": Picture("three-faults", _LIGHT),
    "three-faults-zh-dark": Picture("three-faults", {"viewport": SIZE, "color_scheme": "dark", "locale": "zh-CN"}),
    "500-hosts": Picture("500-hosts", _LIGHT),
    "host": Picture("three-faults", _LIGHT, "#host=node07"),
}
# What a picture may show, where it is there.
_PARTS = "header, #summary, #causes, #host"


def shown(page: Page) -> dict[str, Any]:
    """What a picture of this page shows: the words of it that matter, and how they look."""
    said = page.locator(_PARTS).all_inner_texts()
    style = "\n".join(page.locator("style").all_text_contents())
    return {
        "language": page.locator("html").get_attribute("lang"),
        "words": [" ".join(line.split()) for one in said for line in one.splitlines() if line],
        "background": page.evaluate("getComputedStyle(document.body).backgroundColor"),
        "style": hashlib.sha256(style.encode()).hexdigest(),
    }


def take(page: Page, name: str) -> Path:
    """Write the picture; a text chunk of it holds shown()."""
    reported = json.dumps(shown(page), ensure_ascii=False).encode()
    png = page.screenshot(animations="disabled", caret="hide")
    # Keyword, neither compressed nor of a language, then UTF-8 (iTXt of the PNG specification).
    chunk = _chunk(b"iTXt", _KEYWORD + b"\0" * 5 + reported)
    last = png.rindex(b"IEND") - 4
    path = FOLDER / f"{name}.png"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(png[:last] + chunk + png[last:])
    return path


def held(path: Path) -> dict[str, Any]:
    """What the picture shows by its own words; raises ValueError where it holds none."""
    for kind, data in chunks(path):
        if kind == b"iTXt" and data.startswith(_KEYWORD + b"\0"):
            found: dict[str, Any] = json.loads(data[len(_KEYWORD) + 5 :])
            return found
    raise ValueError(f"{path} does not say what it shows; next: ./run browser --pictures")


def chunks(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each chunk; raises ValueError on what is no whole PNG."""
    raw = path.read_bytes()
    if not raw.startswith(_SIGNATURE):
        raise ValueError(f"{path} is no PNG")
    at = len(_SIGNATURE)
    while at < len(raw):
        (size,) = struct.unpack_from(">I", raw, at)
        whole = raw[at : at + 12 + size]
        kind, data = whole[4:8], whole[8 : 8 + size]
        if len(whole) != 12 + size or _chunk(kind, data) != whole:
            raise ValueError(f"{path} is damaged or cut short")
        yield kind, data
        at += 12 + size


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
