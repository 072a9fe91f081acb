# SPDX-License-Identifier: GPL-3.0-or-later
"""The run with three faults, as hosts would tell it that want to run something in the reader's
browser: every text that a host, a switch or an inventory can fill has a payload behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from tests.browser import runs

# What runs, sets this of the window.
FLAG = "ran"
BIDI = "\u202e\u2066txt\u2069\u202c"
PAYLOADS = (
    "<script>window.ran=1</script>",
    '"><img src=x onerror=window.ran=2>',
    "'><svg/onload=window.ran=3>",
    "</script><script>window.ran=4</script>",
    "<!--<script>window.ran=5</script>-->",
    "</style><script>window.ran=6</script>",
    "</title></textarea><script>window.ran=7</script>",
    "javascript:window.ran=8",
    '" onmouseover="window.ran=9" onfocus="window.ran=10" autofocus x="',
    "<a href=javascript:window.ran=11>x</a>",
    "<meta http-equiv=refresh content='0;url=javascript:window.ran=12'>",
    "<iframe srcdoc='<script>parent.ran=13</script>'></iframe>",
    "<base href=//evil.example/><form action=//evil.example><button>",
    "{{constructor.constructor('window.ran=14')()}} ${window.ran=15} {n}",
    "\\u003cscript>window.ran=16\\u003c/script>",
    "]]></text></svg><script>window.ran=17</script>",
    f"{BIDI} \x00\x1b[31m\x85\u2028\ufeff",
    "__proto__",
)
# Behind every text: it becomes an element wherever text is taken for markup.
MARK = "\"'><i class=evil>"
# Would run, were it not for the page's policy.
RUNNING = (
    "<script>window.ran=1</script>",
    "<img src=data:, onerror=window.ran=2>",
    "<svg onload=window.ran=3></svg>",
    "<iframe srcdoc='<script>parent.ran=4</script>'></iframe>",
    "<style>body { display: none }</style>",
)
# Of a fixed list of words, of which a run object holds no other.
_KEPT = frozenset(
    {
        *("schema", "created", "result", "severity", "verdict", "state", "before", "now"),
        *("outcome", "by", "type", "level", "fail_on", "started", "until", "id", "link_layer", "results"),
    }
)
# Objects whose keys are names.
_NAMED = frozenset({"hosts", "evidence"})


@cache
def run() -> dict[str, Any]:
    """The run object."""
    given: dict[str, str] = {}

    def payload(said: str) -> str:
        # Nothing said stays nothing: a text would waive a failure. The same text gets the same one,
        # so that a host is one host wherever it is named.
        if not said:
            return ""
        return given.setdefault(said, f"{said} {PAYLOADS[len(given) % len(PAYLOADS)]} {MARK}")

    def bent(value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            return value if key in _KEPT else payload(value)
        if isinstance(value, list | tuple):
            return [bent(one, key) for one in value]
        if isinstance(value, dict):
            named = key in _NAMED
            # A host that is a list, has the verdicts of the last runs.
            verdicts = {name for name, one in value.items() if key == "hosts" and isinstance(one, list)}
            return {
                payload(name) if named else name: one if name in verdicts else bent(one, name)
                for name, one in value.items()
            }
        return value

    found: dict[str, Any] = bent(runs.three_faults())
    return found


def texts(value: Any) -> Iterator[str]:
    """Every text of a run object."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)
