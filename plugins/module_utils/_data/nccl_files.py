# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of NCCL that name a file or a plugin, and what follows where that is not there. Data only.

Sources: NCCL's user guide of 2.30.7 (how a plugin is looked for) and its source at the release tags
(graph/xml, debug, misc/param, plugin/*): confirmed.
"""

from __future__ import annotations

# A file that is read.
READ = {
    "NCCL_GRAPH_FILE": "every job ends when it starts",
    "NCCL_TOPO_FILE": "NCCL warns and finds the topology by itself, which it cannot where this file is needed",
}
# A file that is written: its folder has to be there.
WRITTEN = {
    "NCCL_DEBUG_FILE": "the log goes to where the job's output goes",
    "NCCL_GRAPH_DUMP_FILE": "nothing is written",
    "NCCL_TOPO_DUMP_FILE": "nothing is written",
}
# What stands for a host or a process in the name of a log.
OF_ONE_PROCESS = ("%h", "%p")
# A library, by its whole name or by what follows these beginnings.
PLUGINS = {
    "NCCL_ENV_PLUGIN": ("libnccl-env",),
    "NCCL_GIN_PLUGIN": ("libnccl-gin",),
    "NCCL_NET_PLUGIN": ("libnccl-net",),
    "NCCL_PROFILER_PLUGIN": ("libnccl-profiler",),
    "NCCL_RMA_PLUGIN": ("libnccl-rma",),
    # The guide names both.
    "NCCL_TUNER_PLUGIN": ("libnccl-tuner", "libnccl-net"),
}
# Words that name none.
NO_PLUGIN = ("none", "STATIC_PLUGIN")
# A plugin that a host has without a word of anybody.
NETWORK_PLUGIN = "libnccl-net"
WITHOUT_PLUGIN = "NCCL goes on without it, by its own InfiniBand or TCP, unless the environment of a job leads to one"
