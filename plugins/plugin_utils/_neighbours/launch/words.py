# SPDX-License-Identifier: GPL-3.0-or-later
"""What may stand in a launch script; everything else is refused. Quoting is done besides."""

from __future__ import annotations

import ipaddress
import re

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,510}")
_MOUNT = re.compile(r"/[A-Za-z0-9._/+-]{1,1023}")


class LaunchError(ValueError):
    """Nothing can be rendered; the message names the thing, the cause and the next step."""


def is_host(text: str) -> bool:
    """Whether it is an address, or a name that can mean nothing but one host."""
    return is_address(text) or _HOST.fullmatch(text) is not None


def is_address(text: str) -> bool:
    try:
        # A zone (fe80::1%eth0) means another thing on every host.
        return "%" not in text and bool(ipaddress.ip_address(text))
    except ValueError:
        return False


def is_loopback(text: str) -> bool:
    """Whether others cannot mean this host by it."""
    if not is_address(text):
        return text == "localhost" or text.startswith("localhost.")
    known = ipaddress.ip_address(text)
    return known.is_loopback or known.is_unspecified


def is_interface(text: str) -> bool:
    return _INTERFACE.fullmatch(text) is not None


def is_image(text: str) -> bool:
    """Whether it looks like a container image: registry/path/name:tag, or with a digest."""
    return _IMAGE.fullmatch(text) is not None and "//" not in text


def is_mount(text: str) -> bool:
    """Whether it is an absolute path that a mount option can hold: no colon, no comma."""
    return _MOUNT.fullmatch(text) is not None and ".." not in text.split("/")


def is_argument(text: str) -> bool:
    """Whether a script can hold it once it is quoted: one line of characters that can be seen."""
    return text.isprintable()


def endpoint(host: str, port: int) -> str:
    """``10.0.0.1:29500``, ``[fd00::1]:29500``."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def enroot_image(image: str) -> str:
    """The image as enroot writes it: ``nvcr.io#nvidia/pytorch:25.01-py3``.

    The first part is a registry by docker's rule: it has a dot or a colon, or is localhost.
    """
    first, slash, rest = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return f"{first}#{rest}"
    return image
