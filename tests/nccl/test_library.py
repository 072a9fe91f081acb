# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read from the real library's file without loading it."""

from __future__ import annotations

import pytest

from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl import library
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl._copies_child import Search
from ansible_collections.ibready.cluster.plugins.module_utils._ask.nccl._host_files import Host
from tests.nccl.conftest import Nccl

# How many variables each asks for: NCCL's source has as many in the tags of these versions, but for
# NCCL_PROXY_PROFILE, which is not compiled in before 2.23. Of 2.31 and later there is no source.
COUNTS = {
    (2, 18, 3): 110,
    (2, 19, 3): 112,
    (2, 20, 5): 117,
    (2, 22, 3): 125,
    (2, 23, 4): 136,
    (2, 25, 1): 150,
    (2, 26, 2): 156,
    (2, 27, 7): 171,
    (2, 28, 9): 190,
    (2, 29, 7): 218,
    (2, 30, 7): 248,
    (2, 31, 2): 270,
    (2, 32, 3): 283,
}
CUDA = {
    (2, 18, 3): "12.1",
    (2, 19, 3): "12.3",
    (2, 20, 5): "12.4",
    (2, 22, 3): "12.5",
    (2, 23, 4): "12.6",
    (2, 25, 1): "12.2",
    (2, 26, 2): "12.2",
    (2, 27, 7): "12.9",
    (2, 28, 9): "13.0",
    (2, 29, 7): "13.2",
    (2, 30, 7): "12.9",
    (2, 31, 2): "12.9",
    (2, 32, 3): "12.9",
}
# When each came. Sources: NCCL's tags; of the last, the library itself.
SINCE = {
    "NCCL_IB_HCA": (2,),
    "NCCL_SOCKET_IFNAME": (2,),
    "NCCL_DEBUG": (2,),
    "NCCL_COMM_ID": (2,),
    "NCCL_IB_MERGE_NICS": (2, 20, 3),
    "NCCL_MNNVL_ENABLE": (2, 21, 5),
    "NCCL_IB_ROCE_VERSION_NUM": (2, 21, 5),
    "NCCL_IB_FIFO_TC": (2, 22, 3),
    "NCCL_CONF_FILE": (2, 23, 4),
    "NCCL_NET_MERGE_LEVEL": (2, 24, 3),
    "NCCL_DEBUG_TIMESTAMP_FORMAT": (2, 26, 2),
    "NCCL_ENV_PLUGIN": (2, 28, 7),
    "NCCL_DEBUG_LEVELS": (2, 32, 3),
    "CUDA_LAUNCH_BLOCKING": (2, 17),
    "DOCA_GPUNETIO_LOG": (2, 28, 9),
}
# Read by none of them; the first four are texts in some of the files all the same.
NEVER = (
    *("NCCL_GRAPH", "NCCL_CONFIG_INITIALIZER", "NCCL_GIN_CONNECTION_FULL", "NCCL_PAT_NDIMS"),
    *("NCCL_NCHANNELS", "NCCL_CHUNKSIZE", "NCCL_IB_CUDA_SUPPORT", "NCCL_CHECKS_DISABLE"),
)


def test_the_file_tells_its_version_and_its_toolkit(nccl: Nccl) -> None:
    reported = library.inspect(nccl.path)
    assert reported.version == ".".join(map(str, nccl.version))
    assert reported.cuda == CUDA[nccl.version]
    assert reported.machine == "x86_64"
    assert reported.real == nccl.path


def test_the_file_tells_every_variable_and_nothing_else(nccl: Nccl) -> None:
    names = library.inspect(nccl.path).names
    assert len(names) == COUNTS[nccl.version]
    assert {name: name in names for name in SINCE} == {name: nccl.version >= first for name, first in SINCE.items()}
    assert names.isdisjoint(NEVER)


def test_the_search_reads_the_same_version(nccl: Nccl) -> None:
    search = Search(Host("/", 20, 100))
    search._copy(nccl.path, "here")
    reported = library.inspect(nccl.path)
    assert ("copy", nccl.path, nccl.path, reported.version, reported.cuda, "here") in search._host.lines


@pytest.mark.parametrize("keep", [64, 4096, 1_000_000])
def test_a_file_that_was_cut_is_refused(nccl: Nccl, keep: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    part = tmp_path_factory.mktemp("cut") / "libnccl.so.2"
    with open(nccl.path, "rb") as stream:
        part.write_bytes(stream.read(keep))
    with pytest.raises(library.Unavailable, match="cut off"):
        library.inspect(str(part))
