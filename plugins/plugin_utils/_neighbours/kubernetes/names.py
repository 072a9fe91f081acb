# SPDX-License-Identifier: GPL-3.0-or-later
"""What Kubernetes takes for a name, a label's value, an image; foreign words are refused."""

from __future__ import annotations

import hashlib
import re

from ....module_utils._ground.text import few

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_HOST = r"[a-z0-9]+([.-][a-z0-9]+)*(:[0-9]{1,5})?"
_PATH = r"[a-z0-9]+([._/-]{1,2}[a-z0-9]+)*"
_TAG = r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@sha256:[0-9a-f]{64})?"
_REPOSITORY = re.compile(rf"{_HOST}(/{_PATH})?")
_IMAGE = re.compile(rf"({_HOST}/)?{_PATH}{_TAG}")
_LONGEST = 63


class KubernetesError(ValueError):
    """Nothing is rendered; the message names the hosts, the cause and the next step."""


def label(text: str, what: str) -> str:
    """A name as RFC 1123 has labels: namespaces, pods."""
    return _checked(_LABEL, text, what, "at most 63 of a to z, 0 to 9 and -, with a letter or digit at each end")


def subdomain(text: str, what: str) -> str:
    """A name as RFC 1123 has subdomains: nodes."""
    if not text or len(text) > 253 or not all(_LABEL.fullmatch(word) for word in text.split(".")):
        raise KubernetesError(f"{what} is {text!r}: Kubernetes takes lower case letters, digits, - and . (RFC 1123)")
    return text


def image(text: str, what: str) -> str:
    """A reference of an image: registry, path, tag or digest."""
    return _checked(_IMAGE, text, what, "an image such as registry.example.com/torch:2.9")


def repository(text: str, what: str) -> str:
    """A registry with a path, without a tag."""
    return _checked(_REPOSITORY, text, what, "a registry and path such as registry.example.com/rdma")


def _checked(pattern: re.Pattern[str], text: str, what: str, wanted: str) -> str:
    if not pattern.fullmatch(text):
        raise KubernetesError(f"{what} is {text!r}, and must be {wanted}")
    return text


def value(text: str) -> str:
    """The text as a label's value; one that is too long ends with a sum, to stay unique."""
    return _cut(text, r"[^A-Za-z0-9_.-]+", "-_.", _LONGEST)


def slug(text: str, longest: int = 40) -> str:
    """The text as a part of a name."""
    return _cut(text.lower(), r"[^a-z0-9]+", "-", longest)


def _cut(text: str, strange: str, edges: str, longest: int) -> str:
    clean = re.sub(strange, "-", text).strip(edges)
    if len(clean) <= longest:
        return clean
    end = hashlib.sha256(text.encode()).hexdigest()[:6]
    return f"{clean[: longest - 7].strip(edges)}-{end}"


def shown(names: list[str], most: int = 8) -> str:
    """Some names, and how many more there are."""
    return few(names, most)
