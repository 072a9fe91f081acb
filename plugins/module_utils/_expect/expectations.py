# SPDX-License-Identifier: GPL-3.0-or-later
"""Who expects what of a host: the inventory, its hardware profile, then the fleet's majority.

What the parts themselves promise (CAPABILITY) is known to the check that compares it, so it does
not pass through here, but for one thing: an Ethernet port on a rail's place is a RoCE rail until
somebody says that it is none. Nothing else is learnt from the judged host's own present state.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Callable

from .._data import gds, spectrum_x
from .._data.boards import Board
from .._ground.link import ETHERNET, LAYERS
from .._parse._container_desired import DesiredError, read as read_container
from .nccl import Desired, read as read_wish
from .nccl_policy import PolicyError
from .profiles import PROFILES, board_by_name

# Who expects: the operator, or what the parts themselves promise. A profile is "profile NAME".
INVENTORY = "inventory"
CAPABILITY = "capability"
# The operator's word at the time, as the bundle of a host carries it: root of that host wrote it.
BUNDLE = "bundle"

# What `ibready_expect` may hold, as an argument spec; the module ibverify documents the keys.
SPEC: dict[str, dict[str, Any]] = {
    "profile": {"type": "str"},
    "hcas": {"type": "int"},
    "hcas_min": {"type": "int"},
    "link_layer": {"type": "str", "choices": list(LAYERS)},
    "rate_gbps": {"type": "float"},
    "rate_min_gbps": {"type": "float"},
    "mtu": {"type": "int", "choices": [256, 512, 1024, 2048, 4096]},
    # No secret, whatever Ansible takes a name with "key" for.
    "pkeys": {"type": "list", "elements": "str", "no_log": False},
    "firmware": {"type": "str"},
    "firmware_images": {"type": "dict"},
    "soft_roce": {"type": "dict"},
    "roce_mode": {"type": "str", "choices": ["v2", "v1"]},
    "roce_gid_index": {"type": "int"},
    "roce_trust": {"type": "str", "choices": ["dscp", "pcp"]},
    "roce_pfc": {"type": "list", "elements": "int"},
    "roce_tos": {"type": "int"},
    "roce_mtu": {"type": "int"},
    "spectrum_x": {"type": "str", "choices": list(spectrum_x.PROFILES)},
    "spectrum_x_planes": {"type": "str", "choices": list(spectrum_x.PLANES)},
    "gpus": {"type": "int"},
    "gpu_model": {"type": "str"},
    "driver": {"type": "str"},
    "imex": {"type": "str", "choices": ["domain", "job"]},
    "mig": {"type": "bool"},
    "ecc": {"type": "bool"},
    "gds": {"type": "str", "choices": list(gds.WANTED)},
    "gds_mounts": {"type": "list", "elements": "str"},
    "stack": {"type": "dict"},
    "lock": {"type": "dict"},
    "sharp": {"type": "bool"},
    "sharp_manager": {"type": "bool"},
    "nccl": {"type": "dict"},
    "container": {"type": "dict"},
    "differs": {"type": "list", "elements": "str"},
    "ignore": {"type": "list", "elements": "str", "default": []},
}
# Numbers that may be 0; every other number must be above it.
_MAY_BE_ZERO = ("roce_gid_index", "roce_tos")


class ExpectationError(ValueError):
    """The site's expectations cannot be understood; the message names the key."""


@dataclass(frozen=True)
class Expected:
    """One expected value and who expects it."""

    value: Any
    source: str

    @property
    def is_said(self) -> bool:
        """Whether the operator says so, here or where the bundle was made; nothing promises more."""
        return self.source in (INVENTORY, BUNDLE)


@dataclass(frozen=True)
class Expectations:
    """All that is expected of one host, by key, best source first."""

    values: dict[str, Expected] = field(default_factory=dict)
    ignore: list[str] = field(default_factory=list)

    def get(self, key: str) -> Expected | None:
        return self.values.get(key)

    @property
    def presumes_roce(self) -> bool:
        """Whether rails are RoCE by their place alone: nobody said so."""
        layer = self.get("link_layer")
        return layer is not None and layer.source == CAPABILITY

    def as_said(self) -> Expectations:
        """The same without what the rails' place alone tells."""
        if not self.presumes_roce:
            return self
        return replace(self, values={key: value for key, value in self.values.items() if key != "link_layer"})

    def ignores(self, *names: str) -> bool:
        """Whether the inventory leaves out what goes by one of these names."""
        return not set(self.ignore).isdisjoint(names)


def from_inventory(raw: Mapping[str, Any] | None, source: str = INVENTORY) -> Expectations:
    """Check and take over what the operator wrote; raises ExpectationError."""
    values: dict[str, Expected] = {}
    ignore: list[str] = []
    if raw is not None and not isinstance(raw, Mapping):
        raise ExpectationError(f"expect must be a dictionary, not {type(raw).__name__}")
    for key, value in (raw or {}).items():
        if key not in SPEC:
            raise ExpectationError(
                f"expect.{key} is not known; {_near(str(key), SPEC) or 'known are ' + ', '.join(SPEC)}"
            )
        if key == "ignore":
            ignore = _convert(key, value)
        else:
            converted = _convert(key, value)
            if key in ("soft_roce", "firmware_images", "gds_mounts") and not converted:
                continue  # none is expected, as if nobody had said so
            values[key] = Expected(_READ.get(key, _as_it_is)(converted), source)
    profile = values.get("profile")
    if profile is not None and board_by_name(profile.value) is None:
        near = _near(profile.value, PROFILES) or "see docs/profiles.md"
        raise ExpectationError(f"expect.profile names no known hardware profile: {profile.value!r}; {near}")
    return Expectations(_with_spectrum_x(values), ignore)


def _near(word: str, known: Iterable[str]) -> str:
    """Which of these was meant, as a question; "" where none is like it."""
    import difflib  # Few inventories have a word that nobody knows.

    near = " or ".join(difflib.get_close_matches(word, list(known)))
    return f"did you mean {near}?" if near else ""


def _with_spectrum_x(values: dict[str, Expected]) -> dict[str, Expected]:
    """With what the site's release of Spectrum-X has of rails, for whatever is not said; raises ExpectationError."""
    release, planes, layer = (values.get(key) for key in ("spectrum_x", "spectrum_x_planes", "link_layer"))
    if release is None:
        if planes is not None:
            raise ExpectationError("expect.spectrum_x_planes says nothing without expect.spectrum_x")
        return values
    if layer is not None and layer.value != ETHERNET:
        raise ExpectationError(f"expect.spectrum_x is of Ethernet rails, and expect.link_layer is {layer.value}")
    profile = spectrum_x.PROFILES[release.value]
    if planes is not None and planes.value not in profile.config:
        known = ", ".join(profile.config)
        raise ExpectationError(
            f"expect.spectrum_x_planes of {release.value} must be one of {known}, not {planes.value!r}"
        )
    promised = {"link_layer": ETHERNET, "roce_trust": profile.trust, "roce_pfc": list(profile.lossless)}
    source = f"Spectrum-X {release.value}"
    return {**{key: Expected(value, source) for key, value in promised.items()}, **values}


def with_bundle(own: Expectations, raw: Mapping[str, Any]) -> Expectations:
    """Add what a bundle carries, for whatever nobody says here; raises ExpectationError."""
    theirs = from_inventory(raw, BUNDLE)
    carried = dict(theirs.values)
    release, other = own.get("spectrum_x"), theirs.get("spectrum_x")
    if release is not None and other is not None and release.value != other.value:
        carried.pop("spectrum_x_planes", None)  # of another release, which may have other ones
    return Expectations({**carried, **own.values}, own.ignore or theirs.ignore)


def with_profile(own: Expectations, board: Board | None, network: str = "") -> Expectations:
    """Add what the recognised hardware promises, for whatever the inventory leaves open.

    ``network``: the link layer of what sits on the rails' places, "" where that tells nothing.
    """
    if network and "link_layer" not in own.values:
        own = Expectations({"link_layer": Expected(network, CAPABILITY), **own.values}, own.ignore)
    if board is None:
        return own
    promised: dict[str, Any] = {"gpus": board.gpus, "gpu_model": board.gpu}
    if board.rails and "hcas" not in own.values:
        promised["hcas_min"] = board.rails
    if board.rail_gbps and "rate_gbps" not in own.values:
        promised["rate_min_gbps"] = board.rail_gbps
    source = f"profile {board.name}"
    return Expectations({**{key: Expected(value, source) for key, value in promised.items()}, **own.values}, own.ignore)


def with_fleet(own: Expectations, fleet: Mapping[str, Expected]) -> Expectations:
    """Add the fleet's majority for whatever nobody else expects anything of; it goes before what a
    host's own ports look like."""
    said = {key: entry for key, entry in own.values.items() if key not in fleet or entry.source != CAPABILITY}
    return Expectations({**fleet, **said}, own.ignore)


def _wish(raw: Mapping[str, Any]) -> Desired:
    try:
        return read_wish(raw)
    except PolicyError as exc:
        raise ExpectationError(f"expect.nccl: {exc}") from exc


def _containers(raw: Mapping[str, Any]) -> Any:
    try:
        return read_container(raw)
    except DesiredError as exc:
        raise ExpectationError(f"expect.container.{exc}") from exc


def _firmware_images(raw: Mapping[str, Any]) -> dict[str, str]:
    """The firmware version of each board id."""
    for psid, version in raw.items():
        if not (isinstance(psid, str) and isinstance(version, str) and psid and version):
            raise ExpectationError(
                "expect.firmware_images must name board ids and versions, like {MT_0000000838: 28.43.2026}, not"
                f" {psid!r}: {version!r}"
            )
    return dict(raw)


def _soft_roce(raw: Mapping[str, Any]) -> dict[str, str]:
    """The interface of each soft RoCE device."""
    for name, netdev in raw.items():
        if not (isinstance(name, str) and isinstance(netdev, str) and name and netdev):
            raise ExpectationError(
                f"expect.soft_roce must name devices and their interfaces, like {{rxe0: eth0}},"
                f" not {name!r}: {netdev!r}"
            )
    return dict(raw)


def _lock(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(raw.get("stack") or {}, Mapping):
        raise ExpectationError(f"expect.lock.stack must be a dictionary, not {type(raw['stack']).__name__}")
    return raw


def _points(raw: list[str]) -> tuple[str, ...]:
    """Mount points as the kernel writes them."""
    for point in raw:
        if not point.startswith("/"):
            raise ExpectationError(f"expect.gds_mounts must name mount points, like /data, not {point!r}")
    return tuple(dict.fromkeys(point.rstrip("/") or "/" for point in raw))


def _as_it_is(value: Any) -> Any:
    return value


_READ: dict[str, Callable[[Any], Any]] = {
    "nccl": _wish,
    "container": _containers,
    "soft_roce": _soft_roce,
    "firmware_images": _firmware_images,
    "lock": _lock,
    "gds_mounts": _points,
}


def _convert(key: str, value: Any) -> Any:
    kind = SPEC[key]["type"]
    converted = _CONVERTERS[kind](key, value)
    choices = SPEC[key].get("choices")
    if choices and converted not in choices:
        shown = ", ".join(str(choice) for choice in choices)
        raise ExpectationError(f"expect.{key} must be one of {shown}, not {value!r}")
    return converted


def _number(key: str, value: Any, kind: type[int] | type[float]) -> Any:
    wrong = ExpectationError(f"expect.{key} must be {kind.__name__}, not {value!r}")
    if isinstance(value, bool):
        raise wrong
    try:
        if kind is int and isinstance(value, float) and value != int(value):
            raise ValueError
        converted = kind(value)
    except (TypeError, ValueError, OverflowError):
        raise wrong from None
    if not math.isfinite(converted) or converted < 0 or (not converted and key not in _MAY_BE_ZERO):
        raise ExpectationError(f"expect.{key} must be a number above 0, not {value!r}")
    return converted


def _text(key: str, value: Any) -> str:
    if isinstance(value, (bool, dict, list)):
        raise ExpectationError(f"expect.{key} must be str, not {value!r}")
    return str(value)


def _list(key: str, value: Any) -> list[Any]:
    kind = int if SPEC[key]["elements"] == "int" else str
    if not isinstance(value, list) or any(isinstance(entry, bool) or not isinstance(entry, kind) for entry in value):
        raise ExpectationError(f"expect.{key} must be a list of {kind.__name__}, not {value!r}")
    return list(value)


def _typed(key: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise ExpectationError(f"expect.{key} must be {kind.__name__}, not {value!r}")
    return value


_CONVERTERS: dict[str, Callable[[str, Any], Any]] = {
    "int": lambda key, value: _number(key, value, int),
    "float": lambda key, value: _number(key, value, float),
    "str": _text,
    "list": _list,
    "bool": lambda key, value: _typed(key, value, bool),
    "dict": lambda key, value: _typed(key, value, dict),
}
