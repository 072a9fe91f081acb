# SPDX-License-Identifier: GPL-3.0-or-later
"""The corpus of recorded outputs, which lies beside the project and is no part of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.ibready.cluster.plugins.module_utils._parse import names

REPOSITORY = Path(__file__).parents[2]
CORPUS = Path(os.environ.get("IBREADY_CORPUS", REPOSITORY.parent / "shared" / "corpus"))
ERRATA = yaml.safe_load((Path(__file__).parent / "corpus_errata.yml").read_text())


def tools() -> list[str]:
    found = {path.name for path in CORPUS.glob("*") if path.is_dir()}
    return sorted(found | set(names.NAMES))


def sidecars(tool: str) -> list[Any]:
    found = sorted((CORPUS / tool).glob("*.json"))
    if not found:
        skip = pytest.mark.skip(reason=f"no corpus at {CORPUS / tool} (set IBREADY_CORPUS)")
        return [pytest.param(tool, None, marks=skip, id=f"{tool} corpus")]
    return [pytest.param(tool, path, id=f"{tool} {path.stem}") for path in found]


def text_of(sidecar: Path) -> str:
    for ending in (".txt", ".log"):
        if sidecar.with_suffix(ending).exists():
            return sidecar.with_suffix(ending).read_bytes().decode("utf-8", errors="replace")
    raise FileNotFoundError(sidecar)
