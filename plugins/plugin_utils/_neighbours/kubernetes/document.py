# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifests as YAML: the same bytes for the same input, with a comment that says where from."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from ..._ground.plain import plain

_WIDTH = 108
# Plain, some readers of YAML would take these for numbers or booleans: 12345e67, y.
_ODD = re.compile(r"[-+]?[0-9._]+([eE][-+]?[0-9]+)?|0[xob][0-9a-fA-F_]+|[yYnN]|=")


class _Dumper(yaml.SafeDumper):
    """Lists indented below their key, texts of several lines as blocks, no anchors."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else "'" if _ODD.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def document(content: Mapping[str, Any], comments: Iterable[str]) -> str:
    """One document with its comments on top."""
    said = [line for comment in comments for line in _wrapped(comment)]
    # Through JSON, which takes Ansible's own kinds of text for text.
    plain = json.loads(json.dumps(content))
    body = yaml.dump(plain, Dumper=_Dumper, sort_keys=False, width=_WIDTH, allow_unicode=True)
    return "\n".join(["---", *said, body])


def _wrapped(comment: str) -> list[str]:
    """Foreign words stay within the comment: no line breaks, no controls."""
    return textwrap.wrap(plain(" ".join(comment.split())), _WIDTH, initial_indent="# ", subsequent_indent="#   ")
