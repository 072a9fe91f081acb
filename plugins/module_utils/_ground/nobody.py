# SPDX-License-Identifier: GPL-3.0-or-later
"""Give up the rights of root for good. Needs the standard library only, and no other file of ours:
programs of ours are run by their source.
"""

from __future__ import annotations

import os

NOBODY = 65534
_NO_NEW_PRIVS = 38
_DOING = "giving up the rights of root"
_CAPABILITIES_3 = 0x20080522


def become() -> None:
    """Keep no right but those of everybody, and never get one again; OSError.

    A process of root becomes NOBODY's; any other keeps its user, and loses what else it had.
    """
    # Needed by a job alone, and not to be found any more once the rights are gone.
    import ctypes

    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError as exc:
        raise OSError(exc.errno, f"{_DOING}: {os.strerror(exc.errno or 0).lower()}") from exc
    libc = ctypes.CDLL(None, use_errno=True)
    header, none = (ctypes.c_uint32 * 2)(_CAPABILITIES_3, 0), (ctypes.c_uint32 * 6)()
    if libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.capset(header, none):
        code = ctypes.get_errno()
        raise OSError(code, f"{_DOING}: {os.strerror(code).lower()}")
