# SPDX-License-Identifier: GPL-3.0-or-later
"""What an image says of the CUDA that it was built for, and of the hosts that it may run on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Iterator, Mapping

from ..._ground.text import ParseError
from ..._parse import _cuda_require
from ..._parse._container_facts import Inside
from ..stack.cuda_rules import Release
from ..stack.observe import CUDA, cuda_version

# Containers began with CUDA 7: a smaller number is that of something else.
_RELEASE = r"([7-9]|[1-9][0-9])(?:\.([0-9]{1,2}))?(?:\.[0-9]{1,6}){0,3}"
_SAID = re.compile(f"v?{_RELEASE}")
# libcudart.so.12.4.127 and torch's libcudart-1b2c3d4e.so.11.0; nvidia_cuda_runtime_cu12-12.8.90.dist-info of pip.
_FILE = re.compile(
    rf"(?:libcudart(?:-[0-9a-f]{{4,16}})?\.so\.|nvidia_cuda_runtime(?:_cu[0-9]{{1,3}})?-){_RELEASE}(?:\.dist-info)?"
)
_NOTES = ".dist-info"
_PREFIX, _MAIN, _JETPACK = "NVIDIA_REQUIRE_", "NVIDIA_REQUIRE_CUDA", "NVIDIA_REQUIRE_JETPACK"
_DISABLE, _VERSION = "NVIDIA_DISABLE_REQUIRE", "CUDA_VERSION"
# What the container toolkit takes as yes (Go's strconv.ParseBool).
_YES = ("1", "t", "T", "TRUE", "true", "True")


@dataclass(frozen=True)
class Told:
    """``release``: the newest CUDA that anything of the image tells of, and ``where``. ``strange``: what
    should tell of it and is not understood, so that it may be a newer one. ``disabled``: whether the runtime
    is not to ask for what the image requires; else ``requires`` has it, and ``wrong`` why a part of it is not
    understood."""

    release: Release | None
    where: str
    strange: str
    disabled: bool
    requires: tuple[_cuda_require.Constraint, ...]
    wrong: str

    def met(self, host: Mapping[str, str]) -> bool | None:
        """Whether the host is what the image requires; None where nobody can tell."""
        found = [_cuda_require.met(constraint, host) for constraint in self.requires]
        return False if False in found else None if None in found or self.wrong else True

    def vouched(self, host: Mapping[str, str]) -> list[str]:
        """Of which CUDA the image says that its compatibility libraries hold on this brand and driver."""
        return [_cuda_require.least(each) for each in self.requires if _cuda_require.names(each, host)]


def read(inside: Inside) -> Told:
    """All that the image says."""
    disabled = inside.environment.get(_DISABLE, "") in _YES
    required: dict[str, _cuda_require.Constraint] = {}
    wrong = ""
    for name, value in sorted(inside.environment.items()):
        if name.startswith(_PREFIX) and not name.startswith(_JETPACK) and value.strip():
            try:
                required[name] = _cuda_require.parse(value)
            except ParseError as exc:
                wrong = f"{name} is not understood at {exc.line!r}: {exc.reason}"
    found: list[tuple[Release, str]] = []
    strange: list[tuple[str, str]] = []
    for where, text, pattern in _said(inside):
        match = pattern.fullmatch(text)
        if match is None:
            strange.append((where, text))
        else:
            found.append((tuple(int(number) for number in match.groups() if number is not None), where))
    if found:
        # Anybody may set a variable of this name, and pip's notes may name a day (recalled): files tell better.
        strange = [(where, text) for where, text in strange if where != _VERSION and not text.endswith(_NOTES)]
    if not found and _MAIN in required:
        match = _SAID.fullmatch(_cuda_require.least(required[_MAIN]))
        found += [(tuple(int(one) for one in match.groups() if one is not None), _MAIN)] if match else []
    best = max((release for release, _unused in found), default=None)
    where = next((where for release, where in found if release == best), "")
    odd = next((f"{where}: {text[:60]!r} is no release of CUDA" for where, text in strange), "")
    return Told(best, where, odd, disabled, () if disabled else tuple(required.values()), "" if disabled else wrong)


def _said(inside: Inside) -> Iterator[tuple[str, str, re.Pattern[str]]]:
    if inside.environment.get(_VERSION, "").strip():
        yield _VERSION, inside.environment[_VERSION].strip(), _SAID
    if inside.cuda_json:
        try:
            yield CUDA, cuda_version("\n".join(inside.cuda_json)), _SAID
        except ValueError:
            yield CUDA, "", _SAID
    for path in inside.cudart:
        yield path, path.rstrip("/").rpartition("/")[2], _FILE
