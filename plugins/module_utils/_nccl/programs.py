# SPDX-License-Identifier: GPL-3.0-or-later
"""How the programs of this folder are started."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils import _source
from ansible_collections.ibready.cluster.plugins.module_utils._nccl import (
    _child,
    _copies_child,
    _host_files,
    _host_settings,
    _private_etc,
)


def copies() -> list[str]:
    """The search for copies of the library; prints what _parse/nccl_copies reads."""
    return _source.argv_of(_host_files, _host_settings, _copies_child)


def proof() -> list[str]:
    """The process that loads the library; asked and answering as _nccl/proof does."""
    return _source.argv_of(_private_etc, _child)
