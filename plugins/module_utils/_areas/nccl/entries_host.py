# SPDX-License-Identifier: GPL-3.0-or-later
"""The catalog's entries for NCCL as a host has it (nccl.library.*, nccl.conf.*, ...)."""

from __future__ import annotations

from ..._ground.catalog import declare, error, warning

_CONF = "/etc/nccl.conf"
_PROOF = "nccl_proof"
_REPAIR = "`ansible-playbook playbooks/converge.yml -i INVENTORY --tags nccl_conf` writes the file anew"

ENTRIES = declare(
    error(
        "nccl.library.version",
        "Processes load the NCCL library of the installed package",
        "The linker takes the first libnccl.so.2 on its path. A copy ahead of the package's, in "
        "/usr/local/lib say, is another release than the one that was matched.",
        ("a copy was installed by hand", "a file in /etc/ld.so.conf.d names its folder"),
        "`ldconfig -p | grep libnccl` shows all; take the other copy off the linker's path",
        (_PROOF, "/var/lib/dpkg/status|rpm_qa"),
    ),
    error(
        "nccl.conf.lines",
        "NCCL reads every line of /etc/nccl.conf as it is meant",
        "NCCL knows no quotes, no blanks around =, no export, no comment behind a value, and no "
        "word where it wants a number, and never says so. Names are looked up in the installed "
        "library.",
        ("the file was written by hand",),
        _REPAIR,
        (_CONF,),
    ),
    warning(
        "nccl.conf.doubts",
        "Every release of NCCL on this host reads /etc/nccl.conf alike",
        "Lines that do the right thing by luck, or that another NCCL on this host (in a Python "
        "environment, say) reads otherwise.",
        ("a line rests on what one release makes of it",),
        "do what the line's next step says",
        (_CONF,),
    ),
    error(
        "nccl.conf.taken",
        "The installed NCCL took every setting of /etc/nccl.conf",
        "The library itself was loaded in a process of its own, without GPU and without rights, "
        "and asked; its word counts, whatever is known of its release. Where others than root may "
        "write to it or to a folder above it, root does not have it loaded, and this is unknown.",
        ("a plugin (libnccl-env.so) overrides settings",),
        "compare with the library's own log: NCCL_DEBUG=INFO",
        (_CONF, _PROOF),
    ),
    error(
        "nccl.conf.derived",
        "What this host needs is set as it needs it",
        "Derived from its ports, GPUs, routes and NCCL release: docs/nccl-conf.md. One check for each variable.",
        (
            "the file was not written, or by hand",
            "the host has changed since: another HCA, interface or NCCL release",
        ),
        _REPAIR,
        (_PROOF,),
    ),
    error(
        "nccl.conf.harm",
        "No setting switches off what the host has",
        "NCCL_IB_DISABLE=1, NCCL_NET=Socket and the like, and a GID index at which a rail has no "
        "address that RoCE v2 routes: in nccl.conf, and in what files and units put into the "
        "environment of every job, and in users' own files. What nccl_conf_variables asks for is the "
        "site's word and no failure, but for lists of HCAs and interfaces that are not there.",
        ("left from a search for another fault",),
        _REPAIR,
        (_PROOF, "nccl_copies", "systemctl_show"),
    ),
    error(
        "nccl.bootstrap.address",
        "NCCL listens for its other ranks where they can reach it",
        "Asked of the library: the address that ncclGetUniqueId gives out. It has to be on the "
        "interface with the way to the other nodes; without other nodes, on one that leads out of "
        "the host.",
        ("NCCL_SOCKET_IFNAME names no interface of this host, or another one",),
        f"set nccl_socket_ifname if it is not to be derived; {_REPAIR}",
        (_PROOF, "ip_addr"),
    ),
    error(
        "nccl.gdr.level",
        "NCCL of this release would use GPUDirect RDMA on every rail",
        "It does so up to a certain distance between GPU and HCA: by default (without NCCL_NET_GDR_LEVEL) behind "
        "PCIe switches (PXB), and farther on superchips.",
        (
            "NCCL_NET_GDR_LEVEL is too low",
            "the rail goes by the processor: no PCIe switch joins it with a GPU",
            "a virtual machine's bus is flat: its hypervisor shows no switch above GPU and HCA",
        ),
        "nccl_gdr_level: PHB (or SYS) where the platform is known to be fast that way; in a "
        "virtual machine nccl_topo_file with the provider's topology",
        (_PROOF,),
    ),
    warning(
        "nccl.copies.library",
        "Nothing leads processes to another NCCL release",
        "Copies in Python environments are listed and are not a fault: a job chooses them. A copy that "
        "a system file makes every process use is a fault.",
        ("LD_LIBRARY_PATH or /etc/ld.so.conf.d names a folder with another copy",),
        "take the folder out of the file that names it",
        ("nccl_copies",),
    ),
    warning(
        "nccl.copies.conf",
        "No file goes before /etc/nccl.conf",
        "~/.nccl.conf of a user and the file that NCCL_CONF_FILE names are read first, and the "
        "first line that sets a variable holds.",
        ("a user's own settings",),
        "move what is right into nccl_conf_variables, and the file away",
        ("nccl_copies",),
    ),
    warning(
        "nccl.copies.environment",
        "No NCCL variable is in the environment of every job",
        "The environment goes before every file, also where a variable is empty.",
        ("a line of /etc/environment, /etc/profile.d or a unit's Environment=",),
        "move what is right into nccl_conf_variables, and the line away",
        ("nccl_copies", "systemctl_show"),
    ),
    error(
        "nccl.sharp.enabled",
        "Jobs ask for SHARP where the site wants it, and nowhere else",
        "NCCL_COLLNET_ENABLE in nccl.conf and in what files and units put into the environment of every job; without "
        "it NCCL never tries. Judged where the inventory says so (expect.sharp).",
        (
            "NCCL_COLLNET_ENABLE is not set",
            "a file or unit that goes before nccl.conf sets it otherwise",
        ),
        "nccl_conf_variables: {NCCL_COLLNET_ENABLE: '1'}, and role nccl; see docs/sharp.md",
        (_PROOF, "nccl_copies", "systemctl_show"),
    ),
    error(
        "nccl.spectrum.routing",
        "Jobs send as adaptive routing needs it, where the site has Spectrum-X",
        "NCCL sends large messages so that switches may route them adaptively only with NCCL_IB_ADAPTIVE_ROUTING=1: by "
        "itself it does so on InfiniBand and not on RoCE. Looked for in nccl.conf and in what files and units put into "
        "the environment of every job. Judged where the inventory names the release (expect.spectrum_x).",
        (
            "NCCL_IB_ADAPTIVE_ROUTING is not set",
            "a file or unit that goes before nccl.conf sets it to 0",
        ),
        "nccl_conf_variables: {NCCL_IB_ADAPTIVE_ROUTING: '1'}, and role nccl; see docs/spectrum-x.md",
        (_PROOF, "nccl_copies", "systemctl_show"),
    ),
)
