# SPDX-License-Identifier: GPL-3.0-or-later
"""Secure Boot: would the kernel load modules that were signed with the site's key?"""

from __future__ import annotations

import os
from typing import Callable, Optional

from ..._ground.command import Output

VARIABLE = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
# Runs mokutil with these words; None where there is no mokutil.
Mokutil = Callable[..., Optional[Output]]


def state(root: str, mokutil: Mokutil) -> tuple[bool | None, str]:
    """Whether Secure Boot is on, and who said so; None with the reason where nobody can tell.

    A variable of the firmware has four bytes of attributes before its value.
    """
    if not os.path.isdir(os.path.join(root, "sys/firmware/efi")):
        return False, "the host was not booted by UEFI"
    path = os.path.join(root, VARIABLE)
    try:
        with open(path, "rb") as stream:
            data = stream.read(16)
        if len(data) == 5 and data[4] in (0, 1):
            return data[4] == 1, f"/{VARIABLE}"
    except FileNotFoundError:
        pass
    except OSError as exc:
        return None, f"/{VARIABLE}: {exc.strerror}"
    said = mokutil("--sb-state")
    words = "" if said is None else f"{said.stdout} {said.stderr}"
    if "SecureBoot enabled" in words:
        return True, "mokutil"
    if "SecureBoot disabled" in words or "doesn't support Secure Boot" in words:
        return False, "mokutil"
    return None, "neither the firmware's variable nor mokutil --sb-state tells"


def enrolled(certificate: str, mokutil: Mokutil) -> tuple[bool | None, str]:
    """Whether the firmware trusts a certificate, in mokutil's words; None where nobody can tell.

    Its exit status is 1 for a key that is enrolled, and for other things, too.
    """
    said = mokutil("--test-key", certificate)
    if said is None:
        return None, "mokutil is not installed"
    words = f"{said.stdout} {said.stderr}".strip()
    if "is already enrolled" in words or "already in the kernel trusted keyring" in words:
        return True, words
    if "enrollment request" in words:
        return False, "its enrolment waits for the next boot, where the firmware's MokManager asks"
    if "is not enrolled" in words:
        return False, words
    return None, words or f"mokutil ended with status {said.rc}"


def problem(on: bool | None, who: str, key: str, certificate: str, trusted: bool | None, words: str) -> str:
    """Why modules that DKMS builds would not be loaded, with the next step; "" where they would."""
    steps = (
        "make a key pair (openssl req -new -x509 -newkey rsa:2048 -nodes -outform DER -days 3650"
        " -subj /CN=SITE -keyout MOK.priv -out MOK.der), bring it to the host, name both files in"
        " nvidia_driver_mok_key and nvidia_driver_mok_cert, run `mokutil --import MOK.der` (it asks"
        " for a one-time password), reboot, and enrol the key at the console in MokManager; or"
        " switch Secure Boot off in the firmware"
    )
    if on is None:
        return f"whether Secure Boot is on cannot be told ({who}). Next: install mokutil"
    if not on:
        return ""
    if not key or not certificate:
        return (
            "Secure Boot is on, so the kernel loads only modules that are signed with an enrolled"
            f" key, and no key of the site is named. Next: {steps}"
        )
    if trusted is None:
        return f"whether {certificate} is enrolled cannot be told: {words}. Next: install mokutil"
    if not trusted:
        return (
            f"Secure Boot is on, and the key {certificate} is not enrolled: {words}. Next: run"
            f" `mokutil --import {certificate}` on the host (it asks for a one-time password),"
            " reboot, and enrol the key at the console in MokManager"
        )
    return ""
