# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge NCCL inside a container: its library, and which settings reach it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Iterator

from ansible_collections.ibready.cluster.plugins.module_utils._checks import (
    host_scope,
    nccl_harm,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks._model import (
    Check,
    failed,
    passed,
    skipped,
    unknown,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.container_view import (
    CONTAINER,
    View,
)
from ansible_collections.ibready.cluster.plugins.module_utils._checks.host_scope import Scope
from ansible_collections.ibready.cluster.plugins.module_utils._data.nccl_reading import SYSTEM_FILE
from ansible_collections.ibready.cluster.plugins.module_utils._expect import CAPABILITY
from ansible_collections.ibready.cluster.plugins.module_utils._nccl.policy import NcclPolicy
from ansible_collections.ibready.cluster.plugins.module_utils._parse._container_facts import Inside
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import clean_lines

_LIBRARY, _CONF, _ENV = "container.nccl.library", "container.nccl.conf", "container.nccl.env"
_SONAME = "libnccl.so.2"
_RELEASE = re.compile(r"libnccl\.so\.([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})")
_EXPECTED = "nothing that switches off what the host has"


def judge(view: View) -> Iterator[Check]:
    """container.nccl.*"""
    gpus = host_scope.with_kernel(view.machine).then(host_scope.with_gpu(view.machine))
    if view.built:
        made = "the image is made of the host's own files: a job's image brings its NCCL along"
        gpus = Scope(made)
    yield from view.scoped(_LIBRARY, gpus, _library)
    yield from view.each(_CONF, Scope(), lambda who, inside: _conf(view, who, inside))
    yield from view.scoped(_ENV, Scope(), lambda inside: _environment(view, inside))


def _library(inside: Inside) -> Check:
    found = [one for one in inside.libraries if one.rpartition("/")[2].startswith(_SONAME)]
    if not found:
        return failed(_LIBRARY, CONTAINER, "none", _SONAME, CAPABILITY)
    packages = [one.version for one in inside.packages or () if one.name.startswith("libnccl")]
    names = [one.rpartition("/")[2] for one in found]
    releases = [one.group(1) for name in names if (one := _RELEASE.fullmatch(name))]
    version = next(iter((*releases, *packages)), "of no release that its name tells")
    return passed(_LIBRARY, CONTAINER, f"{version}, {found[0]}", _SONAME, CAPABILITY)


def _conf(view: View, subject: str, inside: Inside) -> Check:
    host = view.facts.conf
    if host.value is None and not host.missing:
        return unknown(_CONF, subject, host.why or "nobody looked at the host's file")
    if host.value is None:
        if inside.conf is None and not inside.conf_denied:
            return skipped(_CONF, subject, f"no {SYSTEM_FILE}, on the host and in the container")
        cause = "the image brings a file of its own, which nobody wrote for this host"
        return failed(_CONF, subject, "a file of its own", "no file", CAPABILITY, cause=cause)
    expected = "the host's file"
    if inside.conf_denied:
        cause = f"this user may not read {SYSTEM_FILE}, and NCCL then goes on without it"
        remedy = f"`chmod 0644 {SYSTEM_FILE}` on the host"
        observed = "permission denied"
        return failed(_CONF, subject, observed, expected, CAPABILITY, cause=cause, remedy=remedy)
    if inside.conf is None:
        cause = "the host's file was not put into the container: none of its settings holds there"
        return failed(_CONF, subject, "no file", expected, CAPABILITY, cause=cause)
    if _meant(inside.conf) == _meant(clean_lines(host.value)):
        return passed(_CONF, subject, f"{len(_meant(inside.conf))} lines", expected, CAPABILITY)
    cause = "the container has another file in its place: the image's own, or an old mount"
    mine = next(iter(_meant(inside.conf)), "an empty file")
    differs = [one for one in _meant(inside.conf) if one not in _meant(clean_lines(host.value))]
    observed = f"another file: {(differs or [mine])[0][:80]}"
    return failed(_CONF, subject, observed, expected, CAPABILITY, cause=cause)


def _meant(lines: list[str] | tuple[str, ...]) -> list[str]:
    """The lines that are no comment, without the blanks around them."""
    return [one.strip() for one in lines if one.strip() and not one.strip().startswith("#")]


def _environment(view: View, inside: Inside) -> Check:
    given = {name: value for name, value in inside.environment.items() if name.startswith("NCCL_")}
    if not given:
        return passed(_ENV, CONTAINER, "no variable of NCCL", _EXPECTED, CAPABILITY)
    if view.facts.nccl is None:
        return unknown(_ENV, CONTAINER, "nobody looked at what the host has")
    found = list(nccl_harm.of_settings(given, view.facts.nccl, NcclPolicy()))
    if found:
        one = replace(found[0], id=_ENV, subject=CONTAINER)
        remedy = f"take {found[0].subject} out of the image's ENV, or give the job its own value"
        return replace(one, remedy=remedy if one.result == "fail" else one.remedy)
    names = ", ".join(sorted(given))
    return passed(_ENV, CONTAINER, f"{names}: nothing that harms", _EXPECTED, CAPABILITY)
